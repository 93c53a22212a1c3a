#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/logs/one_log.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/row_source.hpp"
#include "oas/report/reading_places.hpp"

namespace oas {

/// What is known of one unit (the last part of it, where it was cut at a gap) along its rows.
struct UnitHistory {
  std::string unit;
  std::int64_t first_step = 0;
  std::vector<Action> actions;
  std::vector<double> smoothed;  ///< [t][s]: P(s_t | all rows), one time more than rows
  std::vector<double> times;     ///< of the rows; empty: the log has none
  bool dates = false;            ///< times are seconds since 1970
};

/// How often an action showed an observation, and how often that was to be expected from the rows
/// before.
struct ObservationResidual {
  Action action;
  Observation observation;
  double observed = 0.0;
  double expected = 0.0;
  double variance = 0.0;

  /// About standard normal where the model is right.
  [[nodiscard]] double score() const;
};

/// What a page says about a log.
struct LogReview {
  std::int64_t rows = 0;
  std::int64_t units = 0;
  std::int64_t missing = 0;                    ///< rows without observation
  std::int64_t impossible = 0;                 ///< rows that the model rules out
  std::vector<std::int64_t> rows_of_action;    ///< [a]
  std::vector<UnitHistory> histories;          ///< of the units asked for, in the order asked
  std::vector<ObservationResidual> residuals;  ///< [a][o]; empty where readings are real-valued
  std::vector<ReadingPlaces> places;           ///< [component], where they are
};

/// Reads a log once. Histories are those of `units` or, where none are named, of the first `most`.
/// Runs are held in memory one at a time, histories to the end. Throws InvalidArgument when the
/// model has no transition, ParseError as LogReader does.
[[nodiscard]] LogReview review_log(const AnyModel& model, const OneLog& log,
                                   std::span<const std::string> units, std::size_t most,
                                   const LogOptions& options, const RowsRead& progress = {});

}  // namespace oas
