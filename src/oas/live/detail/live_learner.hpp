#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/index.hpp"
#include "oas/learning/split_agent.hpp"
#include "oas/live/detail/live_model.hpp"
#include "oas/live/detail/live_plan.hpp"

namespace oas::detail {

/// More rows than there will be.
inline constexpr std::int64_t kAllRows = std::numeric_limits<std::int64_t>::max();

/// One row of one of the runs, as the learner is fed.
struct LearnerRow {
  enum class Kind : std::uint8_t { row, first_reading, run_ends, all_forgotten };
  std::uint64_t run = 0;
  double propensity = 1.0;  ///< 0: not known
  SeenRow seen;
  Kind kind = Kind::row;
};

/// The learning half of a fleet: rows of many runs, in the order of the journal, and plans made
/// from them. What it makes is a function of the rows, the seed and the plan before. Rows take 1 to
/// 4 bytes each where likelihood is used, and those that bring likelihoods another 8 S; else
/// nothing. Not thread-safe.
class LiveLearner {
 public:
  /// `agent` has a learner.
  LiveLearner(SplitAgent agent, std::uint64_t seed);

  /// The next row; its observation is one that some state can give.
  void add(const LearnerRow& row);
  /// Rows that were fed so far; what was forgotten counts.
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// From all rows so far and the plan in force; null: there is none. Throws Interrupted.
  [[nodiscard]] LivePlan make_plan(const LivePlan* before);
  /// Forgets that anything was fed.
  void clear();

  [[nodiscard]] const PooledLearner& learner() const { return *agent_.learner; }
  [[nodiscard]] const BeliefGrid& grid() const { return agent_.controller.grid(); }

  void save(ByteWriter& out) const;
  /// Throws InvalidArgument; the learner may be loaded again then, or dropped.
  void load(ByteReader& in);

 private:
  struct Run {
    OnlineMoments::Place place{RowPairing(Pairing::overlapping)};
    SeenRow first;
    bool ended = false;
    bool unknown = false;             // its rows go on after some that were forgotten
    std::string codes;                // of its rows, width_ bytes each, the lowest first
    std::vector<double> likelihoods;  // S for each row that brings them
  };

  [[nodiscard]] Run& run_of(std::uint64_t run);
  void forget();
  void append(Run& run, const SeenRow& row);
  void resume(const LivePlan* before);
  [[nodiscard]] std::vector<double> standard_errors(const TransitionModel& estimate) const;
  void gather_likelihood();
  void append_to(TransitionLikelihood& likelihood, const Run& run) const;
  [[nodiscard]] int symbols() const { return agent_.learner->sensors().num_observations() + 1; }
  [[nodiscard]] std::size_t states() const {
    return static_cast<std::size_t>(agent_.learner->sensors().num_states());
  }
  [[nodiscard]] RunStart start_of(const Run& run) const;
  // Calls visitor(action, observation, likelihoods) for its rows.
  template <class Visitor>
  void for_each_row(const Run& run, const Visitor& visitor) const;
  [[nodiscard]] double sensor_fit(const TransitionModel& estimate) const;

  SplitAgent agent_;
  std::uint64_t seed_;
  std::size_t width_;  // bytes of a row
  std::int64_t rows_ = 0;
  std::int64_t forgotten_ = 0;  // the first rows, when the dynamics changed
  std::size_t bytes_ = 0;
  std::map<std::uint64_t, Run> runs_;  // ended ones only where their rows are kept
};

}  // namespace oas::detail
