#include "oas/logs/log_labels.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/logs/byte_source.hpp"
#include "oas/logs/detail/cells.hpp"
#include "oas/logs/detail/dialect.hpp"
#include "oas/logs/detail/file_header.hpp"
#include "oas/logs/detail/line_buffer.hpp"
#include "oas/logs/detail/log_header.hpp"

namespace oas {

using detail::HeaderColumn;
using detail::LogColumn;

namespace {

constexpr std::size_t kMostLabels = 1'000'000;
constexpr std::size_t kMostBytesOfLabels = std::size_t{32} << 20;

// Tables of counts and limits are kept and written beside the sensors: a few hundred bytes for
// each.
constexpr double kMostSensorEntries = 4e6;

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The labels of one column over all files.
class LabelSet {
 public:
  LabelSet(const char* kind, bool may_be_empty) : kind_(kind), may_be_empty_(may_be_empty) {}

  void add(std::string_view text) {
    if (text == last_ && !labels_.empty()) return;  // most rows repeat the row above
    if (text.empty()) {
      OAS_REQUIRE(may_be_empty_, "column {} is empty", kind_);
      return;
    }
    detail::check_name_size(text, kind_);
    if (labels_.empty()) first_ = text;
    last_ = text;
    if (!labels_.insert(last_).second) return;
    OAS_REQUIRE(labels_.size() <= kMostLabels, "column {} has more than {} labels", kind_,
                kMostLabels);
    bytes_ += text.size();
    OAS_REQUIRE(bytes_ <= kMostBytesOfLabels,
                "the labels of column {} take more than the limit of {} bytes", kind_,
                kMostBytesOfLabels);
    OAS_REQUIRE(all_digits(first_) == all_digits(text),
                "column {} mixes names and indices: {} and {}", kind_, detail::shown(first_),
                detail::shown(text));
  }

  void allow_empty() { may_be_empty_ = true; }

  [[nodiscard]] Labels labels() const {
    OAS_REQUIRE(!labels_.empty(), "column {} is empty throughout", kind_);
    if (!all_digits(first_)) return {{labels_.begin(), labels_.end()}, kind_};
    long largest = 0;
    for (const std::string& label : labels_) {
      OAS_REQUIRE(label.size() <= 6, "{} {} is too large an index", kind_, label);
      largest = std::max(largest, std::stol(label));
    }
    return {static_cast<int>(largest) + 1, kind_};
  }

 private:
  std::string kind_;
  bool may_be_empty_;
  std::set<std::string> labels_;
  std::size_t bytes_ = 0;  // of all labels
  std::string first_;
  std::string last_;
};

class LabelScanner {
 public:
  LabelScanner(const LogOptions& options, int dimension)
      : dialect_(options), names_(options.columns), dimension_(dimension) {
    if (!options.rows.empty()) set_rows(parse_rows(options.rows));
  }

  void scan(const std::string& path) {
    OAS_REQUIRE(reads_again(path),
                "{}: names are collected in a first reading, which a pipe allows only once; put it "
                "into a file, or give a model with --model",
                input_name(path));
    detail::LineBuffer lines(
        detail::in_plain_csv(decompressed(open_bytes(path), path), path, dialect_), path);
    columns_.clear();
    for (long line = 1; lines.fill(line); ++line) {
      const char* const start = lines.begin();
      const auto* const end = static_cast<const char*>(
          std::memchr(start, '\n', static_cast<std::size_t>(lines.end() - start)));
      try {
        add_line({start, static_cast<std::size_t>(end - start)});
      } catch (const InvalidArgument& error) {
        throw ParseError(path, line, 0, error.what());
      }
      lines.consume(end + 1);
    }
    if (columns_.empty()) throw ParseError(path, 0, 0, "the header row is missing");
    if (rows_ == 0) throw ParseError(path, 0, 0, "no rows below the header");
    rows_ = 0;
  }

  [[nodiscard]] LogLabels finish() const {
    return {actions_.labels(), dimension_ > 0 ? Labels(1, "observation") : observations_.labels(),
            states_.labels(), timing_, rows_of_log_};
  }

