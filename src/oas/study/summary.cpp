#include "oas/study/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/study/kinds.hpp"

namespace oas {

namespace {

constexpr double kLevel = 0.95;
constexpr int kResamples = 2000;

struct Mean {
  double sum = 0.0;
  int count = 0;
  [[nodiscard]] double value() const { return sum / count; }
};

// [x][replication]
using CurveCells = std::map<double, std::map<std::int64_t, Mean>>;

// Values by label in the order in which labels appear.
template <class T>
class ByLabel {
 public:
  T& operator[](const std::string& label) {
    for (auto& [name, value] : items_) {
      if (name == label) return value;
    }
    return items_.emplace_back(label, T{}).second;
  }
  [[nodiscard]] const std::vector<std::pair<std::string, T>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, T>> items_;
};

using FigureCells = ByLabel<ByLabel<CurveCells>>;

// To nine digits: an α that was reached by bisection is the same x in every instance.
double rounded(double x) {
  if (!std::isfinite(x)) return x;
  const std::string text = fmt::format("{:.9g}", x);
  std::from_chars(text.data(), text.data() + text.size(), x);
  return x;
}

// Indices of the last row of each unit: the one with the most progress, for each curve that the
// unit contributes to.
std::vector<bool> last_rows(const FigureSpec& spec, const ResultTable& table) {
  const std::size_t unit = table.column("task");
  const std::size_t progress = table.column(find_task_kind(spec.kind).progress);
  std::map<std::string, double> most;
  for (const ResultRow& row : table.rows) {
    double& value = most[to_text(row[unit])];
    value = std::max(value, to_number(row[progress]));
  }
  std::vector<bool> last;
  for (const ResultRow& row : table.rows) {
    last.push_back(to_number(row[progress]) >= most[to_text(row[unit])]);
  }
  return last;
}

FigureCells collect(const FigureSpec& spec, const ResultTable& table) {
  const std::size_t sweep = table.column("sweep");
  const std::size_t replication = table.column("replication");
  const std::size_t x = table.column(spec.x);
  const std::size_t y = table.column(spec.y);
  const std::size_t series = table.column(spec.series);
  std::vector<std::pair<std::size_t, std::vector<std::string>>> conditions;
  for (const auto& [name, values] : spec.where) {
    conditions.emplace_back(table.column(name), values);
  }
  if (!spec.sweep.empty()) conditions.emplace_back(sweep, std::vector{spec.sweep});
  const std::vector<bool> last =
      spec.last ? last_rows(spec, table) : std::vector<bool>(table.rows.size(), true);
  FigureCells cells;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const ResultRow& row = table.rows[i];
    const bool wanted = std::all_of(conditions.begin(), conditions.end(), [&](const auto& c) {
      return std::find(c.second.begin(), c.second.end(), to_text(row[c.first])) != c.second.end();
    });
    const double at = rounded(to_number(row[x]));
    const double value = to_number(row[y]);
    if (!wanted || !last[i] || !std::isfinite(at) || !std::isfinite(value)) continue;
    const std::string panel = spec.panel.empty() ? "" : to_text(row[table.column(spec.panel)]);
    Mean& mean = cells[panel][to_text(row[series])][at][std::get<std::int64_t>(row[replication])];
    mean.sum += value;
    ++mean.count;
  }
  return cells;
}

std::optional<MeanInterval> fitted_slope(const FigureSpec& spec, const CurveCells& cells) {
  std::map<std::int64_t, std::pair<std::vector<double>, std::vector<double>>> runs;
  // A hair of slack: 1e7 less two decades must keep 1e5.
  const double from = spec.fit_decades
                          ? cells.rbegin()->first * std::pow(10.0, -*spec.fit_decades - 1e-9)
                          : -std::numeric_limits<double>::infinity();
  for (const auto& [x, values] : cells) {
    if (x < from) continue;
    for (const auto& [replication, mean] : values) {
      runs[replication].first.push_back(x);
      runs[replication].second.push_back(mean.value());
    }
  }
  std::vector<double> slopes;
  for (const auto& [replication, points] : runs) {
    if (const auto slope = log_log_slope(points.first, points.second)) slopes.push_back(*slope);
  }
  if (slopes.empty()) return std::nullopt;
  return student_interval(slopes, kLevel);
}

// Every point of a figure is resampled with the same random numbers: a band then shows how the runs
// spread, not how the resamples do.
class Intervals {
 public:
  Intervals(bool bootstrap, std::uint64_t seed)
      : bootstrap_(bootstrap), rng_({seed, 0, Role::bootstrap}) {}
  MeanInterval operator()(const std::vector<double>& values) const {
    Rng rng = rng_;
    return bootstrap_ ? bootstrap_interval(values, kLevel, kResamples, rng)
                      : student_interval(values, kLevel);
  }

