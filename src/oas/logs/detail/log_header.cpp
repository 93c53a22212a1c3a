#include "oas/logs/detail/log_header.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"
#include "oas/logs/detail/dialect.hpp"

namespace oas::detail {

namespace {

constexpr std::string_view kFamily = "oas-log/";
constexpr std::string_view kVersion = "1";
constexpr std::string_view kRows = "rows=";
constexpr std::string_view kComponent = "observation_";
constexpr std::string_view kLikelihood = "likelihood_";

std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r"));
  text.remove_prefix(word.size());
  return word;
}

std::vector<std::string> cells_of(const char* line) {
  std::vector<std::string> cells;
  std::string scratch;
  for (const char* p = line;; ++p) {
    cells.emplace_back(next_cell(p, scratch));
    if (*p != ',') return cells;
  }
}

auto find_column(std::string_view name) {
  return std::find(kLogColumnNames.begin(), kLogColumnNames.end(), name);
}

bool has_prefix(std::string_view cell, std::string_view prefix) {
  return cell.size() > prefix.size() && cell.starts_with(prefix);
}

bool is_likelihood(std::string_view cell) { return has_prefix(cell, kLikelihood); }

bool is_component(std::string_view cell) { return has_prefix(cell, kComponent); }

void check_is_header(const std::vector<std::string>& cells) {
  const bool known = std::any_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return find_column(cell) != kLogColumnNames.end() || is_component(cell) || is_likelihood(cell);
  });
  OAS_REQUIRE(known,
              "none of the columns is known: the first row must hold names separated by "
              "commas (action and observation, optional run, propensity, reward, state, "
              "time), found {}. Say with --columns which column holds what",
              shown(fmt::format("{}", fmt::join(cells, ","))));
}

// A model, an estimate or a plan in the place of a log.
void check_is_no_document(const std::vector<std::string>& cells) {
  OAS_REQUIRE(!cells.front().starts_with('{'),
              "expected a log, but this is a JSON document, as models, estimates and "
              "plans are");
}

// "3" of "likelihood_3" as 2; -1 when it is no number from 1 to `size`.
int number_behind(std::string_view cell, std::string_view prefix, int size) {
  const std::string_view digits = cell.substr(prefix.size());
  int value = 0;
  const auto end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  const bool good = parsed.ec == std::errc() && parsed.ptr == end && value >= 1 && value <= size;
  return good ? value - 1 : -1;
}

HeaderColumn continuous_column(const std::string& cell, const ContinuousColumns& continuous) {
  if (is_likelihood(cell)) {
    int state = number_behind(cell, kLikelihood, continuous.states->size());
    if (state < 0) state = continuous.states->find(cell.substr(kLikelihood.size())).value_or(-1);
    OAS_REQUIRE(state >= 0, "column {} is of no state; expected {}1 to {}{}, or names", shown(cell),
                kLikelihood, kLikelihood, continuous.states->size());
    return {LogColumn::likelihood, state};
  }
  OAS_REQUIRE(continuous.dimension > 0,
              "column {}: the model has no densities, so the log must hold likelihoods: columns "
              "{}1 to {}{}",
              shown(cell), kLikelihood, kLikelihood, continuous.states->size());
  if (continuous.dimension == 1 && cell == "observation") return {LogColumn::reading, 0};
  const int component =
      is_component(cell) ? number_behind(cell, kComponent, continuous.dimension) : -1;
  OAS_REQUIRE(component >= 0,
              "column {}: observations of this model are {} real numbers, in columns {}1 to {}{}",
              shown(cell), continuous.dimension, kComponent, kComponent, continuous.dimension);
  return {LogColumn::reading, component};
}

HeaderColumn parse_column(const std::string& cell, const ContinuousColumns* continuous) {
  const auto* const found = find_column(cell);
  const bool seen = cell == "observation" || is_component(cell) || is_likelihood(cell);
  if (seen && continuous != nullptr) return continuous_column(cell, *continuous);
  OAS_REQUIRE(found != kLogColumnNames.end() || !seen,
              "column {}: the observations of the model are finite, and so must be those of the "
              "log",
              shown(cell));
  OAS_REQUIRE(
      found != kLogColumnNames.end(),
      "unknown column {}; known are {}. With --columns, as in action=cmd,observation=light, "
      "columns may have any name, and those that it does not name are ignored",
      shown(cell), fmt::join(kLogColumnNames, ", "));
  return {static_cast<LogColumn>(found - kLogColumnNames.begin())};
}

