#include "oas/planning/evaluation/detail/controller_chain.hpp"

#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr double kMostCells = 1e8;  // of the table that numbers the pairs
constexpr int kSink = -2;           // while its number is not known
constexpr double kDust = 1e-15;     // moves less likely than this are the rounding of others
constexpr double kWeak = 1e-6;      // moves that laws need not show before they seem to settle
constexpr double kRest = 0.1;       // share of the steps in which a law is left as it is
constexpr int kMostLaws = 3000;
constexpr double kSettled = 1e-12;  // estimated distance to the limit

}  // namespace

ControllerChain::ControllerChain(const Pomdp& truth, const Controller& controller,
                                 std::span<const std::size_t> roots,
                                 std::span<const char> absorbing)
    : truth_(truth),
      controller_(controller),
      absorbing_(absorbing),
      num_states_(static_cast<std::size_t>(truth.num_states())) {
  const double cells = static_cast<double>(controller.num_nodes()) * truth.num_states();
  OAS_REQUIRE(cells <= kMostCells, "{} nodes and {} states make more than the limit of {:g} pairs",
              controller.num_nodes(), truth.num_states(), kMostCells);
  numbers_.assign(static_cast<std::size_t>(cells), -1);
  for (const std::size_t pair : roots) {
    number_of(static_cast<int>(pair / num_states_), pair % num_states_);
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) add_row(pairs_[i]);
  sink_ = static_cast<int>(pairs_.size());
  for (int& target : targets_) target = target == kSink ? sink_ : target;
  offsets_.push_back(targets_.size());  // the sink's row: none
  Classes all = find_classes(0.0);
  const auto count = [](const Classes& found) {
    return std::count(found.closed.begin(), found.closed.end(), true);
  };
  hangs_on_weak_moves_ = count(find_classes(kWeak)) != count(all);
  class_of_ = std::move(all.of);
  closed_ = std::move(all.closed);
}

int ControllerChain::num_closed() const {
  return static_cast<int>(std::count(closed_.begin(), closed_.end(), true)) - 1;  // the sink
}

int ControllerChain::number_of(int node, std::size_t state) {
  const std::size_t pair = static_cast<std::size_t>(node) * num_states_ + state;
  if (numbers_[pair] < 0) {
    OAS_REQUIRE(pairs_.size() < kMaxGraphPairs,
                "more than the limit of {} pairs of node and state can be reached", kMaxGraphPairs);
    numbers_[pair] = static_cast<int>(pairs_.size());
    pairs_.push_back(pair);
  }
  return numbers_[pair];
}

void ControllerChain::add_row(std::size_t pair) {
  const auto node = static_cast<int>(pair / num_states_);
  const std::size_t state = pair % num_states_;
  missing_.push_back(-1);
  if (absorbing_.empty() || absorbing_[state] == 0) {
    for (Action a{0}; a < controller_.num_actions; ++a) {
      const double chance = controller_.probability(node, a);
      if (chance > 0.0) add_moves(node, a, State{state}, chance);
    }
  }
  offsets_.push_back(targets_.size());
}

void ControllerChain::add_moves(int node, Action action, State state, double chance) {
  const bool before = truth_.timing() == Timing::before;
  truth_.transition().for_each_next(action, state, [&](State next, double move) {
    const auto seen = truth_.sensors().distribution(action, before ? state : next);
    for (int o = 0; o < controller_.num_observations; ++o) {
      const double p = chance * move * seen[static_cast<std::size_t>(o)];
      if (!(p > kDust)) continue;
      const int to = controller_.next_node(node, action, Observation{o});
      if (to == Controller::kNone) missing_.back() = o;
      targets_.push_back(to == Controller::kNone ? kSink
                                                 : number_of(to, static_cast<std::size_t>(next)));
      weights_.push_back(p);
    }
  });
}

// Tarjan's classes, without recursion; a class is closed when no arrow leaves it.
// Moves that are not above `weakest` are left out.
ControllerChain::Classes ControllerChain::find_classes(double weakest) const {
  const std::size_t n = pairs_.size() + 1;
  Classes found{std::vector<int>(n, -1), {}};
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
        if (!(weights_[at[v]] > weakest)) continue;
        const auto w = static_cast<std::size_t>(targets_[at[v]]);
        if (order[w] < 0) {
          path.push_back(targets_[at[v]]);
          deeper = true;
          --at[v];
        } else if (found.of[w] < 0) {
          low[v] = std::min(low[v], low[w]);
        }
      }
      if (deeper) continue;
      path.pop_back();
      if (low[v] == order[v]) close_class(static_cast<int>(v), weakest, open, found);
    }
  }
  return found;
}

void ControllerChain::close_class(int root, double weakest, std::vector<int>& open,
                                  Classes& found) const {
  const auto number = static_cast<int>(found.closed.size());
  const auto last = std::find(open.rbegin(), open.rend(), root);
  const std::vector<int> members(open.end() - (last - open.rbegin()) - 1, open.end());
  open.resize(open.size() - members.size());
  for (const int v : members) found.of[static_cast<std::size_t>(v)] = number;
  bool closed = true;
  for (const int v : members) {
    for (std::size_t k = offsets_[static_cast<std::size_t>(v)];
         k < offsets_[static_cast<std::size_t>(v) + 1]; ++k) {
      if (!(weights_[k] > weakest)) continue;
      closed = closed && found.of[static_cast<std::size_t>(targets_[k])] == number;
    }
  }
  found.closed.push_back(closed);
}

