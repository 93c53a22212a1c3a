#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/index.hpp"

namespace oas {

/// Which consecutive rows of a run form pairs: rows (1,2), (3,4), … as in the paper's Algorithm 1,
/// or every row with its successor.
enum class Pairing { disjoint, overlapping };

/// How often (a_t, o_t) was followed by (a_{t+1}, o_{t+1}): the sufficient statistic N_{a,a'}(o,o')
/// of the moment estimators. Integers, so that merging is associative and commutative to the bit:
/// threads, files and machines may be combined in any order. (A O)² counters.
class PairCounts {
 public:
  PairCounts(int num_actions, int num_observations);

  /// Counts one pair; indices are not checked.
  void add(Action action, Observation observation, Action next_action,
           Observation next_observation) {
    ++counts_[static_cast<std::size_t>(symbol(action, observation)) * num_symbols_ +
              static_cast<std::size_t>(symbol(next_action, next_observation))];
  }

  /// Counts the pairs of one whole run; rows with a missing observation break the pairs they are
  /// in. Throws InvalidArgument on columns of different lengths or an index out of range.
  void add_run(std::span<const Action> actions, std::span<const Observation> observations,
               Pairing pairing);

  /// Adds the counts of another collection of the same sizes.
  void merge(const PairCounts& other);

  void clear();
  void save(ByteWriter& out) const { out.put_all(counts_); }
  /// Of the same sizes.
  void load(ByteReader& in) { counts_ = in.get_all<std::int64_t>(counts_.size()); }

  /// N_{a,a'}(o,o').
  [[nodiscard]] std::int64_t operator()(Action action, Action next_action, Observation observation,
                                        Observation next_observation) const {
    return counts_[static_cast<std::size_t>(symbol(action, observation)) * num_symbols_ +
                   static_cast<std::size_t>(symbol(next_action, next_observation))];
  }
  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] int num_observations() const { return num_observations_; }

  friend bool operator==(const PairCounts&, const PairCounts&) = default;

 private:
  [[nodiscard]] int symbol(Action action, Observation observation) const {
    return action * num_observations_ + observation;
  }
  void check_run(std::span<const Action> actions, std::span<const Observation> observations) const;

  int num_actions_;
  int num_observations_;
  std::size_t num_symbols_;
  std::vector<std::int64_t> counts_;  // [a][o][a'][o']
};

}  // namespace oas
