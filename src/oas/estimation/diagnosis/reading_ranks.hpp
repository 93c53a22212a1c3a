#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/estimation/diagnosis/score_walk.hpp"

namespace oas {

/// Does a model of real-valued readings fit? Each row's reading is ranked among readings that are
/// drawn from what the model predicts, given the rows before: component by component, and all
/// together by their predictive density. When the model is true, ranks are spread evenly and do not
/// depend on each other from row to row, whatever the policy and however the rows depend on each
/// other (Rosenblatt 1952). Of each kind of rank a smooth test (Neyman 1937, order 4) and the
/// correlation of neighbours are added up: chi-square with 5 degrees of freedom. That the dynamics
/// were fitted makes ranks a little more even: the test errs on the side of silence. Where a row
/// lacks components, the others are ranked, and their density among those of the same components.
struct ReadingFit {
  struct Part {
    std::string name;        ///< "reading 1", "all together"
    double statistic = 0.0;  ///< chi-square
    double p_value = 1.0;
    double shift = 0.0;       ///< readings less predictions, in standard deviations of these
    double dependence = 0.0;  ///< correlation of neighbouring ranks
    std::vector<std::int64_t> histogram;
    double rows = 0.0;  ///< in which it was seen
  };
  std::vector<Part> parts;  ///< those that were seen at all
  double rows = 0.0;
  /// The smallest of the parts' times their number (Bonferroni); NaN: nothing was read.
  double p_value = std::numeric_limits<double>::quiet_NaN();

  /// By how much densities that were fitted to labelled rows raise the variance of what the places
  /// of ranks are judged by; 1: they are exact.
  double widening = 1.0;

  static constexpr double kDegrees = 5.0;
  /// The part with the smallest p-value.
  [[nodiscard]] const Part& worst() const;
  /// The smallest shift of any one reading, in standard deviations, that is shown with probability
  /// `power`.
  [[nodiscard]] double smallest_shift(double level, double power) const;
};

/// Takes scored rows that bring other readings.
class ReadingRanks {
 public:
  /// `likelihood` must outlive it: that from which the other readings were drawn.
  ReadingRanks(const ReadingLikelihood& likelihood, std::uint64_t seed);
  ReadingRanks(ReadingLikelihood&& likelihood, std::uint64_t seed) = delete;

  /// `reading`: of this row, NaN where it was not seen; `starts_run`: the row before is not its
  /// neighbour.
  void add(const ScoredRow& row, Action action, std::span<const double> reading, bool starts_run);
  /// `widening`: see ReadingFit.
  [[nodiscard]] ReadingFit finish(double widening = 1.0) const;

 private:
  static constexpr int kPlaces = static_cast<int>(SensorDirections::kDraws) + 1;

  void enter(std::size_t part, int below, int equal);

  const ReadingLikelihood& likelihood_;
  Rng rng_;  // for ties
  std::vector<double> own_;
  std::vector<std::vector<std::int64_t>> histograms_;  // [part][rank]
  std::vector<double> last_;      // [part]: centred rank of the row before; NaN: it has none
  std::vector<double> products_;  // [part]
  std::vector<double> pairs_;     // [part]
  double rows_ = 0.0;
};

}  // namespace oas
