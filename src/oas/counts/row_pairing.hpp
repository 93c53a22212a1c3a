#pragma once

#include <algorithm>
#include <cstdint>

#include "oas/core/bytes.hpp"
#include "oas/counts/pair_counts.hpp"
#include "oas/model/timing.hpp"

namespace oas {

/// Which consecutive rows of a run form pairs: the one state machine for all that sum over pairs.
/// Whoever uses it keeps the row before.
class RowPairing {
 public:
  explicit RowPairing(Pairing pairing) : pairing_(pairing) {}

  void start_run() {
    previous_ = false;
    first_of_pair_ = true;
    rows_ = 0;
  }

  /// The rows to come are behind `rows` others of their run, the last of which was `seen` or not.
  void go_on(std::int64_t rows, bool seen) {
    previous_ = seen;
    first_of_pair_ = rows % 2 == 0;
    rows_ = rows;
  }

  /// The next row of the run; whether it ends a pair with the row before. Rows without observation
  /// (`seen` false) are part of no pair.
  bool next(bool seen) {
    const bool pair = previous_ && seen && !(pairing_ == Pairing::disjoint && first_of_pair_);
    previous_ = seen;
    first_of_pair_ = !first_of_pair_;
    ++rows_;
    return pair;
  }

  /// Whether the last row can begin a pair, and whether the next one is the first of a pair.
  [[nodiscard]] bool previous() const { return previous_; }
  [[nodiscard]] bool first_of_pair() const { return first_of_pair_; }
  void restore(bool previous, bool first_of_pair) {
    previous_ = previous;
    first_of_pair_ = first_of_pair;
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }  ///< of this run
  /// Places for pairs so far, also those that missing observations left empty.
  [[nodiscard]] std::int64_t places() const {
    return pairing_ == Pairing::disjoint ? rows_ / 2 : std::max<std::int64_t>(rows_ - 1, 0);
  }
  /// Rows of the run at which there are so many places.
  [[nodiscard]] std::int64_t rows_for(std::int64_t places) const {
    return pairing_ == Pairing::disjoint ? 2 * places : places + 1;
  }

  void save(ByteWriter& out) const {
    out.put(previous_);
    out.put(first_of_pair_);
    out.put(rows_);
  }
  void load(ByteReader& in) {
    previous_ = in.get<bool>();
    first_of_pair_ = in.get<bool>();
    rows_ = in.get_integer(0, std::int64_t{1} << 60);
  }

 private:
  Pairing pairing_;
  bool previous_ = false;
  bool first_of_pair_ = true;
  std::int64_t rows_ = 0;
};

/// The rule of propensities: in `after` timing the action of a row is chosen after the observation
/// of the row before, so pairs must be weighted by 1/π where actions react to observations. With
/// one action there is nothing to choose.
[[nodiscard]] inline bool weights_by_propensity(Timing timing, int num_actions, bool reacts) {
  return timing == Timing::after && num_actions > 1 && reacts;
}

}  // namespace oas
