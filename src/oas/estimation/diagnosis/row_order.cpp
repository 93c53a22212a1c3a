#include "oas/estimation/diagnosis/row_order.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/model/reading_likelihood.hpp"

namespace oas {

namespace {

const ContinuousPomdp* real_sensors(const AnyModel& model) {
  const auto* const real = std::get_if<ContinuousPomdp>(&model);
  return real != nullptr && real->has_sensors() ? real : nullptr;
}

// The sensor of one action in the place of that of first readings, where nothing is known of these:
// they are then missing, so that it is not looked at.
ObservationModel sensor_of_first_action(const ObservationModel& sensors) {
  const auto all = sensors.values();
  const auto size = static_cast<std::ptrdiff_t>(all.size()) / sensors.num_actions();
  return {sensors.num_states(), 1, sensors.num_observations(), {all.begin(), all.begin() + size}};
}
DensitySensors sensor_of_first_action(const DensitySensors& sensors) {
  std::vector<VectorDensity> densities;
  for (State s{0}; s < sensors.num_states(); ++s) densities.push_back(sensors(Action{0}, s));
  return {sensors.num_states(), 1, std::move(densities)};
}

Pomdp chain_in_order(const Pomdp& chain, RowOrder order, bool has_finite_sensors) {
  PomdpParts parts = chain.parts();
  parts.timing = order == RowOrder::before ? Timing::before : Timing::after;
  parts.rows = order == RowOrder::reading_first ? Rows::reading_first : Rows::action_first;
  parts.transition.reset();
  parts.reward = {};
  if (order == RowOrder::before) {
    parts.first_observation.reset();
  } else if (order == RowOrder::reading_first && has_finite_sensors && !parts.first_observation) {
    parts.first_observation = sensor_of_first_action(parts.sensors);
  }
  return Pomdp(std::move(parts));
}

AnyModel model_in_order(const AnyModel& model, RowOrder order) {
  const auto* const real = std::get_if<ContinuousPomdp>(&model);
  const Pomdp chain = chain_in_order(chain_of(model), order, real == nullptr);
  if (real == nullptr) return chain;
  if (!real->has_sensors()) return ContinuousPomdp(chain);
  std::optional<DensitySensors> first;
  if (order != RowOrder::before) first = real->first_density();
  if (order == RowOrder::reading_first && !first) first = sensor_of_first_action(real->sensors());
  return ContinuousPomdp(chain, real->sensors(), first, real->density_draws());
}

// The start of a run of action-first rows; what was learned of unknown starts stays with it.
RunStart without_first(const RunStart& start) {
  return start.is_unknown() ? start.with(FirstReading{}) : RunStart();
}

// Reads the rows of one run after the other out of `from`, and writes them to `to`.
class Reordering {
 public:
  Reordering(const AnyModel& model, const DiagnosedRows& from, OrderedRows& to)
      : from_(from),
        to_(to.rows),
        model_(to.model),
        states_(static_cast<std::size_t>(chain_of(model).num_states())),
        width_(from.size() == 0 ? 0 : from.readings.size() / from.size()),
        knows_first_(knows_first_readings(model)) {
    if (const ContinuousPomdp* const real = real_sensors(model)) {
      likelihood_.emplace(real->sensors(), from.outlier_share);
      if (real->first_density()) first_.emplace(*real->first_density(), from.outlier_share);
    }
    to_.units = from.units;
    to_.outlier_share = from.outlier_share;
  }

  // (o_0), (a_0, o_1), … become (a_0, o_0), (a_1, o_1), …
  void take_first_reading_in(std::size_t run) {
    const auto [first, end] = rows_of(run);
    begin(run, without_first(from_.starts[run]));
    add_first(first, *from_.starts[run].first());
    for (std::size_t t = first + 1; t < end; ++t) add(t, t - 1);
  }
  // (a_0, o_0), (a_1, o_1), … become (o_0), (a_0, o_1), …
  void put_first_reading_out(std::size_t run) {
    const auto [first, end] = rows_of(run);
    if (end - first < 2) return;
    begin(run, from_.starts[run].with(first_reading_at(first)));
    for (std::size_t t = first; t + 1 < end; ++t) add(t, t + 1);
  }

