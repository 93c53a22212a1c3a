#include "oas/planning/evaluation/detail/markov_chain.hpp"

#include <Eigen/SparseLU>
#include <algorithm>
#include <numeric>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/rare_moves.hpp"

namespace oas::detail {

namespace {

constexpr double kRare = 1e-6;           // moves of which a general solution loses digits
constexpr std::size_t kMostSlow = 1000;  // states that are eliminated one by one instead

}  // namespace

MarkovChain::MarkovChain(Rows rows) : rows_(std::move(rows)) {
  Classes all = find_classes(0.0);
  class_of_ = std::move(all.of);
  closed_ = std::move(all.closed);
}

int MarkovChain::num_closed() const {
  return static_cast<int>(std::count(closed_.begin(), closed_.end(), true));
}

bool MarkovChain::hangs_on_moves(double weak) const {
  const std::vector<bool> closed = find_classes(weak).closed;
  return std::count(closed.begin(), closed.end(), true) != num_closed();
}

// Tarjan's classes, without recursion; a class is closed when no arrow leaves it.
// Moves that are not above `weakest` are left out.
MarkovChain::Classes MarkovChain::find_classes(double weakest) const {
  const std::size_t n = size();
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
        at[v] = rows_.offsets[v];
      }
      bool deeper = false;
      for (; at[v] < rows_.offsets[v + 1] && !deeper; ++at[v]) {
        if (!(rows_.weights[at[v]] > weakest)) continue;
        const auto w = static_cast<std::size_t>(rows_.targets[at[v]]);
        if (order[w] < 0) {
          path.push_back(rows_.targets[at[v]]);
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

void MarkovChain::close_class(int root, double weakest, std::vector<int>& open,
                              Classes& found) const {
  const auto number = static_cast<int>(found.closed.size());
  const auto last = std::find(open.rbegin(), open.rend(), root);
  const std::vector<int> members(open.end() - (last - open.rbegin()) - 1, open.end());
  open.resize(open.size() - members.size());
  for (const int v : members) found.of[static_cast<std::size_t>(v)] = number;
  bool closed = true;
  for (const int v : members) {
    for (std::size_t k = rows_.offsets[static_cast<std::size_t>(v)];
         k < rows_.offsets[static_cast<std::size_t>(v) + 1]; ++k) {
      if (!(rows_.weights[k] > weakest)) continue;
      closed = closed && found.of[static_cast<std::size_t>(rows_.targets[k])] == number;
    }
  }
  found.closed.push_back(closed);
}

std::vector<std::vector<int>> MarkovChain::classes() const {
  std::vector<std::vector<int>> members(closed_.size());
  for (std::size_t i = 0; i < class_of_.size(); ++i) {
    members[static_cast<std::size_t>(class_of_[i])].push_back(static_cast<int>(i));
  }
  return members;
}

// The place of each state among those; -1 for the others.
std::vector<int> MarkovChain::places_of(const std::vector<int>& members) const {
  std::vector<int> place(size(), -1);
  for (std::size_t i = 0; i < members.size(); ++i) {
    place[static_cast<std::size_t>(members[i])] = static_cast<int>(i);
  }
  return place;
}

// A matrix that is nearly singular, by elimination that loses nothing.
Eigen::MatrixXd MarkovChain::solve_slow(const std::vector<int>& members, bool transposed,
                                        const Eigen::MatrixXd& right) const {
  const std::vector<int> place = places_of(members);
  const auto n = static_cast<Eigen::Index>(members.size());
  Eigen::MatrixXd moves = Eigen::MatrixXd::Zero(n, n);
  Vector leaves = Vector::Zero(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto v = static_cast<std::size_t>(members[static_cast<std::size_t>(i)]);
    for (std::size_t k = rows_.offsets[v]; k < rows_.offsets[v + 1]; ++k) {
      const int j = place[static_cast<std::size_t>(rows_.targets[k])];
      if (j == i) continue;
      (j < 0 ? leaves[i] : moves(i, j)) += rows_.weights[k];
    }
  }
  return RareMoves(std::move(moves), std::move(leaves)).solve(right, transposed);
}

Eigen::MatrixXd MarkovChain::solve(const std::vector<int>& members, bool transposed,
                                   const Eigen::MatrixXd& right) {
  if (members.size() <= kMostSlow && hangs_on_moves(kRare)) {
    return solve_slow(members, transposed, right);
  }
  const std::vector<int> place = places_of(members);
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto v = static_cast<std::size_t>(members[i]);
    for (std::size_t k = rows_.offsets[v]; k < rows_.offsets[v + 1]; ++k) {
      if (rows_.targets[k] == members[i]) continue;
      // 1 - P(stay) is what leaves, summed up: a difference would lose what hardly ever leaves.
      entries.emplace_back(i, i, rows_.weights[k]);
      const int j = place[static_cast<std::size_t>(rows_.targets[k])];
      if (j < 0) continue;
      entries.emplace_back(transposed ? j : static_cast<int>(i),
                           transposed ? static_cast<int>(i) : j, -rows_.weights[k]);
    }
  }
  const auto n = static_cast<Eigen::Index>(members.size());
  Eigen::SparseMatrix<double> matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  Eigen::SparseLU<Eigen::SparseMatrix<double>> lu(matrix);
  OAS_REQUIRE(lu.info() == Eigen::Success, "the chain of {} states cannot be solved: {}",
              members.size(), lu.lastErrorMessage());
  Eigen::MatrixXd x = lu.solve(right);
  const double scale = std::max(x.lpNorm<Eigen::Infinity>(), 1e-300);
  residual_ = std::max(residual_, (matrix * x - right).lpNorm<Eigen::Infinity>() / scale);
  return x;
}

// The stationary mean over a closed class: the first member's weight is set to 1.
Eigen::RowVectorXd MarkovChain::class_mean(const std::vector<int>& members,
                                           const Eigen::MatrixXd& worth) {
  const auto first = static_cast<std::size_t>(members[0]);
  Eigen::RowVectorXd sum = worth.row(members[0]);
  if (members.size() == 1) return sum;
  const std::vector<int> others(members.begin() + 1, members.end());
  Eigen::MatrixXd right = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(others.size()), 1);
  const std::vector<int> place = places_of(others);
  for (std::size_t k = rows_.offsets[first]; k < rows_.offsets[first + 1]; ++k) {
    const int j = place[static_cast<std::size_t>(rows_.targets[k])];
    if (j >= 0) right(j, 0) += rows_.weights[k];
  }
  const Eigen::MatrixXd weights = solve(others, true, right);
  for (std::size_t i = 0; i < others.size(); ++i) {
    sum += weights(static_cast<Eigen::Index>(i), 0) * worth.row(others[i]);
  }
  return sum / (1.0 + weights.sum());
}

// mean = Σ P mean where the long run is not yet decided.
void MarkovChain::solve_passing(Eigen::MatrixXd& mean) {
  std::vector<int> passing;
  const std::vector<std::vector<int>> members = classes();
  for (std::size_t c = 0; c < members.size(); ++c) {
    if (!closed_[c]) passing.insert(passing.end(), members[c].begin(), members[c].end());
  }
  if (passing.empty()) return;
  Eigen::MatrixXd right =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(passing.size()), mean.cols());
  for (std::size_t i = 0; i < passing.size(); ++i) {
    const auto v = static_cast<std::size_t>(passing[i]);
    for (std::size_t k = rows_.offsets[v]; k < rows_.offsets[v + 1]; ++k) {
      const int w = rows_.targets[k];
      if (closed_[static_cast<std::size_t>(class_of_[static_cast<std::size_t>(w)])]) {
        right.row(static_cast<Eigen::Index>(i)) += rows_.weights[k] * mean.row(w);
      }
    }
  }
  const Eigen::MatrixXd values = solve(passing, false, right);
  for (std::size_t i = 0; i < passing.size(); ++i) {
    mean.row(passing[i]) = values.row(static_cast<Eigen::Index>(i));
  }
}

// Classes are numbered so that arrows lead to lower ones: one pass in that order is enough.
std::vector<bool> MarkovChain::leads_to(std::vector<bool> marked) const {
  std::vector<int> order(size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    return class_of_[static_cast<std::size_t>(x)] < class_of_[static_cast<std::size_t>(y)];
  });
  for (const int i : order) {
    const auto v = static_cast<std::size_t>(i);
    for (std::size_t k = rows_.offsets[v]; k < rows_.offsets[v + 1]; ++k) {
      const auto other = class_of_[static_cast<std::size_t>(rows_.targets[k])];
      if (marked[static_cast<std::size_t>(other)]) {
        marked[static_cast<std::size_t>(class_of_[v])] = true;
      }
    }
  }
  return marked;
}

Eigen::MatrixXd MarkovChain::long_run(const Eigen::MatrixXd& worth) {
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(worth.rows(), worth.cols());
  const std::vector<std::vector<int>> members = classes();
  for (std::size_t c = 0; c < members.size(); ++c) {
    if (!closed_[c]) continue;
    const Eigen::RowVectorXd value = class_mean(members[c], worth);
    for (const int i : members[c]) mean.row(i) = value;
  }
  solve_passing(mean);
  return mean;
}

}  // namespace oas::detail