std::vector<std::vector<int>> ControllerChain::classes() const {
  std::vector<std::vector<int>> members(closed_.size());
  for (std::size_t i = 0; i < class_of_.size(); ++i) {
    members[static_cast<std::size_t>(class_of_[i])].push_back(static_cast<int>(i));
  }
  return members;
}

// Solves (I - P restricted to `members`) x = right, transposed or not.
Eigen::MatrixXd ControllerChain::solve(const std::vector<int>& members, bool transposed,
                                       const Eigen::MatrixXd& right) {
  std::vector<int> place(pairs_.size() + 1, -1);
  for (std::size_t i = 0; i < members.size(); ++i) {
    place[static_cast<std::size_t>(members[i])] = static_cast<int>(i);
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto v = static_cast<std::size_t>(members[i]);
    for (std::size_t k = offsets_[v]; k < offsets_[v + 1]; ++k) {
      if (targets_[k] == members[i]) continue;
      // 1 - P(stay) is what leaves, summed up: a difference would lose what hardly ever leaves.
      entries.emplace_back(i, i, weights_[k]);
      const int j = place[static_cast<std::size_t>(targets_[k])];
      if (j < 0) continue;
      entries.emplace_back(transposed ? j : static_cast<int>(i),
                           transposed ? static_cast<int>(i) : j, -weights_[k]);
    }
  }
  const auto n = static_cast<Eigen::Index>(members.size());
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  Eigen::SparseLU<Eigen::SparseMatrix<double>> lu(matrix);
  OAS_REQUIRE(lu.info() == Eigen::Success, "the chain of {} pairs cannot be solved: {}",
              members.size(), lu.lastErrorMessage());
  Eigen::MatrixXd x = lu.solve(right);
  const double scale = std::max(x.lpNorm<Eigen::Infinity>(), 1e-300);
  residual_ = std::max(residual_, (matrix * x - right).lpNorm<Eigen::Infinity>() / scale);
  return x;
}

// The stationary mean over a closed class: the first member's weight is set to 1.
Eigen::RowVectorXd ControllerChain::class_mean(const std::vector<int>& members,
                                               const Eigen::MatrixXd& worth) {
  const auto first = static_cast<std::size_t>(members[0]);
  Eigen::RowVectorXd sum = worth.row(members[0]);
  if (members.size() == 1) return sum;
  const std::vector<int> others(members.begin() + 1, members.end());
  Eigen::MatrixXd right = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(others.size()), 1);
  std::vector<int> place(pairs_.size() + 1, -1);
  for (std::size_t i = 0; i < others.size(); ++i) {
    place[static_cast<std::size_t>(others[i])] = static_cast<int>(i);
  }
  for (std::size_t k = offsets_[first]; k < offsets_[first + 1]; ++k) {
    const int j = place[static_cast<std::size_t>(targets_[k])];
    if (j >= 0) right(j, 0) += weights_[k];
  }
  const Eigen::MatrixXd weights = solve(others, true, right);
  for (std::size_t i = 0; i < others.size(); ++i) {
    sum += weights(static_cast<Eigen::Index>(i), 0) * worth.row(others[i]);
  }
  return sum / (1.0 + weights.sum());
}

// mean = Σ P mean where the long run is not yet decided.
void ControllerChain::solve_passing(const std::vector<int>& passing, Eigen::MatrixXd& mean) {
  if (passing.empty()) return;
  Eigen::MatrixXd right =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(passing.size()), mean.cols());
  for (std::size_t i = 0; i < passing.size(); ++i) {
    const auto v = static_cast<std::size_t>(passing[i]);
    for (std::size_t k = offsets_[v]; k < offsets_[v + 1]; ++k) {
      const int w = targets_[k];
      if (closed_[static_cast<std::size_t>(class_of_[static_cast<std::size_t>(w)])]) {
        right.row(static_cast<Eigen::Index>(i)) += weights_[k] * mean.row(w);
      }
    }
  }
  const Eigen::MatrixXd values = solve(passing, false, right);
  for (std::size_t i = 0; i < passing.size(); ++i) {
    mean.row(passing[i]) = values.row(static_cast<Eigen::Index>(i));
  }
}

// By class: whether one of the marked classes can be reached. They are numbered so that arrows lead
// to lower ones: one pass in that order is enough.
std::vector<bool> ControllerChain::leads_to(std::vector<bool> marked) const {
  std::vector<int> order(pairs_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    return class_of_[static_cast<std::size_t>(x)] < class_of_[static_cast<std::size_t>(y)];
  });
  for (const int i : order) {
    const auto v = static_cast<std::size_t>(i);
    for (std::size_t k = offsets_[v]; k < offsets_[v + 1]; ++k) {
      const auto other = class_of_[static_cast<std::size_t>(targets_[k])];
      if (marked[static_cast<std::size_t>(other)]) {
        marked[static_cast<std::size_t>(class_of_[v])] = true;
      }
    }
  }
  return marked;
}

