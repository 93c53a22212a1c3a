#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/live/live_agent.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/environment.hpp"

/// usage: live_soak FOLDER STEPS [UNITS]
/// Units of machine-maintenance take STEPS steps in all with an oracle, call by call within this
/// process, while exact filters follow them. Prints memory after every tenth and the largest
/// difference of a belief; fails where there is one, or where memory grows by more than a megabyte
/// after the first tenth.
namespace {

using namespace oas;  // NOLINT(google-build-using-namespace)

constexpr double kAllowedMegabytes = 1.0;
constexpr std::int64_t kBetweenLooks = 101;  // steps of a unit between two looks at its belief

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0.0;
  double resident = 0.0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576.0;
}

class Unit {
 public:
  Unit(const Pomdp& model, int number)
      : model_(&model),
        name_(fmt::format("unit-{}", number)),
        environment_(model, Rng({static_cast<std::uint64_t>(number), 0, Role::environment})),
        exact_(model) {}

  void begin(LiveAgent& agent) {
    take(agent.call("act", fmt::format(R"({{"unit":"{}","step":0}})", name_)));
  }
  void take_step(LiveAgent& agent) {
    const Observation seen = environment_.step(action_).observation;
    exact_.update(action_, seen);
    take(agent.call("step", fmt::format(R"({{"unit":"{}","step":{},"observation":{}}})", name_,
                                        step_++, seen.value())));
  }
  [[nodiscard]] double difference() const { return difference_; }

 private:
  void take(const LiveReply& reply) {
    if (!reply.ok()) throw std::runtime_error(reply.body);
    const std::string_view key = R"("action":")";
    const std::size_t at = reply.body.find(key) + key.size();
    const std::string name = reply.body.substr(at, reply.body.find('"', at) - at);
    action_ = Action{*model_->actions().find(name)};
    if (step_ % kBetweenLooks != 0) return;
    const std::vector<double> belief = nlohmann::json::parse(reply.body)["belief"];
    for (std::size_t s = 0; s < belief.size(); ++s) {
      difference_ = std::max(difference_, std::abs(belief[s] - exact_.belief()[s]));
    }
  }

  const Pomdp* model_;
  std::string name_;
  Environment environment_;
  BeliefFilter exact_;
  Action action_;
  std::int64_t step_ = 0;
  double difference_ = 0.0;
};

bool soak(const std::string& folder, std::int64_t steps, int num_units) {
  const Pomdp model = make_problem("machine-maintenance");
  LiveOptions options;
  options.journal = folder;
  options.agent = "oracle";
  options.settings = {{"resolution", "20"}};
  LiveAgent agent(model, options);
  std::vector<Unit> units;
  for (int i = 0; i < num_units; ++i) units.emplace_back(model, i).begin(agent);
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t tenth = std::max<std::int64_t>(1, steps / 10);
  double first = 0.0;
  for (std::int64_t n = 0; n < steps; ++n) {
    units[static_cast<std::size_t>(n % num_units)].take_step(agent);
    if ((n + 1) % tenth != 0) continue;
    if (first == 0.0) first = resident_megabytes();
    fmt::print("after {:>11} steps: {:.2f} MB resident\n", n + 1, resident_megabytes());
    std::fflush(stdout);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  double difference = 0.0;
  for (const Unit& unit : units) difference = std::max(difference, unit.difference());
  fmt::print("{:.0f} steps/s; largest difference of a belief from the exact filter: {:g}\n",
             static_cast<double>(steps) / took.count(), difference);
  return difference == 0.0 && resident_megabytes() < first + kAllowedMegabytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: live_soak FOLDER STEPS [UNITS]\n", stderr);
    return 2;
  }
  try {
    return soak(argv[1], std::atoll(argv[2]), argc > 3 ? std::atoi(argv[3]) : 100) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "live_soak: {}\n", error.what());
    return 1;
  }
}
