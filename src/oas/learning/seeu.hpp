#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "oas/counts/triple_counts.hpp"
#include "oas/estimation/spectral/spectral.hpp"
#include "oas/learning/acting_options.hpp"
#include "oas/learning/belief_controller.hpp"
#include "oas/learning/episode.hpp"
#include "oas/learning/online_moments.hpp"

namespace oas {

/// What SEEU estimates with.
enum class SeeuEstimator {
  spectral,  ///< the original
  oas,       ///< SEEU's schedule with the pairs of OAS: separates schedule from estimator
};

struct SeeuOptions {
  std::int64_t tau1 = 20'000;  ///< steps of exploration per action and phase; at least 3
  std::int64_t tau2 = 65'000;  ///< phase k exploits for ⌊τ2 √k⌋ steps; at least 1
  double delta = 0.1;          ///< δ; phase k uses δ/k³. In (0, 1).
  /// Radius of the rows of action a: scale · √(log(1/δ_k) / triples of a), at most 1; at least 0.
  /// The original's constants make it vacuous at any length of run. 0: no optimism.
  double radius_scale = 0.0;
  /// emission_columns (the paper's help) needs the hidden state: only for studies.
  ConstantViews views = ConstantViews::one_hot;
  SeeuEstimator estimator = SeeuEstimator::spectral;
  /// Every three consecutive rows of an exploration, not only disjoint threes.
  bool overlapping = false;
  /// Take V3 to T by the known sensors instead of the estimated ones.
  bool known_sensors = false;
  int resolution = 0;            ///< as in ActingOptions
  double span_tolerance = 1e-4;  ///< as in ActingOptions

  template <class Fields>
  void visit(Fields& fields) {
    fields("tau1", tau1, {3}, "steps of exploration per action and phase");
    fields("tau2", tau2, {1}, "phase k exploits for floor(tau2 sqrt(k)) steps");
    fields("delta", delta, {kAboveZero, kBelowOne}, "phase k uses delta/k^3");
    fields("radius_scale", radius_scale, {0.0}, "times sqrt(log(1/delta_k)/n); 0: no optimism");
    fields.choice("views", views, {"one-hot", "emission-columns"},
                  "of the decomposition; emission-columns needs the hidden state: studies only");
    fields.choice("estimator", estimator, {"spectral", "oas"},
                  "oas: the schedule of SEEU with the pairs of OAS");
    fields("overlapping", overlapping, "use every three consecutive rows of an exploration");
    fields("known_sensors", known_sensors, "read T off the decomposition by the known sensors");
    fields("resolution", resolution, {0},
           "of the belief grid; 0: the finest of at most 1500 points");
    fields("span_tolerance", span_tolerance, {kAboveZero}, "of the planner, in reward units");
    fields.when(
        {"delta"}, [this] { return radius_scale > 0.0; },
        "used only by optimism, and radius_scale is 0");
    fields.when(
        {"views", "known_sensors"}, [this] { return estimator == SeeuEstimator::spectral; },
        "used only by the spectral estimator");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate(const Pomdp& sensors) const;
  [[nodiscard]] ActingOptions acting() const;
};

/// SEEU (Xiong, Chen, Gao, Zhou: Sublinear Regret for Learning POMDPs, arXiv 2107.03635). Phase
/// k = 1, 2, …: explore, every action a held for τ1 steps in turn; estimate T from the exploration
/// rows of all phases so far by spectral decomposition (estimate_constant; labels through the known
/// sensors), take the confidence region of δ_k = δ/k³, recompute the belief from the history, and
/// exploit its most optimistic member for ⌊τ2 √k⌋ steps without floor. Rows of exploitation are not
/// used. With one action held the rows are a hidden Markov model in both timings.
///
/// An episode of the record is one half of a phase: "exploring", or the planner's status. A
/// decomposition that fails leaves its action's rows uniform; the record counts and explains it.
class Seeu {
 public:
  /// `sensors` may lack a transition model; one that is there is not used. Throws InvalidArgument
  /// on bad options, or on sensors that cannot tell the states apart.
  explicit Seeu(const Pomdp& sensors, const SeeuOptions& options = {});

  /// A first reading, where rows are reading-first: for the belief; no sample is made of it.
  void begin(Observation first) { controller_.begin(first); }
  [[nodiscard]] Choice act(Rng& rng);
  void observe(Observation observation);
  [[nodiscard]] bool plan_due() const { return step_ == half_end_; }
  void prepare();
  void probabilities(std::span<double> out);
  [[nodiscard]] std::span<const Episode> episodes() const { return episodes_; }
  /// Empty before there are dynamics to keep it with.
  [[nodiscard]] std::span<const double> belief() const { return controller_.belief(); }
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

  /// With views = emission_columns, unless OAS estimates.
  [[nodiscard]] bool needs_hidden_state() const;
  void reveal(State state);

 private:
  void start_half();
  [[nodiscard]] std::int64_t half_length() const;
  void plan(Episode& episode);
  [[nodiscard]] TransitionEstimate estimate(Episode& episode) const;
  [[nodiscard]] Action explored() const;
  void count(int symbol);

  SeeuOptions options_;
  BeliefController controller_;
  TripleCounts triples_;
  OnlineMoments moments_;
  std::int64_t step_ = 0;
  std::int64_t phase_ = 0;  // k
  bool exploring_ = false;
  std::int64_t half_start_ = 0;
  std::int64_t half_end_ = 0;  // first step of the next half
  std::vector<int> window_;    // the last symbols of this exploration that can start a triple
  Action last_;
  State revealed_;
  std::vector<Episode> episodes_;
};

}  // namespace oas