Eigen::MatrixXd ControllerChain::long_run(const Eigen::MatrixXd& worth) {
  Eigen::MatrixXd with_sink = Eigen::MatrixXd::Zero(worth.rows() + 1, worth.cols());
  with_sink.topRows(worth.rows()) = worth;
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(with_sink.rows(), with_sink.cols());
  const std::vector<std::vector<int>> members = classes();
  std::vector<int> passing;
  for (std::size_t c = 0; c < members.size(); ++c) {
    if (!closed_[c]) {
      passing.insert(passing.end(), members[c].begin(), members[c].end());
      continue;
    }
    const Eigen::RowVectorXd value = class_mean(members[c], with_sink);
    for (const int i : members[c]) mean.row(i) = value;
  }
  solve_passing(passing, mean);
  std::vector<bool> sink(closed_.size(), false);
  sink[static_cast<std::size_t>(class_of_[static_cast<std::size_t>(sink_)])] = true;
  const std::vector<bool> broken = leads_to(std::move(sink));
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (broken[static_cast<std::size_t>(class_of_[i])]) {
      mean.row(static_cast<Eigen::Index>(i)).setConstant(std::numeric_limits<double>::quiet_NaN());
    }
  }
  return mean.topRows(worth.rows());
}

Vector ControllerChain::steps_to_absorption() {
  std::vector<bool> elsewhere = closed_;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (absorbing_[pairs_[i] % num_states_] != 0) {
      elsewhere[static_cast<std::size_t>(class_of_[i])] = false;
    }
  }
  const std::vector<bool> may_stick = leads_to(std::move(elsewhere));
  Vector steps = Vector::Zero(static_cast<Eigen::Index>(pairs_.size()));
  std::vector<int> passing;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (may_stick[static_cast<std::size_t>(class_of_[i])]) {
      steps[static_cast<Eigen::Index>(i)] = std::numeric_limits<double>::infinity();
    } else if (absorbing_[pairs_[i] % num_states_] == 0) {
      passing.push_back(static_cast<int>(i));
    }
  }
  if (passing.empty()) return steps;
  const Eigen::MatrixXd found =
      solve(passing, false, Eigen::MatrixXd::Ones(static_cast<Eigen::Index>(passing.size()), 1));
  for (std::size_t i = 0; i < passing.size(); ++i) {
    steps[passing[i]] = found(static_cast<Eigen::Index>(i), 0);
  }
  return steps;
}

bool ControllerChain::is_passing(std::size_t pair) const {
  return !closed_[static_cast<std::size_t>(class_of_[pair])];
}

std::optional<Vector> ControllerChain::settled_law(Vector start) const {
  if (hangs_on_weak_moves_) return std::nullopt;
  // What has not left the classes that are passed through will do so one day, however late.
  const auto has_arrived = [&] {
    double passing = 0.0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (is_passing(i)) passing += start[static_cast<Eigen::Index>(i)];
    }
    return passing <= kSettled;
  };
  Vector next;
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kMostLaws; ++i) {
    advance(start, next);
    next = (1.0 - kRest) * next + kRest * start;
    const double change = (next - start).lpNorm<1>();
    std::swap(start, next);
    // Changes shrink by a constant factor in the end: what is still to come is a geometric series.
    const double ratio = change / before;
    before = change;
    if (change == 0.0 || (i > 10 && ratio < 0.99 && change * ratio / (1.0 - ratio) <= kSettled)) {
      return has_arrived() ? std::optional(std::move(start)) : std::nullopt;
    }
  }
  return std::nullopt;
}

void ControllerChain::advance(const Vector& law, Vector& next) const {
  next.setZero(static_cast<Eigen::Index>(pairs_.size()));
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double mass = law[static_cast<Eigen::Index>(i)];
    if (!(mass > 0.0)) continue;
    if (offsets_[i] == offsets_[i + 1]) next[static_cast<Eigen::Index>(i)] += mass;  // stays
    for (std::size_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
      if (targets_[k] != sink_) next[targets_[k]] += mass * weights_[k];
    }
  }
}

void ControllerChain::expect(const Matrix& worth, Matrix& before) const {
  before.setZero(worth.rows(), worth.cols());
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    if (offsets_[i] == offsets_[i + 1]) before.row(row) = worth.row(row);  // stays
    for (std::size_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
      if (targets_[k] != sink_) before.row(row) += weights_[k] * worth.row(targets_[k]);
    }
  }
}

std::string ControllerChain::what_is_missing() const {
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    for (std::size_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
      if (targets_[k] != sink_) continue;
      return fmt::format("node {} has no next node for observation {}, which can come in state {}",
                         node_of(i), truth_.observations()[missing_[i]],
                         truth_.states()[state_of(i).value()]);
    }
  }
  return "";
}

}  // namespace oas::detail
