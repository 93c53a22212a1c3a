#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/live/live_agent.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/environment.hpp"

/// usage: live_load FOLDER STEPS [UNITS [FSYNC [AGENT [STEPS_PER_SECOND]]]]
/// Lets units of machine-maintenance take STEPS steps in all with a live agent in this process, one
/// call after the other, then starts the agent again from its folder. Prints latencies of `step`,
/// those of them while a plan was being made, memory, the journal's size and the time of the start
/// with a snapshot and without.
namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0.0;
  double resident = 0.0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

// How long calls took, in classes that grow by a hundredth: as much memory for any number of them.
class Latencies {
 public:
  void add(Clock::duration time) {
    const double us = std::max(microseconds(time), kSmallest);
    const auto at = static_cast<std::size_t>(std::log(us / kSmallest) / std::log(kGrowth));
    ++counts_[std::min(at, counts_.size() - 1)];
    ++calls_;
    longest_ = std::max(longest_, us);
  }
  void print(const char* what) const {
    if (calls_ == 0) return;
    fmt::print("{:<24} {:>9} calls  p50 {:>8.1f}  p99 {:>8.1f}  p99.9 {:>8.1f}  max {:>9.1f} us\n",
               what, calls_, quantile(0.5), quantile(0.99), quantile(0.999), longest_);
  }

 private:
  static constexpr double kSmallest = 0.1;
  static constexpr double kGrowth = 1.01;

  [[nodiscard]] double quantile(double share) const {
    auto left = static_cast<std::int64_t>(share * static_cast<double>(calls_));
    std::size_t at = 0;
    while (at + 1 < counts_.size() && left >= counts_[at]) left -= counts_[at++];
    return kSmallest * std::pow(kGrowth, static_cast<double>(at) + 0.5);
  }

  std::array<std::int64_t, 2000> counts_{};  // up to 44 s
  std::int64_t calls_ = 0;
  double longest_ = 0.0;
};

struct Unit {
  oas::Environment environment;
  std::string name;
  std::string request;
  std::int64_t step = 0;
};

// The value of a key in an answer whose form is known.
std::string_view value_of(std::string_view answer, std::string_view key) {
  const std::size_t at = answer.find(key) + key.size();
  return answer.substr(at, answer.find_first_of(",}", at) - at);
}

void take(Unit& unit, const oas::Pomdp& model, std::string_view answer) {
  std::string_view action = value_of(answer, "\"action\":");
  if (action.front() == '"') action = action.substr(1, action.size() - 2);
  const auto seen = unit.environment.step(oas::Action{*model.actions().find(action)});
  unit.request = fmt::format(R"({{"unit":"{}","step":{},"observation":{}}})", unit.name,
                             unit.step++, seen.observation.value());
}

double seconds_of_start(const oas::Pomdp& model, const oas::LiveOptions& options) {
  const auto begin = Clock::now();
  oas::LiveAgent agent(model, options);
  return microseconds(Clock::now() - begin) / 1e6;
}

void play(const oas::Pomdp& model, const oas::LiveOptions& options, std::int64_t steps,
          int num_units, double rate) {
  oas::LiveAgent agent(model, options);
  std::vector<Unit> units;
  for (int i = 0; i < num_units; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    units.push_back({oas::Environment(model, oas::Rng({seed, 0, oas::Role::environment})),
                     fmt::format("unit-{}", i),
                     {},
                     0});
    take(units.back(), model,
         agent.call("act", fmt::format(R"({{"unit":"unit-{}","step":0}})", i)).body);
  }
  Latencies times;
  Latencies planning;
  const auto begin = Clock::now();
  bool plans = false;
  for (std::int64_t n = 0; n < steps; ++n) {
    if (rate > 0.0) {
      const auto due = begin + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(static_cast<double>(n) / rate));
      while (Clock::now() < due) {
      }
    }
    Unit& unit = units[static_cast<std::size_t>(n % num_units)];
    const auto asked = Clock::now();
    const oas::LiveReply reply = agent.call("step", unit.request);
    const auto time = Clock::now() - asked;
    if (!reply.ok()) {
      fmt::print("refused: {}\n", reply.body);
      return;
    }
    (plans ? planning : times).add(time);
    take(unit, model, reply.body);
    if (n % 100 == 0) {
      plans = agent.call("status", R"({"limit":0})").body.find("\"planning\":true") !=
              std::string::npos;
    }
    if ((n + 1) % (steps / 4) == 0) {
      fmt::print("after {:>10} steps: {:.1f} MB resident\n", n + 1, resident_megabytes());
    }
  }
  const double seconds = microseconds(Clock::now() - begin) / 1e6;
  fmt::print("{:.0f} steps/s\n", static_cast<double>(steps) / seconds);
  times.print("step");
  planning.print("step while planning");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: live_load FOLDER STEPS [UNITS [FSYNC [AGENT [STEPS_PER_SECOND]]]]\n",
               stderr);
    return 2;
  }
  const oas::Pomdp model = oas::make_problem("machine-maintenance");
  oas::LiveOptions options;
  options.journal = argv[1];
  const std::int64_t steps = std::atoll(argv[2]);
  const int num_units = argc > 3 ? std::atoi(argv[3]) : 100;
  const std::string fsync = argc > 4 ? argv[4] : "interval";
  options.sync = fsync == "always"  ? oas::LiveSync::always
                 : fsync == "never" ? oas::LiveSync::never
                                    : oas::LiveSync::interval;
  if (argc > 5) options.agent = argv[5];
  play(model, options, steps, num_units, argc > 6 ? std::atof(argv[6]) : 0.0);
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(options.journal)) {
    if (entry.path().extension() == ".oasj") bytes += entry.file_size();
  }
  fmt::print("journal: {:.1f} bytes per step\n",
             static_cast<double>(bytes) / static_cast<double>(steps));
  fmt::print("start with a snapshot: {:.2f} s\n", seconds_of_start(model, options));
  std::filesystem::remove(std::filesystem::path(options.journal) / "snapshot.oass");
  fmt::print("start without: {:.2f} s\n", seconds_of_start(model, options));
  return 0;
}
