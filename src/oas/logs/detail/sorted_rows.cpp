#include "oas/logs/detail/sorted_rows.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/model/label_lookup.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kCollectedRows = 1 << 14;

Action action_of(const Gaps& gaps, const Labels& actions) {
  if (gaps.kind != Gaps::Kind::action) return Action{0};
  return Action{element_named(gaps.action, actions, "action", "gaps")};
}

template <class T>
void append_part(const std::vector<T>& from, std::size_t row, std::size_t rows,
                 std::vector<T>& to) {
  const std::size_t width = from.size() / rows;
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(row * width);
  to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
}

}  // namespace

KnownStates::KnownStates(const Pomdp& model, bool finite, const std::string& noticed)
    : timing_(model.timing()), start_(model.start()), noticed_text_(noticed) {
  if (finite) sensors_ = model.sensors();
  noticed_ = noticed_states(noticed, model.states());
}

bool KnownStates::can_start(State state) const {
  return start_[static_cast<std::size_t>(state)] > 0.0;
}

bool KnownStates::is_ruled_out(State state, std::size_t other) const {
  if (state >= 0) return other != static_cast<std::size_t>(state);
  return state == kEmptyState && !noticed_.empty() && noticed_[other] != 0;
}

bool KnownStates::complete(State state, LogBlock& block) const {
  const std::size_t n = start_.size();
  if (sensors_) {
    const Action action = block.rows.actions.back();
    const Observation seen = block.rows.observations.back();
    for (State s{0}; s < static_cast<int>(n); ++s) {
      block.likelihoods.push_back(seen == kMissing ? 1.0 : (*sensors_)(action, s, seen));
    }
  }
  block.known.push_back(state);
  const auto row = std::span(block.likelihoods).last(n);
  bool changed = false;
  bool possible = false;
  for (std::size_t s = 0; s < n; ++s) {
    if (is_ruled_out(state, s)) {
      row[s] = 0.0;
      changed = true;
    }
    possible = possible || row[s] > 0.0;
  }
  return possible || !changed;
}

void KnownStates::rule_out_noticed(std::vector<double>& likelihoods) const {
  if (noticed_.empty()) return;
  if (likelihoods.empty()) likelihoods.assign(start_.size(), 1.0);
  for (std::size_t s = 0; s < start_.size(); ++s) {
    if (is_ruled_out(kEmptyState, s)) likelihoods[s] = 0.0;
  }
}

std::string KnownStates::contradiction(State state, const Labels& states,
                                       const std::string& with) const {
  if (state >= 0) {
    return fmt::format("state '{}' cannot have given {}: its probability is 0 there", states[state],
                       with);
  }
  return fmt::format("the state is empty, but only {}, which is noticed, can have given {}",
                     noticed_text_, with);
}

SortedRows::SortedRows(RowParser& parser, const Pomdp& model, bool finite,
                       const LogOptions& options)
    : parser_(parser),
      states_(model.states()),
      gaps_(options.gaps),
      gap_action_(action_of(gaps_, model.actions())),
      steps_(options),
      window_(options) {
  if (parser.class_actions() != nullptr) classed_.emplace(parser, model);
  // Whoever shifts rows does it there, and must tell rows that were put in.
  if (!options.noticed.empty() && model.reading_first()) gap_state_ = kNobodyLooked;
  if (options.known_states && !model.reading_first()) {
    known_.emplace(model, finite, options.noticed);
  }
}

void SortedRows::fail(LogColumn column, long line, const std::string& message) const {
  throw parser_.error(column, line, message);
}

void SortedRows::collect(const LogBlock& first) {
  parser_.allow_return();
  if (first.rows.size() > 0) take(first);
  for (LogBlock block; parser_.read(block, kCollectedRows);) take(block);
  try {
    steps_.finish(parser_.time_column());
  } catch (const InvalidArgument& error) {
    fail(LogColumn::time, 0, error.what());
  }
  try {
    steps_.check_density(parser_.time_column());
  } catch (const InvalidArgument& error) {
    fail(LogColumn::time, first_step_line_, error.what());
  }
  if (!any_ && !window_.text().empty()) {
    fail(LogColumn::time, 0, fmt::format("no row has a time {}", window_.text()));
  }
}

void SortedRows::take(const LogBlock& block) {
  std::size_t run = 0;
  const bool named = parser_.has(LogColumn::run);
  for (std::size_t row = 0; row < block.rows.size(); ++row) {
    if (run < block.run_starts.size() && block.run_starts[run] == row) {
      unit_of_last_ = units_.unit(named ? std::string_view(block.run_names[run]) : "");
      ++run;
    }
    take_row(block, row);
  }
}

void SortedRows::take_row(const LogBlock& block, std::size_t row) {
  const long line = parser_.first_line() + static_cast<long>(row);
  const std::vector<double>& times = block.times;
  if (times.empty()) return units_.add(unit_of_last_, block, row, line, nullptr);
  const double* const before = units_.last_time(unit_of_last_);
  try {
    if (!in_window(times[row])) return;
    if (before != nullptr) {
      steps_.add(units_.name(unit_of_last_), *before, times[row], parser_.time_column());
      if (first_step_line_ == 0) first_step_line_ = line;
    }
  } catch (const InvalidArgument& error) {
    fail(LogColumn::time, line, error.what());
  }
  any_ = true;
  units_.add(unit_of_last_, block, row, line, &times[row]);
}

bool SortedRows::in_window(double time) {
  const TimeWindow::Side side = window_.side_of(time, parser_.time_column());
  if (side == TimeWindow::Side::before) ran_before_.insert(unit_of_last_);
  if (side == TimeWindow::Side::after) ended_.try_emplace(unit_of_last_, time);
  return side == TimeWindow::Side::within;
}