// All components of a reading or all likelihoods, and not both.
void check_continuous(const std::vector<HeaderColumn>& columns,
                      const ContinuousColumns& continuous) {
  const auto count = [&](LogColumn wanted) {
    return std::count_if(columns.begin(), columns.end(),
                         [&](const HeaderColumn& column) { return column.column == wanted; });
  };
  const auto readings = count(LogColumn::reading);
  const auto likelihoods = count(LogColumn::likelihood);
  OAS_REQUIRE(readings == 0 || likelihoods == 0,
              "the log holds observations and likelihoods; one of them is enough");
  OAS_REQUIRE(readings + likelihoods > 0, "column '{}' is missing",
              continuous.dimension == 1  ? "observation"
              : continuous.dimension > 1 ? "observation_1"
                                         : "likelihood_1");
  OAS_REQUIRE(readings == 0 || readings == continuous.dimension,
              "{} of the {} columns {}1 to {}{} are there", readings, continuous.dimension,
              kComponent, kComponent, continuous.dimension);
  OAS_REQUIRE(likelihoods == 0 || likelihoods == continuous.states->size(),
              "{} likelihood columns for {} states", likelihoods, continuous.states->size());
}

// The part of a row that a column of this name holds; empty: none.
std::string_view part_of(std::string_view cell) {
  if (is_likelihood(cell)) return "likelihood";
  if (is_component(cell)) return "observation";
  const auto* const found = find_column(cell);
  return found == kLogColumnNames.end() ? std::string_view() : *found;
}

HeaderColumn named_column(std::string_view part, std::size_t index,
                          const ContinuousColumns* continuous) {
  if (part == "likelihood") return {LogColumn::likelihood, static_cast<int>(index)};
  if (part == "observation" && continuous != nullptr) {
    return {LogColumn::reading, static_cast<int>(index)};
  }
  return {static_cast<LogColumn>(find_column(part) - kLogColumnNames.begin())};
}

void check_count(std::string_view part, std::size_t count, const ContinuousColumns* continuous) {
  if (part == "likelihood") {
    OAS_REQUIRE(continuous != nullptr,
                "columns: the log is read with finite observations, so that "
                "it cannot bring likelihoods");
    OAS_REQUIRE(static_cast<int>(count) == continuous->states->size(),
                "columns: likelihood names {} columns for {} states", count,
                continuous->states->size());
  } else if (part == "observation") {
    const int expected = continuous == nullptr ? 1 : continuous->dimension;
    OAS_REQUIRE(static_cast<int>(count) == expected,
                "columns: observation names {} columns, but observations of this model are {}",
                count,
                continuous == nullptr ? std::string("finite, in one column")
                                      : fmt::format("{} real numbers", expected));
  }
}

// Where the named parts stand, the others `ignored`.
std::vector<HeaderColumn> place_named(const std::vector<std::string>& cells,
                                      const ContinuousColumns* continuous,
                                      const ColumnNames& names) {
  std::vector<HeaderColumn> columns(cells.size(), {LogColumn::ignored});
  const auto place = [&](std::string_view part) {
    const std::vector<std::string>* const wanted = names.find(part);
    if (wanted == nullptr || wanted->empty()) return;
    check_count(part, wanted->size(), continuous);
    for (std::size_t i = 0; i < wanted->size(); ++i) {
      const std::string& name = (*wanted)[i];
      const auto found = std::find(cells.begin(), cells.end(), name);
      OAS_REQUIRE(found != cells.end(), "there is no column {} for {}; the columns are {}",
                  shown(name), part, fmt::join(cells, ", "));
      OAS_REQUIRE(std::find(found + 1, cells.end(), name) == cells.end(),
                  "column {} for {} occurs twice; the columns are {}", shown(name), part,
                  fmt::join(cells, ", "));
      HeaderColumn& column = columns[static_cast<std::size_t>(found - cells.begin())];
      OAS_REQUIRE(column.column == LogColumn::ignored,
                  "columns: {} is named for two parts of a row; the columns are {}", shown(name),
                  fmt::join(cells, ", "));
      column = named_column(part, i, continuous);
    }
  };
  for (const std::string_view part : kLogColumnNames) place(part);
  place("likelihood");
  return columns;
}

