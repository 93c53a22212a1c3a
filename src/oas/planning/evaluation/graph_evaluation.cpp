#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/controller_chain.hpp"

namespace oas {

namespace {

constexpr double kForgottenWeight = 1e-12;  // of all steps to come

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

std::vector<std::size_t> pairs_of(std::span<const StartPair> law) {
  std::vector<std::size_t> pairs;
  for (const StartPair& one : law) pairs.push_back(one.pair);
  return pairs;
}

// The mean over a law of (node, state).
Eigen::RowVectorXd mean_over(std::span<const StartPair> law, const detail::ControllerChain& chain,
                             const Eigen::MatrixXd& values, std::size_t states) {
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(values.cols());
  for (const StartPair& one : law) {
    const std::size_t row = chain.number(static_cast<int>(one.pair / states), one.pair % states);
    mean += one.probability * values.row(static_cast<Eigen::Index>(row));
  }
  return mean;
}

// Whether a gain is larger by more than rounding.
bool is_better(double gain, double than) {
  return gain > than + 1e-12 * std::max(1.0, std::abs(gain));
}

// Of graphs that do not say where they start: values of all nodes at the model's start.
class StartSearch {
 public:
  StartSearch(const Pomdp& truth, const detail::ControllerChain& chain,
              const Eigen::MatrixXd& values)
      : truth_(truth), chain_(chain), values_(values) {}

  // The share of a node in the mean over what may come first: with this first reading, if given.
  [[nodiscard]] double from(int node, std::optional<Observation> first = {}) const {
    double sum = 0.0;
    for (std::size_t s = 0; s < truth_.start().size(); ++s) {
      const double here =
          truth_.start()[s] *
          (first ? (*truth_.first_observation())(Action{0}, State{s}, *first) : 1.0);
      if (!(here > 0.0)) continue;
      sum += here * values_(static_cast<Eigen::Index>(chain_.number(node, s)), 0);
    }
    return sum;
  }

  // The best of all nodes; kNone where every one stops.
  [[nodiscard]] int best(int num_nodes, std::optional<Observation> first = {}) const {
    int found = PolicyGraph::kNone;
    for (int n = 0; n < num_nodes; ++n) {
      const double gain = from(n, first);
      if (std::isnan(gain)) continue;
      if (found == PolicyGraph::kNone || is_better(gain, from(found, first))) found = n;
    }
    return found;
  }

