#include "oas/counts/weighted_pairs.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// 1/P̂(o|a), half a row added to each observation, so that none has probability 0.
std::vector<double> inverse_marginals(const ObservationMarginals& marginals) {
  const auto o = static_cast<std::ptrdiff_t>(marginals.num_observations());
  std::vector<double> weights;
  for (auto row = marginals.counts().begin(); row != marginals.counts().end(); row += o) {
    const double total = static_cast<double>(std::accumulate(row, row + o, std::int64_t{0})) +
                         0.5 * static_cast<double>(o);
    std::transform(row, row + o, std::back_inserter(weights),
                   [&](std::int64_t count) { return total / (static_cast<double>(count) + 0.5); });
  }
  return weights;
}

// Σ_o table[a][o] ‖L_a(:,o)‖² for every sensor in the table.
template <class Table>
std::vector<double> noise_sums(const LeftInverses& inverses, const Table& table) {
  std::vector<double> sums;
  std::size_t index = 0;
  for (int a = 0; index < table.size(); ++a) {
    double sum = 0.0;
    for (int o = 0; o < inverses.num_observations(); ++o, ++index) {
      const VectorView column(inverses.column(a, o), inverses.num_states());
      sum += static_cast<double>(table[index]) * column.squaredNorm();
    }
    sums.push_back(sum);
  }
  return sums;
}

std::vector<std::string> blind_names(const Pomdp& model, const LeftInverses& inverses) {
  std::vector<std::string> names;
  for (Action a{0}; a < model.num_actions(); ++a) {
    if (!inverses.sees(a)) names.push_back(fmt::format("'{}'", model.actions()[a]));
  }
  return names;
}

// One over the noise of a reading under each action, the largest 1; 0 where a sensor is blind, or
// nothing was seen.
std::vector<double> reading_weights(const LeftInverses& inverses,
                                    const ObservationMarginals& marginals) {
  std::vector<double> weights = noise_sums(inverses, marginals.counts());
  const auto o = static_cast<std::ptrdiff_t>(marginals.num_observations());
  for (std::size_t a = 0; a < weights.size(); ++a) {
    const auto row = marginals.counts().begin() + static_cast<std::ptrdiff_t>(a) * o;
    const auto rows = static_cast<double>(std::accumulate(row, row + o, std::int64_t{0}));
    weights[a] = weights[a] > 0.0 ? rows / weights[a] : 0.0;
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (largest > 0.0) {
    std::for_each(weights.begin(), weights.end(), [&](double& weight) { weight /= largest; });
  }
  return weights;
}

void choose_second_weights(const ObservationMarginals& marginals, const LeftInverses& inverses,
                           const std::vector<std::string>& blind, WeightedPairs& pairs) {
  const bool usable = marginals.all_have_propensities() && marginals.certain() < marginals.rows();
  OAS_REQUIRE(
      blind.empty() || usable,
      "the sensor of action {} cannot tell the states apart. In `before` timing the next action is "
      "chosen after the observation, so pairs whose second action is blind cannot simply be left "
      "out: that needs the column propensity, of a policy that gives every action a positive "
      "probability, or your word that actions ignore observations. Estimator oas-ml needs neither",
      fmt::join(blind, ", "));
  const std::vector<double> plain = noise_sums(inverses, marginals.counts());
  const double plain_noise = std::accumulate(plain.begin(), plain.end(), 0.0);
  std::vector<double> share = noise_sums(inverses, marginals.inverse_squares());
  double sum = 0.0;
  for (double& value : share) sum += value = value > 0.0 ? 1.0 / value : 0.0;
  // A certain action is one whose alternatives had no chance: weights cannot undo that.
  const bool better = usable && marginals.certain() == 0 && sum > 0.0 && 1.0 / sum < plain_noise;
  if (blind.empty() && !better) {
    pairs.note = "full sum over the second action";
    return;
  }
  for (double& value : share) value /= sum;
  pairs.note =
      fmt::format("second actions weighted by c/propensity, c = {:.3g}", fmt::join(share, ", "));
  pairs.fold.inverse_propensity = true;
  pairs.fold.second_weight = std::move(share);
}

}  // namespace

ObservationMarginals::ObservationMarginals(int num_actions, int num_observations,
                                           std::int64_t first_run, bool first_readings)
    : num_actions_(num_actions),
      num_observations_(num_observations),
      counts_(static_cast<std::size_t>(num_actions + (first_readings ? 1 : 0)) *
                  static_cast<std::size_t>(num_observations),
              0),
      run_{std::vector<double>(counts_.size(), 0.0)},
      ended_(first_run) {}

