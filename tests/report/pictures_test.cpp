#include <fmt/format.h>
#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/figures/axis.hpp"
#include "oas/planning/planner.hpp"
#include "oas/problems/named.hpp"
#include "oas/report/belief_figure.hpp"
#include "oas/report/policy_figure.hpp"
#include "oas/report/transition_figure.hpp"
#include "support/random_models.hpp"

/// Pictures of dynamics and policies.
namespace oas {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TransitionEstimate estimate_of(const Pomdp& model) {
  TransitionEstimate estimate;
  estimate.transition = model.transition();
  for (const double p : model.transition().values()) {
    estimate.lower.push_back(std::max(0.0, p - 0.04));
    estimate.upper.push_back(std::min(1.0, p + 0.04));
  }
  return estimate;
}

TEST(TransitionMatrix, ShowsNumbersLimitsAndWhatIsNotKnown) {
  const Pomdp model = make_problem("machine-maintenance");
  TransitionEstimate estimate = estimate_of(model);
  estimate.flag(Action{0}, State{2}, "never seen");
  const std::string svg = transition_matrix_svg(model, estimate, Action{0});
  EXPECT_EQ(count(svg, "<title>"), 16U);
  EXPECT_EQ(count(svg, "not determined"), 1U);
  const double p = model.transition()(Action{0}, State{0}, State{0});
  EXPECT_THAT(svg, testing::HasSubstr(fmt::format(">{:.3f}<", p)));
  EXPECT_THAT(svg, testing::HasSubstr(fmt::format("{:.3f} – {:.3f}", p - 0.04, p + 0.04)));
  EXPECT_EQ(count(transition_matrix_svg(model, std::nullopt, Action{0}), " – "), 0U);
}

// An arrow where the transition is sure to be there; none for what may be impossible.
TEST(StateGraph, LeavesOutWhatMayBeImpossible) {
  const Pomdp model = make_problem("corner/wear-repair");
  const auto values = model.transition().values();
  const auto states = static_cast<std::size_t>(model.num_states());
  std::size_t sure = 0;
  for (std::size_t e = 0; e < states * states; ++e)
    sure += static_cast<std::size_t>(values[e] >= 0.01);
  const std::string exact = state_graph_svg(model, std::nullopt, Action{0});
  // Lines of arrows and rings of states that last.
  EXPECT_EQ(count(exact, "fill=\"none\" stroke=\"#0072B2\""), sure);
  TransitionEstimate unsure = estimate_of(model);
  unsure.lower.assign(values.size(), 0.0);
  EXPECT_LE(count(state_graph_svg(model, unsure, Action{0}), "<path"), count(exact, "<path"));
}

TEST(DateTicks, AreRoundAndFew) {
  constexpr double kDay = 86400.0;
  constexpr double kMarch = 20513.0 * kDay;  // 2026-03-01
  EXPECT_EQ(date_ticks(kMarch, kMarch + 6.0 * kDay).front().label, "2026-03-01");
  EXPECT_EQ(date_ticks(kMarch + 1.0, kMarch + 3600.0 * 20).front().label, "03-01 03:00");
  EXPECT_EQ(date_ticks(-kDay, 0.0).front().label, "12-31 00:00");
  EXPECT_EQ(date_ticks(kMarch, kMarch).size(), 1U);
  for (double length = 60.0; length < 1e10; length *= 1.7) {
    const std::vector<Tick> ticks = date_ticks(kMarch + 17.0, kMarch + 17.0 + length);
    EXPECT_LE(ticks.size(), 9U) << length;
    EXPECT_GE(ticks.size(), 1U) << length;
    for (const Tick& tick : ticks) {
      EXPECT_GE(tick.value, kMarch + 17.0);
      EXPECT_LE(tick.value, kMarch + 17.0 + length);
    }
  }
  EXPECT_TRUE(date_ticks(0.0, 1e300).empty());
}

TEST(BeliefHistory, ShowsTimesWhereThereAreSome) {
  const Pomdp model = make_problem("corner/wear-repair");
  const auto states = static_cast<std::size_t>(model.num_states());
  UnitHistory unit{"pump",
                   0,
                   std::vector<Action>(48, Action{0}),
                   std::vector<double>(49 * states, 1.0 / static_cast<double>(states)),
                   {},
                   false};
  EXPECT_THAT(belief_history_svg(model, {{unit}}), testing::HasSubstr(">20<"));
  for (int hour = 0; hour < 48; ++hour) unit.times.push_back(20513.0 * 86400.0 + 3600.0 * hour);
  unit.dates = true;
  EXPECT_THAT(belief_history_svg(model, {{unit}}), testing::HasSubstr(">03-02 00:00<"));
  unit.dates = false;
  for (double& time : unit.times) time = (time - 20513.0 * 86400.0) / 36.0;
  EXPECT_THAT(belief_history_svg(model, {{unit}}), testing::HasSubstr(">2000<"));
}

TEST(StateGraph, EndsAtTenStates) {
  for (const int states : {1, 2, 10, 11}) {
    test::RandomModelOptions options;
    options.num_states = states;
    options.num_observations = states + 1;
    const Pomdp model = test::random_model(options, 3);
    EXPECT_EQ(state_graph_svg(model, std::nullopt, Action{0}).empty(), states > kMostGraphStates);
  }
  EXPECT_THROW(static_cast<void>(state_graph_svg(make_problem("pest-control").without_transition(),
                                                 std::nullopt, Action{0})),
               InvalidArgument);
}

// Shares of all beliefs sum to 1, each action keeps its commonest ones.
TEST(VisitedBeliefs, AreThoseOfThePlan) {
  const Plan plan = make_plan(make_problem("pest-control"), {}, {});
  double sum = 0.0;
  for (const VisitedBelief& visited : visited_beliefs(plan, 1, 1'000'000)) {
    sum += visited.share;
    double belief = 0.0;
    for (const double p : visited.belief) belief += p;
    EXPECT_NEAR(belief, 1.0, 1e-9);
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
  const auto few = visited_beliefs(plan, 1, 1);
  EXPECT_LE(few.size(), 2U);
  EXPECT_EQ(count(policy_svg(plan.model, few), "% of the time"), few.size());
}

}  // namespace
}  // namespace oas
