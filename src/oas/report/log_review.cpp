#include "oas/report/log_review.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "oas/belief/smoother.hpp"
#include "oas/core/contracts.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas {

namespace {

constexpr double kMostNumbers = 4e7;  // of the history of a unit: 320 MB

std::vector<double> smoothed_states(const Pomdp& model, const LoggedRun& run, bool finite,
                                    std::int64_t& impossible) {
  const auto numbers = static_cast<double>(run.actions.size() + 1) * model.num_states();
  OAS_REQUIRE(
      numbers <= kMostNumbers,
      "{} rows of {} states make a history of {:.3g} numbers, more than the limit of {:.0g} that "
      "a report holds; --from and --until take a part of the log",
      run.actions.size(), model.num_states(), numbers, kMostNumbers);
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(numbers));
  const auto receive = [&](std::size_t t, std::span<const double> /*belief*/,
                           std::span<const double> smoothed, double probability) {
    result.insert(result.end(), smoothed.begin(), smoothed.end());
    impossible += static_cast<std::int64_t>(t < run.actions.size() && !(probability > 0.0));
  };
  if (finite && run.likelihoods.empty()) {
    smooth(model, run.actions, run.observations, receive, run.start);
  } else {
    smooth_likelihoods(model, run.actions, run.likelihoods, receive, run.start);
  }
  return result;
}

// The law of the state that the observation of a row comes from, given that before the row.
std::vector<double> emitting_state(const Pomdp& model, std::span<const double> belief,
                                   Action action) {
  std::vector<double> state(belief.begin(), belief.end());
  if (model.timing() == Timing::before) return state;
  std::fill(state.begin(), state.end(), 0.0);
  for (int s = 0; s < model.num_states(); ++s) {
    model.transition().for_each_next(action, State{s}, [&](State next, double p) {
      state[static_cast<std::size_t>(next.value())] += belief[static_cast<std::size_t>(s)] * p;
    });
  }
  return state;
}

// Adds where the readings of one run lie within what its own past let expect.
void add_places(const Pomdp& model, const LoggedRun& run, PlaceTally& places) {
  if (run.readings.empty()) return;  // the log brings likelihoods
  const std::size_t width = run.readings.size() / run.actions.size();
  filter_run(model, false, run, [&](std::size_t t, std::span<const double> belief) {
    if (run.observations[t] == kMissing) return;
    places.add(run.actions[t], emitting_state(model, belief, run.actions[t]),
               std::span(run.readings).subspan(t * width, width));
  });
}

// Adds what one run showed and what its own past let expect.
class Residuals {
 public:
  explicit Residuals(const Pomdp& model) : model_(model) {
    for (int a = 0; a < model.num_actions(); ++a) {
      for (int o = 0; o < model.num_observations(); ++o) {
        cells_.push_back({Action{a}, Observation{o}});
      }
    }
  }

  void add(const LoggedRun& run) {
    filter_run(model_, true, run, [&](std::size_t t, std::span<const double> belief) {
      if (run.observations[t] != kMissing) compare(belief, run.actions[t], run.observations[t]);
    });
  }

  [[nodiscard]] std::vector<ObservationResidual> take() { return std::move(cells_); }

 private:
  void compare(std::span<const double> belief, Action action, Observation seen) {
    const std::vector<double> state = emitting_state(model_, belief, action);
    for (int o = 0; o < model_.num_observations(); ++o) {
      double p = 0.0;
      for (int s = 0; s < model_.num_states(); ++s) {
        p +=
            state[static_cast<std::size_t>(s)] * model_.sensors()(action, State{s}, Observation{o});
      }
      ObservationResidual& cell =
          cells_[static_cast<std::size_t>(action.value() * model_.num_observations() + o)];
      cell.observed += static_cast<double>(Observation{o} == seen);
      cell.expected += p;
      cell.variance += p * (1.0 - p);
    }
  }

  const Pomdp& model_;
  std::vector<ObservationResidual> cells_;
};

// The columns that hold the components, where the options name them.
std::vector<std::string> component_names(const LogOptions& options) {
  const ColumnNames columns(options.columns);
  const std::vector<std::string>* const named = columns.find("observation");
  return named != nullptr ? *named : std::vector<std::string>();
}

}  // namespace

double ObservationResidual::score() const {
  return variance > 0.0 ? (observed - expected) / std::sqrt(variance) : 0.0;
}

LogReview review_log(const AnyModel& model, const OneLog& log, std::span<const std::string> units,
                     std::size_t most, const LogOptions& options, const RowsRead& progress) {
  const Pomdp& chain = chain_of(model);
  OAS_REQUIRE(chain.has_transition(), "the model has no transition to filter the log with");
  const bool finite = std::holds_alternative<Pomdp>(model);
  LogReader reader =
      std::visit([&](const auto& any) { return LogReader(log, any, options); }, model);
  LogReview review;
  review.rows_of_action.assign(static_cast<std::size_t>(chain.num_actions()), 0);
  review.histories.resize(units.size());
  std::optional<Residuals> residuals;
  if (finite) residuals.emplace(chain);
  const auto* const real = std::get_if<ContinuousPomdp>(&model);
  std::optional<PlaceTally> places;
  if (real != nullptr && real->has_sensors()) {
    places.emplace(real->sensors(), component_names(options));
  }
  for_each_run(reader, [&](const LoggedRun& run) {
    review.rows += run.rows();
    review.missing += std::count(run.observations.begin(), run.observations.end(), kMissing);
    if (run.last_action) --review.missing;  // of which nothing can be seen
    for (const Action a : run.actions) ++review.rows_of_action[static_cast<std::size_t>(a)];
    review.units += !run.goes_on();
    if (residuals) residuals->add(run);
    if (places) add_places(chain, run, *places);
    UnitHistory history{run.unit,    run.first_step,
                        run.actions, smoothed_states(chain, run, finite, review.impossible),
                        run.times,   reader.has_dates()};
    const auto asked = std::find(units.begin(), units.end(), run.unit);
    if (asked != units.end()) {
      review.histories[static_cast<std::size_t>(asked - units.begin())] = std::move(history);
    } else if (units.empty() && run.goes_on() && static_cast<std::size_t>(review.units) <= most) {
      review.histories.back() = std::move(history);
    } else if (units.empty() && review.histories.size() < most) {
      review.histories.push_back(std::move(history));
    }
    if (progress) progress(run.rows());
  });
  std::erase_if(review.histories, [](const UnitHistory& unit) { return unit.actions.empty(); });
  if (residuals) review.residuals = residuals->take();
  if (places) review.places = places->take(real->density_draws().labelled_rows);
  return review;
}

}  // namespace oas
