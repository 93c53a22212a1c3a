#include "convert_policy.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "names.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/policies/plan_export.hpp"
#include "oas/planning/policies/policy_file.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Files {
  const std::string& input;
  const std::string& output;
  const Common& common;
};

void report(const Files& files, const Json& document, const std::string& text) {
  if (files.common.json) print_json(files.common, document);
  print(files.common, fmt::format("{}: {}\n", files.output, text));
}

// Other programs will run the file, and nobody but us knows what the plan was worth.
void warn_of_loss(const Files& files, const Plan& plan, const std::string& gain) {
  warn(files.common, fmt::format("{}: its gain is {}, while that of {} is at least {:.6g}",
                                 files.output, gain, files.input, plan.gain_lower));
}

void write_vectors(const Files& files, const Plan& plan) {
  const ExportedVectors made = while_shown(files.common, "making " + files.output, [&] {
    return export_vectors(plan, {}, files.common.parallelism());
  });
  write_alpha_policy(files.output, made.policy);
  if (made.worse_than(plan)) warn_of_loss(files, plan, made.gain.brief());
  report(files,
         {{"output", files.output},
          {"vectors", made.policy.num_vectors()},
          {"exact_where_reached", made.exact_where_reached},
          {"agreement", made.agreement},
          {"gain", made.gain.mean},
          {"half_width", made.gain.half_width},
          {"plan_gain_lower", plan.gain_lower},
          {"plan_gain_upper", plan.gain_upper},
          {"worse_than_plan", made.worse_than(plan)}},
         fmt::format("{}\n  {}; acts as the plan in {:.6g} % of fresh steps\n  gain {}, the plan "
                     "has [{:.6g}, {:.6g}]",
                     made.policy.brief(),
                     made.exact_where_reached ? "the plan's action at every belief that was reached"
                     : made.fitted            ? "not exact: the bias of a grid is not a maximum of "
                                                "vectors, so vectors were fitted"
                                              : "not exact: cut to the vectors used most often",
                     100.0 * made.agreement, made.gain.brief(), plan.gain_lower, plan.gain_upper));
}

void write_graph(const Files& files, const Plan& plan) {
  const ExportedGraph made =
      while_shown(files.common, "making " + files.output, [&] { return export_graph(plan); });
  write_policy_graph(files.output, made.graph);
  const bool exact = !made.of_met_beliefs && made.tolerance <= 1e-9;
  if (made.worse_than(plan)) warn_of_loss(files, plan, fmt::format("{:.6g}", made.value.gain));
  report(files,
         {{"output", files.output},
          {"nodes", made.graph.num_nodes()},
          {"exact", exact},
          {"tolerance", made.tolerance},
          {"start_node", 0},
          {"first_nodes", made.graph.first},
          {"gain", made.value.gain},
          {"plan_gain_lower", plan.gain_lower},
          {"plan_gain_upper", plan.gain_upper},
          {"worse_than_plan", made.worse_than(plan)}},
         fmt::format(
             "{}, start in {}\n  {}\n  gain {:.10g} (exact), the plan has [{:.6g}, "
             "{:.6g}]",
             made.graph.brief(), start_of_graph(0, made.graph.first, plan.model.observations()),
             exact ? "exact: a node for every belief that can be reached"
             : made.of_met_beliefs
                 ? "not exact: nodes for beliefs that runs of the plan meet, the nearest next"
                 : fmt::format("not exact: beliefs nearer than {:g} share a node", made.tolerance),
             made.value.gain, plan.gain_lower, plan.gain_upper));
}

void convert(const Files& files, const Plan& plan) {
  plan.require_endless("policies of other solvers never end");
  if (plan.iota > 0.0) {
    warn(files.common, fmt::format("{}: the floor of {:g} is left out; other solvers' policies "
                                   "have none",
                                   files.output, plan.iota));
  }
  policy_format_of(files.output) == PolicyFormat::graph ? write_graph(files, plan)
                                                        : write_vectors(files, plan);
}

void convert(const Files& files, const AlphaPolicy& policy) {
  OAS_REQUIRE(policy_format_of(files.output) != PolicyFormat::graph,
              "alpha-vectors do not say which node comes next; make the graph from a plan");
  write_alpha_policy(files.output, policy);
  report(files, {{"output", files.output}, {"vectors", policy.num_vectors()}}, policy.brief());
}

void convert(const Files& files, const PolicyGraph& graph) {
  OAS_REQUIRE(policy_format_of(files.output) == PolicyFormat::graph,
              "a policy graph has no vectors to write");
  write_policy_graph(files.output, graph);
  report(files, {{"output", files.output}, {"nodes", graph.num_nodes()}}, graph.brief());
}

}  // namespace

void convert_policy(const std::string& input, const std::string& output, const Common& common) {
  OAS_REQUIRE(
      is_foreign_policy(output),
      "{}: a policy is written as .alpha, .policy or .pg; a plan with its bounds comes from "
      "oas plan",
      output);
  OAS_REQUIRE(!names_model(input),
              "{}: this is a model; a policy for it starts with a plan: oas plan {} -o plan.json, "
              "then oas convert plan.json {}",
              input, input, output);
  const Files files{input, output, common};
  const AnyPolicy policy = read_any_policy(input);
  about_file(input, [&] { std::visit([&](const auto& value) { convert(files, value); }, policy); });
}

}  // namespace oas::cli
