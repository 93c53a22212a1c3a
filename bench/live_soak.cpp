#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/journal/journal_reader.hpp"
#include "oas/live/live_agent.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/environment.hpp"

/// usage: live_soak FOLDER STEPS [UNITS]
/// Units of machine-maintenance take STEPS steps in all with an oracle, call by call within this
/// process, while exact filters follow them. Prints memory after every tenth and the largest
/// difference of a belief; fails where there is one, or where memory grows by more than a megabyte
/// after the first tenth. Ended at any moment and started again it goes on: units and filters
/// follow the journal to its end, in which every observation must be the one that they had given.
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

  // What the journal says of it; the answers are looked at only as they come.
  void follow(const JournalRecord& record) {
    if (record.kind == JournalKind::step || record.kind == JournalKind::observe) {
      const Observation seen = environment_.step(record.row.action).observation;
      if (seen != record.row.observation) throw std::runtime_error("another observation: " + name_);
      exact_.update(record.row.action, seen);
      ++step_;
    }
    if (record.kind == JournalKind::step || record.kind == JournalKind::act) {
      action_ = record.choice;
    }
  }
  [[nodiscard]] std::int64_t steps() const { return step_; }

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

// Steps in the journal, which the units follow.
std::int64_t follow_journal(const std::string& folder, std::vector<Unit>& units) {
  if (!holds_journal(folder)) return 0;
  std::map<std::uint64_t, std::size_t> unit_of;
  JournalReader reader(folder);
  for (JournalRecord record; reader.next(record);) {
    if (record.kind == JournalKind::begin) {
      unit_of[record.run] = std::stoul(record.text.substr(record.text.find('-') + 1));
    } else {
      units.at(unit_of.at(record.run)).follow(record);
    }
  }
  std::int64_t steps = 0;
  for (const Unit& unit : units) steps += unit.steps();
  return steps;
}

bool soak(const std::string& folder, std::int64_t steps, int num_units) {
  const Pomdp model = make_problem("machine-maintenance");
  LiveOptions options;
  options.journal = folder;
  options.agent = "oracle";
  options.settings = {{"resolution", "20"}};
  std::vector<Unit> units;
  for (int i = 0; i < num_units; ++i) units.emplace_back(model, i);
  const std::int64_t done = follow_journal(folder, units);
  if (done > 0) fmt::print("goes on after {} steps\n", done);
  LiveAgent agent(model, options);
  for (Unit& unit : units) {
    if (unit.steps() == 0) unit.begin(agent);
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t tenth = std::max<std::int64_t>(1, steps / 10);
  double first = 0.0;
  for (std::int64_t n = done; n < steps; ++n) {
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
             static_cast<double>(steps - done) / took.count(), difference);
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
