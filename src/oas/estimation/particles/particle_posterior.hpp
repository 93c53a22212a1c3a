#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oas/core/json_text.hpp"
#include "oas/core/rng.hpp"
#include "oas/core/settings.hpp"
#include "oas/estimation/particles/detail/dirichlet_rows.hpp"
#include "oas/estimation/particles/detail/particle_filter.hpp"
#include "oas/estimation/particles/detail/particle_weights.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// What happens to particles after they were resampled, so that copies part.
enum class ParticleMove {
  none,    ///< nothing: a few hundred rows later all particles are copies of one
  jitter,  ///< every row of T is drawn again around itself; does not leave the posterior invariant
  window,  ///< Metropolis steps on the likelihood of the stored rows
};

[[nodiscard]] std::string_view to_string(ParticleMove move);
/// Throws InvalidArgument listing the names when there is none of that name.
[[nodiscard]] ParticleMove particle_move(std::string_view name);

/// Options of a particle posterior.
struct ParticleOptions {
  /// Number of particles, at least 2.
  int particles = 100;
  /// Resample when the effective number of particles falls below this, in [0, particles]; 0: never.
  /// Unset: 0.3 · particles.
  std::optional<double> ess_threshold;
  ParticleMove move = ParticleMove::window;
  /// Concentration of the jitter after t rows: kappa0 + t/rate. Positive.
  double kappa0 = 200.0;
  double rate = 50.0;
  /// Rows kept for the move `window`; when so many are there, what they say is summed up in
  /// Dirichlet rows and they are let go. At least 2.
  int window = 32768;
  /// Metropolis steps per action each time; at least 1. With 1 the particles lag behind the data.
  int sweeps = 4;
  /// Every row of T is Dirichlet(prior, …, prior) at the start. Positive.
  double prior = 1.0;

  template <class Fields>
  void visit_number(Fields& fields) {
    fields("particles", particles, {2, 1'000'000}, "number of particles");
  }
  template <class Fields>
  void visit(Fields& fields) {
    visit_number(fields);
    fields("ess_threshold", ess_threshold, {0.0},
           "resample below this effective number; default 0.3 particles");
    fields.choice("move", move, {"none", "jitter", "window"}, "after resampling");
    fields("kappa0", kappa0, {kAboveZero}, "jitter: concentration at the start");
    fields("rate", rate, {kAboveZero}, "jitter: rows for one more unit of concentration");
    fields("window", window, {2}, "window: rows kept");
    fields("sweeps", sweeps, {1}, "window: Metropolis steps per action each time");
    fields("prior", prior, {kAboveZero}, "Dirichlet concentration of every entry of T");
    fields.when(
        {"kappa0", "rate"}, [this] { return move == ParticleMove::jitter; },
        "used only by the move jitter");
    fields.when(
        {"window", "sweeps"}, [this] { return move == ParticleMove::window; },
        "used only by the move window");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;

  [[nodiscard]] double threshold() const { return ess_threshold.value_or(0.3 * particles); }
};

/// How the particles fared. A collapse is counted here and nowhere repaired.
struct ParticleReport {
  std::int64_t rows = 0;
  std::int64_t resamplings = 0;
  std::int64_t summaries = 0;   ///< how often the window was full
  std::int64_t impossible = 0;  ///< rows that had probability 0 under every particle; skipped
  /// Rows at which one model (one particle or copies of one) carried practically all weight, looked
  /// at every 64 rows and whenever particles are due to be resampled.
  std::int64_t collapsed = 0;
  std::int64_t proposed = 0;  ///< by Metropolis steps
  std::int64_t accepted = 0;
  int distinct = 0;  ///< different transition models among the particles
  double lowest_ess = 0.0;
};

/// The posterior over transition models by particles (T^i, b^i, w^i), sensors known, both timings:
///   w^i ← w^i P(o | b^i, a, T^i),   b^i ← one step of the belief filter with T^i.
/// When 1/Σw² falls below the threshold, particles are resampled systematically and moved.
///
/// `window` leaves invariant
///   D(T) · P(observations of the stored rows | their actions, T, b_0)
/// where D is a product of Dirichlet rows that stands for all older rows: the prior at first, and
/// then, whenever the window is full, the rows that match means and variances of the moved
/// particles. While rows < window this is the exact posterior; later the dependence between rows of
/// T is forgotten at every summary, and with weak sensors the spread becomes too small. For one
/// action after another, T_a of each particle is proposed afresh from Dirichlet rows matched to the
/// weighted particles and accepted with the ratio of target over proposal (Chopin 2002, "A
/// sequential particle filter method for static models"); accepted particles are filtered again. A
/// jittered particle keeps its belief, whose error dies out.
///
/// O(P S²) a row, no allocation. A move costs O(sweeps · A · P · window · S²); there is at most one
/// in window/32 rows.
class ParticlePosterior {
 public:
  /// Draws the particles from the prior. `sensors` may lack a transition model; one that is there
  /// is not used. Throws InvalidArgument on bad options.
  ParticlePosterior(const Pomdp& sensors, const ParticleOptions& options, Rng& rng);
  /// These models of equal weight; options.particles and options.prior's draw are not used.
  ParticlePosterior(const Pomdp& sensors, const ParticleOptions& options,
                    std::span<const TransitionModel> particles);

