#include "oas/estimation/particles/particle.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/estimation/error_bars/posterior_intervals.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/sensors/same_sensors.hpp"

namespace oas {

namespace {

// The level of a quantile of n particles beyond which one more draw lies no more often than asked:
// the k-th of n has k/(n+1) below it.
double outer_level(double level, double n) {
  const double place = level * (n + 1.0);
  return level < 0.5 ? std::max(std::floor(place), 1.0) / n : std::min(std::ceil(place), n) / n;
}

}  // namespace

void ParticleEstimateOptions::validate() const {
  OAS_REQUIRE(confidence > 0.0 && confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", confidence);
  posterior.validate();
}

ParticleEstimator::ParticleEstimator(const Pomdp& model, const ParticleEstimateOptions& options,
                                     const Rng& rng)
    : model_(model.without_transition()),
      options_((options.validate(), options)),
      rng_(rng),
      posterior_(model, options.posterior, rng_),
      pairs_(static_cast<std::size_t>(model.num_actions()), 0),
      visits_(pairs_.size() * static_cast<std::size_t>(model.num_states()), 0.0),
      belief_(static_cast<std::size_t>(model.num_states())) {}

void ParticleEstimator::start_run(Observation first) {
  posterior_.start_run(first);
  previous_.reset();
  in_run_ = false;
}

void ParticleEstimator::add(std::span<const Action> actions,
                            std::span<const Observation> observations) {
  OAS_REQUIRE(actions.size() == observations.size(), "{} actions and {} observations",
              actions.size(), observations.size());
  for (std::size_t t = 0; t < actions.size(); ++t) {
    check_interrupted();
    if (!in_run_) ++runs_;
    in_run_ = true;
    count_pair(actions[t], observations[t]);
    posterior_.mean_belief(belief_);
    double* visits = visits_.data() + static_cast<std::size_t>(actions[t]) * belief_.size();
    for (std::size_t s = 0; s < belief_.size(); ++s) visits[s] += belief_[s];
    posterior_.update(actions[t], observations[t], rng_);
  }
}

void ParticleEstimator::count_pair(Action action, Observation observation) {
  if (observation == kMissing) {
    ++missing_;
    previous_.reset();
    return;
  }
  if (previous_) {
    const Action learned = model_.timing() == Timing::before ? *previous_ : action;
    ++pairs_[static_cast<std::size_t>(learned)];
  }
  previous_ = action;
}

TransitionEstimate ParticleEstimator::finish(double confidence) const {
  const ParticleReport& report = posterior_.report();
  OAS_REQUIRE(report.rows > 0, "the log has no row; at least one is needed");
  TransitionEstimate estimate;
  estimate.estimator = options_.name;
  estimate.confidence = confidence;
  estimate.num_batches = posterior_.num_particles();
  estimate.pairs = pairs_;
  estimate.visits = visits_;
  estimate.clipped.assign(visits_.size(), 0.0);
  estimate.rows = report.rows;
  estimate.runs = runs_;
  estimate.missing = missing_;
  for (const ActionSensor& sensor : analyse_sensors(model_.sensors()).actions) {
    estimate.alpha.push_back(sensor.alpha);
  }
  ParticlePosterior::Moments moments = posterior_.moments();
  const bool collapsed = posterior_.collapsed();
  if (!collapsed) {
    const double particles = posterior_.effective_size();
    set_posterior_intervals(
        [&](double level) { return posterior_.quantiles(outer_level(level, particles)); },
        estimate);
  }
  flag_rows(moments, estimate);
  if (!collapsed) estimate.standard_error = std::move(moments.deviation);
  estimate.transition =
      TransitionModel(model_.num_states(), model_.num_actions(), std::move(moments.mean));
  estimate.status = estimate.flagged.empty() ? EstimateStatus::ok : EstimateStatus::flagged;
  add_warnings(estimate);
  return estimate;
}

void ParticleEstimator::flag_rows(const ParticlePosterior::Moments& moments,
                                  TransitionEstimate& estimate) const {
  const auto twins = first_same_sensors(model_.sensors());
  const auto states = static_cast<std::size_t>(model_.num_states());
  const double prior = options_.posterior.prior * static_cast<double>(states);
  const auto is_poor = [&](std::size_t row) {
    for (std::size_t e = row * states; e < (row + 1) * states; ++e) {
      const double deviation = moments.deviation[e];
      if (is_poorly_known(moments.mean[e], deviation * deviation, prior)) return true;
    }
    return false;
  };
  for (std::size_t row = 0; row < visits_.size(); ++row) {
    std::string reason;
    if (posterior_.collapsed()) {
      reason = "the particles have collapsed";
    } else if (twins) {
      reason = fmt::format("the states {} and {} have the same sensors and can be swapped",
                           model_.states()[twins->first], model_.states()[twins->second]);
    } else if (pairs_[row / states] == 0) {
      reason = "the action was never seen in a pair: this is the prior";
    } else if (visits_[row] < 1.0) {
      reason = "it was left less than once: this is the prior";
    } else if (is_poor(row)) {
      reason = "the log says less about it than one visit would";
    }
    if (reason.empty()) continue;
    estimate.flagged.push_back({Action{static_cast<int>(row / states)},
                                State{static_cast<int>(row % states)}, std::move(reason)});
  }
}

void ParticleEstimator::add_warnings(TransitionEstimate& estimate) const {
  const ParticleReport& report = posterior_.report();
  if (posterior_.collapsed()) {
    estimate.warnings.push_back(fmt::format(
        "the particles have collapsed ({} of {} rows were read with one particle left): there are "
        "no error bars; try another move or more particles",
        report.collapsed, report.rows));
  } else if (report.collapsed > 0) {
    estimate.warnings.push_back(fmt::format(
        "at {} of {} rows one particle carried practically all weight; what the others knew was "
        "lost there",
        report.collapsed, report.rows));
  }
  if (report.impossible > 0) {
    estimate.warnings.push_back(
        fmt::format("{} observations were impossible under every particle and were skipped",
                    report.impossible));
  }
  for (const FlaggedRow& row : estimate.flagged) {
    if (posterior_.collapsed()) break;
    estimate.warnings.push_back(fmt::format("row ({}, {}) is not determined: {}",
                                            model_.actions()[row.action],
                                            model_.states()[row.state], row.reason));
  }
}

void ParticleEstimator::save(ByteWriter& out) const {
  out.put_text(posterior_.save().dump());
  out.put(rng_.position());
  out.put_all(pairs_);
  out.put_all(visits_);
  out.put(static_cast<std::int64_t>(previous_ ? previous_->value() : -1));
  out.put(in_run_);
  out.put(runs_);
  out.put(missing_);
}

void ParticleEstimator::load(ByteReader& in) {
  const auto state = nlohmann::ordered_json::parse(in.get_text(), nullptr, false);
  OAS_REQUIRE(!state.is_discarded(), "saved particles are damaged");
  posterior_.load(JsonView(state, "particles"));
  rng_ = Rng(rng_.key(), in.get<std::uint64_t>());
  pairs_ = in.get_all<std::int64_t>(pairs_.size());
  visits_ = in.get_all<double>(visits_.size());
  const std::int64_t previous = in.get_integer(-1, model_.num_actions() - 1);
  previous_ = previous < 0 ? std::nullopt : std::optional(Action{static_cast<int>(previous)});
  in_run_ = in.get<bool>();
  runs_ = in.get<std::int64_t>();
  missing_ = in.get<std::int64_t>();
}

}  // namespace oas
