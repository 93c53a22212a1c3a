#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/planning/policies/policy_graph.hpp"

namespace oas {

namespace {

using Sparse = Eigen::SparseMatrix<double>;

constexpr double kMostCells = 1e8;  // of the table that numbers the pairs

// The chain on the (node, state) pairs that can be reached, rows one after the other. An
// observation without next node leads to the sink, which is left by nothing.
class GraphChain {
 public:
  GraphChain(const Pomdp& truth, const PolicyGraph& graph, std::optional<int> start_node)
      : truth_(truth), graph_(graph), num_states_(static_cast<std::size_t>(truth.num_states())) {
    const double cells = static_cast<double>(graph.num_nodes()) * truth.num_states();
    OAS_REQUIRE(cells <= kMostCells,
                "{} nodes and {} states make more than the limit of {:g} pairs", graph.num_nodes(),
                truth.num_states(), kMostCells);
    numbers_.assign(static_cast<std::size_t>(cells), -1);
    for (int n = start_node.value_or(0); n <= start_node.value_or(graph.num_nodes() - 1); ++n) {
      for (std::size_t s = 0; s < num_states_; ++s) {
        if (truth.start()[s] > 0.0) number_of(n, s);
      }
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) add_row(pairs_[i]);
    sink_ = static_cast<int>(pairs_.size());
    for (int& target : targets_) target = target == kSink ? sink_ : target;
    offsets_.push_back(targets_.size());  // the sink's row: none
    find_classes();
  }

  [[nodiscard]] std::size_t num_pairs() const { return pairs_.size(); }
  [[nodiscard]] int num_closed() const {
    return static_cast<int>(std::count(closed_.begin(), closed_.end(), true)) - 1;
  }
  [[nodiscard]] double residual() const { return residual_; }

  // The long-run reward from every pair; NaN where the sink can be reached.
  [[nodiscard]] std::vector<double> gains() {
    const Matrix rewards = truth_.expected_reward();
    reward_.resize(pairs_.size() + 1);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto node = pairs_[i] / num_states_;
      reward_[i] =
          rewards(graph_.actions[node], static_cast<Eigen::Index>(pairs_[i] % num_states_));
    }
    std::vector<std::vector<int>> members(closed_.size());
    for (std::size_t i = 0; i < class_of_.size(); ++i) {
      members[static_cast<std::size_t>(class_of_[i])].push_back(static_cast<int>(i));
    }
    std::vector<double> gain(pairs_.size() + 1, 0.0);
    std::vector<int> passing;
    for (std::size_t c = 0; c < members.size(); ++c) {
      if (!closed_[c]) {
        passing.insert(passing.end(), members[c].begin(), members[c].end());
        continue;
      }
      const double value = class_gain(members[c]);
      for (const int i : members[c]) gain[static_cast<std::size_t>(i)] = value;
    }
    solve_passing(passing, gain);
    mark_broken(gain);
    return gain;
  }

  // The mean over the start states in one node.
  [[nodiscard]] double at_start(const std::vector<double>& gain, int node) const {
    double mean = 0.0;
    for (std::size_t s = 0; s < num_states_; ++s) {
      const double p = truth_.start()[s];
      if (!(p > 0.0)) continue;
      const int i = numbers_[static_cast<std::size_t>(node) * num_states_ + s];
      mean += p * gain[static_cast<std::size_t>(i)];
    }
    return mean;
  }

  // Which node, state and observation lead to the sink.
  [[nodiscard]] std::string what_is_missing() const {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto n = static_cast<int>(pairs_[i] / num_states_);
      for (std::size_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
        if (targets_[k] != sink_) continue;
        return fmt::format(
            "node {} has no next node for observation {}, which can come in state "
            "{}",
            n, truth_.observations()[missing_[i]],
            truth_.states()[static_cast<int>(pairs_[i] % num_states_)]);
      }
    }
    return "";
  }

 private:
  static constexpr int kSink = -2;

  int number_of(int node, std::size_t state) {
    const std::size_t pair = static_cast<std::size_t>(node) * num_states_ + state;
    if (numbers_[pair] < 0) {
      OAS_REQUIRE(pairs_.size() < kMaxGraphPairs,
                  "more than the limit of {} pairs of node and state can be reached",
                  kMaxGraphPairs);
      numbers_[pair] = static_cast<int>(pairs_.size());
      pairs_.push_back(pair);
    }
    return numbers_[pair];
  }

