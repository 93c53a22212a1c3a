#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "oas/core/json_text.hpp"
#include "oas/core/rng.hpp"
#include "oas/estimation/particles/particle_posterior.hpp"
#include "oas/learning/acting_options.hpp"
#include "oas/learning/belief_controller.hpp"
#include "oas/learning/episode.hpp"
#include "oas/learning/psrl_schedule.hpp"

namespace oas {

struct PsrlOptions {
  ActingOptions acting;  ///< iota unset: 0, the algorithm has no floor
  ParticleOptions posterior;
  PsrlSchedule::Kind schedule = PsrlSchedule::Kind::growing;
  /// Planning stops after this many sweeps, with the status in the episode's record: a drawn model
  /// may mix slowly. At least 1.
  int max_sweeps = 2000;

  template <class Fields>
  void visit(Fields& fields) {
    posterior.visit(fields);
    fields.choice("schedule", schedule, {"growing", "doubling"},
                  "episodes one step longer than the last, or up to twice the start time");
    fields("max_sweeps", max_sweeps, {1}, "of the planner in one episode");
    acting.visit(fields);
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate(const Pomdp& sensors) const;
};

/// PSRL-POMDP (Jafarnia-Jahromi, Jain, Nayyar, AISTATS 2022) in both timings: at the start of an
/// episode (PsrlSchedule; about √(2T) of them) a transition model is drawn from the posterior
/// (ParticlePosterior), and its optimal belief policy is played from that particle's own belief.
/// Planning is relative value iteration on the belief grid, warm from the last episode. The very
/// first action is uniform: nothing has been drawn yet. Particles draw from a stream of their own,
/// whose seed is the first number of the stream handed to act(). A step costs O(P S² + A O S²) for
/// P particles. Collapsed particles and impossible observations are told in the episodes' records.
class Psrl {
 public:
  /// `sensors` may lack a transition model; one that is there is not used. Throws InvalidArgument
  /// on bad options.
  explicit Psrl(const Pomdp& sensors, const PsrlOptions& options = {});
  /// The posterior is the exact one over these candidates, of equal prior weight; the options of
  /// the particles are not used.
  Psrl(const Pomdp& sensors, const PsrlOptions& options, std::vector<TransitionModel> candidates);

  /// A first reading, where rows are reading-first: for the beliefs of all particles.
  void begin(Observation first) { controller_.begin(first); }
  [[nodiscard]] Choice act(Rng& rng);
  void observe(Observation observation);
  [[nodiscard]] bool plan_due() const { return schedule_.over(); }
  void prepare();
  void probabilities(std::span<double> out);
  /// Only some carry their transition model: one for every 5 % more steps.
  [[nodiscard]] std::span<const Episode> episodes() const { return episodes_; }
  /// Empty before there are dynamics to keep it with.
  [[nodiscard]] std::span<const double> belief() const { return controller_.belief(); }
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

  /// Absent before the first action.
  [[nodiscard]] const std::optional<ParticlePosterior>& posterior() const { return posterior_; }

 private:
  void start_episode();
  void draw_model(Episode& episode);
  [[nodiscard]] ParticlePosterior make_posterior(Rng& rng) const;

  PsrlOptions options_;
  std::vector<TransitionModel> candidates_;  // empty: particles
  double floor_;
  BeliefController controller_;
  PsrlSchedule schedule_;
  std::optional<Rng> rng_;
  std::optional<ParticlePosterior> posterior_;
  Choice last_;
  std::int64_t step_ = 0;
  std::int64_t last_stored_ = 0;      // start of the last episode that carries its model
  std::int64_t told_impossible_ = 0;  // of the posterior's report, when an episode last told
  std::vector<Episode> episodes_;
};

}  // namespace oas
