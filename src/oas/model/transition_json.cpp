#include <algorithm>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/model/detail/model_fields.hpp"

/// Dynamics in a file as the list of what is not 0.
namespace oas::detail {

namespace {

// [next, probability, next, probability, …], by rising next.
void read_row(const JsonView& view, int num_states, std::vector<ProbabilityEntry>& entries) {
  if (view.size() % 2 != 0) {
    view.fail(
        fmt::format("{} numbers, where next states and probabilities take turns", view.size()));
  }
  for (std::size_t i = 0; i < view.size(); i += 2) {
    const JsonView next = view.at(i);
    const long state = next.as_integer();
    if (state < 0 || state >= num_states) {
      next.fail(fmt::format("expected an index from 0 to {}, found {}", num_states - 1, state));
    }
    entries.push_back({static_cast<std::int32_t>(state), view.at(i + 1).as_double()});
  }
}

void require_size(const JsonView& view, int size) {
  if (view.size() == static_cast<std::size_t>(size)) return;
  view.fail(fmt::format("{} entries where {} are needed", view.size(), size));
}

TransitionModel as_table(const TransitionModel& list) {
  const auto n = static_cast<std::size_t>(list.num_states());
  std::vector<double> values(n * n * static_cast<std::size_t>(list.num_actions()), 0.0);
  double* row = values.data();
  for (Action a{0}; a < list.num_actions(); ++a) {
    for (State s{0}; s < list.num_states(); ++s, row += n) {
      list.for_each_next(a, s,
                         [&](State next, double p) { row[static_cast<std::size_t>(next)] = p; });
    }
  }
  return {list.num_states(), list.num_actions(), std::move(values)};
}

}  // namespace

TransitionModel read_transition_list(const JsonView& view, int num_states, int num_actions) {
  std::vector<ProbabilityEntry> entries;
  std::vector<std::size_t> row_starts{0};
  require_size(view, num_actions);
  for (std::size_t a = 0; a < view.size(); ++a) {
    const JsonView rows = view.at(a);
    require_size(rows, num_states);
    for (std::size_t s = 0; s < rows.size(); ++s) {
      read_row(rows.at(s), num_states, entries);
      row_starts.push_back(entries.size());
    }
  }
  TransitionModel list = TransitionModel::listed(num_states, num_actions, std::move(entries),
                                                 std::move(row_starts), view.path());
  const double table = static_cast<double>(num_states) * num_states * num_actions;
  return table <= static_cast<double>(TransitionModel::kMaxTable) ? as_table(list) : list;
}

nlohmann::ordered_json write_transition_list(const TransitionModel& transition) {
  auto actions = nlohmann::ordered_json::array();
  for (Action a{0}; a < transition.num_actions(); ++a) {
    auto rows = nlohmann::ordered_json::array();
    for (State s{0}; s < transition.num_states(); ++s) {
      auto row = nlohmann::ordered_json::array();
      transition.for_each_next(a, s, [&](State next, double p) {
        row.push_back(next.value());
        row.push_back(p);
      });
      rows.push_back(std::move(row));
    }
    actions.push_back(std::move(rows));
  }
  return actions;
}

}  // namespace oas::detail