 private:
  [[nodiscard]] std::pair<std::size_t, std::size_t> rows_of(std::size_t run) const {
    const bool last = run + 1 == from_.run_starts.size();
    return {from_.run_starts[run], last ? from_.size() : from_.run_starts[run + 1]};
  }
  void begin(std::size_t run, RunStart start) {
    to_.run_starts.push_back(to_.size());
    to_.starts.push_back(std::move(start));
    to_.unit_of_run.push_back(from_.unit_of_run[run]);
  }
  // The action of one row with the reading of another one.
  void add(std::size_t action, std::size_t reading) {
    begin_row(action, from_.observations[reading]);
    add_reading(std::span(from_.readings).subspan(reading * width_, width_));
    if (!from_.likelihoods.empty()) {
      add_likelihood(std::span(from_.likelihoods).subspan(reading * states_, states_));
    }
  }
  void add_first(std::size_t action, const FirstReading& first) {
    begin_row(action, first.observation);
    const std::vector<double> nothing(width_, 0.0);
    add_reading(first.reading.empty() ? std::span(nothing) : std::span(first.reading));
    if (from_.likelihoods.empty()) return;
    const std::vector<double> alike(states_, 1.0);
    add_likelihood(first.likelihood.empty() ? std::span(alike) : std::span(first.likelihood));
  }
  void begin_row(std::size_t action, Observation observation) {
    to_.actions.push_back(from_.actions[action]);
    to_.observations.push_back(observation);
    to_.place.push_back(from_.place[action]);
  }
  void add_reading(std::span<const double> reading) {
    to_.readings.insert(to_.readings.end(), reading.begin(), reading.end());
  }
  // As it was, or by the densities of the action that the reading now belongs to.
  void add_likelihood(std::span<const double> as_it_was) {
    to_.likelihoods.insert(to_.likelihoods.end(), as_it_was.begin(), as_it_was.end());
    if (!likelihood_ || to_.observations.back() == kMissing) return;
    (*likelihood_)(to_.actions.back(), std::span<const double>(to_.readings).last(width_),
                   std::span(to_.likelihoods).last(states_));
  }
  [[nodiscard]] FirstReading first_reading_at(std::size_t row) const {
    const Observation seen = from_.observations[row];
    if (!knows_first_ || seen == kMissing) return {};
    const auto* const finite = std::get_if<Pomdp>(&model_);
    if (finite != nullptr) return first_reading(*finite->first_observation(), seen);
    const auto reading = std::span(from_.readings).subspan(row * width_, width_);
    const auto likelihood = std::span(from_.likelihoods).subspan(row * states_, states_);
    FirstReading first{
        seen, {reading.begin(), reading.end()}, {likelihood.begin(), likelihood.end()}};
    if (first_) (*first_)(Action{0}, first.reading, first.likelihood);
    return first;
  }

  const DiagnosedRows& from_;
  DiagnosedRows& to_;
  const AnyModel& model_;  // of `to`
  std::size_t states_;
  std::size_t width_;
  bool knows_first_;
  std::optional<ReadingLikelihood> likelihood_;
  std::optional<ReadingLikelihood> first_;
};

}  // namespace

const char* to_string(RowOrder order) {
  constexpr const char* kNames[] = {"before", "after", "reading-first"};
  return kNames[static_cast<std::size_t>(order)];
}

RowOrder order_of(const Pomdp& chain) {
  if (chain.reading_first()) return RowOrder::reading_first;
  return chain.timing() == Timing::before ? RowOrder::before : RowOrder::after;
}

bool sensors_ignore_actions(const AnyModel& model) {
  if (const auto* finite = std::get_if<Pomdp>(&model)) {
    return !finite->sensors().action_that_differs();
  }
  const ContinuousPomdp* const real = real_sensors(model);
  return real == nullptr || !real->sensors().action_that_differs();
}

bool knows_first_readings(const AnyModel& model) {
  if (sensors_ignore_actions(model)) return true;
  if (const auto* finite = std::get_if<Pomdp>(&model)) {
    return finite->first_observation().has_value();
  }
  return std::get<ContinuousPomdp>(model).first_density().has_value();
}

OrderedRows rows_in_order(const AnyModel& model, const DiagnosedRows& rows, RowOrder order) {
  OAS_REQUIRE(!rows.known_states(), "known states belong to the order in which rows were read");
  OrderedRows out{model_in_order(model, order), {}};
  const bool was_first = chain_of(model).reading_first();
  const bool becomes_first = order == RowOrder::reading_first;
  if (was_first == becomes_first) {
    out.rows = rows;
    return out;
  }
  Reordering reordering(model, rows, out);
  for (std::size_t run = 0; run < rows.run_starts.size(); ++run) {
    was_first ? reordering.take_first_reading_in(run) : reordering.put_first_reading_out(run);
  }
  return out;
}

DiagnosedRows without_short_runs(const DiagnosedRows& rows) {
  if (rows.size() == 0) return rows;
  DiagnosedRows kept = rows;
  kept.run_starts.clear();
  kept.starts.clear();
  kept.unit_of_run.clear();
  std::vector<char> keep(rows.size(), 0);
  std::size_t count = 0;
  for (std::size_t run = 0; run < rows.run_starts.size(); ++run) {
    const std::size_t first = rows.run_starts[run];
    const std::size_t end =
        run + 1 < rows.run_starts.size() ? rows.run_starts[run + 1] : rows.size();
    if (end - first < 2) continue;
    kept.run_starts.push_back(count);
    kept.starts.push_back(rows.starts[run]);
    kept.unit_of_run.push_back(rows.unit_of_run[run]);
    count += end - first;
    std::fill(keep.begin() + static_cast<std::ptrdiff_t>(first),
              keep.begin() + static_cast<std::ptrdiff_t>(end), 1);
  }
  const auto filter = [&](auto& values) {
    const std::size_t width = values.size() / rows.size();
    std::size_t to = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (keep[i / width] != 0) values[to++] = values[i];
    }
    values.resize(to);
  };
  filter(kept.actions);
  filter(kept.observations);
  filter(kept.readings);
  filter(kept.likelihoods);
  filter(kept.place);
  return kept;
}

}  // namespace oas
