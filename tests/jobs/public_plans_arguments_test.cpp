// What plans and policies make of wrong arguments: InvalidArgument.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oas/planning/grid/belief_grid.hpp"
#include "oas/planning/horizon/horizon_plan.hpp"
#include "public_arguments.hpp"

namespace oas {
namespace {

using test::expect_all_refused;
using test::kInfinite;
using test::kNan;
using test::other_model;
using test::sample_model;
using test::with;

TEST(PublicArguments, Plans) {
  const Pomdp model = sample_model();
  const Pomdp other = other_model();
  const Plan plan = make_plan(model, with<PlanOptions>([](auto& o) { o.resolution = 6; }));
  const auto planned = [&](const auto& change) {
    PlanOptions options;
    change(options);
    (void)make_plan(model, options);
  };
  const auto changed = [&](const auto& change) {
    Plan wrong = plan;
    change(wrong);
    return wrong;
  };
  const Plan short_bias = changed([](Plan& p) { p.bias = GridBias{6, {1, 2}}; });
  const Plan infinite = changed([](Plan& p) { p.gain_upper = kInfinite; });
  Plan discounted = changed([](Plan& p) { p.discounted = DiscountedValue{kNan, 0.0, 1.0}; });
  Plan own = plan;
  LookAhead look_ahead(plan);
  std::vector<double> two(2);
  std::vector<double> three(3);
  PlanPolicy policy(plan);
  const SimulationOptions huge = {.replications = 1 << 20, .batches_per_replication = 1 << 20};
  expect_all_refused({
      {"make_plan: planner", [&] { planned([](auto& o) { o.planner = "best"; }); }},
      {"make_plan: iota", [&] { planned([](auto& o) { o.iota = 0.6; }); }},
      {"make_plan: NaN", [&] { planned([](auto& o) { o.iota = kNan; }); }},
      {"make_plan: grid", [&] { planned([](auto& o) { o.resolution = -1; }); }},
      {"make_plan: tolerance", [&] { planned([](auto& o) { o.span_tolerance = 0; }); }},
      {"make_plan: discount", [&] { planned([](auto& o) { o.discount = 1; }); }},
      {"make_plan: horizon", [&] { planned([](auto& o) { o.horizon = 0; }); }},
      {"make_plan: gap", [&] { planned([](auto& o) { o.gap = kNan; }); }},
      {"make_plan: limit", [&] { planned([](auto& o) { o.limit = "none=2"; }); }},
      {"require_average",
       [] { with<PlanOptions>([](auto& o) { o.discount = 0.5; }).require_average("it"); }},
      {"num_vectors", [] { (void)VectorBias().num_vectors(0); }},
      {"brief", [] { (void)VectorBias().brief(0); }},
      {"validate", [] { VectorBias{{1.0}}.validate(0); }},
      {"validate of a grid",
       [] {
         (GridBias{2, {1.0}}).validate(-1);
       }},
      {"require_endless",
       [&] {
         horizon_plan(model, with<HorizonOptions>([](auto& o) { o.steps = 2; }))
             .require_endless("it looks beyond");
       }},
      {"make_plan: unknown dynamics", [&] { (void)make_plan(model.without_transition()); }},
      {"plan_options",
       [&] {
         (void)plan_options(model, std::vector<Setting>{{"grid", "x"}});
       }},
      {"optimistic_plan", [&] { (void)optimistic_plan(model, 1.5); }},
      {"optimistic_plan: NaN", [&] { (void)optimistic_plan(model, kNan); }},
      {"certify: batches", [&] { certify(own, huge); }},
      {"certify: level", [&] { certify(own, {.level = kNan}); }},
      {"certify_discounted: average", [&] { certify_discounted(own, {}); }},
      {"certify_discounted: NaN", [&] { certify_discounted(discounted, {}); }},
      {"resample_bias", [&] { (void)resample_bias(two, BeliefGrid(3, 2), BeliefGrid(3, 4)); }},
      {"plan_to_json: bias", [&] { (void)plan_to_json(short_bias); }},
      {"plan_to_json: gain", [&] { (void)plan_to_json(infinite); }},
      {"write_plan", [&] { write_plan("/nowhere/p.json", short_bias); }},
      {"parse_plan", [] { (void)parse_plan("{}", "p.json"); }},
      {"read_plan", [] { (void)read_plan("/nowhere/p.json"); }},
      {"LookAhead", [&] { LookAhead{short_bias}; }},
      {"action_values: belief", [&] { look_ahead.action_values(two, two); }},
      {"action_values: room", [&] { look_ahead.action_values(three, three); }},
      {"greedy", [&] { (void)look_ahead.greedy(two); }},
      {"bias", [&] { (void)look_ahead.bias(two); }},
      {"PlanPolicy: plan", [&] { PlanPolicy{short_bias}; }},
      {"PlanPolicy: model", [&] { (void)PlanPolicy(plan, other); }},
      {"greedy policy", [&] { (void)PlanPolicy::greedy(short_bias); }},
      {"begin", [&] { policy.begin(Observation{0}); }},
      {"observe", [&] { policy.observe(Observation{4}); }},
      {"evaluate_on_chain: sizes", [&] { (void)evaluate_on_chain(other, plan, model); }},
      {"evaluate_on_chain: options",
       [&] { (void)evaluate_on_chain(model, plan, model, {.max_sweeps = 0}); }},
      {"evaluate_by_simulation: sizes", [&] { (void)evaluate_by_simulation(model, plan, other); }},
      {"evaluate_by_simulation: steps",
       [&] { (void)evaluate_by_simulation(model, plan, model, {.steps = 3}); }},
      {"batch_means_interval: none", [] { (void)batch_means_interval({}, 1, 0.9); }},
      {"batch_means_interval: replications", [&] { (void)batch_means_interval(two, 0, 0.9); }},
      {"batch_means_interval: level", [&] { (void)batch_means_interval(two, 1, kNan); }},
  });
  EXPECT_EQ(own, plan);
}

TEST(PublicArguments, PoliciesOfOthers) {
  const Pomdp model = sample_model(Timing::after);
  const AlphaPolicy alpha{3, 1, {0, 1}, {0, 0}, {1, 0, 0, 0, 1, 0}};
  const AlphaPolicy cut{3, 1, {0, 1}, {0, 0}, {1, 0, 0}};
  const AlphaPolicy action{3, 1, {2}, {0}, {1, 0, 0}};
  const AlphaPolicy seen{2, 2, {0, 0}, {0, 1}, {1, 0, 0, 1}};
  const PolicyGraph graph{4, {0, 1}, {0, 0, 1, 1, 0, 0, 1, 1}};
  const PolicyGraph torn{4, {0, 1}, {0, 0, 1}};
  const PolicyGraph astray{4, {0}, {0, 0, 7, 0}};
  AlphaActions actions(alpha, model);
  GraphAgent agent(graph, 0);
  std::vector<double> two(2);
  expect_all_refused({
      {"parse_alpha", [] { (void)parse_alpha("x", "p.alpha"); }},
      {"parse_appl_policy", [] { (void)parse_appl_policy("<", "p.policy"); }},
      {"parse_policy_graph", [] { (void)parse_policy_graph("0", "p.pg"); }},
      {"check_fits", [&] { graph.check_fits(other_model()); }},
      {"vector", [&] { (void)alpha.vector(2); }},
      {"vector: negative", [&] { (void)alpha.vector(-1); }},
      {"vector: not there", [&] { (void)cut.vector(1); }},
      {"alpha_to_text", [&] { (void)alpha_to_text(cut); }},
      {"appl_policy_to_text", [&] { (void)appl_policy_to_text(cut); }},
      {"write_alpha_policy", [&] { write_alpha_policy("a.pg", alpha); }},
      {"AlphaActions: cut", [&] { (void)AlphaActions(cut, model); }},
      {"AlphaActions: action", [&] { (void)AlphaActions(action, model); }},
      {"AlphaActions: states", [&] { (void)AlphaActions(alpha, other_model()); }},
      {"AlphaActions: split",
       [&] {
         AlphaActions(seen, model, {2, 2, {0, 1}, {0, 1}});
       }},
      {"AlphaActions: a part that is not",
       [&] {
         AlphaActions(seen, model, {2, 2, {0, 1, 5}, {0, 1, 0}});
       }},
      {"AlphaActions at", [&] { (void)actions(two); }},
      {"next_node: node", [&] { (void)graph.next_node(2, Observation{0}); }},
      {"next_node: observation", [&] { (void)graph.next_node(0, Observation{4}); }},
      {"policy_graph_to_text", [&] { (void)policy_graph_to_text(torn); }},
      {"write_policy_graph", [&] { write_policy_graph("a.alpha", graph); }},
      {"GraphAgent: torn", [&] { (void)GraphAgent(torn, 0); }},
      {"GraphAgent: astray", [&] { (void)GraphAgent(astray, 0); }},
      {"GraphAgent: node", [&] { (void)GraphAgent(graph, 2); }},
      {"observe", [&] { agent.observe(Observation{4}); }},
      {"begin", [&] { agent.begin(Observation{-2}); }},
      {"evaluate_graph", [&] { (void)evaluate_graph(model, torn); }},
      {"evaluate_graph: node", [&] { (void)evaluate_graph(model, graph, 2); }},
      {"start_node_by_vectors", [&] { (void)start_node_by_vectors(astray, alpha, model); }},
      {"parse_any_policy", [] { (void)parse_any_policy("", "p.alpha"); }},
      {"read_any_policy", [] { (void)read_any_policy("/nowhere/p.pg"); }},
      {"policy_format_of", [] { (void)policy_format_of("p.txt"); }},
      {"horizon_plan",
       [&] { (void)horizon_plan(model, with<HorizonOptions>([](auto& o) { o.steps = 0; })); }},
  });
}

}  // namespace
}  // namespace oas
