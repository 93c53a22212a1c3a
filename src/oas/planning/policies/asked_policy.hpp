#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oas/planning/policies/belief_rule.hpp"
#include "oas/planning/policies/controller.hpp"
#include "oas/planning/policies/policy_file.hpp"

namespace oas {

/// A policy that somebody asks about: "what if we did that?"
struct AskedPolicy {
  std::string name;  ///< as it was asked for
  std::variant<Controller, BeliefRule> acts;
  /// The controller's node after a row (a, o) is a·O + o: it can go on where a log ends.
  bool by_last_row = false;
  std::string note;  ///< how it was made; empty: nothing to say
};

/// Most nodes of the controller that stands for a policy on beliefs.
inline constexpr int kMostBeliefNodes = 1000;

/// Whether a text is a policy written out, and not the name of a file: constant:…, schedule:…,
/// threshold:…, log:… or uniform.
[[nodiscard]] bool is_policy_text(std::string_view text);

/// Reads such a text, log:… apart; actions and states are those of `model`, which also keeps the
/// belief of thresholds:
///   uniform                                     every action with the same probability
///   constant:run                                always this action
///   schedule:run,run,repair                     these in turn, again and again
///   threshold:failed>0.3=repair,else=run        the action of the first condition that holds;
///                                               worn+failed>0.5 adds up probabilities
/// Throws InvalidArgument that names the part and what is expected.
[[nodiscard]] AskedPolicy parse_policy_text(const std::string& text, const Pomdp& model);

/// A policy of a file for use in `model`: plans keep beliefs with their own model, α-vectors with
/// this one, graphs start in the node that is best in it. Throws InvalidArgument where it does not
/// fit.
[[nodiscard]] AskedPolicy asked_policy(const AnyPolicy& policy, const std::string& name,
                                       const Pomdp& model);

/// The controller of a policy from the start of a model that it is used in, and for a policy on
/// beliefs how near they share a node.
struct StartedPolicy {
  Controller controller;
  double tolerance = 0.0;  ///< 0: exact
};
[[nodiscard]] StartedPolicy started(const AskedPolicy& policy);

}  // namespace oas
