#include "oas/logs/detail/row_parser.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

std::optional<ClassActions> class_actions_of(const Pomdp& model, const LogOptions& options) {
  if (options.step_classes.empty()) return {};
  return ClassActions(model.actions(), StepClasses(options.step_classes));
}

}  // namespace

RowParser::RowParser(std::unique_ptr<ByteSource> bytes, std::string name, const Pomdp& model,
                     std::optional<RowEvidence> evidence, const LogOptions& options)
    : name_(std::move(name)),
      lines_(decompressed(std::move(bytes), name_), name_),
      class_actions_(class_actions_of(model, options)),
      actions_(class_actions_ ? class_actions_->logged() : model.actions(), "action",
               model.reading_first(), class_actions_.has_value()),
      observations_(model.observations(), "observation", true),
      states_(model.states(), "state", true),
      propensities_("propensity", NumberColumn::Range::probability, model.reading_first()),
      rewards_("reward", NumberColumn::Range::finite, true),
      evidence_(std::move(evidence)) {
  // An action is not needed where there is one only, or readings are collected whatever it was.
  const int actions = class_actions_ ? class_actions_->logged().size() : model.num_actions();
  expected_ = {model.timing(), model.rows(),
               actions > 1 && !(evidence_ && evidence_->only_collects()),
               ColumnNames(options.columns)};
  read_header();
  has_run_ = has(LogColumn::run);
  if (!evidence_) return;
  if (class_actions_) evidence_->judge_later();
  evidence_->set_kind(has(LogColumn::likelihood));
  evidence_field_ = std::max(field_of(LogColumn::likelihood), field_of(LogColumn::reading));
}

long RowParser::field_of(LogColumn column) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const HeaderColumn& given) {
    return given.column == column;
  });
  return found == columns_.end() ? 0 : static_cast<long>(found - columns_.begin()) + 1;
}

ParseError RowParser::error(LogColumn column, long line, const std::string& message) const {
  const File& file = file_at(line);
  const auto found =
      std::find_if(file.columns.begin(), file.columns.end(),
                   [&](const HeaderColumn& given) { return given.column == column; });
  const long field = found == file.columns.end() ? 0 : found - file.columns.begin() + 1;
  if (line == 0 && files_.size() > 1) {
    return {fmt::format("{} to {}", file.name, files_.back().name), 0, 0, message};
  }
  return {file.name, line - file.lines_before, field, message};
}

std::string RowParser::place(long line, long beside) const {
  const File& file = file_at(line);
  const std::string text = fmt::format("line {}", line - file.lines_before);
  return &file == &file_at(beside) ? text : fmt::format("{} of {}", text, file.name);
}

std::size_t RowParser::index_of_file(long line) const {
  return static_cast<std::size_t>(&file_at(line) - files_.data());
}

const RowParser::File& RowParser::file_at(long line) const {
  const auto after = std::find_if(files_.begin() + 1, files_.end(),
                                  [&](const File& file) { return line <= file.lines_before; });
  return *(after - 1);
}

void RowParser::continue_with(std::span<const std::string> files) {
  following_.assign(files.rbegin(), files.rend());
}

// The next file, up to its header; false: there is none.
bool RowParser::open_next() {
  if (following_.empty()) return false;
  const long lines_before = files_.back().lines_before + line_;
  for (LabelColumn* column : {&actions_, &observations_, &states_}) column->leave_file(name_);
  time_.leave_file(name_);
  name_ = input_name(following_.back());
  lines_ = LineBuffer(decompressed(open_bytes(following_.back()), name_), name_);
  following_.pop_back();
  line_ = blank_line_ = 0;
  read_header();
  files_.back().lines_before = lines_before;
  check_columns();
  return true;
}

// Whoever looks at the rows was told which columns the first file has.
void RowParser::check_columns() const {
  const auto parts = [](std::vector<HeaderColumn> columns) {
    std::erase(columns, HeaderColumn{LogColumn::ignored});
    std::sort(columns.begin(), columns.end(), [](const HeaderColumn& a, const HeaderColumn& b) {
      return std::pair(a.column, a.index) < std::pair(b.column, b.index);
    });
    return columns;
  };
  const std::vector<HeaderColumn> first = parts(files_.front().columns);
  const std::vector<HeaderColumn> here = parts(columns_);
  if (here == first) return;
  const auto names = [](const std::vector<HeaderColumn>& columns,
                        const std::vector<HeaderColumn>& others) {
    std::vector<std::string_view> only;
    for (const HeaderColumn& one : columns) {
      if (std::find(others.begin(), others.end(), one) != others.end()) continue;
      only.push_back(static_cast<std::size_t>(one.column) < kLogColumnNames.size()
                         ? kLogColumnNames[static_cast<std::size_t>(one.column)]
                         : "a part of the reading");
    }
    return only;
  };
  const auto lacks = names(first, here);
  throw ParseError(
      name_, line_, 0,
      fmt::format("{} {}, unlike {}, whose units may go on here; a part of rows that is not to be "
                  "read can be left out with --columns {}=",
                  lacks.empty() ? "there is a column for" : "there is no column for",
                  fmt::join(lacks.empty() ? names(here, first) : lacks, ", "), files_.front().name,
                  lacks.empty() ? names(here, first).front() : lacks.front()));
}

