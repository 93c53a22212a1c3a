#include "oas/jobs/log_rewards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/core/sampling.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas {

namespace {

constexpr std::size_t kMostRewardBatches = 128;
constexpr std::int64_t kRewardBatchRows = 16;  // doubled whenever there are too many batches
constexpr double kLeastWeight = 1.0;           // of a direction of beliefs: one visit
constexpr std::int64_t kRowsAtOnce = 1 << 16;  // of short runs, filtered under all draws
constexpr double kHiddenShare = 1e-6;          // of a state, in directions below that

// Sums over rows of one action: b bᵀ, b r.
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
};

// [batch][action]: batches of equally many rows, whose size grows with the log.
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

// Calls receive(action, belief before the row, reward) for the rows of a run whose reward is known.
void for_each_reward(const Pomdp& chain, bool finite, const LoggedRun& run,
                     const std::function<void(Action, std::span<const double>, double)>& receive) {
  filter_run(chain, finite, run, [&](std::size_t t, std::span<const double> belief) {
    // What was earned where the log is silent is not known.
    if (!std::isnan(run.rewards[t])) receive(run.actions[t], belief, run.rewards[t]);
  });
}

// [draw][action]: what the rows say under each of the drawn dynamics.
class SumsUnderDraws {
 public:
  SumsUnderDraws(const Pomdp& chain, const TransitionEstimate& estimate, bool finite,
                 Parallelism parallelism)
      : finite_(finite), parallelism_(parallelism) {
    for (TransitionModel& draw : drawn_transitions(estimate)) {
      models_.push_back(chain.with_transition(std::move(draw)));
    }
    const auto actions = static_cast<std::size_t>(chain.num_actions());
    sums_.assign(models_.size(), std::vector(actions, RewardSums(chain.num_states())));
  }

  void add(const LoggedRun& run) {
    if (models_.empty()) return;
    if (run.rows() >= kRowsAtOnce) {
      finish();
      return fold({&run, 1});
    }
    waiting_.push_back(run);
    rows_waiting_ += run.rows();
    if (rows_waiting_ >= kRowsAtOnce) finish();
  }
  void finish() {
    fold(waiting_);
    waiting_.clear();
    rows_waiting_ = 0;
  }

  [[nodiscard]] std::size_t draws() const { return models_.size(); }
  [[nodiscard]] const RewardSums& operator()(std::size_t draw, int action) const {
    return sums_[draw][static_cast<std::size_t>(action)];
  }

 private:
  void fold(std::span<const LoggedRun> runs) {
    parallel_for(models_.size(), parallelism_, [&](std::size_t draw) {
      for (const LoggedRun& run : runs) {
        for_each_reward(models_[draw], finite_, run,
                        [&](Action action, std::span<const double> belief, double reward) {
                          sums_[draw][static_cast<std::size_t>(action)].add(belief, reward);
                        });
      }
    });
  }

  bool finite_;
  Parallelism parallelism_;
  std::vector<Pomdp> models_;
  std::vector<std::vector<RewardSums>> sums_;
  std::vector<LoggedRun> waiting_;
  std::int64_t rows_waiting_ = 0;
};

// Least squares in the directions of beliefs that the log shows, the mean reward in the others.
struct LeastSquares {
  Vector values;
  Matrix inverse;
  Vector hidden;  // by state: its part in the other directions

  LeastSquares(const RewardSums& total, double least)
      : inverse(Matrix::Zero(total.beliefs.rows(), total.beliefs.rows())),
        hidden(Vector::Zero(total.beliefs.rows())) {
    const SymmetricEigen eigen = symmetric_eigen(total.beliefs);
    for (Eigen::Index k = 0; k < hidden.size(); ++k) {
      const Vector direction = eigen.vectors.col(k);
      if (eigen.values[k] < kLeastWeight) {
        hidden += direction.cwiseAbs2();
      } else {
        inverse += direction * direction.transpose() / eigen.values[k];
      }
    }
    const double mean = total.rows > 0.0 ? total.reward / total.rows : least;
    const Vector centre = Vector::Constant(hidden.size(), mean);
    values = centre + inverse * (total.rewards - total.beliefs * centre);
  }
};

struct ActionRewards {
  Vector values;
  Vector standard_error;
  std::vector<bool> unseen;  // by state
  /// [state][batch]: their products with standard normal numbers, one for each batch, are errors
  /// with the covariance of the values. NaN: there are too few batches.
  Matrix errors;
};

// A state with a part in hidden directions is not determined. Where the beliefs in a state are
// worth less than one visit, nothing was seen there: such a reward is the least of all, since a
// plan would seek out a mean that others have earned.
ActionRewards solve(const RewardBatches& batches, int action, int states) {
  const RewardSums total = batches.total(action);
  const LeastSquares fit(total, batches.least());
  ActionRewards found{fit.values, {}, {}, Matrix::Zero(states, batches.size())};
  double used = 0.0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const RewardSums& batch = batches(b, action);
    found.errors.col(static_cast<Eigen::Index>(b)) =
        fit.inverse * (batch.rewards - batch.beliefs * fit.values);
    used += static_cast<double>(batch.rows > 0.0);
  }
  // Degrees of freedom, as in a sandwich of clusters.
  found.errors *= used > states ? std::sqrt(used / (used - states)) : std::nan("");
  found.standard_error = found.errors.rowwise().norm();
  for (int s = 0; s < states; ++s) {
    found.unseen.push_back(total.beliefs(s, s) < kLeastWeight);
    if (found.unseen.back()) found.values[s] = batches.least();
    if (fit.hidden[s] > kHiddenShare) found.standard_error[s] = std::nan("");
  }
  return found;
}