void ObservationMarginals::Squares::add(const Squares& other) {
  std::transform(values.begin(), values.end(), other.values.begin(), values.begin(), std::plus<>{});
}

void ObservationMarginals::start_run(const RunStart& start) {
  end_run();
  const FirstReading* const first = start.first();
  const std::size_t cell =
      static_cast<std::size_t>(num_actions_) * static_cast<std::size_t>(num_observations_);
  if (first == nullptr || first->observation == kMissing || cell == counts_.size()) return;
  ++counts_[cell + static_cast<std::size_t>(first->observation)];
}

void ObservationMarginals::end_run() {
  if (run_rows_ == 0) return;
  RunBatches<Squares> run;
  run.close(run_);
  ended_.append(run, std::exchange(run_rows_, 0));
  std::fill(run_.values.begin(), run_.values.end(), 0.0);
}

void ObservationMarginals::add(std::span<const Action> actions,
                               std::span<const Observation> observations,
                               std::span<const double> propensities) {
  OAS_REQUIRE(actions.size() == observations.size() &&
                  (propensities.empty() || propensities.size() == actions.size()),
              "{} actions, {} observations, {} propensities", actions.size(), observations.size(),
              propensities.size());
  for (std::size_t t = 0; t < actions.size(); ++t) {
    add(actions[t], observations[t], 1, propensities.empty() ? 0.0 : propensities[t]);
  }
}

void ObservationMarginals::add(Action action, Observation observation, std::int64_t times,
                               double propensity) {
  run_rows_ += times;
  if (observation == kMissing) return;
  const std::size_t cell =
      static_cast<std::size_t>(action) * static_cast<std::size_t>(num_observations_) +
      static_cast<std::size_t>(observation);
  counts_[cell] += times;
  rows_ += times;
  if (propensity == 0.0) return;
  run_.values[cell] += static_cast<double>(times) * (1.0 / (propensity * propensity));
  with_propensity_ += times;
  if (propensity == 1.0) certain_ += times;
}

void ObservationMarginals::merge(const ObservationMarginals& other) {
  OAS_REQUIRE(num_actions_ == other.num_actions_ && num_observations_ == other.num_observations_,
              "marginals of {} actions, {} observations cannot take in those of {} and {}",
              num_actions_, num_observations_, other.num_actions_, other.num_observations_);
  end_run();
  ObservationMarginals runs = other;
  runs.end_run();
  std::transform(counts_.begin(), counts_.end(), runs.counts_.begin(), counts_.begin(),
                 std::plus<>{});
  ended_.append(std::move(runs.ended_));
  rows_ += runs.rows_;
  with_propensity_ += runs.with_propensity_;
  certain_ += runs.certain_;
}

std::vector<double> ObservationMarginals::inverse_squares() const {
  ObservationMarginals all = *this;
  all.end_run();
  Squares sum{std::vector<double>(counts_.size(), 0.0)};
  for (const Squares& one : all.ended_.finish()) sum.add(one);
  return sum.values;
}

void ObservationMarginals::save(ByteWriter& out) const {
  out.put_all(counts_);
  run_.save(out);
  ended_.save(out);
  for (const std::int64_t value : {run_rows_, rows_, with_propensity_, certain_}) out.put(value);
}

void ObservationMarginals::load(ByteReader& in) {
  counts_ = in.get_all<std::int64_t>(counts_.size());
  run_.load(in);
  ended_.load(in, run_);
  for (std::int64_t* value : {&run_rows_, &rows_, &with_propensity_, &certain_}) {
    *value = in.get_integer(0, std::int64_t{1} << 60);
  }
}

WeightedPairs weighted_pairs(const Pomdp& model, const ObservationMarginals& marginals,
                             bool reacts) {
  WeightedPairs pairs{LeftInverses(model, inverse_marginals(marginals)), {}, {}};
  const std::vector<std::string> blind = blind_names(model, pairs.inverses);
  OAS_REQUIRE(blind.size() < static_cast<std::size_t>(model.num_actions()),
              "no sensor tells the states apart, so pairs say nothing");
  if (model.timing() == Timing::after) {
    pairs.fold.first_weight = reading_weights(pairs.inverses, marginals);
    pairs.fold.inverse_propensity =
        weights_by_propensity(model.timing(), model.num_actions(), reacts);
    pairs.note = "first actions weighted by how well they see";
  } else if (!reacts) {
    pairs.fold.second_weight = reading_weights(pairs.inverses, marginals);
    pairs.note = "second actions weighted by how well they see";
  } else {
    choose_second_weights(marginals, pairs.inverses, blind, pairs);
  }
  return pairs;
}

}  // namespace oas
