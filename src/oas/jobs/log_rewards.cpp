#include "oas/jobs/log_rewards.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas {

namespace {

constexpr std::size_t kMostRewardBatches = 128;
constexpr std::int64_t kRewardBatchRows = 16;  // doubled whenever there are too many batches
constexpr double kLeastWeight = 1.0;           // of a direction of beliefs: one visit
constexpr double kHiddenShare = 1e-6;          // of a state, in directions below that

// Sums over rows of one action: b bᵀ, b r.
struct RewardSums {
  Matrix beliefs;
  Vector rewards;
  double reward = 0.0;
  double rows = 0.0;

  explicit RewardSums(int states)
      : beliefs(Matrix::Zero(states, states)), rewards(Vector::Zero(states)) {}
  void operator+=(const RewardSums& other) {
    beliefs += other.beliefs;
    rewards += other.rewards;
    reward += other.reward;
    rows += other.rows;
  }
};

// [batch][action]: batches of equally many rows, whose size grows with the log.
class RewardBatches {
 public:
  RewardBatches(int actions, int states)
      : actions_(static_cast<std::size_t>(actions)), states_(states) {}

  void add(Action action, std::span<const double> belief, double reward) {
    if (in_last_ == 0) batches_.emplace_back(actions_, RewardSums(states_));
    RewardSums& sums = batches_.back()[static_cast<std::size_t>(action)];
    const Eigen::Map<const Vector> b(belief.data(), states_);
    sums.beliefs += b * b.transpose();
    sums.rewards += reward * b;
    sums.reward += reward;
    sums.rows += 1.0;
    least_ = std::min(least_, reward);
    in_last_ = (in_last_ + 1) % batch_rows_;
    if (in_last_ == 0 && batches_.size() == kMostRewardBatches) halve();
  }

  [[nodiscard]] std::size_t size() const { return batches_.size(); }
  [[nodiscard]] double least() const { return least_; }  // reward of all rows
  [[nodiscard]] const RewardSums& operator()(std::size_t batch, int action) const {
    return batches_[batch][static_cast<std::size_t>(action)];
  }
  [[nodiscard]] RewardSums total(int action) const {
    RewardSums sum(states_);
    for (std::size_t b = 0; b < size(); ++b) sum += (*this)(b, action);
    return sum;
  }

 private:
  void halve() {
    for (std::size_t b = 0; b < batches_.size(); b += 2) {
      for (std::size_t a = 0; a < actions_; ++a) batches_[b][a] += batches_[b + 1][a];
      if (b > 0) batches_[b / 2] = std::move(batches_[b]);
    }
    batches_.resize(kMostRewardBatches / 2, {});
    batch_rows_ *= 2;
  }

  std::size_t actions_;
  int states_;
  std::int64_t batch_rows_ = kRewardBatchRows;
  std::int64_t in_last_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<std::vector<RewardSums>> batches_;
};

struct ActionRewards {
  Vector values;
  Vector standard_error;
  std::vector<bool> unseen;  // by state
};

// Least squares in the directions of beliefs that the log shows, the mean reward in the others; a
// state that has a part in those is not determined. Where the beliefs in a state are worth less
// than one visit, nothing was seen there: such a reward is `least`, since a plan would seek out a
// mean that others have earned.
ActionRewards solve(const RewardBatches& batches, int action, int states, double least) {
  const RewardSums total = batches.total(action);
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(total.beliefs);
  Matrix inverse = Matrix::Zero(states, states);
  Vector hidden = Vector::Zero(states);
  for (int k = 0; k < states; ++k) {
    const Vector direction = eigen.eigenvectors().col(k);
    if (eigen.eigenvalues()[k] < kLeastWeight) {
      hidden += direction.cwiseAbs2();
    } else {
      inverse += direction * direction.transpose() / eigen.eigenvalues()[k];
    }
  }
  const Vector centre =
      Vector::Constant(states, total.rows > 0.0 ? total.reward / total.rows : least);
  ActionRewards found{centre + inverse * (total.rewards - total.beliefs * centre), {}, {}};
  Matrix spread = Matrix::Zero(states, states);
  double used = 0.0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const RewardSums& batch = batches(b, action);
    const Vector left = batch.rewards - batch.beliefs * found.values;
    spread += left * left.transpose();
    used += static_cast<double>(batch.rows > 0.0);
  }
  // Degrees of freedom, as in a sandwich of clusters.
  const double factor = used > states ? used / (used - states) : std::nan("");
  found.standard_error = (factor * (inverse * spread * inverse).diagonal()).cwiseSqrt();
  for (int s = 0; s < states; ++s) {
    found.unseen.push_back(total.beliefs(s, s) < kLeastWeight);
    if (found.unseen.back()) found.values[s] = least;
    if (hidden[s] > kHiddenShare) found.standard_error[s] = std::nan("");
  }
  return found;
}

std::string unknown_reward(const Pomdp& chain, int action, int state, bool unseen, double value) {
  return fmt::format("the log does not tell the reward of ({}, {}){} {:.4g}",
                     chain.actions()[action], chain.states()[state],
                     unseen ? "; it is taken to be the least in the log,"
                            : " well enough for an error bar; its rows suggest",
                     value);
}

}  // namespace

bool brings_rewards(const AnyModel& model, std::span<const std::string> logs,
                    const LogOptions& options) {
  if (chain_of(model).reward().kind() != Reward::Kind::none) return false;
  return std::all_of(logs.begin(), logs.end(), [&](const std::string& log) {
    if (log == "-") return false;
    return std::visit([&](const auto& any) { return LogReader(log, any, options).has_reward(); },
                      model);
  });
}

void estimate_rewards(const AnyModel& model, std::span<const std::string> logs,
                      TransitionEstimate& estimate, const LogOptions& options,
                      const RowsRead& progress) {
  const Pomdp chain = estimated_model(chain_of(model), estimate);
  RewardBatches batches(chain.num_actions(), chain.num_states());
  for (const std::string& log : logs) {
    LogReader reader =
        std::visit([&](const auto& any) { return LogReader(log, any, options); }, model);
    OAS_REQUIRE(reader.has_reward(), "{}: has no column for the reward", log);
    for_each_run(reader, [&](const LoggedRun& run) {
      const bool finite = std::holds_alternative<Pomdp>(model);
      filter_run(chain, finite, run, [&](std::size_t t, std::span<const double> belief) {
        // What was earned where the log is silent is not known.
        if (!std::isnan(run.rewards[t])) batches.add(run.actions[t], belief, run.rewards[t]);
      });
      if (progress) progress(run.rows());
    });
  }
  estimate.reward.clear();
  estimate.reward_standard_error.clear();
  if (batches.size() == 0) {
    estimate.warnings.emplace_back("no row of the log has a reward, so none was learned");
    return;
  }
  for (int a = 0; a < chain.num_actions(); ++a) {
    const ActionRewards found = solve(batches, a, chain.num_states(), batches.least());
    for (int s = 0; s < chain.num_states(); ++s) {
      estimate.reward.push_back(found.values[s]);
      estimate.reward_standard_error.push_back(found.standard_error[s]);
      if (!std::isfinite(found.standard_error[s])) {
        const bool unseen = found.unseen[static_cast<std::size_t>(s)];
        estimate.warnings.push_back(unknown_reward(chain, a, s, unseen, found.values[s]));
      }
    }
  }
}

}  // namespace oas
