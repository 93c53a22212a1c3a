#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "oas/core/markup.hpp"
#include "oas/figures/page_cells.hpp"
#include "oas/study/detail/coverage_report.hpp"
#include "oas/study/statistics.hpp"

namespace oas::detail {

namespace {

constexpr double kLeastMean = 0.93;
constexpr double kLeastEntry = 0.90;
constexpr double kLeastJoint = 0.93;
constexpr double kMostFlags = 0.001;
constexpr double kFewLogs = 50.0;
constexpr double kDoubt = 0.01;      // for the whole table
constexpr double kGoodLimit = 0.05;  // widths are compared where at least this is possible
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct EntrySum {
  double trials = 0.0;
  double hits = 0.0;
  double limit = 0.0;
  double width = 0.0;  // weighted by trials, as the next two
  double width_limit = 0.0;
  double width_seen = 0.0;
};

struct LogSum {
  double logs = 0.0;
  double sum = 0.0;
  double squares = 0.0;
};

// All chunks of one cell, added up.
struct CellSum {
  std::map<std::tuple<double, double, double>, EntrySum> entries;
  LogSum entry_share;
  LogSum row_share;
  double joint_trials = 0.0;
  double joint_hits = 0.0;
  double joint_balls = 0.0;
  double row_trials = 0.0;
  double row_balls = 0.0;
  double rows = 0.0;  // in all logs
  double flagged = 0.0;
  double judged = 0.0;
  double wrong = 0.0;
  double without_bars = 0.0;
};

// Reads cells by the names of columns.
class Reader {
 public:
  explicit Reader(const ResultTable& table) : table_(table) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) columns_[table.columns[i]] = i;
  }
  [[nodiscard]] double number(const ResultRow& row, const char* name) const {
    const double value = to_number(row[columns_.at(name)]);
    return std::isfinite(value) ? value : 0.0;
  }
  [[nodiscard]] std::string text(const ResultRow& row, const char* name) const {
    return to_text(row[columns_.at(name)]);
  }
  [[nodiscard]] std::string key(const ResultRow& row) const {
    std::string key;
    for (const char* name :
         {"model", "timing", "policy", "iota", "rows", "run_length", "estimator", "confidence"}) {
      key += text(row, name) + "\n";
    }
    return key;
  }

 private:
  const ResultTable& table_;
  std::map<std::string, std::size_t> columns_;
};

void add_entry(const Reader& read, const ResultRow& row, CellSum& sum) {
  EntrySum& entry = sum.entries[{read.number(row, "action"), read.number(row, "state"),
                                 read.number(row, "next")}];
  const double trials = read.number(row, "trials");
  entry.trials += trials;
  entry.hits += read.number(row, "hits");
  entry.limit = read.number(row, "limit");
  entry.width += trials * read.number(row, "width");
  entry.width_limit += trials * read.number(row, "width_limit");
  entry.width_seen += trials * read.number(row, "width_seen");
}

void add_row(const Reader& read, const ResultRow& row, CellSum& sum) {
  sum.rows += read.number(row, "logs");
  sum.row_trials += read.number(row, "trials");
  sum.row_balls += read.number(row, "ball_hits");
  sum.flagged += read.number(row, "flagged");
  sum.judged += read.number(row, "determined") + read.number(row, "undetermined");
  sum.wrong += read.number(row, "wrongly_flagged") + read.number(row, "wrongly_unflagged");
}

void add_all(const Reader& read, const ResultRow& row, CoverageCell& cell, CellSum& sum) {
  cell.logs += static_cast<std::int64_t>(read.number(row, "logs"));
  cell.failures += static_cast<std::int64_t>(read.number(row, "failures"));
  if (cell.message.empty()) cell.message = read.text(row, "message");
  sum.without_bars += read.number(row, "without_bars");
  sum.joint_trials += read.number(row, "trials");
  sum.joint_hits += read.number(row, "hits");
  sum.joint_balls += read.number(row, "ball_hits");
  const auto add = [&](LogSum& share, const char* logs, const char* sums, const char* squares) {
    share.logs += read.number(row, logs);
    share.sum += read.number(row, sums);
    share.squares += read.number(row, squares);
  };
  add(sum.entry_share, "entry_logs", "entry_share", "entry_squares");
  add(sum.row_share, "row_logs", "row_share", "row_squares");
}

