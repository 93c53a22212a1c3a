#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/planning/policies/policy_graph.hpp"

namespace oas {

/// A policy with finitely many states of its own: in node n it takes action a with probability
/// π(a|n), and the observation that comes with it leads to node next(n,a,o). Constant actions,
/// schedules, functions of the last row and policy graphs are all of this kind, and in a known
/// model all that can be asked about it has an exact answer.
struct Controller {
  static constexpr int kNone = PolicyGraph::kNone;  ///< no next node: cannot come here

  int num_actions = 0;
  int num_observations = 0;
  std::vector<double> probabilities;  ///< [N][A]
  std::vector<int> next;              ///< [N][A][O], a node or kNone
  int start = 0;                      ///< the first node
  /// [O]: the first node after each first reading, where rows are reading-first, or kNone. Empty:
  /// `start`, whatever is read.
  std::vector<int> first;

  [[nodiscard]] int num_nodes() const {
    return num_actions == 0 ? 0 : static_cast<int>(probabilities.size()) / num_actions;
  }
  [[nodiscard]] double probability(int node, Action action) const {
    return probabilities[static_cast<std::size_t>(node * num_actions + action)];
  }
  [[nodiscard]] int next_node(int node, Action action, Observation observation) const {
    return next[static_cast<std::size_t>((node * num_actions + action) * num_observations +
                                         observation)];
  }
  /// Throws InvalidArgument naming the part and the value.
  void validate() const;
  /// The same, and unless the actions and observations are the model's.
  void check_fits(const Pomdp& model) const;

  friend bool operator==(const Controller&, const Controller&) = default;
};

/// A pair of the controller's node and the state, node · S + state, in which a run may start.
struct StartPair {
  std::size_t pair = 0;
  double probability = 0.0;
};

/// Where the runs of a model start under a controller: the law has probability above 0 and comes in
/// ascending order of pairs. Throws InvalidArgument where a first reading that can come has no
/// node, and where the controller has nodes for such readings but the model has none.
[[nodiscard]] std::vector<StartPair> start_law(const Pomdp& model, const Controller& controller);

/// A graph that starts in one of its nodes.
[[nodiscard]] Controller controller_of(const PolicyGraph& graph, int start, int num_actions);

/// These actions one after the other and again, whatever is seen; one action is a constant policy.
/// Throws InvalidArgument when there is none or one that the model has not.
[[nodiscard]] Controller schedule_controller(std::span<const Action> schedule, const Pomdp& model);

/// Every action with the same probability, always.
[[nodiscard]] Controller uniform_controller(const Pomdp& model);

/// A function of the last row: `given` [A][O][A] are the probabilities of the next action given the
/// last action and observation, `first` [A] those of the first one. Node a·O + o stands after the
/// row (a, o), node A·O at the start. `first_given` [O][A], of a model whose rows are
/// reading-first: the same for the first action given the first reading; node A·O + 1 + o stands
/// after that. Throws InvalidArgument on what is no distribution.
[[nodiscard]] Controller last_row_controller(std::span<const double> given,
                                             std::span<const double> first, const Pomdp& model,
                                             std::span<const double> first_given = {});

/// What a controller does to a model in the long run: exact.
struct ControllerValue {
  double gain = 0.0;                ///< average reward from the model's start
  std::vector<double> frequencies;  ///< [S]: share of the steps whose action is taken in s
  std::size_t num_pairs = 0;        ///< (node, state) that can be reached
  int num_classes = 0;              ///< closed classes among them; the long run ends in one
  double residual = 0.0;            ///< relative error of linear systems; 0: laws settled
};

/// Solves the chain on (node, state), P((n,s) → (n',s')) = Σ_a π(a|n) Σ_{o: next = n'} K_a^o(s,s').
/// by its laws where they settle to 1e-12, else by linear systems.
/// Where it has several closed classes, gain and frequencies are means over where the model's start
/// may lead: single runs end in one of them. Throws InvalidArgument when sizes differ, beyond
/// kMaxGraphPairs pairs, and when an observation that can come has no next node (naming both).
[[nodiscard]] ControllerValue evaluate_controller(const Pomdp& truth, const Controller& controller);

/// The same for the discounted sum from the model's start, by the laws of that chain until γ^t is
/// below 1e-12 of their sum: gain is Σ_t γ^t E[r_t], frequencies are the discounted shares (1 - γ)
/// Σ_t γ^t P(s_t = s); num_classes and residual stay 0. Throws as evaluate_controller() does, and
/// unless 0 < γ < 1.
[[nodiscard]] ControllerValue evaluate_discounted(const Pomdp& truth, const Controller& controller,
                                                  double discount);

}  // namespace oas
