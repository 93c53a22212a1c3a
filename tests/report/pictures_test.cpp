#include <fmt/format.h>
#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/planning/planner.hpp"
#include "oas/problems/named.hpp"
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