  /// Back to the model's start belief: rows to come belong to another run. A first reading is taken
  /// in by the model's first_observation.
  void start_run(Observation first = kMissing);

  /// Takes in one row; returns P(observation | all rows so far, action), 1 for kMissing, 0 when no
  /// particle allows it (counted; the observation is then skipped).
  double update(Action action, Observation observation, Rng& rng);

  [[nodiscard]] int num_particles() const { return filter_.num_particles(); }
  [[nodiscard]] double effective_size() const { return weights_.effective_size(); }
  /// Not normalised.
  [[nodiscard]] std::span<const double> weights() const { return weights_.values(); }
  [[nodiscard]] TransitionModel transition(int particle) const;
  [[nodiscard]] std::vector<double> belief(int particle) const;
  /// A particle drawn by its weight.
  [[nodiscard]] int draw(Rng& rng) const;

  /// Weighted over particles: means and standard deviations of all entries, [a][s][s'].
  struct Moments {
    std::vector<double> mean;
    std::vector<double> deviation;
  };
  [[nodiscard]] Moments moments() const;
  /// Weighted quantile of every entry, [a][s][s'], level in [0, 1].
  [[nodiscard]] std::vector<double> quantiles(double level) const;
  /// The posterior mean of the belief, S numbers.
  void mean_belief(std::span<double> out) const;

  [[nodiscard]] const ParticleReport& report() const { return report_; }
  [[nodiscard]] const ParticleOptions& options() const { return options_; }
  /// One model carries practically all weight, be it by one particle or by copies (of which the
  /// effective number of particles knows nothing): spread means nothing. As of the last look, at
  /// most 64 rows ago.
  [[nodiscard]] bool collapsed() const { return collapsed_; }

  /// The whole state; load() into a posterior made with the same arguments continues bit for bit.
  /// It checks all that it reads and throws InvalidArgument; the posterior is then of no more use.
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  struct Row {
    Action action;  // kNewRun where a run starts
    Observation observation;
  };
  static constexpr Action kNewRun{-1};

  ParticlePosterior(const Pomdp& sensors, const ParticleOptions& options, int particles);

  void load_rows(const JsonView& rows);
  void load_report(const JsonView& report);
  void count_row(double probability);
  void count_models();
  bool look_for_collapse();
  [[nodiscard]] bool stores_rows() const;
  void rejuvenate(Rng& rng);
  void resample(Rng& rng);
  void jitter(Rng& rng);
  // Resamples and moves on the stored rows; `pooled` takes in the particles after every sweep.
  void move_on_window(detail::RowMoments* pooled, Rng& rng);
  // One step for the dynamics of one action.
  void metropolis(const detail::DirichletRows& proposal, int action, Rng& rng);
  // Puts what the stored rows say into past_ and forgets them.
  void summarise(Rng& rng);
  // The belief after a first reading, which may be missing.
  [[nodiscard]] std::vector<double> belief_after(Observation first) const;
  // Filters the stored rows for a population; log likelihoods in `logs`.
  void filter_window(detail::Population& population, detail::LogProducts& logs);

  ParticleOptions options_;
  std::vector<double> start_;
  std::optional<ObservationModel> first_sensor_;
  detail::ParticleFilter filter_;
  detail::Population population_;
  detail::ParticleWeights weights_;
  std::vector<double> probabilities_;
  ParticleReport report_;
  std::vector<std::int64_t> lineage_;  // equal numbers: copies of one model
  std::int64_t next_lineage_ = 0;
  bool collapsed_ = false;

  // What the moves on stored rows need.
  std::vector<Row> rows_;
  std::int64_t last_move_ = 0;        // rows seen by then
  std::vector<double> window_start_;  // b_0
  detail::DirichletRows past_;        // D
  detail::Population proposal_;
  detail::LogProducts logs_;
  detail::LogProducts proposal_logs_;

  // Work space.
  std::vector<int> parents_;
  std::vector<std::int64_t> parent_lineage_;
  std::vector<std::pair<std::int64_t, double>> models_;
  std::vector<double> gathered_;
  std::vector<double> row_;
  std::vector<double> values_;
};

}  // namespace oas
