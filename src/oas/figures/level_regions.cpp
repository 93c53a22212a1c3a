#include <algorithm>

#include "oas/figures/level_regions.hpp"

namespace oas {

namespace {

// A horizontal line: label i reaches from borders[i] to borders[i+1].
struct Line {
  double h = 0.0;
  std::vector<int> labels;
  std::vector<double> borders;
};

Line cut_line(double h, int samples, const std::function<int(double, double)>& label) {
  Line line;
  line.h = h;
  line.labels.push_back(label(0.0, h));
  line.borders.push_back(0.0);
  for (int i = 1; i <= samples; ++i) {
    double left = static_cast<double>(i - 1) / samples;
    double right = static_cast<double>(i) / samples;
    const int now = label(right, h);
    if (now == line.labels.back()) continue;
    const int before = line.labels.back();
    for (int k = 0; k < 12; ++k) {
      const double middle = 0.5 * (left + right);
      (label(middle, h) == before ? left : right) = middle;
    }
    line.labels.push_back(now);
    line.borders.push_back(0.5 * (left + right));
  }
  line.borders.push_back(1.0);
  return line;
}

// Lines of one sequence of labels, from `low` to `high`.
void join(const std::vector<Line>& lines, double low, double high,
          std::vector<RegionPiece>& pieces) {
  for (std::size_t i = 0; i < lines.front().labels.size(); ++i) {
    RegionPiece piece;
    piece.label = lines.front().labels[i];
    const auto add = [&](const Line& line, std::size_t border, double h) {
      piece.outline.push_back({line.borders[border], h});
    };
    add(lines.front(), i, low);
    for (const Line& line : lines) add(line, i, line.h);
    add(lines.back(), i, high);
    add(lines.back(), i + 1, high);
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) add(*line, i + 1, line->h);
    add(lines.front(), i + 1, low);
    pieces.push_back(std::move(piece));
  }
}

}  // namespace

std::vector<RegionPiece> trace_regions(int rows,
                                       const std::function<int(double x, double h)>& label) {
  std::vector<RegionPiece> pieces;
  std::vector<Line> run;
  double low = 0.0;
  for (int k = 0; k <= rows; ++k) {
    Line line = cut_line(static_cast<double>(k) / rows, rows, label);
    if (!run.empty() && run.back().labels != line.labels) {
      const double middle = 0.5 * (run.back().h + line.h);
      join(run, low, middle, pieces);
      run.clear();
      low = middle;
    }
    run.push_back(std::move(line));
  }
  join(run, low, 1.0, pieces);
  return pieces;
}

}  // namespace oas
