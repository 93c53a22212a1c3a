#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/formats/model_text.hpp"

namespace oas::test {

/// Limits for fuzzing: inputs are small, and so are the models worth looking at. Under the tight
/// one, transitions and POMDPX tables are lists.
inline constexpr std::size_t kMaxNumbers = 20'000;
inline constexpr std::size_t kTightMaxNumbers = 200;
/// For what was written: a factored text can be small where the flat one is not.
inline constexpr std::size_t kFlatMaxNumbers = 100 * kMaxNumbers;

/// What `parse` gives, or nothing where it throws ParseError.
template <class Parse>
std::optional<Pomdp> model_of(std::string_view text, Parse parse, bool lenient,
                              std::size_t max_numbers = kMaxNumbers) {
  ModelReadOptions options;
  options.lenient = lenient;
  options.max_numbers = max_numbers;
  try {
    return parse(text, "text", options).model;
  } catch (const ParseError&) {
    return std::nullopt;
  }
}

/// Every row of T, whether it is held as a table or as a list.
inline std::vector<std::pair<int, double>> transitions_of(const Pomdp& model) {
  std::vector<std::pair<int, double>> entries;
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (State s{0}; s < model.num_states(); ++s) {
      model.transition().for_each_next(
          a, s, [&](State next, double p) { entries.emplace_back(static_cast<int>(next), p); });
    }
  }
  return entries;
}

inline RewardTable rewards_of(const Pomdp& model) {
  return model.reward().to_table(model.num_states(), model.num_actions(), model.num_observations());
}

/// Rows that are renormalised may differ by rounding: sums are taken in another order.
inline bool same_numbers(const Pomdp& a, const Pomdp& b) {
  const auto near = [](const auto& x, const auto& y) {
    return x.first == y.first && std::abs(x.second - y.second) < 1e-12;
  };
  return a.start() == b.start() && a.sensors() == b.sensors() && rewards_of(a) == rewards_of(b) &&
         std::ranges::equal(transitions_of(a), transitions_of(b), near);
}

}  // namespace oas::test
