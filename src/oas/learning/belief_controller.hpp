#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/rng.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/planning/grid/relative_value_iteration.hpp"
#include "oas/planning/look_ahead.hpp"

namespace oas {

/// The acting half of every planning agent: knows the sensors, is handed dynamics from time to
/// time, plans for them (warm), keeps the belief exactly, recomputes it from the recent rows when
/// the dynamics change, and picks greedy actions by one-step look-ahead. Before the first dynamics
/// there is nothing to be greedy about.
///
/// The recent rows are all there were, until dynamics are there and kHistory to 2·kHistory of them
/// are kept; then the belief before the first of these, which older dynamics have led to, stands
/// for the rows that are gone. Recomputing starts there and not in ignorance: where sensors tell
/// little of a state that is never forgotten (a period, a part that broke), the rows that are gone
/// may be the only ones that told it.
class BeliefController {
 public:
  static constexpr std::size_t kHistory = 512;

  /// `sensors` may lack a transition model; one that is there is not used.
  BeliefController(const Pomdp& sensors, int resolution);

  /// Plans for these dynamics and takes them over. Returns the solution.
  const RviResult& adopt(const TransitionModel& transition, const RviOptions& options);
  /// Takes over dynamics with a bias that somebody else computed on this grid.
  void adopt(const TransitionModel& transition, std::vector<double> bias);

  /// Replaces the belief that was recomputed from the recent rows, by a better one; needs ready().
  void set_belief(const Belief& belief);

  [[nodiscard]] bool ready() const { return look_ahead_.has_value(); }
  /// The greedy action at the current belief; needs ready(). Computed once a step.
  [[nodiscard]] int greedy();
  /// Draws an action: the greedy one with probability 1-(A-1)ι, each other with ι; uniformly while
  /// not ready().
  [[nodiscard]] Choice act(double floor, Rng& rng);
  /// The probabilities with which act() draws; A numbers.
  void probabilities(double floor, std::span<double> out);
  /// What is read before the first row, where rows are reading-first. Throws InvalidArgument when
  /// the sensors have no first_observation, or not this observation.
  void begin(Observation first);
  /// kMissing: nothing was read then.
  [[nodiscard]] Observation first() const { return first_; }
  /// Takes in one row, without evidence where the observation is kMissing. Throws InvalidArgument
  /// on an index that does not exist, and has changed nothing then.
  void observe(Action action, Observation observation);

  [[nodiscard]] const BeliefGrid& grid() const { return solver_.grid(); }
  [[nodiscard]] const Pomdp& sensors() const { return sensors_; }
  /// What is played; they need ready(). The bias is that of the grid's points.
  [[nodiscard]] const TransitionModel& transition() const { return *transition_; }
  [[nodiscard]] const std::vector<double>& bias() const { return bias_; }
  /// Empty while not ready().
  [[nodiscard]] std::span<const double> belief() const;

  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  struct Row {
    Action action;
    Observation observation;
  };
  void take_over(const TransitionModel& transition);
  // Moves the belief by a row, and keeps the row.
  void take_in(const Row& row);
  [[nodiscard]] std::vector<double> current_belief() const;
  void load_recent(const JsonView& state);
  void load_dynamics(const JsonView& state);
  [[nodiscard]] std::vector<double> saved_belief(const JsonView& belief) const;

  Pomdp sensors_;
  GridSolver solver_;
  std::optional<TransitionModel> transition_;
  std::vector<double> bias_;
  std::optional<LookAhead> look_ahead_;
  std::optional<BeliefFilter> filter_;
  std::optional<int> greedy_;  // at the current belief, when it was asked for
  std::vector<Row> recent_;
  std::vector<double> before_;  // belief before the first of them; empty: it began the run
  std::vector<double> middle_;  // belief after kHistory of them; empty: they are fewer
  Observation first_ = kMissing;
};

}  // namespace oas
