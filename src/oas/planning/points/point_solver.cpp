#include <algorithm>
#include <limits>
#include <utility>

#include "oas/core/interruption.hpp"
#include "oas/planning/points/detail/point_solver.hpp"

namespace oas::detail {

namespace {

// Backups between two choices of successor vectors.
constexpr int kBackupsPerRefresh = 10;
// With a limited set of vectors the span settles above 0: so many choices without a fall by a tenth
// end the round.
constexpr int kPatience = 8;

}  // namespace

Eigen::MatrixXd spread_out(const Eigen::MatrixXd& pool, int most) {
  Eigen::VectorXd distance =
      Eigen::VectorXd::Constant(pool.cols(), std::numeric_limits<double>::infinity());
  std::vector<Eigen::Index> chosen;
  Eigen::Index next = 0;
  while (static_cast<int>(chosen.size()) < most) {
    chosen.push_back(next);
    const Eigen::VectorXd center = pool.col(next);
    for (Eigen::Index i = 0; i < pool.cols(); ++i) {
      distance(i) = std::min(distance(i), (pool.col(i) - center).lpNorm<1>());
    }
    if (distance.maxCoeff(&next) < 1e-6) break;
  }
  Eigen::MatrixXd beliefs(pool.rows(), static_cast<Eigen::Index>(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    beliefs.col(static_cast<Eigen::Index>(i)) = pool.col(chosen[i]);
  }
  return beliefs;
}

PointSolver::PointSolver(const Pomdp& model, double iota, const PointOptions& options)
    : num_states_(model.num_states()),
      num_actions_(model.num_actions()),
      num_observations_(model.num_observations()),
      timing_(model.timing()),
      iota_(iota),
      options_(options),
      rewards_(model.expected_reward()),
      active_(Eigen::MatrixXd::Zero(num_states_, 1)) {
  backed_up_.resize(static_cast<std::size_t>(num_actions_));
  if (SparseModel::pays(model)) {
    sparse_.emplace(model);
    return;
  }
  for (int a = 0; a < num_actions_; ++a) {
    transition_.emplace_back(model.transition().matrix(Action{a}));
    likelihood_.emplace_back(model.sensors().matrix(Action{a}));
  }
}

void PointSolver::set_beliefs(Eigen::MatrixXd beliefs) {
  beliefs_ = std::move(beliefs);
  const Eigen::MatrixXd scores = active_.transpose() * beliefs_;
  alpha_.resize(num_states_, beliefs_.cols());
  for (Eigen::Index b = 0; b < beliefs_.cols(); ++b) {
    Eigen::Index best = 0;
    scores.col(b).maxCoeff(&best);
    alpha_.col(b) = active_.col(best);
  }
  choice_.assign(static_cast<std::size_t>(num_actions_ * num_observations_ * beliefs_.cols()), 0);
}

// Unnormalised next beliefs K_a^oᵀ b of all beliefs.
Eigen::MatrixXd PointSolver::successors(int action, int observation) const {
  const Eigen::VectorXd seen = likelihood_[action].row(observation).transpose();
  if (timing_ == Timing::before) {
    return transition_[action].transpose() * (seen.asDiagonal() * beliefs_);
  }
  return seen.asDiagonal() * (transition_[action].transpose() * beliefs_);
}

// Keeps the vectors that are best somewhere; each belief takes over its best one.
void PointSolver::prune() {
  const Eigen::MatrixXd scores = alpha_.transpose() * beliefs_;
  std::vector<int> wins(static_cast<std::size_t>(alpha_.cols()), 0);
  std::vector<Eigen::Index> best(wins.size());
  for (Eigen::Index b = 0; b < beliefs_.cols(); ++b) {
    scores.col(b).maxCoeff(&best[b]);
    ++wins[best[b]];
  }
  active_owner_.clear();
  for (std::size_t i = 0; i < wins.size(); ++i) {
    if (wins[i] > 0) active_owner_.push_back(static_cast<int>(i));
  }
  const auto most = static_cast<std::size_t>(options_.num_vectors);
  if (active_owner_.size() > most) {
    std::stable_sort(active_owner_.begin(), active_owner_.end(),
                     [&](int i, int j) { return wins[i] > wins[j]; });
    active_owner_.resize(most);
  }
  active_.resize(num_states_, static_cast<Eigen::Index>(active_owner_.size()));
  for (std::size_t k = 0; k < active_owner_.size(); ++k) {
    active_.col(static_cast<Eigen::Index>(k)) = alpha_.col(active_owner_[k]);
  }
  const Eigen::MatrixXd old = alpha_;
  for (Eigen::Index b = 0; b < beliefs_.cols(); ++b) alpha_.col(b) = old.col(best[b]);
  // An owner's own column must still hold its vector: it does, for it is best at some belief but
  // perhaps not at its own.
  for (std::size_t k = 0; k < active_owner_.size(); ++k) {
    for (Eigen::Index b = 0; b < beliefs_.cols(); ++b) {
      if (best[b] == active_owner_[k]) {
        active_owner_[k] = static_cast<int>(b);
        break;
      }
    }
  }
}

void PointSolver::refresh() {
  prune();
  sparse_ ? choose_sparse() : choose_dense();
}

void PointSolver::choose_dense() {
  for (int a = 0; a < num_actions_; ++a) {
    for (int o = 0; o < num_observations_; ++o) {
      const Eigen::MatrixXd scores = active_.transpose() * successors(a, o);
      int* choice = choice_.data() + (a * num_observations_ + o) * beliefs_.cols();
      for (Eigen::Index b = 0; b < beliefs_.cols(); ++b) {
        Eigen::Index best = 0;
        scores.col(b).maxCoeff(&best);
        choice[b] = active_owner_[static_cast<std::size_t>(best)];
      }
    }
  }
}

// An observation that cannot come gets the first vector, as where all scores are 0.
void PointSolver::choose_sparse() {
  const Eigen::MatrixXd alpha = active_.transpose();
  SuccessorScores work;
  std::fill(choice_.begin(), choice_.end(), active_owner_.front());
  for (int a = 0; a < num_actions_; ++a) {
    for (Eigen::Index b = 0; b < beliefs_.cols(); ++b) {
      successor_scores(*sparse_, a, beliefs_.col(b).data(), alpha, work);
      for (const int o : work.observed) {
        Eigen::Index best = 0;
        work.scores.col(o).maxCoeff(&best);
        choice_[static_cast<std::size_t>((a * num_observations_ + o) * beliefs_.cols() + b)] =
            active_owner_[static_cast<std::size_t>(best)];
      }
    }
  }
}

// Σ_o K_a^o α_(b,a,o) of all beliefs.
void PointSolver::expect_dense(int action) {
  Eigen::MatrixXd& out = backed_up_[action];
  const Eigen::MatrixXd moved =
      timing_ == Timing::before ? Eigen::MatrixXd(transition_[action] * alpha_) : alpha_;
  out.setZero(num_states_, beliefs_.cols());
  for (int o = 0; o < num_observations_; ++o) {
    const Eigen::ArrayXd seen = likelihood_[action].row(o).transpose().array();
    const int* choice = choice_.data() + (action * num_observations_ + o) * beliefs_.cols();
    for (Eigen::Index b = 0; b < beliefs_.cols(); ++b) {
      out.col(b).array() += seen * moved.col(choice[b]).array();
    }
  }
  if (timing_ == Timing::after) out = transition_[action] * out;
}

void PointSolver::expect_sparse(int action) {
  const auto& sensors = sparse_->sensors[static_cast<std::size_t>(action)];
  const int* choice = choice_.data() + action * num_observations_ * beliefs_.cols();
  Eigen::MatrixXd seen = Eigen::MatrixXd::Zero(num_states_, beliefs_.cols());
  for (Eigen::Index b = 0; b < beliefs_.cols(); ++b) {
    for (Eigen::Index s = 0; s < num_states_; ++s) {
      for (SparseModel::Rows::InnerIterator entry(sensors, s); entry; ++entry) {
        seen(s, b) += entry.value() * alpha_(s, choice[entry.col() * beliefs_.cols() + b]);
      }
    }
  }
  backed_up_[action].noalias() = sparse_->transition[static_cast<std::size_t>(action)] * seen;
}

void PointSolver::back_up_action(int action) {
  sparse_ ? expect_sparse(action) : expect_dense(action);
  Eigen::MatrixXd& out = backed_up_[action];
  if (options_.discount < 1.0) out *= options_.discount;
  out.colwise() += rewards_.row(action).transpose();
  values_.row(action) = (out.array() * beliefs_.array()).colwise().sum();
}

Eigen::Vector2d PointSolver::backup() {
  values_.resize(num_actions_, beliefs_.cols());
  for (int a = 0; a < num_actions_; ++a) back_up_action(a);
  Eigen::Vector2d range(1e300, -1e300);
  for (Eigen::Index b = 0; b < beliefs_.cols(); ++b) {
    Eigen::Index greedy = 0;
    values_.col(b).maxCoeff(&greedy);
    Eigen::VectorXd mixed = (1.0 - num_actions_ * iota_) * backed_up_[greedy].col(b);
    if (iota_ > 0.0) {
      for (const Eigen::MatrixXd& vectors : backed_up_) mixed += iota_ * vectors.col(b);
    }
    const double increment = (mixed - alpha_.col(b)).dot(beliefs_.col(b));
    range(0) = std::min(range(0), increment);
    range(1) = std::max(range(1), increment);
    alpha_.col(b) = 0.5 * (alpha_.col(b) + mixed);
  }
  alpha_.array() -= 0.25 * range.sum();  // half of the middle increment
  return range;
}

PointSolver::Outcome PointSolver::solve() {
  Outcome outcome;
  double best = std::numeric_limits<double>::infinity();
  int patience = kPatience;
  while (outcome.backups < options_.max_sweeps && patience > 0) {
    check_interrupted();
    refresh();
    for (int i = 0; i < kBackupsPerRefresh; ++i, ++outcome.backups) {
      const Eigen::Vector2d range = backup();
      if (i > 0) continue;
      outcome.span = range(1) - range(0);
      outcome.gain = 0.5 * range.sum();
      outcome.converged = outcome.span <= options_.span_tolerance;
      if (outcome.converged) break;
    }
    if (outcome.converged) break;
    patience = outcome.span < 0.9 * best ? kPatience : patience - 1;
    best = std::min(best, outcome.span);
  }
  prune();
  return outcome;
}

}  // namespace oas::detail
