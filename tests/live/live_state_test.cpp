#include "oas/live/detail/live_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "live/live_fleet.hpp"
#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/learning/agents.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/environment.hpp"

namespace oas::detail {
namespace {

LiveOptions learner_options() {
  LiveOptions options = test::quick_options("unused");
  options.agent = "oas-ucrl-ml";
  return options;
}

// A state, told by records as a journal tells it.
class Told {
 public:
  explicit Told(const Pomdp& model) : model_(model), state_(LiveModel(model), learner_options()) {}

  void begin(const std::string& name) { apply(state_.begin_record(name)); }
  void end(const std::string& name) {
    JournalRecord record = about(name, JournalKind::end);
    apply(record);
  }
  // A row whose action somebody else chose.
  void row(const std::string& name, Action action, Observation observation) {
    JournalRecord record = about(name, JournalKind::observe);
    record.row = {action, 1.0, true, observation, {}, {}};
    apply(record);
  }
  // A plan that holds these dynamics to be true.
  void plan(const TransitionModel& transition) {
    const std::size_t entries = transition.values().size();
    LivePlan plan;
    plan.number = state_.plans() + 1;
    plan.rows = state_.rows();
    plan.transition = plan.estimate = transition;
    plan.counts.assign(entries, 1.0);
    plan.bias.assign(grid_points(), 0.0);
    JournalRecord record;
    record.kind = JournalKind::plan;
    record.text = plan.to_bytes();
    apply(record);
  }
  [[nodiscard]] const LiveState& state() const { return state_; }
  [[nodiscard]] LiveState& state() { return state_; }
  [[nodiscard]] const LiveUnit& unit(const std::string& name) const { return *state_.find(name); }

 private:
  [[nodiscard]] JournalRecord about(const std::string& name, JournalKind kind) const {
    JournalRecord record;
    record.kind = kind;
    record.run = unit(name).run;
    record.step = unit(name).step;
    return record;
  }
  void apply(const JournalRecord& record) {
    state_.apply(record, false, fed_);
    fed_.clear();
  }
  [[nodiscard]] std::size_t grid_points() const {
    const LiveOptions options = learner_options();
    return split_agent(options.agent, model_, options.settings).controller.grid().size();
  }

