#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "oas/planning/plan.hpp"
#include "oas/planning/policies/alpha_policy.hpp"
#include "oas/planning/policies/policy_graph.hpp"

/// Policy files of all formats: oas-plan/1 (.json), .alpha and .pg of pomdp-solve, .policy of APPL.
namespace oas {

enum class PolicyFormat { plan, alpha, graph, appl };

/// The format that the ending of a name says (.json, .alpha, .pg, .policy or .policyx), in capitals
/// or not. Throws InvalidArgument that lists the known endings.
[[nodiscard]] PolicyFormat policy_format_of(const std::string& path);
/// Whether the ending is that of a policy of others: .alpha, .pg, .policy, .policyx.
[[nodiscard]] bool is_foreign_policy(const std::string& path);

using AnyPolicy = std::variant<Plan, AlphaPolicy, PolicyGraph>;

/// Reads a policy in the format that its first character tells: { is a plan, < is APPL's, anything
/// else what the ending of `file` says. Throws as the readers do.
[[nodiscard]] AnyPolicy parse_any_policy(std::string_view text, const std::string& file,
                                         const PolicyReadOptions& options = {});
[[nodiscard]] AnyPolicy read_any_policy(const std::string& path,
                                        const PolicyReadOptions& options = {});

/// Writes .alpha or .policy, as the ending says; the file appears complete or not at all.
void write_alpha_policy(const std::string& path, const AlphaPolicy& policy);
/// Writes .pg.
void write_policy_graph(const std::string& path, const PolicyGraph& graph);

}  // namespace oas
