#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/planning/policies/policy_graph.hpp"

/// parse_policy_graph on any text: it gives a valid graph whose text reads back equal, or throws
/// ParseError. A graph that fits a small model has a gain between its rewards, or stops.
namespace {

using namespace oas;  // NOLINT(google-build-using-namespace)

std::optional<PolicyGraph> parse(std::string_view text) {
  PolicyReadOptions options;
  options.max_numbers = 20'000;
  try {
    return parse_policy_graph(text, "text", options);
  } catch (const ParseError&) {
    return std::nullopt;
  }
}

// Two states, one of them kept by action 1; rewards from 0 to 1.
const Pomdp& small_model() {
  static const Pomdp model = [] {
    PomdpParts parts;
    parts.timing = Timing::after;
    parts.states = Labels(2, "state");
    parts.actions = Labels(2, "action");
    parts.observations = Labels(2, "observation");
    parts.transition = TransitionModel(2, 2, {0.5, 0.5, 0.25, 0.75, 0.5, 0.5, 0.0, 1.0});
    parts.sensors = ObservationModel(2, 2, 2, {0.75, 0.25, 0.0, 1.0, 0.5, 0.5, 0.5, 0.5});
    parts.reward = Reward::by_action_state({0.0, 1.0, 0.5, 0.25});
    return Pomdp(std::move(parts));
  }();
  return model;
}

void judge(const PolicyGraph& graph) {
  if (graph.num_nodes() > 200) return;
  try {
    const GraphEvaluation value = evaluate_graph(small_model(), graph);
    if (!(value.gain >= -1e-9 && value.gain <= 1.0 + 1e-9)) std::abort();
  } catch (const InvalidArgument&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = parse({reinterpret_cast<const char*>(data), size});
  if (!graph) return 0;
  graph->validate();
  const auto again = parse(policy_graph_to_text(*graph));
  if (!again || !(*again == *graph)) std::abort();
  judge(*graph);
  return 0;
}