 private:
  void add_line(std::string_view text) {
    if (columns_.empty() && text.starts_with('#')) return add_comment(text);
    if (text.empty() || text == "\r") return;  // the reader proper judges blank lines
    if (columns_.empty()) {
      const Labels none(1, "state");
      const detail::ContinuousColumns continuous{dimension_, &none};
      columns_ = detail::parse_header(text.data(), dimension_ > 0 ? &continuous : nullptr, names_,
                                      dimension_ == 0);
      OAS_REQUIRE(std::find(columns_.begin(), columns_.end(), HeaderColumn{LogColumn::state}) !=
                      columns_.end(),
                  "column 'state' is missing: sensors are calibrated on rows whose state is known");
      return;
    }
    ++rows_;
    const char* position = text.data();
    for (const auto [column, index] : columns_) {
      const std::string_view cell = detail::next_cell(position, scratch_);
      if (column == LogColumn::action) actions_.add(cell);
      if (column == LogColumn::observation) observations_.add(cell);
      if (column == LogColumn::state) states_.add(cell);
      if (*position != ',') break;  // so are rows that are too short
      ++position;
    }
  }

  void add_comment(std::string_view text) {
    const std::optional<detail::RowComment> comment = detail::parse_comment(text);
    if (!comment) return;
    OAS_REQUIRE(timing_.value_or(comment->timing) == comment->timing,
                "timing {} in this file, the other in one before it", to_string(comment->timing));
    OAS_REQUIRE(rows_of_log_.value_or(comment->rows) == comment->rows,
                "the rows are {} in this file, not as --rows or a file before it says",
                to_string(comment->rows));
    timing_ = comment->timing;
    set_rows(comment->rows);
  }

  // The last row of a run that is reading-first may have no action.
  void set_rows(Rows rows) {
    rows_of_log_ = rows;
    if (rows == Rows::reading_first) actions_.allow_empty();
  }

  detail::Dialect dialect_;
  ColumnNames names_;
  int dimension_;  // of real-valued observations; 0: they are finite
  LabelSet actions_{"action", false};
  LabelSet observations_{"observation", true};
  LabelSet states_{"state", true};
  std::optional<Timing> timing_;
  std::optional<Rows> rows_of_log_;
  std::vector<HeaderColumn> columns_;
  std::int64_t rows_ = 0;  // of this file
  std::string scratch_;
};

}  // namespace

LogLabels scan_log_labels(std::span<const std::string> paths, const LogOptions& options,
                          int dimension) {
  OAS_REQUIRE(options.step_classes.empty(),
              "step_classes: a model has to say which actions hold for one class, as 'wait@week' "
              "does; give one with --model");
  LabelScanner scanner(options, dimension);
  for (const std::string& path : paths) scanner.scan(path);
  try {
    return scanner.finish();
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", fmt::join(paths, ", "), error.what()));
  }
}

std::vector<LogField> reading_columns(const std::string& path, const LogOptions& options) {
  OAS_REQUIRE(reads_again(path),
              "{}: its header is read first, which a pipe does not allow; put it into a file",
              input_name(path));
  const std::vector<std::string> cells = detail::header_cells(path, options);
  std::vector<LogField> columns;
  const auto add = [&](const std::string& name) {
    const auto found = std::find(cells.begin(), cells.end(), name);
    if (found == cells.end()) return false;
    columns.push_back({name, static_cast<long>(found - cells.begin()) + 1});
    return true;
  };
  const ColumnNames names(options.columns);
  if (const std::vector<std::string>* const named = names.find("observation"); named != nullptr) {
    for (const std::string& name : *named) {
      if (!add(name)) columns.push_back({name, 0});  // the reader says that it is not there
    }
  } else if (!add("observation")) {
    while (add(fmt::format("observation_{}", columns.size() + 1))) {
    }
  }
  return columns;
}

void check_calibrated_size(double states, double actions, double observations) {
  const double entries = states * actions * std::max(states, observations);
  OAS_REQUIRE(
      entries <= kMostSensorEntries,
      "{:.0f} states, {:.0f} actions and {:.0f} observations make a table of {:.0f} entries, "
      "more than the limit of {:.0f}; are these columns of names, and not of measurements or "
      "times?",
      states, actions, observations, entries, kMostSensorEntries);
}

PomdpParts named_parts(const LogLabels& labels, std::optional<Timing> timing) {
  PomdpParts parts;
  parts.rows = labels.rows.value_or(Rows::action_first);
  if (!timing) timing = labels.timing;
  if (!timing && parts.rows == Rows::reading_first) timing = Timing::after;
  OAS_REQUIRE(timing.has_value(),
              "neither the log (a first line \"# oas-log/1 timing=before\") nor --timing says "
              "which state emits the observation of a row");
  check_calibrated_size(labels.states.size(), labels.actions.size(), labels.observations.size());
  parts.timing = *timing;
  parts.states = labels.states;
  parts.actions = labels.actions;
  return parts;
}

}  // namespace oas