bool SortedRows::next_unit() {
  if (unit_ == units_.size()) return false;
  ++unit_;
  index_ = 0;
  piece_.clear();
  first_of_unit_ = true;
  step_ = 0;
  return true;
}

// The next row of this unit is in piece_; false: it has no more.
bool SortedRows::load() {
  if (index_ < piece_.size()) return true;
  index_ = 0;
  if (units_.next_piece(unit_ - 1, piece_)) return true;
  piece_.clear();
  return false;
}

// From the row before to the next one.
std::int64_t SortedRows::steps_before() const {
  if (first_of_unit_ || piece_.times.empty()) return 1;
  return steps_.between(last_time_, piece_.times[index_]);
}

bool SortedRows::read(LogBlock& block, std::size_t max_rows) {
  block.clear();
  lines_.clear();
  while (block.rows.size() < max_rows) {
    if (gap_left_ > 0) {
      add_gap_row(block);
      continue;
    }
    if (unit_ == 0 || !load()) {
      if (!next_unit()) break;
      continue;
    }
    const std::int64_t steps = gap_seen_ ? 1 : steps_before();
    if (steps > 1 && gaps_.inserts_rows()) {
      gap_left_ = steps - 1;
      gap_seen_ = true;
      continue;
    }
    step_ += steps - 1;
    if (first_of_unit_ || steps > 1) {
      start_run(block, steps > 1 || ran_before_.count(unit_ - 1) > 0);
    }
    add_row(block);
  }
  return block.rows.size() > 0;
}

void SortedRows::start_run(LogBlock& block, bool ran_before) {
  block.run_starts.push_back(block.rows.size());
  if (parser_.has(LogColumn::run)) block.run_names.push_back(units_.name(unit_ - 1));
  block.first_steps.push_back(step_);
  RunStart start = ran_before ? RunStart::unknown() : RunStart();
  const State state = known_ ? piece_.rows.states[index_] : kEmptyState;
  if (state >= 0) {
    if (start.from_model() && !known_->can_start(state)) {
      fail(LogColumn::state, piece_.lines[index_],
           fmt::format("state '{}' has probability 0 at the start of a run (the model's start)",
                       states_[state]));
    }
    if (known_->timing() == Timing::after) start = RunStart::known(state);
  }
  block.starts.push_back(start);
}

void SortedRows::add_row(LogBlock& block) {
  const std::size_t rows = piece_.size();
  append_part(piece_.rows.actions, index_, rows, block.rows.actions);
  append_part(piece_.rows.observations, index_, rows, block.rows.observations);
  append_part(piece_.rows.propensities, index_, rows, block.rows.propensities);
  append_part(piece_.rows.rewards, index_, rows, block.rows.rewards);
  append_part(piece_.rows.states, index_, rows, block.rows.states);
  append_part(piece_.readings, index_, rows, block.readings);
  append_part(piece_.likelihoods, index_, rows, block.likelihoods);
  lines_.push_back(piece_.lines[index_]);
  last_action_ = piece_.rows.actions[index_];
  if (!piece_.times.empty()) {
    last_time_ = piece_.times[index_];
    block.times.push_back(last_time_);
  }
  first_of_unit_ = gap_seen_ = filled_in_ = false;
  ++index_;
  ++step_;
  if (classed_) classed_->complete(block, step_class(), lines_.back());
  if (known_) complete(block);
}

void SortedRows::add_gap_row(LogBlock& block) {
  block.rows.actions.push_back(gaps_.kind == Gaps::Kind::action ? gap_action_ : last_action_);
  block.rows.observations.push_back(kMissing);
  if (!piece_.rows.propensities.empty()) block.rows.propensities.push_back(1.0);
  if (!piece_.rows.rewards.empty()) block.rows.rewards.push_back(std::nan(""));
  if (!piece_.rows.states.empty()) block.rows.states.push_back(gap_state_);
  const std::size_t rows = piece_.size();
  block.readings.insert(block.readings.end(), piece_.readings.size() / rows, 0.0);
  block.likelihoods.insert(block.likelihoods.end(), piece_.likelihoods.size() / rows, 1.0);
  lines_.push_back(piece_.lines[index_]);
  const double next = piece_.times[index_];
  const double left = static_cast<double>(gap_left_) / static_cast<double>(steps_before());
  block.times.push_back(next - (next - last_time_) * left);
  --gap_left_;
  ++step_;
  filled_in_ = true;
  if (known_) complete(block);
}

// Of the step that follows the last row; the row behind it may lie behind the window.
std::optional<std::size_t> SortedRows::step_class() {
  if (load()) return steps_.class_of(last_time_, piece_.times[index_]);
  const auto ended = ended_.find(unit_ - 1);
  return ended == ended_.end() ? std::nullopt : steps_.class_of(last_time_, ended->second);
}

// The state of the row behind the last one of the block, where it follows within the run.
State SortedRows::state_behind() {
  if (gap_left_ > 0 || !load()) return kNobodyLooked;
  if (!gap_seen_ && steps_before() > 1) return kNobodyLooked;  // a gap follows, or another run
  return piece_.rows.states[index_];
}

// The last row of the block: in `before` timing its state emitted its observation, in `after` the
// state of the row behind it did.
void SortedRows::complete(LogBlock& block) {
  const bool before = known_->timing() == Timing::before;
  const State here = filled_in_ ? kNobodyLooked : block.rows.states.back();
  const State state = before ? here : state_behind();
  if (known_->complete(state, block)) return;
  const long line = before ? lines_.back() : piece_.lines[index_];
  fail(LogColumn::state, line,
       known_->contradiction(
           state, states_,
           fmt::format("the observation of {}", parser_.place(lines_.back(), line))));
}

}  // namespace oas::detail
