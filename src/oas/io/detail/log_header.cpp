#include "oas/io/detail/log_header.hpp"

#include <algorithm>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/io/detail/cells.hpp"

namespace oas::detail {

namespace {

constexpr std::string_view kFamily = "oas-log/";
constexpr std::string_view kVersion = "1";

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

void check_is_header(const std::vector<std::string>& cells) {
  const bool known = std::any_of(cells.begin(), cells.end(), [](const std::string& cell) {
    return find_column(cell) != kLogColumnNames.end();
  });
  OAS_REQUIRE(known,
              "the header row is missing: a row of column names separated by commas (action and "
              "observation, optional run, propensity, reward, state) is expected, found {}",
              shown(fmt::format("{}", fmt::join(cells, ","))));
}

}  // namespace

void check_comment(std::string_view line, Timing timing) {
  line.remove_prefix(1);
  std::string_view word = next_word(line);
  if (!word.starts_with(kFamily)) return;
  word.remove_prefix(kFamily.size());
  OAS_REQUIRE(word == kVersion, "version {} of {} is not known; {} is", shown(word), kFamily,
              kVersion);
  const std::string_view setting = next_word(line);
  const bool before = setting == "timing=before";
  OAS_REQUIRE(before || setting == "timing=after",
              "timing=before or timing=after is expected after {}{}, found {}", kFamily, kVersion,
              shown(setting));
  const std::string_view rest = next_word(line);
  OAS_REQUIRE(rest.empty(), "{} is not known after {}", shown(rest), setting);
  OAS_REQUIRE(before == (timing == Timing::before),
              "the log has timing {} and the model has timing {}: in `before` a row's observation "
              "belongs to the state in which its action was taken, in `after` to the state that "
              "the action led to",
              before ? "before" : "after", to_string(timing));
}

std::vector<LogColumn> parse_header(const char* line) {
  const std::vector<std::string> cells = cells_of(line);
  check_is_header(cells);
  std::vector<LogColumn> columns;
  for (const std::string& cell : cells) {
    const auto* const found = find_column(cell);
    OAS_REQUIRE(found != kLogColumnNames.end(), "unknown column {}; known are {}", shown(cell),
                fmt::join(kLogColumnNames, ", "));
    const auto column = static_cast<LogColumn>(found - kLogColumnNames.begin());
    OAS_REQUIRE(std::find(columns.begin(), columns.end(), column) == columns.end(),
                "column {} is given twice", shown(cell));
    columns.push_back(column);
  }
  for (const LogColumn needed : {LogColumn::action, LogColumn::observation}) {
    OAS_REQUIRE(std::find(columns.begin(), columns.end(), needed) != columns.end(),
                "column '{}' is missing", kLogColumnNames[static_cast<std::size_t>(needed)]);
  }
  return columns;
}

}  // namespace oas::detail