void RowParser::read_header() {
  while (lines_.fill(line_ + 1)) {
    ++line_;
    try {
      if (read_header_line()) {
        files_.push_back({name_, 0, columns_});
        return;
      }
    } catch (const InvalidArgument& error) {
      throw ParseError(name_, line_, 0, error.what());
    }
  }
  throw ParseError(name_, 0, 0, line_ == 0 ? "the file is empty" : "the header row is missing");
}

// True when the line was the header row.
bool RowParser::read_header_line() {
  const char* const start = lines_.begin();
  const auto* const end = static_cast<const char*>(
      std::memchr(start, '\n', static_cast<std::size_t>(lines_.end() - start)));
  lines_.consume(end + 1);
  const std::string_view text(start, static_cast<std::size_t>(end - start));
  if (text.starts_with('#')) {
    check_comment(text, expected_.timing, expected_.rows);
    return false;
  }
  OAS_REQUIRE(!text.empty() && text != "\r", "a blank line where the header row is expected");
  const auto continuous = evidence_ ? evidence_->columns() : ContinuousColumns{};
  columns_ = parse_header(start, evidence_ ? &continuous : nullptr, expected_.names,
                          expected_.needs_action);
  has_action_ = has(LogColumn::action);
  return true;
}

bool RowParser::read(LogBlock& block, std::size_t max_rows) {
  block.clear();
  times_.clear();
  do {
    first_line_ = files_.back().lines_before + line_ + 1;
    while (block.rows.size() < max_rows && lines_.fill(line_ + 1)) parse_lines(block, max_rows);
  } while (block.rows.size() == 0 && open_next());
  return block.rows.size() > 0;
}

void RowParser::parse_lines(LogBlock& block, std::size_t max_rows) {
  const char* position = lines_.begin();
  const char* const end = lines_.end();
  std::size_t row = 0;
  try {
    while (position != end && block.rows.size() < max_rows) {
      ++line_;
      if (*position == '\n' || (*position == '\r' && position[1] == '\n')) [[unlikely]] {
        if (blank_line_ == 0) blank_line_ = line_;
        position += *position == '\r' ? 2 : 1;
        continue;
      }
      if (blank_line_ != 0) throw ParseError(name_, blank_line_, 0, "blank line");
      row = block.rows.size();
      position = parse_row(position, block);
      if (new_run_) start_run(block, row);
    }
  } catch (const RunComesBack&) {
    take_back(block, row);
    lines_.consume(position);
    throw;
  }
  lines_.consume(position);
}

void RowParser::start_run(LogBlock& block, std::size_t row) {
  block.run_starts.push_back(row);
  if (has_run_) block.run_names.push_back(runs_.last());
  new_run_ = false;
}

// The row that was begun is read again later.
void RowParser::take_back(LogBlock& block, std::size_t rows) {
  const auto cut = [&](auto& column) {
    if (column.size() > rows) column.erase(column.begin() + static_cast<std::ptrdiff_t>(rows));
  };
  cut(block.rows.actions);
  cut(block.rows.observations);
  cut(block.rows.propensities);
  cut(block.rows.rewards);
  cut(block.rows.states);
  cut(times_);
  if (evidence_) evidence_->forget_row();
  --line_;
}

const char* RowParser::parse_row(const char* position, LogBlock& block) {
  const char* const row = position;
  std::size_t field = 0;
  bool whole_row = false;  // the fault is that of all cells of an observation
  try {
    while (true) {
      parse_cell(columns_[field], position, block.rows);
      if (++field == columns_.size()) break;
      if (*position != ',') fail_field_count(row);
      ++position;
    }
    if (*position == ',') fail_field_count(row);
    if (!has_action_) block.rows.actions.emplace_back(0);
    if (evidence_) {
      whole_row = true;
      evidence_->finish_row(block);
    }
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw ParseError(name_, line_, whole_row ? evidence_field_ : static_cast<long>(field + 1),
                     error.what());
  }
  return position + (*position == '\r' ? 2 : 1);
}

void RowParser::parse_cell(HeaderColumn column, const char*& position, Trajectory& rows) {
  switch (column.column) {
    case LogColumn::action:
      rows.actions.emplace_back(actions_.read(position, line_));
      break;
    case LogColumn::observation:
      rows.observations.emplace_back(observations_.read(position, line_));
      break;
    case LogColumn::run:
      new_run_ = runs_.changes(position) || new_run_;
      break;
    case LogColumn::propensity:
      rows.propensities.push_back(propensities_.read(position));
      break;
    case LogColumn::reward:
      rows.rewards.push_back(rewards_.read(position));
      break;
    case LogColumn::state:
      rows.states.emplace_back(states_.read(position, line_));
      break;
    default:
      parse_rare_cell(column, position);
  }
}

// Out of the way of those that all logs have.
void RowParser::parse_rare_cell(HeaderColumn column, const char*& position) {
  if (column.column == LogColumn::time) {
    times_.push_back(time_.read(position, line_));
  } else if (column.column == LogColumn::ignored) {
    std::ignore = next_cell(position, ignored_);
  } else {
    evidence_->read_cell(column, position);
  }
}

void RowParser::fail_field_count(const char* row) const {
  std::string scratch;
  std::size_t count = 1;
  std::ignore = next_cell(row, scratch);
  for (; *row == ','; ++count) {
    ++row;
    std::ignore = next_cell(row, scratch);
  }
  throw ParseError(name_, line_, 0,
                   fmt::format("{} field{} where the header has {}", count, count == 1 ? "" : "s",
                               columns_.size()));
}

}  // namespace oas::detail
