#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include "oas/estimation/error_bars/bootstrap.hpp"
#include "oas/model/timing.hpp"

namespace oas::test {

/// Logs of a random 3x3x4 model, or of a ready-made problem, estimated again and again.
struct CoverageCase {
  Timing timing = Timing::before;
  const char* policy = "uniform";
  bool likelihood = false;  ///< oas-ml, else oas-overlap
  ErrorBars kind = ErrorBars::asymptotic;
  std::size_t runs = 100;
  std::size_t steps = 12'000;
  int resamples = 100;
  const char* problem = nullptr;  ///< a name; its timing is then the one taken

  [[nodiscard]] std::string name() const;
};

/// For the names of tests.
inline void PrintTo(const CoverageCase& one, std::ostream* out) { *out << one.name(); }

/// Shares of cases in which the truth lies inside, at 95 %.
struct Coverage {
  double entry = 0.0;        ///< single entries in their intervals
  double row = 0.0;          ///< rows in their bands
  double row_l1 = 0.0;       ///< rows in their L1 balls
  double all = 0.0;          ///< runs in which all bands hold
  double all_l1 = 0.0;       ///< runs in which all L1 balls hold
  double mean_square = 0.0;  ///< of error / standard error
  double empty = 0.0;        ///< entries with an error and yet an interval of no width
};

[[nodiscard]] Coverage measure_coverage(const CoverageCase& one);

}  // namespace oas::test