struct DrawnRewards {
  std::vector<double> values;    // [draw][a][s]
  std::vector<double> variance;  // [a][s]: of what different dynamics make of the same rows
};

// One row of rewards for each of the draws. Actions share their normal numbers, because the rows
// of a batch share their luck.
DrawnRewards draw_rewards(const std::vector<ActionRewards>& found, const SumsUnderDraws& drawn,
                          double least, std::uint64_t seed) {
  DrawnRewards rewards;
  const std::size_t states = found.front().unseen.size();
  Matrix sums = Matrix::Zero(static_cast<Eigen::Index>(found.size() * states), 2);
  Rng rng({seed, 0, Role::estimation});  // draws from logs have those of another role
  Vector luck(found.front().errors.cols());
  for (std::size_t draw = 0; draw < drawn.draws(); ++draw) {
    for (double& value : luck) value = sample_normal(rng);
    for (std::size_t a = 0; a < found.size(); ++a) {
      Vector values = LeastSquares(drawn(draw, static_cast<int>(a)), least).values;
      const Vector error = found[a].errors * luck;
      for (Eigen::Index s = 0; s < values.size(); ++s) {
        const auto row = static_cast<Eigen::Index>(a * states) + s;
        if (found[a].unseen[static_cast<std::size_t>(s)]) values[s] = least;
        const double off = values[s] - found[a].values[s];
        sums(row, 0) += off;
        sums(row, 1) += off * off;
        const bool fixed = found[a].unseen[static_cast<std::size_t>(s)] || !error.allFinite();
        rewards.values.push_back(fixed ? values[s] : values[s] + error[s]);
      }
    }
  }
  const auto n = static_cast<double>(drawn.draws());
  for (Eigen::Index row = 0; row < sums.rows(); ++row) {
    const double squares = sums(row, 1) - sums(row, 0) * sums(row, 0) / n;
    rewards.variance.push_back(n > 1.0 ? std::max(squares, 0.0) / (n - 1.0) : 0.0);
  }
  return rewards;
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
                      TransitionEstimate& estimate, const RewardEstimation& how) {
  const Pomdp chain = estimated_model(chain_of(model), estimate);
  const bool finite = std::holds_alternative<Pomdp>(model);
  RewardBatches batches(chain.num_actions(), chain.num_states());
  SumsUnderDraws drawn(chain, estimate, finite, how.parallelism);
  for (const OneLog& log : logs_of(logs, how.rows)) {
    LogReader reader =
        std::visit([&](const auto& any) { return LogReader(log, any, how.rows); }, model);
    OAS_REQUIRE(reader.has_reward(), "{}: has no column for the reward", log.name());
    for_each_run(reader, [&](const LoggedRun& run) {
      for_each_reward(chain, finite, run,
                      [&](Action action, std::span<const double> belief, double reward) {
                        batches.add(action, belief, reward);
                      });
      drawn.add(run);
      if (how.progress) how.progress(run.rows());
    });
  }
  drawn.finish();
  estimate.reward.clear();
  estimate.reward_standard_error.clear();
  estimate.reward_draws.clear();
  if (batches.size() == 0) {
    estimate.warnings.emplace_back("no row of the log has a reward, so none was learned");
    return;
  }
  std::vector<ActionRewards> found;
  for (int a = 0; a < chain.num_actions(); ++a) {
    found.push_back(solve(batches, a, chain.num_states()));
    OAS_REQUIRE(found.back().values.allFinite(),
                "{}: the rewards of action {} are too large to be added up; the least is {:g}",
                logs.front(), chain.actions()[a], batches.least());
    for (int s = 0; s < chain.num_states(); ++s) {
      const double value = found.back().values[s];
      estimate.reward.push_back(value);
      estimate.reward_standard_error.push_back(found.back().standard_error[s]);
      if (std::isfinite(found.back().standard_error[s])) continue;
      const bool unseen = found.back().unseen[static_cast<std::size_t>(s)];
      estimate.warnings.push_back(unknown_reward(chain, a, s, unseen, value));
    }
  }
  DrawnRewards rewards = draw_rewards(found, drawn, batches.least(), how.seed);
  for (std::size_t row = 0; row < estimate.reward.size(); ++row) {
    double& error = estimate.reward_standard_error[row];
    error = std::sqrt(error * error + rewards.variance[row]);
  }
  estimate.reward_draws = std::move(rewards.values);
}

TransitionEstimate estimate_dynamics_and_rewards(const AnyModel& model,
                                                 std::span<const std::string> logs,
                                                 const Estimation& how) {
  TransitionEstimate estimate = estimate_from_logs(model, logs, how);
  if (brings_rewards(model, logs, how.rows)) {
    estimate_rewards(model, logs, estimate,
                     {.rows = how.rows,
                      .seed = how.evidence.stream.seed,
                      .parallelism = how.estimate.parallelism,
                      .progress = how.estimate.progress});
  }
  return estimate;
}

}  // namespace oas
