#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/planning/policies/alpha_policy.hpp"

/// Finite controllers: pomdp-solve's policy graphs, .pg files (docs/reference/formats.md).
namespace oas {

/// A node says which action to take, and the observation that comes with it which node is next. No
/// belief is kept, so a graph means the same in both timings.
struct PolicyGraph {
  static constexpr int kNone = -1;  ///< no next node: the observation cannot come here

  int num_observations = 0;
  std::vector<int> actions;  ///< [N]
  std::vector<int> next;     ///< [N][O], a node or kNone
  /// [O]: the node to start in after each first reading, where rows are reading-first, or kNone.
  /// Empty: one node, whatever is read. Files hold neither.
  std::vector<int> first = {};

  [[nodiscard]] int num_nodes() const { return static_cast<int>(actions.size()); }
  /// Throws InvalidArgument when there is no such node or observation.
  [[nodiscard]] int next_node(int node, Observation observation) const {
    OAS_REQUIRE(
        node >= 0 && node < num_nodes() && observation >= 0 && observation < num_observations,
        "node {} of {}, observation {} of {}", node, num_nodes(), observation.value(),
        num_observations);
    return next[static_cast<std::size_t>(node) * static_cast<std::size_t>(num_observations) +
                static_cast<std::size_t>(observation)];
  }
  /// Throws InvalidArgument naming the part and the value.
  void validate() const;
  /// The same, and unless the actions and observations are the model's.
  void check_fits(const Pomdp& model) const;
  /// One line for people.
  [[nodiscard]] std::string brief() const;

  friend bool operator==(const PolicyGraph&, const PolicyGraph&) = default;
};

/// Reads a .pg text: one node a line, "id action next next …" with a next node for each
/// observation; X, - and negative numbers stand for none, as pomdp-solve's reader and writer have
/// it. The ids are 0 … N-1 in any order. Throws ParseError "file:line: …".
[[nodiscard]] PolicyGraph parse_policy_graph(std::string_view text, const std::string& file,
                                             const PolicyReadOptions& options = {});
/// Nodes in order, X for none.
[[nodiscard]] std::string policy_graph_to_text(const PolicyGraph& graph);

/// The exact gain of a graph in a model.
struct GraphEvaluation {
  int start_node = 0;
  double gain = 0.0;  ///< from the model's start in start_node, or in those of `first`
  /// [O]: the best node after each first reading, where rows are reading-first; a node or kNone.
  std::vector<int> first;
  std::vector<double> gains;  ///< [N], from the model's start in each node
  std::size_t num_pairs = 0;  ///< (node, state) that can be reached
  int num_classes = 0;        ///< closed classes among them; the long run ends in one
  double residual = 0.0;      ///< largest error of the balance equations, relative
};

/// The largest number of (node, state) pairs that evaluate_graph accepts.
inline constexpr std::size_t kMaxGraphPairs = 20'000;

/// Solves the chain on (node, state), P((n,s) → (n',s')) = Σ_{o: next(n,o) = n'} K_a^o(s,s') with
/// a = action(n): stationary distribution of each closed class and the probabilities of ending in
/// each, by sparse LU. Without `start_node` the node of the largest gain is taken, the first of
/// equal ones (within 1e-12): a .pg file does not say where to start. Where rows are reading-first
/// and the graph does not say either, it is the best one after each first reading. Throws
/// InvalidArgument when sizes differ, when there are too many pairs, and when an observation that
/// can come has no next node (naming both).
[[nodiscard]] GraphEvaluation evaluate_graph(const Pomdp& truth, const PolicyGraph& graph,
                                             std::optional<int> start_node = {});

/// The node in which pomdp-solve starts: vectors of the .alpha file beside the .pg file belong to
/// the nodes one by one, and the best one at the model's start is taken. Throws InvalidArgument
/// unless both have the same actions.
[[nodiscard]] int start_node_by_vectors(const PolicyGraph& graph, const AlphaPolicy& vectors,
                                        const Pomdp& model);

/// A graph that acts: an Agent. An observation without next node, or none (kMissing), leaves it
/// where it is; one that does not exist throws InvalidArgument.
class GraphAgent {
 public:
  /// Throws InvalidArgument on a graph that is not valid, or that has no such node.
  GraphAgent(PolicyGraph graph, int start_node) : graph_(std::move(graph)), node_(start_node) {
    graph_.validate();
    OAS_REQUIRE(start_node >= 0 && start_node < graph_.num_nodes(), "start node {} of {}",
                start_node, graph_.num_nodes());
  }

  /// The first reading of a run: to the node that the graph starts in after it, if it says so.
  void begin(Observation first) {
    check_observation(first, graph_.num_observations);
    if (graph_.first.empty() || first == kMissing) return;
    const int node = graph_.first[static_cast<std::size_t>(first)];
    if (node != PolicyGraph::kNone) node_ = node;
  }

  Choice act(Rng& /*rng*/) {
    return {Action{graph_.actions[static_cast<std::size_t>(node_)]}, 1.0};
  }
  void observe(Observation observation) {
    check_observation(observation, graph_.num_observations);
    if (observation == kMissing) return;
    const int next = graph_.next_node(node_, observation);
    if (next != PolicyGraph::kNone) node_ = next;
  }

 private:
  PolicyGraph graph_;
  int node_;
};

}  // namespace oas
