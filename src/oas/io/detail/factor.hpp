#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "oas/io/detail/probability_table.hpp"
#include "oas/model/pomdp.hpp"

/// Factored models as POMDPX gives them.
namespace oas::detail {

/// One finite variable. Its value of a step is kept in a slot of an assignment; a state variable
/// has two slots, before and after the step.
struct Variable {
  std::string name;
  std::vector<std::string> values;
  std::unordered_map<std::string, int> index;
  bool fully_observed = false;
  bool numbered = false;  // the text gives only how many values there are

  [[nodiscard]] int size() const { return static_cast<int>(values.size()); }
};

enum class SlotKind { action, state_before, state_after, observation };

struct Slot {
  SlotKind role = SlotKind::action;
  int variable = 0;  // among those of its role
  int size = 0;
};

/// A function of some slots, as all its values; the last slot varies fastest.
class Factor {
 public:
  Factor() = default;
  /// `scope` are numbers of slots, all different. Throws InvalidArgument when the table is larger
  /// than max_numbers.
  Factor(std::vector<int> scope, std::vector<int> sizes, std::size_t max_numbers);

  [[nodiscard]] const std::vector<int>& scope() const { return scope_; }
  [[nodiscard]] const std::vector<int>& sizes() const { return sizes_; }

  /// The value where slot i has value assignment[i].
  [[nodiscard]] double operator()(std::span<const int> assignment) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < scope_.size(); ++i) {
      at = at * static_cast<std::size_t>(sizes_[i]) +
           static_cast<std::size_t>(assignment[static_cast<std::size_t>(scope_[i])]);
    }
    return values_[at];
  }

  /// Sets all entries with place[i] at position i, kAll where the position is open, to
  /// value(indices), where `indices` has the index of every position.
  template <class Value>
  void fill(std::span<const int> place, WriteBudget& budget, Value value);

 private:
  std::vector<int> scope_;
  std::vector<int> sizes_;
  std::vector<double> values_;
};

template <class Value>
void Factor::fill(std::span<const int> place, WriteBudget& budget, Value value) {
  std::vector<int> at(place.begin(), place.end());
  for (int& index : at) index = index == kAll ? 0 : index;
  while (true) {
    std::size_t offset = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      offset = offset * static_cast<std::size_t>(sizes_[i]) + static_cast<std::size_t>(at[i]);
    }
    values_[offset] = value(std::span<const int>(at));
    budget.take(1);
    std::size_t i = at.size();
    for (; i > 0; --i) {  // the next combination of the open positions
      if (place[i - 1] != kAll) continue;
      if (++at[i - 1] < sizes_[i - 1]) break;
      at[i - 1] = 0;
    }
    if (i == 0) return;
  }
}

/// What a POMDPX text says, before it is flattened.
struct FactoredModel {
  std::vector<Variable> actions;
  std::vector<Variable> states;
  std::vector<Variable> observations;
  std::vector<Slot> slots;
  std::vector<Factor> start;       // one per state variable
  std::vector<Factor> transition;  // one per state variable
  std::vector<Factor> sensors;     // one per observation variable
  std::vector<Factor> rewards;
  std::optional<double> discount;
  long transition_line = 0;  // for messages
  long sensor_line = 0;

  /// The number of a slot, in the order of the four roles.
  [[nodiscard]] int slot(SlotKind role, int variable) const;
};

/// The model with one state, one action and one observation variable that behaves the same.
/// Throws ParseError.
[[nodiscard]] Pomdp flatten(const FactoredModel& model, std::size_t max_numbers, Faults& faults,
                            Warnings& warnings);

}  // namespace oas::detail
