#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "oas/learning/split_agent.hpp"
#include "oas/live/detail/learner_rows.hpp"
#include "oas/live/detail/live_plan.hpp"

namespace oas::detail {

/// More rows than there will be.
inline constexpr std::int64_t kAllRows = std::numeric_limits<std::int64_t>::max();

/// The learning half of a fleet: rows of many runs, in the order of the journal, and plans made
/// from them. What it makes is a function of the rows, the seed and the plan before, wherever rows
/// are kept (LearnerRows; only where likelihood is used). Not thread-safe.
class LiveLearner {
 public:
  /// `agent` has a learner. Who draws
  /// paths through all rows (psrl-gibbs) keeps them in memory whatever the storage says.
  /// `half_life`: see LearnerRows; moments fade as well.
  LiveLearner(SplitAgent agent, std::uint64_t seed, RowStorage storage, double half_life = 0.0);

  /// The next row; its observation is one that some state can give.
  void add(const LearnerRow& row);
  /// Rows that were fed so far; what was forgotten counts.
  [[nodiscard]] std::int64_t rows() const { return rows_; }

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
  void forget();
  void resume(const LivePlan* before);
  void fade();
  [[nodiscard]] RowLikelihood likelihood_of(RowSource& rows) const;
  [[nodiscard]] LikelihoodRows weighted(LikelihoodRows rows, const LearnerRowSource& source) const;
  [[nodiscard]] std::vector<double> standard_errors(const LikelihoodRows& rows,
                                                    const TransitionModel& estimate) const;
  [[nodiscard]] double sensor_fit(RowSource& rows, const TransitionModel& estimate) const;

  SplitAgent agent_;
  std::uint64_t seed_;
  Forgetting fading_;
  std::int64_t rows_ = 0;
  std::int64_t forgotten_ = 0;  // the first rows, when the dynamics changed
  std::map<std::uint64_t, OnlineMoments::Place> places_;  // of runs that go on, with moments
  std::optional<LearnerRows> kept_;                       // with likelihood
};

}  // namespace oas::detail
