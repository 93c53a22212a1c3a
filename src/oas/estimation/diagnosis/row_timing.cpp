#include "oas/estimation/diagnosis/row_timing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr std::size_t kStretches = 256;
constexpr std::size_t kShortestStretch = 16;
constexpr std::size_t kMostContrasts = 64;  // actions times states
constexpr double kSameFit = 1e-6;

double normal_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

double tail_of(double difference, double standard_error) {
  if (!(standard_error > kSameFit)) return 1.0;
  return std::max(normal_tail(difference / standard_error), std::exp(-std::max(difference, 0.0)));
}

bool action_free_sensors(const AnyModel& model) {
  if (const auto* finite = std::get_if<Pomdp>(&model)) {
    return !finite->sensors().action_that_differs();
  }
  return !std::get<ContinuousPomdp>(model).sensors().action_that_differs();
}

// Actions that occur, the most frequent first, as many as there is room for, and their shares.
struct Contrasts {
  std::vector<int> place;  // [action]; -1: not looked at
  std::vector<double> share;
};

Contrasts contrasts_of(const DiagnosedRows& rows, int actions, int states) {
  std::vector<double> counts(static_cast<std::size_t>(actions), 0.0);
  for (const Action a : rows.actions) counts[static_cast<std::size_t>(a)] += 1.0;
  std::vector<int> by_count(counts.size());
  std::iota(by_count.begin(), by_count.end(), 0);
  std::stable_sort(by_count.begin(), by_count.end(), [&](int x, int y) {
    return counts[static_cast<std::size_t>(x)] > counts[static_cast<std::size_t>(y)];
  });
  Contrasts out{std::vector<int>(counts.size(), -1), {}};
  for (const int a : by_count) {
    const auto i = static_cast<std::size_t>(a);
    if (counts[i] == 0.0 || (out.share.size() + 1) * static_cast<std::size_t>(states) >
                                std::max(kMostContrasts, 2 * static_cast<std::size_t>(states))) {
      continue;
    }
    out.place[i] = static_cast<int>(out.share.size());
    out.share.push_back(counts[i] / static_cast<double>(rows.size()));
  }
  return out;
}

std::string why_no_reaction(const AnyModel& model, const DiagnosedRows& rows,
                            const SensorDirections& sensors, const Contrasts& contrasts) {
  if (chain_of(model).timing() != Timing::before) return "the timing is not before";
  if (rows.known_states()) return "it does not know of rows in which the state is known";
  if (!sensors.can_draw()) return "the log does not say what else might have been read";
  if (contrasts.share.size() < 2) return "all rows have the same action";
  if (!action_free_sensors(model)) return "the sensors depend on the action";
  return {};
}

// [row]: a coarse reading, and how many there are with "nothing was read", the last: the
// observation where there are few, else the state that is likeliest by it, and how clearly.
struct CoarseReadings {
  std::vector<std::size_t> of_row;
  std::size_t count = 0;
};

CoarseReadings coarse_readings(const AnyModel& model, const DiagnosedRows& rows) {
  constexpr int kFewObservations = 16;
  const auto n = static_cast<std::size_t>(chain_of(model).num_states());
  const auto* finite = std::get_if<Pomdp>(&model);
  const bool few = finite != nullptr && finite->num_observations() <= kFewObservations;
  CoarseReadings out;
  out.count = 1 + (few ? static_cast<std::size_t>(finite->num_observations()) : 3 * n);
  out.of_row.assign(rows.size(), out.count - 1);
  std::vector<double> likelihood(n);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const Observation seen = rows.observations[t];
    if (seen == kMissing) continue;
    if (few) {
      out.of_row[t] = static_cast<std::size_t>(seen);
      continue;
    }
    for (std::size_t s = 0; s < n; ++s) {
      likelihood[s] = finite != nullptr
                          ? finite->sensors()(rows.actions[t], State{static_cast<int>(s)}, seen)
                          : rows.likelihoods[t * n + s];
    }
    const auto best = std::max_element(likelihood.begin(), likelihood.end());
    const double share = *best / std::accumulate(likelihood.begin(), likelihood.end(), 0.0);
    const std::size_t clearly = share > 0.95 ? 2 : share > 0.7 ? 1 : 0;
    out.of_row[t] = 3 * static_cast<std::size_t>(best - likelihood.begin()) + clearly;
  }
  return out;
}

