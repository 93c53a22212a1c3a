#include "oas/logs/detail/reading_first.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/contracts.hpp"

namespace oas::detail {

ReadingFirst::ReadingFirst(const RowParser& parser, const Pomdp& model, const LogOptions& options)
    : parser_(parser),
      states_(model.states()),
      observations_(model.observations()),
      evidence_(parser.evidence()),
      has_names_(parser.has(LogColumn::run)),
      has_times_(parser.has(LogColumn::time)) {
  if (evidence_ == nullptr) first_sensor_ = model.first_observation();
  if (options.known_states) known_.emplace(model, evidence_ == nullptr, options.noticed);
}

void ReadingFirst::fail(LogColumn column, long line, const std::string& message) const {
  throw parser_.error(column, line, message);
}

bool ReadingFirst::read(LogBlock& block, std::size_t max_rows, bool all, const NextBlock& next,
                        const LineOf& line_of) {
  block.clear();
  lines_.clear();
  all_ = all;
  while (block.rows.size() < max_rows) {
    if (index_ == raw_.rows.size()) {
      index_ = run_ = 0;
      if (next(raw_)) continue;
      if (in_run_ && all_) add_last_action(block);
      in_run_ = false;
      break;
    }
    line_ = line_of(index_);
    if (starts_run(raw_, index_, run_)) {
      if (in_run_ && all_) add_last_action(block);
      begin_run(block);
    } else {
      add_row(block);
    }
    remember(raw_, index_++);
  }
  return block.rows.size() > 0 || !block.run_starts.empty();
}

void ReadingFirst::check(const LogBlock& rows, const LineOf& line_of) {
  std::size_t run = 0;
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    line_ = line_of(row);
    if (starts_run(rows, row, run)) {
      ++run;
    } else {
      require_action();
    }
    remember(rows, row);
  }
}

// The run goes on behind the row before.
void ReadingFirst::require_action() const {
  if (chosen_.action >= 0) return;
  fail(LogColumn::action, chosen_.line,
       fmt::format("the action is empty, but the run goes on in {}: only the last row of a "
                   "run may have none",
                   parser_.place(line_, chosen_.line)));
}

State ReadingFirst::state_here() const { return known_ ? raw_.rows.states[index_] : kNobodyLooked; }

// Of the row being looked at.
std::span<const double> ReadingFirst::reading() const {
  const std::size_t width = raw_.readings.size() / raw_.rows.size();
  return std::span(raw_.readings).subspan(index_ * width, width);
}

// Whether the first reading of a run is to be believed; it may lose components (RowEvidence).
bool ReadingFirst::judge_first(std::span<double> reading, std::span<double> out) const {
  try {
    return evidence_->judge(Action{-1}, reading, out);
  } catch (const InvalidArgument& error) {
    fail(LogColumn::reading, line_, error.what());
  }
}

void ReadingFirst::begin_run(LogBlock& block) {
  Pending pending;
  pending.start = first_of_run();
  if (has_names_) pending.name = raw_.run_names[run_];
  if (!raw_.first_steps.empty()) pending.first_step = raw_.first_steps[run_];
  ++run_;
  in_run_ = true;
  pending_ = std::move(pending);
  if (all_) push_start(block);
}

void ReadingFirst::push_start(LogBlock& block) {
  block.run_starts.push_back(block.rows.size());
  if (has_names_) block.run_names.push_back(std::move(pending_->name));
  block.starts.push_back(std::move(pending_->start));
  block.first_steps.push_back(pending_->first_step);
  pending_.reset();
}

RunStart ReadingFirst::first_of_run() {
  RunStart start = raw_.starts.empty() ? RunStart() : raw_.starts[run_];
  FirstReading first;
  first.observation = raw_.rows.observations[index_];
  if (first.observation != kMissing) {
    if (first_sensor_) {
      first = first_reading(*first_sensor_, first.observation);
      const bool possible = std::any_of(first.likelihood.begin(), first.likelihood.end(),
                                        [](double p) { return p > 0.0; });
      if (!possible && !all_) {
        fail(LogColumn::observation, line_,
             fmt::format("observation '{}' has probability 0 in every state as a first reading",
                         observations_[first.observation]));
      }
    } else if (evidence_->brings_likelihoods()) {
      const auto n = static_cast<std::size_t>(states_.size());
      const auto here = std::span(raw_.likelihoods).subspan(index_ * n, n);
      first.likelihood.assign(here.begin(), here.end());
    } else {
      first.reading.assign(reading().begin(), reading().end());
      first.likelihood.resize(static_cast<std::size_t>(states_.size()));
      if (!judge_first(first.reading, first.likelihood)) first = FirstReading();
    }
  }
  const State state = state_here();
  if (state >= 0) {
    check_known_first(state, start, first);
    start = RunStart::known(state);
  } else if (state == kEmptyState) {
    known_->rule_out_noticed(first.likelihood);
  }
  return start.with(std::move(first));
}

