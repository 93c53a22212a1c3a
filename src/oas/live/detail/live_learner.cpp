#include "oas/live/detail/live_learner.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/sensors/sensor_fit.hpp"

namespace oas::detail {

namespace {

std::size_t bytes_for(const Pomdp& sensors) {
  // An observation or none, with likelihoods or without.
  const auto codes = 2 * static_cast<std::int64_t>(sensors.num_actions()) *
                     (static_cast<std::int64_t>(sensors.num_observations()) + 1);
  constexpr std::int64_t kOneByte = 256;
  return codes <= kOneByte ? 1 : codes <= kOneByte * kOneByte ? 2 : 4;
}

}  // namespace

LiveLearner::LiveLearner(SplitAgent agent, std::uint64_t seed)
    : agent_(std::move(agent)), seed_(seed), width_(bytes_for(agent_.learner->sensors())) {}

LiveLearner::Run& LiveLearner::run_of(std::uint64_t run) {
  const auto found = runs_.find(run);
  if (found != runs_.end()) return found->second;
  Run made;
  return runs_.emplace(run, std::move(made)).first->second;
}

void LiveLearner::add(const LearnerRow& row) {
  if (row.kind == LearnerRow::Kind::all_forgotten) {
    forget();
    forgotten_ = rows_;
    return;
  }
  Run& run = run_of(row.run);
  if (row.kind == LearnerRow::Kind::first_reading) run.first = row.seen;
  if (row.kind == LearnerRow::Kind::run_ends) {
    run.ended = true;
    if (run.codes.empty()) runs_.erase(row.run);
  }
  if (row.kind != LearnerRow::Kind::row) return;
  PooledLearner& learner = *agent_.learner;
  if (auto& moments = learner.moments()) {
    // Without propensity only likelihood may use the row; moments are its start then.
    const bool usable = row.propensity > 0.0 || learner.sensors().timing() == Timing::before;
    moments->add({row.seen.action, row.propensity}, usable ? row.seen.observation : kMissing,
                 run.place);
  }
  if (learner.likelihood()) append(run, row.seen);
  ++rows_;
}

// Runs go on, from states that nobody knows.
void LiveLearner::forget() {
  if (auto& moments = agent_.learner->moments()) moments->clear();
  std::erase_if(runs_, [](const auto& each) { return each.second.ended; });
  for (auto& [number, run] : runs_) {
    run = Run();
    run.unknown = true;
  }
  bytes_ = 0;
}

void LiveLearner::append(Run& run, const SeenRow& row) {
  const int symbol = row.observation == kMissing ? symbols() - 1 : row.observation.value();
  const int brings = row.likelihoods.empty() ? 0 : 1;
  auto code = static_cast<std::uint32_t>((row.action.value() * symbols() + symbol) * 2 + brings);
  for (std::size_t i = 0; i < width_; ++i, code >>= 8) {
    run.codes.push_back(static_cast<char>(code & 255));
  }
  run.likelihoods.insert(run.likelihoods.end(), row.likelihoods.begin(), row.likelihoods.end());
  bytes_ += width_ + row.likelihoods.size() * sizeof(double);
}

RunStart LiveLearner::start_of(const Run& run) const {
  const RunStart start = run.unknown ? RunStart::unknown() : RunStart();
  if (run.first.missing()) return start;
  if (!run.first.likelihoods.empty()) {
    return start.with({run.first.observation, {}, run.first.likelihoods});
  }
  const ObservationModel& sensor = *agent_.learner->sensors().first_observation();
  return start.with(first_reading(sensor, run.first.observation));
}

template <class Visitor>
void LiveLearner::for_each_row(const Run& run, const Visitor& visitor) const {
  std::span<const double> left = run.likelihoods;
  for (std::size_t at = 0; at < run.codes.size(); at += width_) {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < width_; ++i) {
      code |= static_cast<std::uint32_t>(static_cast<unsigned char>(run.codes[at + i])) << (8 * i);
    }
    const std::size_t brings = (code & 1) != 0 ? states() : 0;
    const int pair = static_cast<int>(code / 2);
    const int symbol = pair % symbols();
    visitor(Action{pair / symbols()}, symbol == symbols() - 1 ? kMissing : Observation{symbol},
            left.first(brings));
    left = left.subspan(brings);
  }
}

// All rows as likelihoods where some bring them.
void LiveLearner::gather_likelihood() {
  auto& likelihood = agent_.learner->likelihood();
  if (!likelihood) return;
  const Pomdp& sensors = agent_.learner->sensors();
  const bool vectors = std::any_of(runs_.begin(), runs_.end(), [](const auto& each) {
    return !each.second.likelihoods.empty();
  });
  likelihood =
      vectors ? TransitionLikelihood::with_vectors(sensors) : TransitionLikelihood(sensors);
  for (const auto& [number, run] : runs_) {
    if (run.codes.empty()) continue;
    likelihood->start_run(start_of(run));
    if (vectors) {
      append_to(*likelihood, run);
    } else {
      for_each_row(run, [&](Action action, Observation observation, std::span<const double>) {
        likelihood->append(action, observation);
      });
    }
  }
}

