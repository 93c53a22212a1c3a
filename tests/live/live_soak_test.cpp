#include <gtest/gtest.h>
#include <malloc.h>

#include "live/live_fleet.hpp"
#include "oas/belief/filter.hpp"
#include "oas/problems/named.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::ask;

std::size_t allocated() { return mallinfo2().uordblks; }

// A unit, and what an exact filter believes of it.
struct Followed {
  std::string name;
  Environment environment;
  BeliefFilter exact;
  nlohmann::json answer;
  std::int64_t step = 0;

  Followed(const Pomdp& model, int number)
      : name("unit " + std::to_string(number)),
        environment(model, Rng({static_cast<std::uint64_t>(number), 0, Role::environment})),
        exact(model) {}

  void begin(LiveAgent& agent) {
    answer = ask(agent, {{"call", "act"}, {"unit", name}, {"step", 0}});
  }
  void take_step(LiveAgent& agent, const Pomdp& model) {
    const Action action{*model.actions().find(answer["action"].get<std::string>())};
    const Observation seen = environment.step(action).observation;
    exact.update(action, seen);
    answer = ask(
        agent, {{"call", "step"}, {"unit", name}, {"step", step++}, {"observation", seen.value()}});
  }
};

std::vector<Followed> fleet(LiveAgent& agent, const Pomdp& model, int units) {
  std::vector<Followed> made;
  for (int i = 0; i < units; ++i) made.emplace_back(model, i).begin(agent);
  return made;
}

TEST(LiveSoak, BeliefsDoNotDriftFromTheExactFilter) {
  const test::TemporaryDirectory folder;
  const Pomdp model = make_problem("machine-maintenance");
  LiveOptions options = test::quick_options(folder.file("journal"));
  options.agent = "oracle";
  options.settings = {{"resolution", "6"}};
  options.sync = LiveSync::never;
  options.snapshot_every = 10'000;
  LiveAgent agent(model, options);
  std::vector<Followed> units = fleet(agent, model, 4);
  for (int t = 0; t < 25'000; ++t) {
    for (Followed& unit : units) unit.take_step(agent, model);
    for (const Followed& unit : units) {
      const auto belief = unit.exact.belief();
      ASSERT_EQ(unit.answer["belief"],
                nlohmann::json(std::vector<double>(belief.begin(), belief.end())))
          << unit.name << t;
    }
  }
}

// However many steps there were: of agents that keep no rows for likelihood, and of those that have
// no memory for them.
class LiveMemoryTest : public testing::TestWithParam<const char*> {};

TEST_P(LiveMemoryTest, IsFlat) {
  const test::TemporaryDirectory folder;
  const Pomdp model = make_problem("machine-maintenance");
  LiveOptions options = test::quick_options(folder.file("journal"));
  options.agent = GetParam();
  options.memory = 0;
  options.settings.push_back({"growth", "4"});  // plans take time
  options.sync = LiveSync::never;
  options.synchronous = true;
  options.snapshot_every = 0;
  LiveAgent agent(model, options);
  std::vector<Followed> units = fleet(agent, model, 8);
  const auto play = [&](int steps) {
    for (int t = 0; t < steps; ++t) {
      for (Followed& unit : units) unit.take_step(agent, model);
    }
  };
  play(8'000);
  const std::size_t before = allocated();
  play(20'000);
  // A few plans came into force, which the history keeps: T and its errors.
  constexpr std::size_t kPlans = 16;
  const std::size_t plan = 2 * sizeof(double) * model.transition().values().size() + 256;
  EXPECT_LT(allocated(), before + kPlans * plan);
}

INSTANTIATE_TEST_SUITE_P(Agents, LiveMemoryTest, testing::Values("oas-ucrl-pooled", "oas-ucrl-ml"),
                         [](const auto& agent) {
                           return std::string(agent.param) == "oas-ucrl-ml" ? "likelihood"
                                                                            : "moments";
                         });

}  // namespace
}  // namespace oas
