#include "oas/experiments/empirical_error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/likelihood_estimator.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/estimation/spectral.hpp"
#include "oas/estimation/transition_error.hpp"

namespace oas {

namespace {

constexpr std::size_t kBlockSteps = 1 << 16;
constexpr double kBlindSensor = 1e-9;  // σ_S(Z_a): no left inverse

bool policy_reacts(const std::string& name) {
  const auto all = policies();
  return std::any_of(all.begin(), all.end(),
                     [&](const PolicyInfo& info) { return info.name == name && info.reacts; });
}

TransitionModel spectral_estimate(const Pomdp& model, const EmpiricalErrorOptions& options,
                                  std::uint32_t replication) {
  TripleFolder folder(model.num_actions(), model.num_observations());
  ClosedLoop loop(model, options.policy, options.seed, replication);
  Trajectory block;
  for (std::size_t done = 0; done < options.steps; done += block.size()) {
    block.clear();
    loop.advance(std::min(kBlockSteps, options.steps - done), block);
    folder.add(block.actions, block.observations);
  }
  Rng rng({options.seed, replication, Role::estimation});
  return estimate_spectral(folder, model, {}, rng).transition;
}

// `inverses` is empty for a likelihood estimator on a model with a blind sensor.
TransitionModel one_estimate(const Pomdp& model, const std::optional<LeftInverses>& inverses,
                             const EmpiricalErrorOptions& options, std::uint32_t replication) {
  const EstimatorInfo& info = find_estimator(options.estimator);
  if (info.kind == EstimatorKind::spectral) return spectral_estimate(model, options, replication);
  const bool likelihood = info.kind == EstimatorKind::likelihood;
  FoldOptions fold;
  fold.pairing = info.pairing;
  fold.inverse_propensity = model.timing() == Timing::after && policy_reacts(options.policy.name);
  std::optional<PairFolder> folder;
  if (inverses) folder.emplace(*inverses, model.timing(), fold);
  TransitionLikelihood rows(model);
  ClosedLoop loop(model, options.policy, options.seed, replication);
  Trajectory block;
  for (std::size_t done = 0; done < options.steps; done += block.size()) {
    block.clear();
    loop.advance(std::min(kBlockSteps, options.steps - done), block);
    if (folder) folder->add(block.actions, block.observations, block.propensities);
    if (likelihood) rows.append(block.actions, block.observations);
  }
  TransitionModel start = TransitionModel::uniform(model.num_states(), model.num_actions());
  if (folder) start = estimate_oas(folder->finish(), *inverses, model).transition;
  if (!likelihood) return start;
  LikelihoodEstimatorOptions settings;
  settings.climb.accelerate = info.refine;
  settings.error_bars = false;
  const std::vector<TransitionModel> starts =
      info.refine ? likelihood_starts(model, start)
                  : std::vector{TransitionModel::uniform(model.num_states(), model.num_actions())};
  return estimate_likelihood(likelihood_rows(rows, {1}), starts, model, settings).transition;
}

}  // namespace

void EmpiricalErrorOptions::validate() const {
  OAS_REQUIRE(steps >= 2, "steps is {}; at least 2 are needed", steps);
  OAS_REQUIRE(replications >= 2, "replications is {}; at least 2 are needed", replications);
  OAS_REQUIRE(find_estimator(estimator).kind != EstimatorKind::posterior,
              "estimator '{}' cannot be studied here: only those by moments or likelihood can",
              estimator);
}

double EmpiricalError::steps_for(double target, std::size_t steps) const {
  return static_cast<double>(steps) * (mean / target) * (mean / target);
}

EmpiricalError empirical_error(const Pomdp& model, const EmpiricalErrorOptions& options,
                               Parallelism parallelism) {
  options.validate();
  options.policy.validate(model);
  std::optional<LeftInverses> inverses;
  const std::vector<double> alphas = sensor_alphas(model);
  const bool blind = *std::min_element(alphas.begin(), alphas.end()) < kBlindSensor;
  if (!blind || find_estimator(options.estimator).kind == EstimatorKind::moments) {
    inverses.emplace(model);
  }
  EmpiricalError result;
  result.errors.resize(static_cast<std::size_t>(options.replications));
  parallel_for(result.errors.size(), parallelism, [&](std::size_t r) {
    const TransitionModel estimate =
        one_estimate(model, inverses, options, static_cast<std::uint32_t>(r));
    result.errors[r] = transition_error(model.transition(), estimate).frobenius;
  });
  const auto n = static_cast<double>(result.errors.size());
  result.mean = std::accumulate(result.errors.begin(), result.errors.end(), 0.0) / n;
  double square = 0.0;
  for (const double error : result.errors) square += (error - result.mean) * (error - result.mean);
  result.standard_error = std::sqrt(square / (n - 1.0) / n);
  return result;
}

}  // namespace oas