  Pomdp model_;
  LiveState state_;
  std::vector<LearnerRow> fed_;
};

// Three states, two actions, sensors that tell next to nothing.
Pomdp nearly_blind(std::vector<double> transition, Timing timing) {
  PomdpParts parts;
  parts.timing = timing;
  parts.states = Labels(3, "x");
  parts.actions = Labels(2, "x");
  parts.observations = Labels(3, "x");
  parts.transition = TransitionModel(3, 2, std::move(transition), "transition");
  constexpr double kMore = 0.334;
  constexpr double kLess = 0.333;
  std::vector<double> sensors;
  for (int a = 0; a < 2; ++a) {
    for (int s = 0; s < 3; ++s) {
      for (int o = 0; o < 3; ++o) sensors.push_back(s == o ? kMore : kLess);
    }
  }
  parts.sensors = ObservationModel(3, 2, 3, std::move(sensors), "observation");
  parts.start = {1.0, 0.0, 0.0};
  parts.reward = Reward::by_observation({0.0, 0.5, 1.0});
  return Pomdp(std::move(parts));
}

Pomdp cycle(Timing timing) {
  const std::vector<double> around = {0, 1, 0, 0, 0, 1, 1, 0, 0};
  std::vector<double> both = around;
  both.insert(both.end(), around.begin(), around.end());
  return nearly_blind(std::move(both), timing);
}

// It stays in the state in which it is, for ever.
Pomdp lasting(Timing timing) {
  const std::vector<double> stays = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::vector<double> both = stays;
  both.insert(both.end(), stays.begin(), stays.end());
  return nearly_blind(std::move(both), timing);
}

double largest_difference(std::span<const double> a, std::span<const double> b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// However long ago a unit showed in which state it is, new plans of the same dynamics leave its
// belief what it was.
TEST(LiveState, NewPlansForgetNothingThatIsKnownSinceLongAgo) {
  constexpr int kRows = 3000;
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const Pomdp& model : {cycle(timing), lasting(timing)}) {
      for (const int first_plan : {10, 511, 700, 1030, 2100}) {
        Told told(model);
        told.begin("a");
        BeliefFilter exact(model);
        Environment environment(model, Rng({1, 0, Role::environment}));
        int plans = 0;
        for (int t = 0; t < kRows; ++t) {
          if (t == first_plan || (t > first_plan && t % 431 == 0)) {
            told.plan(model.transition());
            ++plans;
          }
          const Action action{t % 2};
          const Observation seen = environment.step(action).observation;
          told.row("a", action, seen);
          exact.update(action, seen);
          if (plans == 0) continue;
          ASSERT_LT(largest_difference(told.unit("a").belief, exact.belief()), 1e-9) << t;
        }
        EXPECT_LT(largest_difference(told.unit("a").watch.belief, exact.belief()), 1e-9);
        EXPECT_LT(told.unit("a").window.rows(), 2 * BeliefWindow::kStretch);
      }
    }
  }
}

// Plans whose dynamics differ a little from each other: all of them together cost a belief that
// reaches back beyond the kept rows no more than they differ, and idle units as much as others.
TEST(LiveState, DoubtIsInProportionToHowFarPlansAreApart) {
  constexpr double kApart = 0.01;
  const Pomdp model = lasting(Timing::after);
  const TransitionModel other = mixed_with_uniform(model.transition(), 1.5 * kApart);
  for (const bool idle : {false, true}) {
    Told told(model);
    told.begin("a");
    double drift = 0.0;
    int plans = 0;
    for (int t = 0; t < 8000; ++t) {
      if (t % 700 == 699) {
        told.plan(plans % 2 == 0 ? model.transition() : other);
        if (plans++ > 0) drift += kApart;
      }
      if (!idle || t < 2000 || t == 7999) told.row("a", Action{0}, Observation{0});
    }
    told.plan(model.transition());
    drift += plans % 2 == 0 ? kApart : 0.0;
    told.row("a", Action{0}, Observation{0});
    EXPECT_NEAR(told.unit("a").drift, drift, 1e-12);
    // Under `other` it leaves the state now and then, which is no doubt; a state that no plan ever
    // left is still believed in.
    EXPECT_GT(told.unit("a").belief[0], 0.3);
  }
}

// Where a run is not longer than what is kept, its belief is the exact one.
TEST(LiveState, ShortRunsAreFilteredExactlyUnderANewPlan) {
  const Pomdp model = make_problem("network-link");
  Told told(model);
  told.begin("a");
  BeliefFilter exact(model);
  Environment environment(model, Rng({1, 0, Role::environment}));
  for (int t = 0; t < 600; ++t) {
    if (t % 97 == 20) told.plan(model.transition());
    const Action action{t % model.num_actions()};
    const Observation seen = environment.step(action).observation;
    told.row("a", action, seen);
    exact.update(action, seen);
  }
  EXPECT_LT(largest_difference(told.unit("a").belief, exact.belief()), 1e-12);
}

// What was believed under dynamics that ruled a state out is no proof under others.
TEST(LiveState, ANewPlanMayContradictTheOldOne) {
  const Pomdp model = lasting(Timing::before);
  Told told(model);
  told.begin("a");
  told.plan(model.transition());
  for (int t = 0; t < 1500; ++t) told.row("a", Action{0}, Observation{t % 3});
  const Pomdp other = cycle(Timing::before);
  told.plan(other.transition());
  told.row("a", Action{0}, Observation{0});
  for (const double p : told.unit("a").belief) EXPECT_GT(p, 1e-5);
}

std::string bytes_of(const LiveState& state) {
  ByteWriter out;
  state.save(out);
  return out.take();
}

// Calls go on while a snapshot is taken; what is saved is what was there when it was begun.
TEST(LiveState, ASnapshotIsOfTheMomentAtWhichItWasBegun) {
  const Pomdp model = cycle(Timing::after);
  Told told(model);
  Rng rng({3, 0, Role::test});
  const auto name = [](std::uint32_t i) { return "u" + std::to_string(i); };
  constexpr std::uint32_t kUnits = 100;
  for (std::uint32_t i = 0; i < kUnits; ++i) told.begin(name(i));
  const auto go_on = [&](int calls) {
    for (int i = 0; i < calls; ++i) {
      const std::string unit = name(rng.below(kUnits));
      if (told.unit(unit).ended) told.begin(unit);
      told.row(unit, Action{static_cast<int>(rng.below(2))}, Observation{0});
      if (rng.below(5) == 0) told.end(unit);
    }
  };
  for (int snapshot = 0; snapshot < 5; ++snapshot) {
    go_on(300);
    told.plan(model.transition());
    go_on(300);
    const std::string now = bytes_of(told.state());
    told.state().begin_save();
    do {
      go_on(static_cast<int>(rng.below(40)));
      told.begin("new " + std::to_string(rng.below(1u << 30)));
    } while (!told.state().save_some_units());
    go_on(10);
    ByteWriter saved;
    saved.put_text(told.state().take_saved()->bytes());
    const std::string bytes = saved.take();
    LiveState loaded = told.state().fresh();
    ByteReader in(bytes);
    loaded.load(in);
    ASSERT_EQ(bytes_of(loaded), now);
  }
}

TEST(LiveState, WhatIsSavedComesBackToTheBit) {
  const Pomdp model = cycle(Timing::after);
  Told told(model);
  Environment environment(model, Rng({1, 0, Role::environment}));
  for (const char* unit : {"a", "b", "c"}) told.begin(unit);
  for (int t = 0; t < 2300; ++t) {
    if (t % 700 == 600) told.plan(model.transition());
    for (const char* unit : {"a", "b"}) {
      const Action action{t % 2};
      told.row(unit, action, environment.step(action).observation);
    }
    if (t == 1000) told.end("c");
  }
  const std::string saved = bytes_of(told.state());
  LiveState loaded = told.state().fresh();
  ByteReader in(saved);
  loaded.load(in);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(bytes_of(loaded), saved);
  EXPECT_EQ(loaded.history().points().size(), 3u);
}

// Units come and go for years: those that ended first are forgotten, and everybody is taken.
TEST(LiveState, OfUnitsThatEndedTheLastAreRemembered) {
  const Pomdp model = make_problem("machine-maintenance");
  Told told(model);
  told.begin("old");
  told.begin("stays");
  const auto come_and_go = [&](const std::string& name) {
    told.begin(name);
    told.end(name);
  };
  come_and_go("early");
  for (std::size_t i = 0; i < LiveState::kEndedNames - 1; ++i) {
    come_and_go("u" + std::to_string(i));
  }
  EXPECT_NE(told.state().find("early"), nullptr);
  told.end("old");  // its run began before all others
  EXPECT_NE(told.state().find("old"), nullptr);
  EXPECT_EQ(told.state().find("early"), nullptr);
  EXPECT_NE(told.state().find("stays"), nullptr);
  EXPECT_EQ(told.state().units().size(), LiveState::kEndedNames + 1);
  told.begin("u0");
  EXPECT_EQ(told.unit("u0").runs, 2);
  told.begin("early");
  EXPECT_EQ(told.unit("early").runs, 1);
  const std::string saved = bytes_of(told.state());
  LiveState loaded = told.state().fresh();
  ByteReader in(saved);
  loaded.load(in);
  EXPECT_EQ(bytes_of(loaded), saved);
}

// A unit whose namesake was forgotten does not repeat its draws.
TEST(LiveState, ANamesakeDrawsAnew) {
  const Pomdp model = make_problem("machine-maintenance");
  Told told(model);
  const auto draws = [&] {
    std::vector<int> actions;
    LiveUnit unit = told.unit("a");
    for (unit.step = 0; unit.step < 60; ++unit.step) {
      actions.push_back(told.state().choose(unit, nullptr).action);
    }
    return actions;
  };
  told.begin("a");
  const std::vector<int> before = draws();
  told.end("a");
  for (std::size_t i = 0; i < LiveState::kEndedNames; ++i) {
    told.begin("u");
    told.end("u");
    told.begin("v" + std::to_string(i));
    told.end("v" + std::to_string(i));
  }
  ASSERT_EQ(told.state().find("a"), nullptr);
  told.begin("a");
  ASSERT_EQ(told.unit("a").runs, 1);
  EXPECT_NE(draws(), before);
}

TEST(LiveHistory, ManyPlansTakeNoMoreThanTheirPlace) {
  const TransitionModel uniform = TransitionModel::uniform(2, 2);
  LiveHistory history(1);
  for (int n = 1; n <= 1000; ++n) {
    LivePlan plan;
    plan.number = n;
    plan.estimate = uniform;
    history.add(plan);
  }
  EXPECT_GE(history.points().size(), 8u);
  EXPECT_LE(history.points().size(), 16u);
  EXPECT_EQ(history.points().front()->plan, 1);
  EXPECT_EQ(history.points().back()->plan, 1000);
}

}  // namespace
}  // namespace oas::detail
