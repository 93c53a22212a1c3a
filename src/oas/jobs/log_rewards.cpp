#include "oas/jobs/log_rewards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/core/sampling.hpp"
#include "oas/core/team.hpp"
#include "oas/jobs/detail/reward_rows.hpp"
#include "oas/jobs/log_bootstrap.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas {

namespace {

using detail::DrawSums;
using detail::RewardBatches;
using detail::RewardSums;

constexpr double kLeastWeight = 1.0;   // of a direction of beliefs: one visit
constexpr double kHiddenShare = 1e-6;  // of a state, in directions below that

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
DrawnRewards draw_rewards(const std::vector<ActionRewards>& found,
                          const std::vector<DrawSums>& drawn, double least, std::uint64_t seed) {
  DrawnRewards rewards;
  const std::size_t states = found.front().unseen.size();
  Matrix sums = Matrix::Zero(static_cast<Eigen::Index>(found.size() * states), 2);
  Rng rng({seed, 0, Role::estimation});  // draws from logs have those of another role
  Vector luck(found.front().errors.cols());
  for (const DrawSums& sums_of_draw : drawn) {
    for (double& value : luck) value = sample_normal(rng);
    for (std::size_t a = 0; a < found.size(); ++a) {
      Vector values = LeastSquares(sums_of_draw[a], least).values;
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
  const auto n = static_cast<double>(drawn.size());
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
  if (how.parallelism.team != nullptr && !how.parallelism.team->leads()) {
    return detail::help_reward_rows(model, logs, how);
  }
  const Pomdp& chain = chain_of(model);
  const detail::RewardRows rows = detail::reward_rows(model, logs, estimate, how);
  const RewardBatches& batches = rows.batches;
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
                "{}: the rewards of action {} are too large to be added up; the smallest "
                "is {:g}",
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
  DrawnRewards rewards = draw_rewards(found, rows.drawn, batches.least(), how.seed);
  for (std::size_t row = 0; row < estimate.reward.size(); ++row) {
    double& error = estimate.reward_standard_error[row];
    error = std::sqrt(error * error + rewards.variance[row]);
  }
  estimate.reward_draws = std::move(rewards.values);
}

namespace {

// Ranks that resampled are with the bootstrap until the end.
Parallelism reward_parallelism(const Estimation& how) {
  const Parallelism all = how.estimate.parallelism;
  if (all.team == nullptr || !bootstrap_needs_rows(how)) return all;
  all.team->tell("rewards are learned on rank 0 alone after a bootstrap of rows");
  return {all.threads};
}

}  // namespace

TransitionEstimate estimate_dynamics_and_rewards(const AnyModel& model,
                                                 std::span<const std::string> logs,
                                                 const Estimation& how) {
  TransitionEstimate estimate = estimate_from_logs(model, logs, how);
  if (brings_rewards(model, logs, how.rows)) {
    estimate_rewards(model, logs, estimate,
                     {.rows = how.rows,
                      .seed = how.evidence.stream.seed,
                      .parallelism = reward_parallelism(how),
                      .progress = how.estimate.progress});
  }
  Team* const team = how.estimate.parallelism.team;
  if (team != nullptr && !team->leads()) static_cast<void>(team->order());  // there is none
  return estimate;
}

}  // namespace oas
