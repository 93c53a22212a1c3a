#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/jobs/log_rewards.hpp"
#include "oas/model/any_model.hpp"

namespace oas::detail {

inline constexpr std::size_t kMostRewardBatches = 128;
/// Doubled whenever there are too many batches.
inline constexpr std::int64_t kRewardBatchRows = 16;

/// Sums over rows of one action: b bᵀ, b r.
struct RewardSums {
  Matrix beliefs;
  Vector rewards;
  double reward = 0.0;
  double rows = 0.0;

  explicit RewardSums(int states)
      : beliefs(Matrix::Zero(states, states)), rewards(Vector::Zero(states)) {}
  void add(std::span<const double> belief, double earned) {
    const Eigen::Map<const Vector> b(belief.data(), beliefs.rows());
    beliefs += b * b.transpose();
    rewards += earned * b;
    reward += earned;
    rows += 1.0;
  }
  void operator+=(const RewardSums& other) {
    beliefs += other.beliefs;
    rewards += other.rewards;
    reward += other.reward;
    rows += other.rows;
  }
  void save(ByteWriter& out) const {
    out.put_all(std::span(beliefs.data(), static_cast<std::size_t>(beliefs.size())));
    out.put_all(std::span(rewards.data(), static_cast<std::size_t>(rewards.size())));
    out.put(reward);
    out.put(rows);
  }
  void load(ByteReader& in) {
    for (double* const values : {beliefs.data(), rewards.data()}) {
      const auto saved = in.get_all<double>();
      std::copy(saved.begin(), saved.end(), values);
    }
    reward = in.get<double>();
    rows = in.get<double>();
  }
};

/// [action], under one of the drawn dynamics.
using DrawSums = std::vector<RewardSums>;

/// [batch][action]: batches of equally many rows, whose size grows with the log.
class RewardBatches {
 public:
  RewardBatches(int actions, int states)
      : actions_(static_cast<std::size_t>(actions)), states_(states) {}

  void add(Action action, std::span<const double> belief, double reward) {
    if (in_last_ == 0) batches_.emplace_back(actions_, RewardSums(states_));
    batches_.back()[static_cast<std::size_t>(action)].add(belief, reward);
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

/// All rows of the logs, once.
struct RewardRows {
  RewardBatches batches;
  std::vector<DrawSums> drawn;  // [draw]
};

/// Reads the logs, under the dynamics of `estimate` and each of its draws. With a team the draws
/// are dealt out: rank 0 alone reads, and sends the rows to the others, who help_reward_rows().
[[nodiscard]] RewardRows reward_rows(const AnyModel& model, std::span<const std::string> logs,
                                     const TransitionEstimate& estimate,
                                     const RewardEstimation& how);
void help_reward_rows(const AnyModel& model, std::span<const std::string> logs,
                      const RewardEstimation& how);

}  // namespace oas::detail
