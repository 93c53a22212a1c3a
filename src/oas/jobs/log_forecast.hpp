#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/belief/forecast.hpp"
#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/logs/byte_sink.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/logs/one_log.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/row_source.hpp"
#include "oas/planning/policies/asked_policy.hpp"

namespace oas {

/// What is to come for one unit of a log.
struct UnitForecast {
  std::string unit;  ///< its name, or the number of the run
  std::int64_t rows = 0;
  double tolerance = 0.0;       ///< beliefs of a policy nearer than this counted as one; 0: exact
  std::int64_t impossible = 0;  ///< rows that the model rules out, which were skipped
  Forecast middle;              ///< mean over the draws of T, of mean_steps the median
  /// Limits over the draws: shortest_interval() of probabilities, and of mean_steps quantiles, with
  /// 0 and ∞ inside where those of survival say so; then as much wider as ForecastOptions::within
  /// asks for. All that T alone leaves open. Empty without draws, and then mean_steps and ever are
  /// those of `middle`.
  Forecast lower;
  Forecast upper;

  /// Whether it is probably in one of the states to reach now. Only with such states.
  [[nodiscard]] bool is_there() const { return middle.survival.front() < 0.5; }
  /// P(state) after the last row.
  [[nodiscard]] std::span<const double> belief(int num_states) const {
    return std::span(middle.states).first(static_cast<std::size_t>(num_states));
  }
};

/// Which of two units to look at first: one that is not there yet, then the one that will sooner be
/// with the larger probability. Only with states to reach.
[[nodiscard]] inline bool more_urgent(const UnitForecast& a, const UnitForecast& b) {
  if (a.is_there() != b.is_there()) return b.is_there();
  return a.middle.survival.back() < b.middle.survival.back();
}

/// A time of so many steps for people, rounded by `format`, as {:.4g}: "0", or "never" beyond 10⁹,
/// where an estimate at 0 may be a tiny number.
[[nodiscard]] std::string steps_words(double steps, const char* format = "{:.4g}");

/// The mean time until the states to reach, in such words: "never in 12 %" where a part of the
/// units never gets there.
[[nodiscard]] std::string mean_steps_words(const Forecast& forecast, const char* format = "{:.4g}");

struct ForecastOptions {
  ForecastQuestion question;
  /// Whose actions are to come, instead of the schedule of the question: they answer what will be
  /// observed.
  std::optional<AskedPolicy> policy;
  /// Where observations are real-valued: the model with the finite ones that the policy answers,
  /// see seen_by_policy().
  std::optional<Pomdp> seen_by_policy;
  double confidence = 0.95;  ///< of the limits, in (0, 1)
  /// Limits hold its forecast, too, unless it rules out a row of the unit: draws never have a
  /// transition that is impossible, the dynamics may. See without_unseen().
  std::optional<TransitionModel> within;
  /// The draws of T were made under the densities that the labelled rows of a model allow
  /// (density_draws), equally many under each in their order, as estimate_from_logs() does. Then
  /// the log is read under each of these, too: where a unit is now hangs on the sensors. Not for a
  /// pipe.
  bool drawn_densities = false;
  Parallelism parallelism;

  template <class Fields>
  void visit(Fields& fields) {
    fields("steps", question.steps, {0, 100'000}, "how many steps to look ahead");
    fields("confidence", confidence, {kAboveZero, kBelowOne}, "level of the limits over draws");
  }
};

/// For each unit of a log what is to come after its last row, if the actions are as the question
/// says. With `draws` of T, as an estimate carries them, every one of them filters the log and
/// forecasts by itself, and there are limits; without, T is taken as exact. Of a unit that was cut
/// at a gap the last part counts. Runs are held in memory one at a time.
///
/// A policy on beliefs goes on from the belief that it has at the end of the log, which it keeps
/// with its own model; a policy on the last row from that row; schedules and graphs begin at their
/// start. Policies act as finite controllers (nodes_of()), so forecasts are exact but for beliefs
/// that share a node. Throws InvalidArgument when the model has no transition, and ParseError as
/// LogReader does.
[[nodiscard]] std::vector<UnitForecast> forecast_log(
    const AnyModel& model, std::span<const TransitionModel> draws, const OneLog& log,
    const ForecastOptions& options, const LogOptions& rows = {}, const RowsRead& progress = {});

/// A CSV: unit, step, state_*, and where the question has states to reach also reached, the
/// probability to have been there by then; with limits *_lower and *_upper.
void write_forecasts(const Pomdp& model, std::span<const UnitForecast> units, ByteSink& out);

}  // namespace oas