  void add_row(std::size_t pair) {
    const auto node = static_cast<int>(pair / num_states_);
    const State s{pair % num_states_};
    const Action a{graph_.actions[static_cast<std::size_t>(node)]};
    const bool before = truth_.timing() == Timing::before;
    missing_.push_back(-1);
    truth_.transition().for_each_next(a, s, [&](State next, double move) {
      const auto seen = truth_.sensors().distribution(a, before ? s : next);
      for (int o = 0; o < graph_.num_observations; ++o) {
        const double p = move * seen[static_cast<std::size_t>(o)];
        if (!(p > 0.0)) continue;
        const int to = graph_.next_node(node, Observation{o});
        if (to == PolicyGraph::kNone) missing_.back() = o;
        targets_.push_back(
            to == PolicyGraph::kNone ? kSink : number_of(to, static_cast<std::size_t>(next)));
        weights_.push_back(p);
      }
    });
    offsets_.push_back(targets_.size());
  }

  // Tarjan's classes, without recursion; a class is closed when no arrow leaves it.
  void find_classes() {
    const std::size_t n = pairs_.size() + 1;
    class_of_.assign(n, -1);
    std::vector<int> order(n, -1);
    std::vector<int> low(n, 0);
    std::vector<std::size_t> at(n, 0);
    std::vector<int> path;
    std::vector<int> open;
    int counter = 0;
    for (std::size_t root = 0; root < n; ++root) {
      if (order[root] >= 0) continue;
      path.push_back(static_cast<int>(root));
      while (!path.empty()) {
        const auto v = static_cast<std::size_t>(path.back());
        if (order[v] < 0) {
          order[v] = low[v] = counter++;
          open.push_back(path.back());
          at[v] = offsets_[v];
        }
        bool deeper = false;
        for (; at[v] < offsets_[v + 1] && !deeper; ++at[v]) {
          const auto w = static_cast<std::size_t>(targets_[at[v]]);
          if (order[w] < 0) {
            path.push_back(targets_[at[v]]);
            deeper = true;
            --at[v];
          } else if (class_of_[w] < 0) {
            low[v] = std::min(low[v], low[w]);
          }
        }
        if (deeper) continue;
        path.pop_back();
        if (low[v] == order[v]) close_class(static_cast<int>(v), open);
      }
    }
  }

  void close_class(int root, std::vector<int>& open) {
    const auto number = static_cast<int>(closed_.size());
    const auto last = std::find(open.rbegin(), open.rend(), root);
    const std::vector<int> members(open.end() - (last - open.rbegin()) - 1, open.end());
    open.resize(open.size() - members.size());
    for (const int v : members) class_of_[static_cast<std::size_t>(v)] = number;
    bool closed = true;
    for (const int v : members) {
      for (std::size_t k = offsets_[static_cast<std::size_t>(v)];
           k < offsets_[static_cast<std::size_t>(v) + 1]; ++k) {
        closed = closed && class_of_[static_cast<std::size_t>(targets_[k])] == number;
      }
    }
    closed_.push_back(closed);
  }