CoverageCell named_cell(const Reader& read, const ResultRow& row) {
  CoverageCell cell;
  cell.model = read.text(row, "model");
  cell.timing = read.text(row, "timing");
  cell.policy = read.text(row, "policy");
  const std::string iota = read.text(row, "iota");
  if (!iota.empty()) cell.policy += fmt::format(" {:.3g}", read.number(row, "iota"));
  cell.estimator = read.text(row, "estimator");
  cell.rows = static_cast<std::int64_t>(read.number(row, "rows"));
  cell.run_length = static_cast<std::int64_t>(read.number(row, "run_length"));
  return cell;
}

Measured measured(double hits, double trials, double tail) {
  if (trials == 0.0) return {kUnknown, kUnknown, kUnknown};
  const ShareInterval interval = clopper_pearson(hits, trials, 1.0 - 2.0 * tail);
  return {hits / trials, interval.lower, interval.upper};
}

// Shares of the entries of one log depend on each other, so that logs are what is counted. Few logs
// do not tell how much shares vary: then as much as they can, between 0 and 1.
Measured measured(const LogSum& share, double tail) {
  if (share.logs < kFewLogs) return measured(std::min(share.sum, share.logs), share.logs, tail);
  const double mean = share.sum / share.logs;
  const double variance = std::max(0.0, share.squares / share.logs - mean * mean);
  const double z = boost::math::quantile(boost::math::complement(boost::math::normal(), tail));
  const double half = z * std::sqrt(variance / share.logs);
  return {mean, std::max(0.0, mean - half), std::min(1.0, mean + half)};
}

double ratio(double part, double whole) { return whole > 0.0 ? part / whole : kUnknown; }

void measure_entries(const CellSum& sum, CoverageCell& cell) {
  std::vector<double> ratios;
  std::vector<double> seen;
  cell.worst = kUnknown;
  for (const auto& [place, entry] : sum.entries) {
    if (entry.trials == 0.0) continue;
    ++cell.entries;
    const double coverage = entry.hits / entry.trials;
    const double p = binomial_tail(entry.hits, entry.trials, kLeastEntry);
    if (cell.entries == 1 || p < cell.worst_p) {
      cell.worst_p = p;
      cell.worst = coverage;
      cell.worst_entry = fmt::format("({:.0f},{:.0f},{:.0f})", std::get<0>(place),
                                     std::get<1>(place), std::get<2>(place));
    }
    if (entry.limit >= kGoodLimit) continue;
    if (entry.limit > 0.0) ratios.push_back(entry.width / entry.width_limit);
    if (entry.width_seen > 0.0) seen.push_back(entry.width / entry.width_seen);
  }
  cell.width_ratio = ratios.empty() ? kUnknown : median(ratios);
  cell.seen_ratio = seen.empty() ? kUnknown : median(seen);
}

void measure(const CellSum& sum, double tail, CoverageCell& cell) {
  cell.entry = measured(sum.entry_share, tail);
  cell.row = measured(sum.row_share, tail);
  cell.joint = measured(sum.joint_hits, sum.joint_trials, tail);
  cell.flags = measured(sum.wrong, sum.judged, tail);
  cell.ball = ratio(sum.row_balls, sum.row_trials);
  cell.joint_ball = ratio(sum.joint_balls, sum.joint_trials);
  cell.flagged = ratio(sum.flagged, sum.rows);
  cell.without_bars = ratio(sum.without_bars, static_cast<double>(cell.logs));
  measure_entries(sum, cell);
}

