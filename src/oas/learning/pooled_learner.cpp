#include "oas/learning/pooled_learner.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/estimation/gibbs/posterior_draw.hpp"
#include "oas/estimation/likelihood/laplace_posterior.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/learning/detail/record_estimate.hpp"
#include "oas/learning/likelihood_set.hpp"
#include "oas/learning/optimistic_planning.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

// Starts of the likelihood lie inside the set of models: an entry 0 would stay 0.
constexpr double kShareOfUniform = 0.02;
// A direction of which no row tells anything has no other information.
constexpr double kLeastPrior = 0.1;
// Of the search for the best member of a set; what it finds is planned for anew.
constexpr std::size_t kSearchPoints = 150;
constexpr int kSearchSweeps = 1000;

double default_floor_of(const Pomdp& sensors, PooledEstimator estimator) {
  const bool weighted = estimator == PooledEstimator::moments &&
                        weights_by_propensity(sensors.timing(), sensors.num_actions(), true);
  return weighted ? default_floor(sensors.num_actions()) : 0.0;
}

bool looks_at_rows(PooledExploration exploration) {
  return exploration == PooledExploration::gibbs || exploration == PooledExploration::laplace ||
         exploration == PooledExploration::likelihood_set;
}

}  // namespace

void PooledUcrlOptions::validate(const Pomdp& sensors) const {
  acting.validate(sensors);
  OAS_REQUIRE(estimator == PooledEstimator::likelihood ||
                  !weights_by_propensity(sensors.timing(), sensors.num_actions(), true) ||
                  !acting.iota || *acting.iota > 0.0,
              "iota is {}; in `after` timing moments are weighted by 1/propensity and need a "
              "positive floor; oas-ucrl-ml does not",
              *acting.iota);
  OAS_REQUIRE(
      estimator == PooledEstimator::likelihood || !looks_at_rows(exploration),
      "exploration is {}, which looks at all rows again; oas-ucrl-ml, psrl-gibbs, psrl-laplace "
      "and omle keep them, moments do not",
      exploration == PooledExploration::gibbs     ? "gibbs"
      : exploration == PooledExploration::laplace ? "laplace"
                                                  : "likelihood-set");
  check_ranges(*this);
}

PooledLearner::PooledLearner(const Pomdp& sensors, const PooledUcrlOptions& options)
    : options_((options.validate(sensors), options)),
      sensors_(sensors.without_transition()),
      floor_(options.acting.iota.value_or(default_floor_of(sensors, options.estimator))) {
  if (options.first_episode == 0) {
    options_.first_episode =
        12 * static_cast<std::int64_t>(sensors.num_states()) * sensors.num_actions();
  }
  if (options.estimator == PooledEstimator::likelihood) likelihood_.emplace(sensors);
  const SensorReport report = analyse_sensors(sensors.sensors());
  for (const ActionSensor& sensor : report.actions) alpha_.push_back(sensor.alpha);
  OAS_REQUIRE(report.revealing() || options.exploration != PooledExploration::optimism,
              "{}: no radius can be given; explore by sampling", report.brief());
  // Beside the likelihood, moments give a start: where they are valid, and not weighted.
  const bool useful = report.revealing() && (sensors.timing() == Timing::before || floor_ > 0.0);
  if (useful || !likelihood_) moments_.emplace(sensors, Pairing::overlapping);
}

std::optional<Action> PooledLearner::overdue(std::span<const std::int64_t> plays,
                                             std::int64_t step) const {
  if (floor_ > 0.0) return std::nullopt;
  const double due = options_.least_plays * std::cbrt(static_cast<double>(step));
  const auto rarest = std::min_element(plays.begin(), plays.end());
  if (static_cast<double>(*rarest) >= due) return std::nullopt;
  return Action{static_cast<int>(rarest - plays.begin())};
}

PooledLearner::Learned PooledLearner::estimate(Episode& episode) {
  if (!likelihood_) return learned_by_moments(episode);
  return estimate(likelihood_rows(*likelihood_, {1}), episode);
}

PooledLearner::Learned PooledLearner::estimate(const LikelihoodRows& rows, Episode& episode) {
  return refine(learned_by_moments(episode).transition, rows, episode);
}

PooledLearner::Learned PooledLearner::learned_by_moments(Episode& episode) const {
  Learned learned;
  if (moments_) {
    TransitionEstimate by_moments = moments_->estimate(sensors_, episode);
    const auto values = by_moments.transition.values();
    learned.counts.assign(values.begin(), values.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = i / static_cast<std::size_t>(sensors_.num_states());
      learned.counts[i] *= std::max(0.0, by_moments.visits[row]);
    }
    learned.transition = std::move(by_moments.transition);
  } else {
    learned.transition = TransitionModel::uniform(sensors_.num_states(), sensors_.num_actions());
  }
  return learned;
}

// From the likelier of what the moments say and what was believed last.
PooledLearner::Learned PooledLearner::refine(const TransitionModel& by_moments,
                                             const LikelihoodRows& rows, Episode& episode) {
  TransitionModel start = mixed_with_uniform(by_moments, kShareOfUniform);
  if (last_estimate_) {
    TransitionModel other = mixed_with_uniform(*last_estimate_, kShareOfUniform);
    const double likelihood = rows.likelihood(start, {}).log_likelihood;
    if (rows.likelihood(other, {}).log_likelihood > likelihood) start = std::move(other);
  }
  LikelihoodOptions options;
  options.prior = options_.prior;
  options.tolerance = options_.tolerance;
  LikelihoodEstimate best = maximize_likelihood(rows.likelihood, start, options);
  episode.pairs = rows.rows - 1;
  episode.flagged_rows = 0;
  episode.failure = detail::failure_of(best);
  last_estimate_ = best.transition;
  return {std::move(best.transition), std::move(best.pass.counts), rows.likelihood};
}

