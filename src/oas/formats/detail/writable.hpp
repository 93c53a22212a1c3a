#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// What the formats of the field can hold: throws InvalidArgument naming the kind of file unless
/// the model is of timing after and has a transition model.
inline void check_writable(const Pomdp& model, std::string_view kind) {
  OAS_REQUIRE(model.timing() == Timing::after,
              "a {} file holds models of timing after, this one is of timing {}", kind,
              to_string(model.timing()));
  OAS_REQUIRE(model.has_transition(), "a {} file needs a transition model; this one has none",
              kind);
}

/// A row of T or Z by what is not 0, as writers need it.
inline std::vector<ProbabilityEntry> entries_of(const TransitionModel& transition, Action action,
                                                State state) {
  std::vector<ProbabilityEntry> entries;
  transition.for_each_next(action, state, [&](State next, double p) {
    entries.push_back({next, p});
  });
  return entries;
}
inline std::vector<ProbabilityEntry> entries_of(std::span<const double> row) {
  std::vector<ProbabilityEntry> entries;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] != 0.0) entries.push_back({static_cast<std::int32_t>(i), row[i]});
  }
  return entries;
}
inline std::vector<double> numbers_of(std::span<const ProbabilityEntry> entries,
                                      std::size_t width) {
  std::vector<double> numbers(width);
  for (const auto& [outcome, p] : entries) numbers[static_cast<std::size_t>(outcome)] = p;
  return numbers;
}

}  // namespace oas::detail