void ReadingFirst::check_known_first(State state, const RunStart& start,
                                     const FirstReading& first) const {
  if (start.from_model() && !known_->can_start(state)) {
    fail(LogColumn::state, line_,
         fmt::format("state '{}' has probability 0 at the start of a run (the model's start)",
                     states_[state]));
  }
  if (first.likelihood.empty() || first.likelihood[static_cast<std::size_t>(state)] > 0.0) return;
  fail(LogColumn::state, line_,
       fmt::format("state '{}' cannot have given the first reading: its probability is 0 there",
                   states_[state]));
}

// The row being looked at as what the action of the row before led to.
void ReadingFirst::add_row(LogBlock& block) {
  require_action();
  if (pending_) push_start(block);
  push_chosen(block);
  block.rows.observations.push_back(raw_.rows.observations[index_]);
  if (!raw_.times.empty()) block.times.push_back(raw_.times[index_]);
  block.readings.insert(block.readings.end(), reading().begin(), reading().end());
  lines_.push_back(line_);
  add_likelihoods(block);
  if (known_ && !known_->complete(state_here(), block)) {
    fail(LogColumn::state, line_,
         known_->contradiction(state_here(), states_,
                               fmt::format("the observation of {}", parser_.place(line_, line_))));
  }
}

void ReadingFirst::push_chosen(LogBlock& block) const {
  block.rows.actions.push_back(chosen_.action);
  if (parser_.has(LogColumn::propensity)) block.rows.propensities.push_back(chosen_.propensity);
  if (parser_.has(LogColumn::reward)) block.rows.rewards.push_back(chosen_.reward);
  if (parser_.has(LogColumn::state)) block.rows.states.push_back(chosen_.state);
}

void ReadingFirst::add_likelihoods(LogBlock& block) {
  if (evidence_ == nullptr) return;
  const auto n = static_cast<std::size_t>(states_.size());
  if (evidence_->brings_likelihoods()) {
    const auto here = std::span(raw_.likelihoods).subspan(index_ * n, n);
    block.likelihoods.insert(block.likelihoods.end(), here.begin(), here.end());
  } else {
    try {
      evidence_->judge_last(block, chosen_.action);
    } catch (const InvalidArgument& error) {
      fail(LogColumn::reading, line_, error.what());
    }
  }
}

// The action of the last row of a run, of which nothing more is known.
void ReadingFirst::add_last_action(LogBlock& block) {
  if (chosen_.action < 0) return;
  block.last_actions.push_back(block.rows.size());
  push_chosen(block);
  block.rows.observations.push_back(kMissing);
  if (has_times_) block.times.push_back(chosen_.time);
  if (evidence_ != nullptr && !evidence_->brings_likelihoods()) {
    block.readings.insert(block.readings.end(), evidence_->columns().dimension, 0.0);
  }
  if (evidence_ != nullptr) block.likelihoods.insert(block.likelihoods.end(), states_.size(), 1.0);
  lines_.push_back(chosen_.line);
  if (known_) static_cast<void>(known_->complete(kNobodyLooked, block));
}

void ReadingFirst::remember(const LogBlock& rows, std::size_t row) {
  chosen_.line = line_;
  chosen_.action = rows.rows.actions[row];
  if (!rows.rows.states.empty()) chosen_.state = std::max(rows.rows.states[row], kEmptyState);
  if (!rows.times.empty()) chosen_.time = rows.times[row];
  if (!rows.rows.rewards.empty()) chosen_.reward = rows.rows.rewards[row];  // NaN: unknown
  if (rows.rows.propensities.empty()) return;
  chosen_.propensity = rows.rows.propensities[row];
  if (std::isnan(chosen_.propensity) && chosen_.action >= 0) {
    fail(LogColumn::propensity, line_, "the propensity is empty beside an action");
  }
}

}  // namespace oas::detail