  // Solves columns of (I - P restricted to `members`), transposed or not.
  [[nodiscard]] Vector solve(const std::vector<int>& members, bool transposed,
                             const Vector& right) {
    std::vector<int> place(pairs_.size() + 1, -1);
    for (std::size_t i = 0; i < members.size(); ++i) {
      place[static_cast<std::size_t>(members[i])] = static_cast<int>(i);
    }
    std::vector<Eigen::Triplet<double>> entries;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto v = static_cast<std::size_t>(members[i]);
      entries.emplace_back(i, i, 1.0);
      for (std::size_t k = offsets_[v]; k < offsets_[v + 1]; ++k) {
        const int j = place[static_cast<std::size_t>(targets_[k])];
        if (j < 0) continue;
        entries.emplace_back(transposed ? j : static_cast<int>(i),
                             transposed ? static_cast<int>(i) : j, -weights_[k]);
      }
    }
    const auto n = static_cast<Eigen::Index>(members.size());
    Sparse matrix(n, n);
    matrix.setFromTriplets(entries.begin(), entries.end());
    Eigen::SparseLU<Sparse> lu(matrix);
    OAS_REQUIRE(lu.info() == Eigen::Success, "the chain of {} pairs cannot be solved: {}",
                members.size(), lu.lastErrorMessage());
    const Vector x = lu.solve(right);
    const double scale = std::max(x.lpNorm<Eigen::Infinity>(), 1e-300);
    residual_ = std::max(residual_, (matrix * x - right).lpNorm<Eigen::Infinity>() / scale);
    return x;
  }

  // Stationary mean reward of a closed class: the first member's weight is set to 1.
  double class_gain(const std::vector<int>& members) {
    const std::vector<int> others(members.begin() + 1, members.end());
    Vector right = Vector::Zero(static_cast<Eigen::Index>(others.size()));
    if (others.empty()) return reward_[static_cast<std::size_t>(members[0])];
    std::vector<int> place(pairs_.size() + 1, -1);
    for (std::size_t i = 0; i < others.size(); ++i) {
      place[static_cast<std::size_t>(others[i])] = static_cast<int>(i);
    }
    const auto first = static_cast<std::size_t>(members[0]);
    for (std::size_t k = offsets_[first]; k < offsets_[first + 1]; ++k) {
      const int j = place[static_cast<std::size_t>(targets_[k])];
      if (j >= 0) right(j) += weights_[k];
    }
    const Vector weights = solve(others, true, right);
    double sum = reward_[first];
    for (std::size_t i = 0; i < others.size(); ++i) {
      sum += weights(static_cast<Eigen::Index>(i)) * reward_[static_cast<std::size_t>(others[i])];
    }
    return sum / (1.0 + weights.sum());
  }

  // gain = Σ P gain where the long run is not yet decided.
  void solve_passing(const std::vector<int>& passing, std::vector<double>& gain) {
    if (passing.empty()) return;
    Vector right = Vector::Zero(static_cast<Eigen::Index>(passing.size()));
    for (std::size_t i = 0; i < passing.size(); ++i) {
      const auto v = static_cast<std::size_t>(passing[i]);
      for (std::size_t k = offsets_[v]; k < offsets_[v + 1]; ++k) {
        const auto w = static_cast<std::size_t>(targets_[k]);
        if (closed_[static_cast<std::size_t>(class_of_[w])]) {
          right(static_cast<Eigen::Index>(i)) += weights_[k] * gain[w];
        }
      }
    }
    const Vector values = solve(passing, false, right);
    for (std::size_t i = 0; i < passing.size(); ++i) {
      gain[static_cast<std::size_t>(passing[i])] = values(static_cast<Eigen::Index>(i));
    }
  }

  // Classes are numbered so that arrows lead to lower ones: one pass in that order is enough.
  void mark_broken(std::vector<double>& gain) const {
    std::vector<int> order(pairs_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
      return class_of_[static_cast<std::size_t>(x)] < class_of_[static_cast<std::size_t>(y)];
    });
    std::vector<bool> broken(closed_.size(), false);
    broken[static_cast<std::size_t>(class_of_[static_cast<std::size_t>(sink_)])] = true;
    for (const int i : order) {
      const auto v = static_cast<std::size_t>(i);
      for (std::size_t k = offsets_[v]; k < offsets_[v + 1]; ++k) {
        const auto other = class_of_[static_cast<std::size_t>(targets_[k])];
        if (broken[static_cast<std::size_t>(other)]) {
          broken[static_cast<std::size_t>(class_of_[v])] = true;
        }
      }
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (broken[static_cast<std::size_t>(class_of_[i])]) {
        gain[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }

  const Pomdp& truth_;
  const PolicyGraph& graph_;
  std::size_t num_states_;
  std::vector<int> numbers_;        // of node * S + state, -1: not reached
  std::vector<std::size_t> pairs_;  // node * S + state by number
  std::vector<std::size_t> offsets_ = {0};
  std::vector<int> targets_;
  std::vector<double> weights_;
  std::vector<int> missing_;  // by pair: an observation without next node
  std::vector<int> class_of_;
  std::vector<bool> closed_;
  std::vector<double> reward_;
  int sink_ = 0;
  double residual_ = 0.0;
};

}  // namespace

GraphEvaluation evaluate_graph(const Pomdp& truth, const PolicyGraph& graph,
                               std::optional<int> start_node) {
  graph.check_fits(truth);
  OAS_REQUIRE(!start_node || (*start_node >= 0 && *start_node < graph.num_nodes()),
              "start node {} of {}, numbered from 0", start_node.value_or(0), graph.num_nodes());
  GraphChain chain(truth, graph, start_node);
  const std::vector<double> gains = chain.gains();
  GraphEvaluation result;
  result.num_pairs = chain.num_pairs();
  result.num_classes = chain.num_closed();
  result.residual = chain.residual();
  result.gains.assign(graph.actions.size(), std::numeric_limits<double>::quiet_NaN());
  result.start_node = -1;
  for (int n = start_node.value_or(0); n <= start_node.value_or(graph.num_nodes() - 1); ++n) {
    const double gain = chain.at_start(gains, n);
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