 private:
  bool bootstrap_;
  Rng rng_;
};

// Differences at the last x, over the replications that both curves have there.
std::optional<MeanInterval> paired_difference(const CurveCells& cells, const CurveCells& reference,
                                              const Intervals& interval) {
  const auto& [x, values] = *cells.rbegin();
  const auto there = reference.find(x);
  if (there == reference.end()) return std::nullopt;
  std::vector<double> differences;
  for (const auto& [replication, mean] : values) {
    const auto other = there->second.find(replication);
    if (other != there->second.end()) differences.push_back(mean.value() - other->second.value());
  }
  if (differences.empty()) return std::nullopt;
  return interval(differences);
}

}  // namespace

FigureData summarise(const FigureSpec& spec, const ResultTable& table, std::uint64_t seed) {
  const FigureCells figure_cells = collect(spec, table);
  Intervals interval(spec.bootstrap, seed);
  FigureData figure{spec, {}};
  for (const auto& [panel_label, panel_cells] : figure_cells.items()) {
    const CurveCells* reference = nullptr;
    for (const auto& [label, cells] : panel_cells.items()) {
      if (label == spec.paired) reference = &cells;
    }
    Panel panel{panel_label, {}};
    for (const auto& [label, cells] : panel_cells.items()) {
      Series series{label, {}, fitted_slope(spec, cells), std::nullopt};
      for (const auto& [x, values] : cells) {
        std::vector<double> over_runs;
        for (const auto& [replication, mean] : values) over_runs.push_back(mean.value());
        series.points.push_back({x, interval(over_runs)});
      }
      if (reference != nullptr && reference != &cells) {
        series.difference = paired_difference(cells, *reference, interval);
      }
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

namespace {

std::string csv_text(const std::string& text) { return to_csv(Cell{text}); }

std::string csv_interval(const std::optional<MeanInterval>& interval) {
  if (!interval) return ",,";
  return fmt::format("{},{},{}", to_csv(Cell{interval->mean}), to_csv(Cell{interval->lower}),
                     to_csv(Cell{interval->upper}));
}

}  // namespace

std::string points_csv(const std::vector<FigureData>& figures) {
  std::string text = "figure,panel,series,x,mean,lower,upper,replications\n";
  for (const FigureData& figure : figures) {
    for (const Panel& panel : figure.panels) {
      for (const Series& series : panel.series) {
        for (const SeriesPoint& point : series.points) {
          text += fmt::format("{},{},{},{},{},{}\n", figure.spec.name, csv_text(panel.label),
                              csv_text(series.label), to_csv(Cell{point.x}), csv_interval(point.y),
                              point.y.count);
        }
      }
    }
  }
  return text;
}

std::string curves_csv(const std::vector<FigureData>& figures) {
  std::string text =
      "figure,panel,series,last_x,mean,lower,upper,replications,slope,slope_lower,slope_upper,"
      "difference,difference_lower,difference_upper\n";
  for (const FigureData& figure : figures) {
    for (const Panel& panel : figure.panels) {
      for (const Series& series : panel.series) {
        const SeriesPoint& last = series.points.back();
        text +=
            fmt::format("{},{},{},{},{},{},{},{}\n", figure.spec.name, csv_text(panel.label),
                        csv_text(series.label), to_csv(Cell{last.x}), csv_interval(last.y),
                        last.y.count, csv_interval(series.slope), csv_interval(series.difference));
      }
    }
  }
  return text;
}

}  // namespace oas
