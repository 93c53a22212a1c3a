#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/study/result_table.hpp"
#include "oas/study/statistics.hpp"
#include "oas/study/study.hpp"

/// From stored rows to what a figure shows and a table says.
namespace oas {

/// One point of a curve: the mean over replications with its 95 % interval.
struct SeriesPoint {
  double x = 0.0;
  MeanInterval y;
};

/// One curve.
struct Series {
  std::string label;
  std::vector<SeriesPoint> points;  ///< x increasing
  /// Exponent of y ~ x^slope: fitted to each replication by itself, since the points of one
  /// replication depend on each other; mean and Student interval over replications.
  std::optional<MeanInterval> slope;
  /// y at the last x minus that of the paired series, replication by replication.
  std::optional<MeanInterval> difference;
};

/// All curves that stand in one pair of axes.
struct Panel {
  std::string label;
  std::vector<Series> series;
};

/// A figure's numbers.
struct FigureData {
  FigureSpec spec;
  std::vector<Panel> panels;
};

/// Groups the rows that the figure asks for; where several rows of one replication fall together
/// they are averaged first. Values that are not finite are left out. O(rows log rows).
[[nodiscard]] FigureData summarise(const FigureSpec& spec, const ResultTable& table,
                                   std::uint64_t seed);

/// The study's answer with its {figure.statistic.aggregate[label;label]} replaced by numbers.
/// Statistic: last (mean at the last x), slope, difference, count, covers (how many slope intervals
/// hold the predicted exponent); aggregate: min, median, max over the curves; labels: only curves
/// whose series or panel is called so. "?" where there are no data.
[[nodiscard]] std::string answer_text(const Study& study, const std::vector<FigureData>& figures);
/// Whether there are data for all of these.
[[nodiscard]] bool answer_has_data(const Study& study, const std::vector<FigureData>& figures);

/// Throws InvalidArgument on a placeholder that names no figure or no statistic.
void check_answer(const Study& study);

/// Tidy tables: every point of every curve, and one row per curve.
[[nodiscard]] std::string points_csv(const std::vector<FigureData>& figures);
[[nodiscard]] std::string curves_csv(const std::vector<FigureData>& figures);

}  // namespace oas
