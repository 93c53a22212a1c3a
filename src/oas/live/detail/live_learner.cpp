#include "oas/live/detail/live_learner.hpp"

#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/sensors/sensor_fit.hpp"
#include "oas/live/detail/learner_row_source.hpp"

namespace oas::detail {

namespace {

// Moments fade by so many rows at a time at most.
constexpr std::int64_t kMostFadingRows = 4096;

bool draws_paths(const PooledLearner& learner) {
  return learner.options().exploration == PooledExploration::gibbs;
}

}  // namespace

LiveLearner::LiveLearner(SplitAgent agent, std::uint64_t seed, RowStorage storage, double half_life)
    : agent_(std::move(agent)), seed_(seed), fading_{half_life, 0, Age::log} {
  const PooledLearner& learner = *agent_.learner;
  if (!learner.likelihood()) return;
  if (draws_paths(learner)) storage.again = {};
  kept_.emplace(learner.sensors(), std::move(storage), half_life);
}

void LiveLearner::add(const LearnerRow& row) {
  if (kept_) kept_->add(row);
  if (row.kind == LearnerRow::Kind::all_forgotten) {
    forget();
    forgotten_ = rows_;
  }
  if (row.kind == LearnerRow::Kind::run_ends) places_.erase(row.run);
  if (row.kind != LearnerRow::Kind::row) return;
  ++rows_;
  fade();
  const PooledLearner& learner = *agent_.learner;
  auto& moments = agent_.learner->moments();
  if (!moments) return;
  // Without propensity only likelihood may use the row; moments are its start then.
  const bool usable = row.propensity > 0.0 || learner.sensors().timing() == Timing::before;
  auto& place = places_.try_emplace(row.run, moments->new_place()).first->second;
  moments->add({row.seen.action, row.propensity}, usable ? row.seen.observation : kMissing, place);
}

// Moments, now and then: as LearnerRows does, a stretch of rows at a time.
void LiveLearner::fade() {
  auto& moments = agent_.learner->moments();
  if (!moments || !fading_.active()) return;
  const std::int64_t stretch = fading_.stretch(kMostFadingRows);
  if (rows_ % stretch != 0) return;
  PairMoments faded = moments->moments();
  faded.multiply(fading_.weight(static_cast<double>(stretch)));
  moments->set_moments(std::move(faded));
}

void LiveLearner::forget() {
  places_.clear();
  if (auto& moments = agent_.learner->moments()) moments->clear();
}

// In memory, and as much again as they take there, or window by window.
RowLikelihood LiveLearner::likelihood_of(RowSource& rows) const {
  const Pomdp& sensors = agent_.learner->sensors();
  const std::size_t memory = kept_->in_memory() ? std::numeric_limits<std::size_t>::max() : 0;
  RowLikelihood likelihood = kept_->bring_likelihoods()
                                 ? RowLikelihood::with_vectors(sensors, memory)
                                 : RowLikelihood(sensors, memory);
  likelihood.read(rows, {});
  return likelihood;
}

// As with_forgetting() does for logs, in which age is the place.
LikelihoodRows LiveLearner::weighted(LikelihoodRows rows, const LearnerRowSource& source) const {
  if (!fading_.active()) return rows;
  const auto with = [likelihood = rows.likelihood](auto mean_weight) {
    return
        [likelihood, mean_weight](const TransitionModel& transition, const PassOptions& options) {
          PassOptions weighing = options;
          weighing.mean_weight = mean_weight;
          return likelihood(transition, weighing);
        };
  };
  rows.squared = with(source.mean_weight(2.0));
  rows.likelihood = with(source.mean_weight(1.0));
  rows.effective_rows = fading_.effective_rows({{rows_ - forgotten_, 1}});
  return rows;
}

double LiveLearner::sensor_fit(RowSource& rows, const TransitionModel& estimate) const {
  SensorFitTest test(agent_.learner->sensors().with_transition(estimate));
  rows.rewind();
  for (RowBlock block; rows.next(block);) {
    RunStart start;
    const RunStart* begins = nullptr;
    by_runs(
        block,
        [&](const RunStart& begun) {
          start = begun;
          begins = &start;
        },
        [&](const RowBlock& part) {
          for (std::size_t t = 0; t < part.size(); ++t) {
            test.add(part.actions[t], part.observations[t], std::exchange(begins, nullptr));
          }
        });
  }
  return test.finish().p_value;
}

// Goes on from the plan as it stands in the journal, not from what work left behind: so the same
// plan can be made again.
void LiveLearner::resume(const LivePlan* before) {
  PooledLearner& learner = *agent_.learner;
  learner.set_last_estimate(std::nullopt);
  if (before == nullptr) return;
  if (kept_ && before->rows > forgotten_) learner.set_last_estimate(before->estimate);
  agent_.controller.adopt(before->transition, before->bias);
}

LivePlan LiveLearner::make_plan(const LivePlan* before) {
  resume(before);
  LivePlan plan;
  plan.number = before == nullptr ? 1 : before->number + 1;
  plan.rows = rows_;
  Episode episode;
  PooledLearner& learner = *agent_.learner;
  PooledLearner::Learned learned;
  std::unique_ptr<LearnerRowSource> rows;
  std::optional<RowLikelihood> likelihood;
  if (kept_) {
    kept_->drop_old();
    rows = kept_->read();
    likelihood.emplace(likelihood_of(*rows));
    learned = learner.estimate(weighted(likelihood->rows({1}), *rows), episode);
  } else {
    learned = learner.estimate(episode);
  }
  if (draws_paths(learner)) *learner.likelihood() = likelihood->stored();
  learner.plan(learned, plan.number, seed_, agent_.controller, episode);
  plan.transition = agent_.controller.transition();
  plan.bias = agent_.controller.bias();
  if (kept_) {
    // Older rows need not fit.
    if (!fading_.active()) plan.fit_p_value = sensor_fit(*rows, learned.transition);
    plan.standard_error =
        standard_errors(weighted(likelihood->rows({1}), *rows), learned.transition);
    learner.likelihood()->clear();
  }
  plan.estimate = std::move(learned.transition);
  plan.counts = std::move(learned.counts);
  plan.gain = episode.planned_gain;
  plan.optimistic_gain = episode.optimistic_gain;
  plan.radius = episode.radius;
  plan.flagged_rows = episode.flagged_rows;
  plan.status = std::move(episode.status);
  if (episode.failure) plan.failure = episode.failure->message;
  return plan;
}

// From the observed information, as oas-ml has them; none with moments.
std::vector<double> LiveLearner::standard_errors(const LikelihoodRows& rows,
                                                 const TransitionModel& estimate) const {
  if (rows.rows == 0) return {};
  LikelihoodEstimatorOptions options;
  options.climb.prior = agent_.learner->options().prior;
  options.climb.tolerance = agent_.learner->options().tolerance;
  return estimate_likelihood(rows, {estimate}, agent_.learner->sensors(), options).standard_error;
}

void LiveLearner::clear() {
  forget();
  if (kept_) kept_->clear();
  rows_ = forgotten_ = 0;
}

void LiveLearner::save(ByteWriter& out) const {
  out.put(rows_);
  out.put(forgotten_);
  if (const auto& moments = agent_.learner->moments()) moments->moments().save(out);
  out.put(static_cast<std::uint64_t>(places_.size()));
  for (const auto& [number, place] : places_) {
    out.put(number);
    place.pairing.save(out);
    out.put(place.previous.action.value());
    out.put(place.previous.observation.value());
  }
  if (kept_) kept_->save(out);
}

void LiveLearner::load(ByteReader& in) {
  rows_ = in.get_integer(0, kAllRows);
  forgotten_ = in.get_integer(0, rows_);
  auto& moments = agent_.learner->moments();
  if (moments) {
    PairMoments loaded = moments->moments();
    loaded.load(in);
    moments->set_moments(std::move(loaded));
  }
  places_.clear();
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    OAS_REQUIRE(moments.has_value(), "saved bytes are damaged: places of pairs without moments");
    const auto number = in.get<std::uint64_t>();
    auto& place = places_.try_emplace(number, moments->new_place()).first->second;
    place.pairing.load(in);
    place.previous.action = Action{in.get<std::int32_t>()};
    place.previous.observation = Observation{in.get<std::int32_t>()};
  }
  if (kept_) kept_->load(in);
}

}  // namespace oas::detail