 private:
  const Pomdp& truth_;
  const detail::ControllerChain& chain_;
  const Eigen::MatrixXd& values_;
};

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

// The law of the start on the numbered pairs.
Vector law_on(const detail::ControllerChain& chain, std::span<const StartPair> law,
              std::size_t states) {
  Vector start = Vector::Zero(static_cast<Eigen::Index>(chain.num_pairs()));
  for (const StartPair& one : law) {
    const std::size_t row = chain.number(static_cast<int>(one.pair / states), one.pair % states);
    start[static_cast<Eigen::Index>(row)] = one.probability;
  }
  return start;
}

}  // namespace

ControllerValue evaluate_discounted(const Pomdp& truth, const Controller& controller,
                                    double discount) {
  OAS_REQUIRE(discount > 0.0 && discount < 1.0,
              "discount is {}; it must lie strictly between 0 and 1", discount);
  controller.check_fits(truth);
  const std::vector<StartPair> start = start_law(truth, controller);
  const detail::ControllerChain chain(truth, controller, pairs_of(start));
  const std::string missing = chain.what_is_missing();
  OAS_REQUIRE(missing.empty(), "the policy stops: {}", missing);
  const Vector worth = rewards_and_states(truth, controller, chain).col(0);
  const auto states = static_cast<std::size_t>(truth.num_states());
  Vector law = law_on(chain, start, states);
  Vector next;
  Vector visits = Vector::Zero(law.size());
  ControllerValue result;
  for (double weight = 1.0; weight > kForgottenWeight * (1.0 - discount); weight *= discount) {
    result.gain += weight * worth.dot(law);
    visits += weight * law;
    chain.advance(law, next);
    std::swap(law, next);
  }
  result.num_pairs = chain.num_pairs();
  result.frequencies.assign(states, 0.0);
  for (std::size_t i = 0; i < result.num_pairs; ++i) {
    const auto state = static_cast<std::size_t>(chain.state_of(i).value());
    result.frequencies[state] += (1.0 - discount) * visits[static_cast<Eigen::Index>(i)];
  }
  return result;
}

ControllerValue evaluate_controller(const Pomdp& truth, const Controller& controller) {
  controller.check_fits(truth);
  const std::vector<StartPair> law = start_law(truth, controller);
  detail::ControllerChain chain(truth, controller, pairs_of(law));
  const std::string missing = chain.what_is_missing();
  OAS_REQUIRE(missing.empty(), "the policy stops: {}", missing);
  const Eigen::MatrixXd worth = rewards_and_states(truth, controller, chain);
  const auto states = static_cast<std::size_t>(truth.num_states());
  const std::optional<Vector> settled = chain.settled_law(law_on(chain, law, states));
  const Eigen::RowVectorXd mean = settled ? Eigen::RowVectorXd(settled->transpose() * worth)
                                          : mean_over(law, chain, chain.long_run(worth), states);
  ControllerValue result;
  result.gain = mean[0];
  result.frequencies.assign(mean.begin() + 1, mean.end());
  result.num_pairs = chain.num_pairs();
  result.num_classes = chain.num_closed();
  result.residual = chain.residual();
  return result;
}

namespace {

// A graph whose start is known.
GraphEvaluation evaluate_started(const Pomdp& truth, const PolicyGraph& graph, int start_node) {
  const Controller controller = controller_of(graph, start_node, truth.num_actions());
  const std::vector<StartPair> law = start_law(truth, controller);
  detail::ControllerChain chain(truth, controller, pairs_of(law));
  const Eigen::MatrixXd values =
      chain.long_run(rewards_and_states(truth, controller, chain).leftCols(1));
  GraphEvaluation result;
  result.start_node = start_node;
  result.first = graph.first;
  result.gain = mean_over(law, chain, values, static_cast<std::size_t>(truth.num_states()))[0];
  OAS_REQUIRE(!std::isnan(result.gain), "the policy graph stops: {}", chain.what_is_missing());
  result.gains.assign(graph.actions.size(), std::numeric_limits<double>::quiet_NaN());
  result.gains[static_cast<std::size_t>(start_node)] = result.gain;
  result.num_pairs = chain.num_pairs();
  result.num_classes = chain.num_closed();
  result.residual = chain.residual();
  return result;
}

// A graph that starts in the best node.
GraphEvaluation evaluate_best_start(const Pomdp& truth, const PolicyGraph& graph) {
  const Controller controller = controller_of(graph, 0, truth.num_actions());
  const int nodes = graph.num_nodes();
  detail::ControllerChain chain(truth, controller, start_pairs(truth, 0, nodes - 1));
  const Eigen::MatrixXd values =
      chain.long_run(rewards_and_states(truth, controller, chain).leftCols(1));
  const StartSearch search(truth, chain, values);
  GraphEvaluation result;
  for (int n = 0; n < nodes; ++n) result.gains.push_back(search.from(n));
  result.start_node = search.best(nodes);
  OAS_REQUIRE(result.start_node >= 0, "the policy graph stops: {}", chain.what_is_missing());
  result.gain = result.gains[static_cast<std::size_t>(result.start_node)];
  if (truth.reading_first()) {
    result.gain = 0.0;
    for (Observation o{0}; o < truth.num_observations(); ++o) {
      const int best = search.best(nodes, o);
      result.first.push_back(best);
      if (best != PolicyGraph::kNone) result.gain += search.from(best, o);
    }
  }
  result.num_pairs = chain.num_pairs();
  result.num_classes = chain.num_closed();
  result.residual = chain.residual();
  return result;
}

}  // namespace

GraphEvaluation evaluate_graph(const Pomdp& truth, const PolicyGraph& graph,
                               std::optional<int> start_node) {
  graph.check_fits(truth);
  OAS_REQUIRE(!start_node || (*start_node >= 0 && *start_node < graph.num_nodes()),
              "start node {} of {}, numbered from 0", start_node.value_or(0), graph.num_nodes());
  const bool says = !graph.first.empty() && truth.reading_first();
  return start_node || says ? evaluate_started(truth, graph, start_node.value_or(0))
                            : evaluate_best_start(truth, graph);
}

}  // namespace oas
