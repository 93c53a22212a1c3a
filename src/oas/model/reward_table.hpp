#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

/// Rewards R(a,s,s',o) in full without A·S·S·O numbers: what a file says with wildcards stays
/// small.
namespace oas {

/// "R(action, state, next, observation) = value", where kAny stands for all of a kind. Of several
/// rules for one entry the last one counts, as in .pomdp files.
struct RewardRule {
  static constexpr int kAny = -1;

  int action = kAny;
  int state = kAny;
  int next = kAny;
  int observation = kAny;
  double value = 0.0;

  friend bool operator==(const RewardRule&, const RewardRule&) = default;
};

/// A function on 0 … size-1 that takes one value nearly everywhere: `rest`, except at the places in
/// `others`, which are sorted.
template <class Value>
struct Exceptions {
  Value rest{};
  std::vector<std::pair<int, Value>> others;

  /// The function with these values; `rest` is what more than half of them are, if any is.
  [[nodiscard]] static Exceptions of(std::vector<Value> values);

  [[nodiscard]] const Value& operator()(int place) const;
  friend auto operator<=>(const Exceptions&, const Exceptions&) = default;  // NOLINT(*-nullptr)
  friend bool operator==(const Exceptions&, const Exceptions&) = default;
};

/// Rewards of one (a,s): by next state, then by observation.
using RewardByObservation = Exceptions<double>;
using RewardRow = Exceptions<RewardByObservation>;

/// R(a,s,s',o) as one row for each (a,s), equal rows stored once, each as its most frequent value
/// and the exceptions from it. The form is unique: tables are equal exactly when their rewards are.
/// An entry is found in O(log S + log O). Immutable.
class RewardTable {
 public:
  /// Exceptions that rows may be copied with when rules tell (a,s) apart: at most 40 bytes each.
  static constexpr std::size_t kMaxCopied = 50'000'000;

  /// All entries 0 before the first rule. Throws InvalidArgument on an index outside the sizes, on
  /// a value that is not finite, when the rules write more than `max_writes` entries, and beyond
  /// kMaxCopied. Time and memory grow with the rules, times A·S for rules that leave action or
  /// state open.
  RewardTable(int num_states, int num_actions, int num_observations,
              std::span<const RewardRule> rules, std::size_t max_writes = std::size_t{1} << 32);

  /// From rows that may repeat; row_of is [A][S]. Throws InvalidArgument on a row or a place that
  /// does not exist.
  RewardTable(int num_states, int num_actions, int num_observations, std::vector<RewardRow> rows,
              std::vector<int> row_of);

  /// From all numbers, [A][S][S][O].
  static RewardTable from_dense(int num_states, int num_actions, int num_observations,
                                std::span<const double> values);

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] int num_observations() const { return num_observations_; }

  /// Indices are trusted here; at() checks them.
  [[nodiscard]] const RewardRow& row(int action, int state) const {
    return row_at(action * num_states_ + state);
  }
  [[nodiscard]] const RewardRow& row_at(int action_state) const {
    return rows_[static_cast<std::size_t>(row_of_[static_cast<std::size_t>(action_state)])];
  }
  [[nodiscard]] double operator()(int action, int state, int next, int observation) const {
    return row(action, state)(next)(observation);
  }
  [[nodiscard]] double at(int action, int state, int next, int observation) const;

  [[nodiscard]] bool depends_on_next() const;
  [[nodiscard]] bool depends_on_observation() const;
  [[nodiscard]] bool depends_on_action_or_state() const { return rows_.size() > 1; }

  /// Rules that build an equal table, as few as the rows suggest: rows that hold for all actions or
  /// all states are written once. No rule sets 0 where nothing was set before.
  [[nodiscard]] std::vector<RewardRule> rules() const;

  friend bool operator==(const RewardTable&, const RewardTable&) = default;

 private:
  void make_unique();
  [[nodiscard]] int common_row(int action) const;  // of all states, or -1

  int num_states_ = 0;
  int num_actions_ = 0;
  int num_observations_ = 0;
  std::vector<int> row_of_;  // [A][S]
  std::vector<RewardRow> rows_;
};

template <class Value>
Exceptions<Value> Exceptions<Value>::of(std::vector<Value> values) {
  Exceptions result;
  long lead = 0;  // majority vote: each other value takes one from the lead
  for (const Value& value : values) {
    if (lead == 0) result.rest = value;
    lead += value == result.rest ? 1 : -1;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] == result.rest)) {
      result.others.emplace_back(static_cast<int>(i), std::move(values[i]));
    }
  }
  return result;
}

template <class Value>
const Value& Exceptions<Value>::operator()(int place) const {
  std::size_t low = 0;
  std::size_t high = others.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (others[middle].first == place) return others[middle].second;
    if (others[middle].first < place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return rest;
}

}  // namespace oas