// Probabilities of actions by counts so far in a context; three sizes of context, weighted by how
// well they have done.
class ActionPredictor {
 public:
  ActionPredictor(std::size_t actions, std::size_t contexts)
      : actions_(actions), counts_(contexts * actions, 0.5) {}

  double update(std::size_t context, std::size_t action) {
    double* const cell = counts_.data() + context * actions_;
    const double probability = cell[action] / std::accumulate(cell, cell + actions_, 0.0);
    cell[action] += 1.0;
    return probability;
  }

 private:
  std::size_t actions_;
  std::vector<double> counts_;
};

// [row]: log P(action | the row before and, if so, this row's own reading), learned on the way.
std::vector<double> log_actions(const AnyModel& model, const DiagnosedRows& rows,
                                const CoarseReadings& seen, bool with_own) {
  const auto actions = static_cast<std::size_t>(chain_of(model).num_actions());
  const std::size_t readings = seen.count;
  std::vector<ActionPredictor> predictors = {{actions, readings},
                                             {actions, readings * (actions + 1)},
                                             {actions, readings * (actions + 1) * readings}};
  std::vector<double> weights(predictors.size(), 1.0);
  std::vector<double> logs(rows.size());
  std::size_t run = 0;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const bool starts = run < rows.run_starts.size() && rows.run_starts[run] == t;
    run += starts;
    const std::size_t last = starts ? actions : static_cast<std::size_t>(rows.actions[t - 1]);
    const std::size_t before = starts ? readings - 1 : seen.of_row[t - 1];
    const std::size_t own = with_own ? seen.of_row[t] : 0;
    const std::size_t contexts[] = {own, own * (actions + 1) + last,
                                    (own * (actions + 1) + last) * readings + before};
    double mixed = 0.0;
    double total = 0.0;
    for (std::size_t m = 0; m < predictors.size(); ++m) {
      const double probability =
          predictors[m].update(contexts[m], static_cast<std::size_t>(rows.actions[t]));
      total += weights[m];
      weights[m] *= probability;
      mixed += weights[m];
    }
    logs[t] = std::log(mixed / total);
    for (double& weight : weights) weight /= mixed;
  }
  return logs;
}

// [row]: what `before` gains by letting actions depend on their own row's reading; 0 if nothing.
std::vector<double> own_reading_gain(const AnyModel& model, const DiagnosedRows& rows) {
  std::vector<double> gain(rows.size(), 0.0);
  const auto* real = std::get_if<ContinuousPomdp>(&model);
  if ((real != nullptr && !real->has_sensors()) || !action_free_sensors(model)) return gain;
  const CoarseReadings seen = coarse_readings(model, rows);
  gain = log_actions(model, rows, seen, true);
  const std::vector<double> without = log_actions(model, rows, seen, false);
  for (std::size_t t = 0; t < gain.size(); ++t) gain[t] -= without[t];
  if (std::accumulate(gain.begin(), gain.end(), 0.0) <= 0.0) gain.assign(gain.size(), 0.0);
  return gain;
}

}  // namespace

double TimingTest::p_value_of_other() const {
  return impossible ? 0.0 : tail_of(-difference, standard_error);
}

AnyModel with_other_timing(const AnyModel& model) {
  PomdpParts parts = chain_of(model).parts();
  parts.timing = parts.timing == Timing::before ? Timing::after : Timing::before;
  parts.transition.reset();
  parts.reward = {};
  Pomdp chain(std::move(parts));
  if (std::holds_alternative<Pomdp>(model)) return chain;
  const auto& continuous = std::get<ContinuousPomdp>(model);
  if (!continuous.has_sensors()) return ContinuousPomdp(chain);
  return ContinuousPomdp(chain, continuous.sensors());
}