// Nothing tried, nothing missed.
Verdict at_least(const Measured& measured, double bound) {
  if (!(measured.share < bound)) return Verdict::pass;
  return measured.upper < bound ? Verdict::fail : Verdict::open;
}

Verdict at_most(const Measured& measured, double bound) {
  if (!(measured.share > bound)) return Verdict::pass;
  return measured.lower > bound ? Verdict::fail : Verdict::open;
}

void judge(double entry_doubt, CoverageCell& cell) {
  cell.verdict = Verdict::pass;
  const auto add = [&](Verdict verdict, const char* what) {
    if (verdict == Verdict::pass) return;
    cell.verdict = std::max(cell.verdict, verdict);
    cell.why += fmt::format("{}{}{}", cell.why.empty() ? "" : ", ", what,
                            verdict == Verdict::open ? "?" : "");
  };
  add(cell.failures > 0 ? Verdict::fail : Verdict::pass, "failures");
  add(cell.without_bars > 0.0 ? Verdict::open : Verdict::pass, "no bars");
  add(at_least(cell.entry, kLeastMean), "mean");
  add(cell.worst_p < entry_doubt ? Verdict::fail : Verdict::pass, "entry");
  add(at_least(cell.row, kLeastJoint), "row");
  add(at_least(cell.joint, kLeastJoint), "joint");
  add(at_most(cell.flags, kMostFlags), "flags");
}

constexpr const char* kHeads[] = {"model", "timing", "policy", "rows", "run", "estimator"};

std::string cell_row(const CoverageCell& cell) {
  std::string text = "<tr>";
  text += text_cell(cell.model) + text_cell(cell.timing) + text_cell(cell.policy) +
          number_cell(static_cast<double>(cell.rows)) +
          number_cell(cell.run_length > 0 ? static_cast<double>(cell.run_length) : kUnknown) +
          text_cell(cell.estimator) + number_cell(static_cast<double>(cell.logs));
  text += text_cell(to_string(cell.verdict)) + text_cell(cell.why);
  for (const double value : {cell.entry.share, cell.worst}) text += number_cell(value);
  text += text_cell(cell.worst_entry);
  for (const double value : {cell.row.share, cell.ball, cell.joint.share, cell.joint_ball,
                             cell.flagged, cell.flags.share, cell.width_ratio, cell.seen_ratio,
                             cell.without_bars, static_cast<double>(cell.failures)}) {
    text += number_cell(value);
  }
  return text + "</tr>\n";
}

std::string cells_table(std::vector<CoverageCell> cells) {
  std::stable_sort(cells.begin(), cells.end(), [](const CoverageCell& a, const CoverageCell& b) {
    return a.verdict > b.verdict;
  });
  std::string text = "<div class=\"scroll\"><table class=\"sortable\"><thead><tr>";
  for (const char* head : kHeads) text += head_cell(head, std::string_view(head) != "rows");
  text += head_cell("logs") + head_cell("verdict", true) + head_cell("missed", true) +
          head_cell("entries held") + head_cell("worst entry") + head_cell("which", true);
  for (const char* head : {"rows held", "in L1", "all held", "all in L1", "rows flagged",
                           "flags wrong", "width / limit", "width / seen", "no bars", "failures"}) {
    text += head_cell(head);
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const CoverageCell& cell : cells) text += cell_row(cell);
  return text + "</tbody></table></div>\n";
}

std::string failures_list(const std::vector<CoverageCell>& cells) {
  std::string text;
  for (const CoverageCell& cell : cells) {
    if (cell.failures == 0) continue;
    text += fmt::format(
        "<p class=\"answer warning\">{}, {}, {} rows, {}: {} of {} logs failed: {}</p>\n",
        escape_markup(cell.model), escape_markup(cell.policy), cell.rows,
        escape_markup(cell.estimator), cell.failures, cell.logs, escape_markup(cell.message));
  }
  return text;
}

}  // namespace

const char* to_string(Verdict verdict) {
  return verdict == Verdict::pass ? "pass" : verdict == Verdict::open ? "open" : "fail";
}