void add_column(const std::string& cell, HeaderColumn column, std::vector<HeaderColumn>& columns) {
  OAS_REQUIRE(std::find(columns.begin(), columns.end(), column) == columns.end(),
              "column {} is given twice", shown(cell));
  columns.push_back(column);
}

}  // namespace

std::optional<RowComment> parse_comment(std::string_view line) {
  line.remove_prefix(1);
  std::string_view word = next_word(line);
  if (!word.starts_with(kFamily)) return {};
  word.remove_prefix(kFamily.size());
  OAS_REQUIRE(word == kVersion, "version {} of {} is not known; {} is", shown(word), kFamily,
              kVersion);
  const std::string_view setting = next_word(line);
  RowComment comment;
  comment.timing = setting == "timing=before" ? Timing::before : Timing::after;
  OAS_REQUIRE(comment.timing == Timing::before || setting == "timing=after",
              "expected timing=before or timing=after after {}{}, found {}", kFamily, kVersion,
              shown(setting));
  std::string_view rest = next_word(line);
  if (rest.starts_with(kRows)) {
    comment.rows = parse_rows(rest.substr(kRows.size()));
    OAS_REQUIRE(comment.rows == Rows::action_first || comment.timing == Timing::after,
                "rows=reading-first goes with timing=after, not with timing=before");
    rest = next_word(line);
  }
  OAS_REQUIRE(rest.empty(), "{} is not known after {}", shown(rest), setting);
  return comment;
}

void check_comment(std::string_view line, Timing timing, Rows rows) {
  const std::optional<RowComment> comment = parse_comment(line);
  if (!comment) return;
  OAS_REQUIRE(comment->timing == timing,
              "the log has timing {} and the model has timing {}: in `before` a row's observation "
              "belongs to the state in which its action was taken, in `after` to the state that "
              "the action led to",
              to_string(comment->timing), to_string(timing));
  OAS_REQUIRE(
      comment->rows == rows,
      "the rows of the log are {} and are to be read as {}: reading-first rows hold what was "
      "read and then the action that was chosen knowing it, action-first rows an action and "
      "what was seen after it. \"rows\" in the model or --rows says how to read them",
      to_string(comment->rows), to_string(rows));
}

std::vector<HeaderColumn> parse_header(const char* line, const ContinuousColumns* continuous,
                                       const ColumnNames& names, bool needs_action) {
  const std::vector<std::string> cells = cells_of(line);
  check_is_no_document(cells);
  const std::string separator = separator_hint(cells);
  OAS_REQUIRE(separator.empty(), "{}", separator);
  if (names.empty()) check_is_header(cells);
  const std::vector<HeaderColumn> named = place_named(cells, continuous, names);
  const bool seen_named =
      names.find("observation") != nullptr || names.find("likelihood") != nullptr;
  std::vector<HeaderColumn> columns;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string_view part = part_of(cells[i]);
    const bool taken = named[i].column != LogColumn::ignored || names.find(part) != nullptr ||
                       (seen_named && (part == "observation" || part == "likelihood"));
    if (taken || (!names.empty() && part.empty())) {
      columns.push_back(named[i]);
    } else {
      add_column(cells[i], parse_column(cells[i], continuous), columns);
    }
  }
  for (const LogColumn needed : {LogColumn::action, LogColumn::observation}) {
    if (needed == LogColumn::observation && continuous != nullptr) continue;
    if (needed == LogColumn::action && !needs_action) continue;
    OAS_REQUIRE(std::find(columns.begin(), columns.end(), HeaderColumn{needed}) != columns.end(),
                "column '{}' is missing{}", kLogColumnNames[static_cast<std::size_t>(needed)],
                names.empty() ? "" : fmt::format("; the columns are {}", fmt::join(cells, ", ")));
  }
  if (continuous != nullptr) check_continuous(columns, *continuous);
  return columns;
}

bool names_likelihoods(const std::vector<std::string>& header, const ColumnNames& names) {
  if (const auto* named = names.find("likelihood")) return !named->empty();
  if (names.find("observation") != nullptr) return false;
  return std::any_of(header.begin(), header.end(), is_likelihood);
}

}  // namespace oas::detail
