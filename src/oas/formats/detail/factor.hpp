#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "oas/formats/detail/probability_table.hpp"
#include "oas/model/pomdp.hpp"

/// Factored models as POMDPX gives them.
namespace oas::detail {

/// Values of a variable, and combinations that become states, actions or observations.
inline constexpr int kMaxValues = 1'000'000;

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

/// A function of some slots: a row of values along the last one for each combination of the others.
class Factor {
 public:
  Factor() = default;
  /// `scope` are numbers of slots, all different. Values that are nearly all 0 are listed when
  /// there are more than `max_table`. Throws InvalidArgument beyond the limits of RowTable.
  Factor(std::vector<int> scope, std::vector<int> sizes, std::size_t max_table);

  [[nodiscard]] const std::vector<int>& scope() const { return scope_; }
  [[nodiscard]] const std::vector<int>& sizes() const { return sizes_; }

  /// The value where slot i has value assignment[i].
  [[nodiscard]] double operator()(std::span<const int> assignment) const {
    const auto [row, column] = place_of([&](std::size_t i) { return value_at(assignment, i); });
    return table_(row, column);
  }

  [[nodiscard]] std::size_t num_rows() const { return table_.num_rows(); }
  /// The first row whose sum is `wrong`, with that sum; num_rows() when there is none.
  template <class Wrong>
  [[nodiscard]] std::pair<std::size_t, double> find_sum(Wrong wrong) const {
    for (std::size_t row = 0; row < num_rows(); ++row) {
      const double sum = table_.sum(row);
      if (wrong(sum)) return {row, sum};
    }
    return {num_rows(), 0.0};
  }

  /// How many values for_each() looks at at least: none of the zeros of a listed factor.
  [[nodiscard]] std::size_t row_cost() const { return table_.is_listed() ? 0 : table_.width(); }
  /// Calls visit(int value, double f) for what is not 0 when only the last slot's value varies.
  template <class Visit>
  void for_each(std::span<const int> assignment, Visit&& visit) const {
    const std::size_t last = scope_.size() - 1;
    const auto place =
        place_of([&](std::size_t i) { return i == last ? 0 : value_at(assignment, i); });
    table_.for_each(place.row, visit);
  }

  /// Sets all entries with place[i] at position i, kAll where the position is open, to
  /// value(indices), where `indices` has the index of every position.
  template <class Value>
  void fill(std::span<const int> place, WriteBudget& budget, Value value);

 private:
  struct Place {
    std::size_t row = 0;
    std::size_t column = 0;
  };

  [[nodiscard]] int value_at(std::span<const int> assignment, std::size_t position) const {
    return assignment[static_cast<std::size_t>(scope_[position])];
  }
  // Where index_at(position) is the index of each position.
  template <class IndexAt>
  [[nodiscard]] Place place_of(IndexAt index_at) const {
    Place place;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const auto index = static_cast<std::size_t>(index_at(i));
      if (i + 1 == sizes_.size()) {
        place.column = index;
      } else {
        place.row = place.row * static_cast<std::size_t>(sizes_[i]) + index;
      }
    }
    return place;
  }

  std::vector<int> scope_;
  std::vector<int> sizes_;
  RowTable table_;
};

template <class Value>
void Factor::fill(std::span<const int> place, WriteBudget& budget, Value value) {
  std::vector<int> at(place.begin(), place.end());
  for (int& index : at) index = index == kAll ? 0 : index;
  while (true) {
    const auto [row, column] = place_of([&](std::size_t i) { return at[i]; });
    table_.put(row, column, value(std::span<const int>(at)), budget);
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

  /// Combinations of values. Throw InvalidArgument beyond kMaxValues.
  [[nodiscard]] int num_states() const;
  [[nodiscard]] int num_actions() const;
  /// The number of a slot, in the order of the four roles.
  [[nodiscard]] int slot(SlotKind role, int variable) const;
};

/// The model with one state, one action and one observation variable that behaves the same.
/// Throws ParseError.
[[nodiscard]] Pomdp flatten(const FactoredModel& model, std::size_t max_numbers, Faults& faults,
                            Warnings& warnings);

}  // namespace oas::detail
