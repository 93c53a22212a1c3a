#include "oas/logs/detail/row_cells.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

std::optional<ClassActions> class_actions_of(const Pomdp& model, const LogOptions& options) {
  if (options.step_classes.empty()) return {};
  return ClassActions(model.actions(), StepClasses(options.step_classes));
}

// Leaves the first `rows` of a column with a fixed number of values for each row.
template <class Column>
void shorten(Column& column, std::size_t size, std::size_t rows) {
  if (!column.empty()) column.resize(column.size() / size * rows);
}

}  // namespace

long field_of(LogColumn column, const std::vector<HeaderColumn>& columns) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const HeaderColumn& given) {
    return given.column == column;
  });
  return found == columns.end() ? 0 : static_cast<long>(found - columns.begin()) + 1;
}

RowCells::RowCells(const Pomdp& model, std::optional<RowEvidence> evidence,
                   const LogOptions& options)
    : class_actions_(class_actions_of(model, options)),
      num_actions_(class_actions_ ? class_actions_->logged().size() : model.num_actions()),
      actions_(class_actions_ ? class_actions_->logged() : model.actions(), "action",
               model.reading_first(), class_actions_.has_value()),
      observations_(model.observations(), "observation", true),
      states_(model.states(), "state", true),
      propensities_("propensity", NumberColumn::Range::probability, model.reading_first()),
      rewards_("reward", NumberColumn::Range::finite, true),
      evidence_(std::move(evidence)) {
  if (evidence_ && class_actions_) evidence_->judge_later();
}

std::optional<ContinuousColumns> RowCells::continuous_columns() const {
  if (!evidence_) return {};
  return evidence_->columns();
}

void RowCells::begin_file(const std::string& name, std::vector<HeaderColumn> columns) {
  if (!columns_.empty()) {
    for (LabelColumn* column : {&actions_, &observations_, &states_}) column->leave_file(name_);
    time_.leave_file(name_);
  }
  name_ = name;
  columns_ = std::move(columns);
  has_action_ = field_of(LogColumn::action, columns_) > 0;
  has_run_ = field_of(LogColumn::run, columns_) > 0;
  if (!evidence_) return;
  const long likelihood = field_of(LogColumn::likelihood, columns_);
  evidence_->set_kind(likelihood > 0);
  evidence_field_ = std::max(likelihood, field_of(LogColumn::reading, columns_));
}

const char* RowCells::read(const char* position, long line, LogBlock& block) {
  const std::size_t row = block.rows.size();
  long field = 0;
  line_ = line;
  try {
    read_cells(position, block, field);
  } catch (const ParseError&) {
    throw;
  } catch (const RunComesBack&) {
    take_back(block, row);
    throw;
  } catch (const InvalidArgument& error) {
    throw ParseError(name_, line_, field, error.what());
  }
  if (new_run_) {
    block.run_starts.push_back(row);
    if (has_run_) block.run_names.push_back(runs_.last());
    new_run_ = false;
  }
  return position + (*position == '\r' ? 2 : 1);
}

// `field` is where a fault would be.
void RowCells::read_cells(const char*& position, LogBlock& block, long& field) {
  const char* const row = position;
  std::size_t column = 0;
  while (true) {
    field = static_cast<long>(column + 1);
    read_cell(columns_[column], position, block);
    if (++column == columns_.size()) break;
    if (*position != ',') fail_field_count(row);
    ++position;
  }
  ++field;
  if (*position == ',') fail_field_count(row);
  if (!has_action_) block.rows.actions.emplace_back(0);
  field = evidence_field_;  // all cells of an observation
  if (evidence_) evidence_->finish_row(block);
}

void RowCells::read_cell(HeaderColumn column, const char*& position, LogBlock& block) {
  Trajectory& rows = block.rows;
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
      read_rare_cell(column, position, block);
  }
}

// Out of the way of those that all logs have.
void RowCells::read_rare_cell(HeaderColumn column, const char*& position, LogBlock& block) {
  if (column.column == LogColumn::time) {
    block.times.push_back(time_.read(position, line_));
  } else if (column.column == LogColumn::ignored) {
    std::ignore = next_cell(position, ignored_);
  } else {
    evidence_->read_cell(column, position);
  }
}

// The row that was begun is read again later.
void RowCells::take_back(LogBlock& block, std::size_t size) {
  const auto cut = [&](auto& column) {
    if (column.size() > size) column.erase(column.begin() + static_cast<std::ptrdiff_t>(size));
  };
  cut(block.rows.actions);
  cut(block.rows.observations);
  cut(block.rows.propensities);
  cut(block.rows.rewards);
  cut(block.rows.states);
  cut(block.times);
  if (evidence_) evidence_->forget_row();
}

void RowCells::fail_field_count(const char* row) const {
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

std::size_t RowCells::bytes_per_row() const {
  constexpr std::size_t kFinite = 40;
  if (!evidence_) return kFinite;
  const ContinuousColumns columns = evidence_->columns();
  return kFinite +
         sizeof(double) * static_cast<std::size_t>(columns.dimension + columns.states->size());
}

RowCells RowCells::copy_for_later_lines() const {
  RowCells copy(*this);
  copy.runs_ = RunColumn();
  copy.runs_.allow_return();
  return copy;
}

bool RowCells::knows_as_much_as(const RowCells& copy) const {
  return actions_.same_mode(copy.actions_) && observations_.same_mode(copy.observations_) &&
         states_.same_mode(copy.states_) && time_.same_kind(copy.time_);
}

bool RowCells::knows_columns() const {
  const auto knows = [&](LogColumn column, const LabelColumn& labels) {
    return field_of(column, columns_) == 0 || labels.knows_mode();
  };
  RunColumn runs = runs_;
  const auto number = RunNames::number_of(runs.last());
  return knows(LogColumn::action, actions_) && knows(LogColumn::observation, observations_) &&
         knows(LogColumn::state, states_) && (!has_run_ || (number && runs.skip_to(*number)));
}

void RowCells::skip_rows(std::int64_t run) {
  new_run_ = false;
  if (!has_run_) return;
  OAS_REQUIRE(runs_.skip_to(static_cast<std::uint64_t>(run)), "runs do not count up to {}", run);
}

std::size_t RowCells::take_over(LogBlock& block) {
  const std::size_t size = block.rows.size();
  if (!has_run_) return size;
  std::size_t first = 0;
  if (!block.run_names.empty() && runs_.goes_on_as(block.run_names.front())) first = 1;
  std::size_t taken = first;
  try {
    for (; taken < block.run_names.size(); ++taken) runs_.start(block.run_names[taken]);
  } catch (const RunComesBack&) {
    const std::size_t left = block.run_starts[taken];
    shorten(block.rows.actions, size, left);
    shorten(block.rows.observations, size, left);
    shorten(block.rows.propensities, size, left);
    shorten(block.rows.rewards, size, left);
    shorten(block.rows.states, size, left);
    shorten(block.readings, size, left);
    shorten(block.likelihoods, size, left);
    shorten(block.times, size, left);
  }
  const auto keep = [&](auto& starts) {
    starts.resize(taken);
    if (first == 1) starts.erase(starts.begin());
  };
  keep(block.run_starts);
  keep(block.run_names);
  new_run_ = false;
  return block.rows.size();
}

}  // namespace oas::detail
