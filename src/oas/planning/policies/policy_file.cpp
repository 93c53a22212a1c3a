#include "oas/planning/policies/policy_file.hpp"

#include <algorithm>
#include <optional>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"

namespace oas {

namespace {

std::optional<PolicyFormat> known_policy_ending(const std::string& path) {
  const auto has = [&](std::string_view ending) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return path.size() > ending.size() && std::equal(ending.rbegin(), ending.rend(), path.rbegin(),
                                                     [&](char x, char y) { return x == lower(y); });
  };
  if (has(".json")) return PolicyFormat::plan;
  if (has(".alpha")) return PolicyFormat::alpha;
  if (has(".pg")) return PolicyFormat::graph;
  if (has(".policy") || has(".policyx")) return PolicyFormat::appl;
  return std::nullopt;
}

}  // namespace

PolicyFormat policy_format_of(const std::string& path) {
  const auto format = known_policy_ending(path);
  OAS_REQUIRE(format.has_value(),
              "{}: the ending gives the format of a policy; known are .json, .alpha, .pg and "
              ".policy",
              path);
  return *format;
}

bool is_foreign_policy(const std::string& path) {
  return known_policy_ending(path).value_or(PolicyFormat::plan) != PolicyFormat::plan;
}

AnyPolicy parse_any_policy(std::string_view text, const std::string& file,
                           const PolicyReadOptions& options) {
  const auto first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const char c = first == std::string_view::npos ? '\0' : text[first];
  const PolicyFormat format = c == '{'   ? PolicyFormat::plan
                              : c == '<' ? PolicyFormat::appl
                                         : policy_format_of(file);
  switch (format) {
    case PolicyFormat::alpha:
      return parse_alpha(text, file, options);
    case PolicyFormat::graph:
      return parse_policy_graph(text, file, options);
    case PolicyFormat::appl:
      return parse_appl_policy(text, file, options);
    case PolicyFormat::plan:
      break;
  }
  return parse_plan(text, file);
}

AnyPolicy read_any_policy(const std::string& path, const PolicyReadOptions& options) {
  return parse_any_policy(read_text_file(path), path, options);
}

void write_alpha_policy(const std::string& path, const AlphaPolicy& policy) {
  const PolicyFormat format = policy_format_of(path);
  OAS_REQUIRE(format == PolicyFormat::alpha || format == PolicyFormat::appl,
              "{}: alpha-vectors are written to .alpha and .policy files", path);
  write_text_file(
      path, format == PolicyFormat::alpha ? alpha_to_text(policy) : appl_policy_to_text(policy));
}

void write_policy_graph(const std::string& path, const PolicyGraph& graph) {
  OAS_REQUIRE(policy_format_of(path) == PolicyFormat::graph,
              "{}: policy graphs are written to .pg files", path);
  write_text_file(path, policy_graph_to_text(graph));
}

}  // namespace oas
