#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oas/logs/byte_sink.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/logs/one_log.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/row_source.hpp"

namespace oas {

/// What filtering a log showed.
struct FilteredLog {
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  std::int64_t seen = 0;        ///< observations that the model allows
  std::int64_t impossible = 0;  ///< those of probability 0, which were skipped
  double log_likelihood = 0.0;  ///< of those that were seen
  std::vector<double> last_belief;

  [[nodiscard]] double log_likelihood_per_observation() const;
};

/// Writes a CSV with the belief before each row of a log and the smoothed state: run, step, action,
/// observation (or its components), belief_*, smoothed_*, likeliest; one line more for each run,
/// about the state after its last row. Where rows are reading-first the belief is that after the
/// row's reading, on which its action was chosen, and the line more is there where the last row has
/// an action. Runs have their names, if the log gives some, and are held
/// in memory one at a time. A run that is cut at a gap goes on with the step it has got to. Throws
/// InvalidArgument when the model has no transition, ParseError as LogReader does.
[[nodiscard]] FilteredLog filter_log(const AnyModel& model, const OneLog& log, ByteSink& out,
                                     const RowsRead& progress = {}, const LogOptions& options = {});

}  // namespace oas
