#include <cmath>
#include <limits>
#include <optional>

#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/controller_chain.hpp"

namespace oas {

namespace {

// The pairs of these nodes and the states in which the model may start.
std::vector<std::size_t> start_pairs(const Pomdp& truth, int first_node, int last_node) {
  std::vector<std::size_t> pairs;
  const auto states = static_cast<std::size_t>(truth.num_states());
  for (int n = first_node; n <= last_node; ++n) {
    for (std::size_t s = 0; s < states; ++s) {
      if (truth.start()[s] > 0.0) pairs.push_back(static_cast<std::size_t>(n) * states + s);
    }
  }
  return pairs;
}

// The mean over the start states in one node.
Eigen::RowVectorXd at_start(const Pomdp& truth, const detail::ControllerChain& chain,
                            const Eigen::MatrixXd& values, int node) {
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(values.cols());
  for (std::size_t s = 0; s < truth.start().size(); ++s) {
    if (!(truth.start()[s] > 0.0)) continue;
    mean += truth.start()[s] * values.row(static_cast<Eigen::Index>(chain.number(node, s)));
  }
  return mean;
}

// By pair the expected reward of its step, then 1 in the column of its state.
Eigen::MatrixXd rewards_and_states(const Pomdp& truth, const Controller& controller,
                                   const detail::ControllerChain& chain) {
  const Matrix rewards = truth.expected_reward();
  Eigen::MatrixXd worth =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(chain.num_pairs()), 1 + truth.num_states());
  for (std::size_t i = 0; i < chain.num_pairs(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const int state = chain.state_of(i).value();
    for (Action a{0}; a < controller.num_actions; ++a) {
      worth(row, 0) += controller.probability(chain.node_of(i), a) * rewards(a.value(), state);
    }
    worth(row, 1 + state) = 1.0;
  }
  return worth;
}

}  // namespace

ControllerValue evaluate_controller(const Pomdp& truth, const Controller& controller) {
  controller.check_fits(truth);
  detail::ControllerChain chain(truth, controller,
                                start_pairs(truth, controller.start, controller.start));
  const std::string missing = chain.what_is_missing();
  OAS_REQUIRE(missing.empty(), "the policy stops: {}", missing);
  const Eigen::MatrixXd worth = rewards_and_states(truth, controller, chain);
  Vector start = Vector::Zero(static_cast<Eigen::Index>(chain.num_pairs()));
  for (std::size_t s = 0; s < truth.start().size(); ++s) {
    if (!(truth.start()[s] > 0.0)) continue;
    start[static_cast<Eigen::Index>(chain.number(controller.start, s))] = truth.start()[s];
  }
  const std::optional<Vector> law = chain.settled_law(start);
  const Eigen::RowVectorXd mean =
      law ? Eigen::RowVectorXd(law->transpose() * worth)
          : at_start(truth, chain, chain.long_run(worth), controller.start);
  ControllerValue result;
  result.gain = mean[0];
  result.frequencies.assign(mean.begin() + 1, mean.end());
  result.num_pairs = chain.num_pairs();
  result.num_classes = chain.num_closed();
  result.residual = chain.residual();
  return result;
}

GraphEvaluation evaluate_graph(const Pomdp& truth, const PolicyGraph& graph,
                               std::optional<int> start_node) {
  graph.check_fits(truth);
  OAS_REQUIRE(!start_node || (*start_node >= 0 && *start_node < graph.num_nodes()),
              "start node {} of {}, numbered from 0", start_node.value_or(0), graph.num_nodes());
  const int first = start_node.value_or(0);
  const int last = start_node.value_or(graph.num_nodes() - 1);
  const Controller controller = controller_of(graph, first, truth.num_actions());
  detail::ControllerChain chain(truth, controller, start_pairs(truth, first, last));
  const Eigen::MatrixXd values =
      chain.long_run(rewards_and_states(truth, controller, chain).leftCols(1));
  GraphEvaluation result;
  result.num_pairs = chain.num_pairs();
  result.num_classes = chain.num_closed();
  result.residual = chain.residual();
  result.gains.assign(graph.actions.size(), std::numeric_limits<double>::quiet_NaN());
  result.start_node = -1;
  for (int n = first; n <= last; ++n) {
    const double gain = at_start(truth, chain, values, n)[0];
    result.gains[static_cast<std::size_t>(n)] = gain;
    if (std::isnan(gain)) continue;
    const double margin = 1e-12 * std::max(1.0, std::abs(gain));
    if (result.start_node < 0 || gain > result.gain + margin) {
      result.gain = gain;
      result.start_node = n;
    }
  }
  OAS_REQUIRE(result.start_node >= 0, "the policy graph stops: {}", chain.what_is_missing());
  return result;
}

}  // namespace oas