TimingTest test_timing(const AnyModel& model, const DiagnosedRows& rows,
                       const FittedDynamics& fitted, Parallelism parallelism) {
  TimingTest test;
  if (rows.known_states()) return test;
  test.tested = true;
  const AnyModel other = with_other_timing(model);
  try {
    test.other = fit_rows(other, rows, {}, parallelism);
  } catch (const InvalidArgument&) {  // the start rules the first readings out
    test.impossible = true;
    test.p_value = 1.0;
    return test;
  }
  std::vector<double> differences = log_predictions(other, rows, test.other.transition);
  const std::vector<double> own = log_predictions(model, rows, fitted.transition);
  const std::vector<double> gain = own_reading_gain(model, rows);
  const double sign = chain_of(model).timing() == Timing::before ? -1.0 : 1.0;
  for (std::size_t t = 0; t < own.size(); ++t) differences[t] += sign * gain[t] - own[t];
  test.difference = std::accumulate(differences.begin(), differences.end(), 0.0);
  const double mean = test.difference / static_cast<double>(own.size());
  const std::size_t length = std::max(kShortestStretch, own.size() / kStretches);
  double squares = 0.0;
  for (std::size_t first = 0; first < own.size(); first += length) {
    const std::size_t end = std::min(first + length, own.size());
    double sum = 0.0;
    for (std::size_t t = first; t < end; ++t) sum += differences[t] - mean;
    squares += sum * sum;
  }
  test.standard_error = std::sqrt(squares);
  test.p_value = tail_of(test.difference, test.standard_error);
  return test;
}

double ReactionTest::smallest(double level, double power) const {
  const double best = *std::max_element(unit_information.begin(), unit_information.end());
  return std::min(1.0, std::sqrt(test.noncentrality(test.dimensions, level, power) / best));
}

ReactionTest test_reaction(const AnyModel& model, const DiagnosedRows& rows,
                           const FittedDynamics& fitted, int replicates, std::uint64_t seed,
                           Parallelism parallelism) {
  const Pomdp& chain = chain_of(model);
  const Eigen::Index states = chain.num_states();
  const SensorDirections sensors(model, rows);
  const Contrasts contrasts = contrasts_of(rows, chain.num_actions(), chain.num_states());
  ReactionTest reaction;
  reaction.why_not = why_no_reaction(model, rows, sensors, contrasts);
  if (!reaction.why_not.empty()) return reaction;
  const auto actions = static_cast<Eigen::Index>(contrasts.share.size());
  const Eigen::Index size = actions * states;
  ScoreTally tally({{std::vector<int>(rows.size(), 0), 1}}, size, replicates, seed, parallelism);
  const StratifiedFit fit{{fitted}, {}};
  ScoreWalk walk(model, rows, fit, sensors);
  Vector score(size);
  Matrix others;
  // (1[a] - share) ⊗ (posterior - prior), the prior's part dropping out of the mean.
  const auto fill = [&](const ScoredRow& row, const auto& likelihood, auto&& out) {
    const double probability = row.emitter.dot(likelihood);
    for (Eigen::Index a = 0; a < actions; ++a) {
      const bool own = contrasts.place[static_cast<std::size_t>(rows.actions[row.row])] == a;
      const double weight = (own ? 1.0 : 0.0) - contrasts.share[static_cast<std::size_t>(a)];
      for (Eigen::Index s = 0; s < states; ++s) {
        out(a * states + s) =
            probability > 0.0 ? weight * row.emitter(s) * (likelihood(s) / probability - 1.0) : 0.0;
      }
    }
  };
  walk.run(seed, [&](const ScoredRow& row) {
    others.resize(row.others.rows(), size);
    fill(row, row.likelihood, score);
    for (Eigen::Index j = 0; j < others.rows(); ++j) {
      fill(row, row.readings.likelihoods.row(j), others.row(j));
    }
    if (!row.readings.all) center_draws(row.weights, others);
    tally.add({row.row, score, others, row.weights, row.readings, row.emitter, row.likelihood});
  });
  tally.finish();
  reaction.test = test_sum(tally);
  if (!reaction.test.tested()) {
    reaction.why_not = "the readings tell too little";
    return reaction;
  }
  const Matrix information = tally.information();
  for (Eigen::Index i = 0; i < size; ++i) {
    const double share = contrasts.share[static_cast<std::size_t>(i / states)];
    const double rows_of_action = share * (1.0 - share) * static_cast<double>(rows.size());
    const double variance = information(i, i);
    reaction.unit_information.push_back(variance > 1e-9 ? rows_of_action * rows_of_action / variance
                                                        : 0.0);
  }
  return reaction;
}

}  // namespace oas