std::vector<CoverageCell> coverage_cells(const ResultTable& table) {
  const Reader read(table);
  std::vector<CoverageCell> cells;
  std::vector<CellSum> sums;
  std::map<std::string, std::size_t> places;
  for (const ResultRow& row : table.rows) {
    const auto [place, fresh] = places.emplace(read.key(row), cells.size());
    if (fresh) {
      cells.push_back(named_cell(read, row));
      sums.emplace_back();
    }
    CellSum& sum = sums[place->second];
    const std::string part = read.text(row, "part");
    if (part == "entry") add_entry(read, row, sum);
    if (part == "row") add_row(read, row, sum);
    if (part == "all") add_all(read, row, cells[place->second], sum);
  }
  std::int64_t entries = 1;  // so that no entry at all is no proof
  for (std::size_t i = 0; i < cells.size(); ++i) {
    measure(sums[i], kDoubt / static_cast<double>(cells.size()), cells[i]);
    entries += cells[i].entries;
  }
  for (CoverageCell& cell : cells) judge(kDoubt / static_cast<double>(entries), cell);
  return cells;
}

std::string coverage_csv(const std::vector<CoverageCell>& cells) {
  std::string text =
      "model,timing,policy,rows,run_length,estimator,logs,verdict,missed,entry,entry_lower,"
      "entry_upper,worst,worst_entry,worst_p,row,row_l1,joint,joint_lower,joint_upper,joint_l1,"
      "flagged,flags_wrong,width_ratio,seen_ratio,without_bars,failures,message\n";
  for (const CoverageCell& cell : cells) {
    text += to_csv(ResultRow{
        cell.model,      cell.timing,       cell.policy,      cell.rows,
        cell.run_length, cell.estimator,    cell.logs,        std::string(to_string(cell.verdict)),
        cell.why,        cell.entry.share,  cell.entry.lower, cell.entry.upper,
        cell.worst,      cell.worst_entry,  cell.worst_p,     cell.row.share,
        cell.ball,       cell.joint.share,  cell.joint.lower, cell.joint.upper,
        cell.joint_ball, cell.flagged,      cell.flags.share, cell.width_ratio,
        cell.seen_ratio, cell.without_bars, cell.failures,    cell.message});
  }
  return text;
}

KindReport coverage_report(const ResultTable& table) {
  const std::vector<CoverageCell> cells = coverage_cells(table);
  const auto count = [&](Verdict verdict) {
    return std::count_if(cells.begin(), cells.end(),
                         [&](const CoverageCell& cell) { return cell.verdict == verdict; });
  };
  KindReport report;
  report.csv_name = "cells.csv";
  report.csv = coverage_csv(cells);
  report.figure_name = "cells";
  report.svg = coverage_svg(cells);
  report.section = fmt::format(
      "<section id=\"cells\"><h2>Does what error bars promise hold?</h2>\n"
      "<p class=\"answer\">{} cells: {} pass, {} are open (missed, but within Monte Carlo error, "
      "or "
      "without error bars), {} fail.</p>\n{}"
      "<figure><div class=\"scroll\">{}</div>\n<figcaption>Share of entries in their intervals, a "
      "dot per cell, with Monte Carlo intervals that hold for all cells together at 99 %; what "
      "lies below 0.7 stands at the lower edge. Lines: 0.95, promised, and 0.93, asked "
      "for.</figcaption></figure>\n{}"
      "<p class=\"soft\">Asked for: entries held 0.93 on average and none below 0.90 beyond doubt; "
      "rows and all rows at once 0.93; flags wrong 0.001 at most; no failure. Width / limit: "
      "median "
      "of interval widths over those of the constrained Cramér–Rao bound at the truth; width / "
      "seen: over Clopper and Pearson's, had the states been seen.</p>\n</section>\n",
      cells.size(), count(Verdict::pass), count(Verdict::open), count(Verdict::fail),
      failures_list(cells), report.svg, cells_table(cells));
  return report;
}

}  // namespace oas::detail