void LiveLearner::append_to(TransitionLikelihood& likelihood, const Run& run) const {
  const ObservationModel& sensors = agent_.learner->sensors().sensors();
  std::vector<double> column(states());
  for_each_row(run, [&](Action action, Observation seen, std::span<const double> likelihoods) {
    for (State s{0}; likelihoods.empty() && s < static_cast<int>(states()); ++s) {
      column[static_cast<std::size_t>(s)] = seen == kMissing ? 1.0 : sensors(action, s, seen);
    }
    likelihood.append(action, likelihoods.empty() ? std::span<const double>(column) : likelihoods);
  });
}

// Only where the rows are kept.
double LiveLearner::sensor_fit(const TransitionModel& estimate) const {
  SensorFitTest test(agent_.learner->sensors().with_transition(estimate));
  for (const auto& [number, run] : runs_) {
    const RunStart start = start_of(run);
    const RunStart* begins = &start;
    for_each_row(run, [&](Action action, Observation observation, std::span<const double>) {
      test.add(action, observation, std::exchange(begins, nullptr));
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
  if (learner.likelihood() && before->rows > forgotten_) {
    learner.set_last_estimate(before->estimate);
  }
  agent_.controller.adopt(before->transition, before->bias);
}

LivePlan LiveLearner::make_plan(const LivePlan* before) {
  resume(before);
  gather_likelihood();
  Episode episode;
  LivePlan plan;
  plan.number = before == nullptr ? 1 : before->number + 1;
  plan.rows = rows_;
  PooledLearner& learner = *agent_.learner;
  PooledLearner::Learned learned = learner.estimate(episode);
  learner.plan(learned, plan.number, seed_, agent_.controller, episode);
  plan.transition = agent_.controller.transition();
  plan.bias = agent_.controller.bias();
  plan.fit_p_value = sensor_fit(learned.transition);
  plan.standard_error = standard_errors(learned.transition);
  plan.estimate = std::move(learned.transition);
  plan.counts = std::move(learned.counts);
  plan.gain = episode.planned_gain;
  plan.optimistic_gain = episode.optimistic_gain;
  plan.radius = episode.radius;
  plan.flagged_rows = episode.flagged_rows;
  plan.status = std::move(episode.status);
  if (episode.failure) plan.failure = episode.failure->message;
  if (auto& likelihood = learner.likelihood()) likelihood->clear();
  return plan;
}

// From the observed information, as oas-ml has them; none with moments.
std::vector<double> LiveLearner::standard_errors(const TransitionModel& estimate) const {
  const auto& likelihood = agent_.learner->likelihood();
  if (!likelihood || likelihood->rows() == 0) return {};
  LikelihoodEstimatorOptions options;
  options.climb.prior = agent_.learner->options().prior;
  options.climb.tolerance = agent_.learner->options().tolerance;
  return estimate_likelihood(likelihood_rows(*likelihood, {1}), {estimate},
                             agent_.learner->sensors(), options)
      .standard_error;
}

void LiveLearner::clear() {
  forget();
  runs_.clear();
  rows_ = forgotten_ = 0;
}

void LiveLearner::save(ByteWriter& out) const {
  out.put(rows_);
  out.put(forgotten_);
  if (const auto& moments = agent_.learner->moments()) moments->moments().save(out);
  out.put(static_cast<std::uint64_t>(runs_.size()));
  for (const auto& [number, run] : runs_) {
    out.put(number);
    run.place.pairing.save(out);
    out.put(run.place.previous.action.value());
    out.put(run.place.previous.observation.value());
    out.put(run.first.observation.value());
    out.put_all(run.first.likelihoods);
    out.put(run.ended);
    out.put(run.unknown);
    out.put_text(run.codes);
    out.put_all(run.likelihoods);
  }
}

void LiveLearner::load(ByteReader& in) {
  rows_ = in.get_integer(0, std::numeric_limits<std::int64_t>::max());
  forgotten_ = in.get_integer(0, rows_);
  if (auto& moments = agent_.learner->moments()) {
    PairMoments loaded = moments->moments();
    loaded.load(in);
    moments->set_moments(std::move(loaded));
  }
  runs_.clear();
  bytes_ = 0;
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    Run& run = run_of(in.get<std::uint64_t>());
    run.place.pairing.load(in);
    run.place.previous.action = Action{in.get<std::int32_t>()};
    run.place.previous.observation = Observation{in.get<std::int32_t>()};
    run.first.observation = Observation{in.get<std::int32_t>()};
    run.first.likelihoods = in.get_all<double>();
    run.ended = in.get<bool>();
    run.unknown = in.get<bool>();
    run.codes = in.get_text();
    OAS_REQUIRE(run.codes.size() % width_ == 0, "saved bytes are damaged: {} bytes of rows",
                run.codes.size());
    run.likelihoods = in.get_all<double>();
    OAS_REQUIRE(run.likelihoods.size() % states() == 0,
                "saved bytes are damaged: {} likelihoods of rows", run.likelihoods.size());
    bytes_ += run.codes.size() + run.likelihoods.size() * sizeof(double);
  }
}

}  // namespace oas::detail
