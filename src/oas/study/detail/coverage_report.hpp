#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oas/study/kinds.hpp"
#include "oas/study/result_table.hpp"

/// What the rows of kind `coverage` say about each cell (model, timing, policy, rows, estimator).
namespace oas::detail {

/// Against a bound: met; missed, but within Monte Carlo error; missed.
enum class Verdict { pass, open, fail };

[[nodiscard]] const char* to_string(Verdict verdict);

/// A share with its Monte Carlo interval; NaN where nothing was tried.
struct Measured {
  double share;
  double lower;
  double upper;
};

struct CoverageCell {
  std::string model;
  std::string timing;
  std::string policy;
  std::string estimator;
  std::int64_t rows = 0;
  std::int64_t run_length = 0;
  std::int64_t logs = 0;

  Measured entry{};           ///< entries in their intervals, mean over logs
  Measured row{};             ///< rows in their bands, mean over logs
  Measured joint{};           ///< logs whose joint band holds
  Measured flags{};           ///< wrong flags, of those that can be judged
  double ball = 0.0;          ///< rows in their L1 balls
  double joint_ball = 0.0;    ///< logs whose balls all hold
  double worst = 0.0;         ///< least coverage of an entry
  std::string worst_entry;    ///< "(a,s,s')"
  double worst_p = 1.0;       ///< of worse luck were every coverage 90 %; least over entries
  std::int64_t entries = 0;   ///< tested
  double flagged = 0.0;       ///< share of rows
  double width_ratio = 0.0;   ///< median over entries of width / Cramér-Rao width
  double seen_ratio = 0.0;    ///< the same against Clopper-Pearson had states been seen
  double without_bars = 0.0;  ///< share of logs
  std::int64_t failures = 0;
  std::string message;
  Verdict verdict = Verdict::open;
  std::string why;  ///< what was missed
};

/// All cells in the order of the table, verdicts included. Bounds: mean coverage of entries 0.93,
/// no entry below 0.90 beyond doubt, rows and joint bands 0.93, wrong flags 0.001, no failure.
/// Doubt: a bound counts as missed when the probability of so much bad luck is below 1 % for all
/// cells (entries) of the table together, by Bonferroni's inequality.
[[nodiscard]] std::vector<CoverageCell> coverage_cells(const ResultTable& table);

/// One row per cell.
[[nodiscard]] std::string coverage_csv(const std::vector<CoverageCell>& cells);

/// Dots with Monte Carlo intervals, sorted, one panel per estimator; lines at 0.93 and 0.95.
/// What lies below 0.7 stands at the lower edge.
[[nodiscard]] std::string coverage_svg(const std::vector<CoverageCell>& cells);

/// Table and picture.
[[nodiscard]] KindReport coverage_report(const ResultTable& table);

}  // namespace oas::detail