void PooledLearner::plan(const Learned& learned, std::int64_t k, std::uint64_t seed,
                         BeliefController& controller, Episode& episode) const {
  const Rng rng({seed, static_cast<std::uint32_t>(k), Role::agent});
  plan_optimistically(model_to_play(learned, k, rng, controller, episode), radii(learned.counts, k),
                      options_.acting.planner(floor_), controller, episode);
}

TransitionModel PooledLearner::model_to_play(const Learned& learned, std::int64_t k, Rng rng,
                                             const BeliefController& controller,
                                             Episode& episode) const {
  switch (options_.exploration) {
    case PooledExploration::sampling:
      return sample(learned.counts, rng);
    case PooledExploration::gibbs:
      return gibbs(learned, rng, controller, episode);
    case PooledExploration::laplace:
      // Rows that cannot happen are in the record already; the estimate is played.
      if (const auto around = posterior(learned)) return around->draw(rng);
      break;
    case PooledExploration::likelihood_set:
      return optimistic(learned, k, rng);
    case PooledExploration::optimism:
    case PooledExploration::none:
      break;
  }
  return learned.transition;
}

TransitionModel PooledLearner::gibbs(const Learned& learned, Rng rng,
                                     const BeliefController& controller, Episode& episode) const {
  // On from the draw that is in play, so that the draws of all episodes are one chain.
  const TransitionModel& start = controller.ready() ? controller.transition() : learned.transition;
  if (auto drawn = draw_from_posterior(*likelihood_, start, options_.sweeps, rng)) return *drawn;
  episode.failure = {Episode::Failure::Kind::impossible_rows,
                     "the rows cannot happen under any dynamics; the estimate is played"};
  return learned.transition;
}

std::optional<LaplacePosterior> PooledLearner::posterior(const Learned& learned) const {
  const LikelihoodPass pass = learned.likelihood(learned.transition, {});
  if (!pass.possible()) return std::nullopt;
  return LaplacePosterior(learned.likelihood, learned.transition, pass,
                          std::max(options_.prior, kLeastPrior));
}

TransitionModel PooledLearner::optimistic(const Learned& learned, std::int64_t k, Rng rng) const {
  const auto around = posterior(learned);
  if (!around || around->size() == 0) return learned.transition;
  const int num_states = sensors_.num_states();
  const int resolution = std::min(options_.acting.grid_resolution(num_states),
                                  resolution_for(num_states, kSearchPoints));
  GridSolver solver(BeliefGrid(num_states, resolution), {1});
  RviOptions planner = options_.acting.planner(floor_);
  planner.span_tolerance *= 0.1;  // slopes are differences of gains
  planner.max_sweeps = kSearchSweeps;
  const auto gain = [&](const TransitionModel& transition) {
    return solver.solve(sensors_.with_transition(transition), planner).gain();
  };
  const auto episode = static_cast<double>(k);
  const double drop =
      options_.set_scale * likelihood_drop(static_cast<double>(around->size()),
                                           options_.delta / (episode * episode * episode));
  return most_optimistic_member(learned.likelihood, *around, drop, gain, {}, rng).transition;
}

TransitionModel PooledLearner::sample(const std::vector<double>& counts, Rng rng) const {
  const int num_states = sensors_.num_states();
  const auto n = static_cast<std::size_t>(num_states);
  std::vector<double> values(counts.size());
  std::vector<double> concentration(n);
  for (std::size_t row = 0; row < counts.size(); row += n) {
    for (std::size_t i = 0; i < n; ++i) {
      concentration[i] = 1.0 / num_states + options_.sharpness * counts[row + i];
    }
    sample_dirichlet(concentration, std::span(values).subspan(row, n), rng);
  }
  return {num_states, sensors_.num_actions(), std::move(values), "sample"};
}

std::vector<double> PooledLearner::radii(const std::vector<double>& counts, std::int64_t k) const {
  const auto n = static_cast<std::size_t>(sensors_.num_states());
  std::vector<double> radius(counts.size() / n, 0.0);
  if (options_.exploration != PooledExploration::optimism) return radius;
  const auto episode = static_cast<double>(k);
  const double log_term =
      std::log(static_cast<double>(radius.size()) * episode * episode * episode / options_.delta);
  for (std::size_t row = 0; row < radius.size(); ++row) {
    const bool by_row = options_.radius_by == RadiusBy::row;
    const std::size_t first = by_row ? row * n : row / n * n * n;
    const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(first);
    const auto size = static_cast<std::ptrdiff_t>(by_row ? n : n * n);
    const double visits = std::accumulate(begin, begin + size, 0.0);
    const double noise = std::sqrt(static_cast<double>(n) * log_term / std::max(visits, 1.0));
    const double alpha = alpha_[row / n];
    radius[row] = std::min(1.0, options_.radius_scale * noise / (alpha * alpha));
  }
  return radius;
}

}  // namespace oas
