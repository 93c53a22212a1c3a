#include "oas/logs/detail/classed_rows.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

bool same_sensor(const ObservationModel& sensors, Action one, Action other) {
  return sensors.matrix(one) == sensors.matrix(other);
}

}  // namespace

ClassedRows::ClassedRows(const RowParser& parser, const Pomdp& model)
    : parser_(parser), actions_(*parser.class_actions()), model_(model) {}

Action ClassedRows::of_class(Action logged, std::size_t step_class, long line) const {
  try {
    return actions_.in_class(logged, step_class);
  } catch (const InvalidArgument& error) {
    throw parser_.error(LogColumn::action, line, error.what());
  }
}

void ClassedRows::complete(LogBlock& block, std::optional<std::size_t> step_class,
                           long line) const {
  Action& action = block.rows.actions.back();
  if (action >= 0) {  // the last row of reading-first ones may have none
    if (step_class) {
      action = of_class(action, *step_class, line);
    } else {
      if (reading_needs_class(action)) leave_out_reading(block);
      action = actions_.candidates(action).front();
    }
  }
  const RowEvidence* const evidence = parser_.evidence();
  if (evidence == nullptr || evidence->brings_likelihoods() || model_.reading_first()) return;
  try {
    evidence->judge_last(block, action);
  } catch (const InvalidArgument& error) {
    throw parser_.error(LogColumn::reading, line, error.what());
  }
}

bool ClassedRows::reading_needs_class(Action logged) const {
  const std::vector<Action> candidates = actions_.candidates(logged);
  if (candidates.size() == 1 || model_.reading_first()) return false;
  if (model_.timing() == Timing::after) return true;
  const RowEvidence* const evidence = parser_.evidence();
  return !std::all_of(candidates.begin(), candidates.end(), [&](Action one) {
    return evidence != nullptr ? evidence->same_sensor(candidates.front(), one)
                               : same_sensor(model_.sensors(), candidates.front(), one);
  });
}

void ClassedRows::leave_out_reading(LogBlock& block) const {
  const std::size_t rows = block.rows.size();
  block.rows.observations.back() = kMissing;
  const RowEvidence* const evidence = parser_.evidence();
  if (evidence == nullptr) return;
  if (evidence->brings_likelihoods()) {
    const auto n = static_cast<std::ptrdiff_t>(block.likelihoods.size() / rows);
    std::fill(block.likelihoods.end() - n, block.likelihoods.end(), 1.0);
  } else {
    const auto width = static_cast<std::ptrdiff_t>(block.readings.size() / rows);
    std::fill(block.readings.end() - width, block.readings.end(), 0.0);
  }
}

}  // namespace oas::detail
