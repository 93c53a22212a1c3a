#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/index.hpp"
#include "oas/core/parallel.hpp"
#include "oas/counts/forgetting.hpp"
#include "oas/estimation/likelihood/detail/packed_codes.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/run_start.hpp"

namespace oas {

namespace detail {

/// Sensors as a pass reads them; code = action · (O + 1) + observation, O standing for missing.
struct EmissionTable {
  EmissionTable() = default;
  EmissionTable(const ObservationModel& sensors, int stride);

  std::vector<double> values;       // [code][stride]: Z_a(o|·) / its largest entry; missing: 1
  std::vector<double> log_largest;  // [code]: -∞ where no state emits
};

}  // namespace detail

/// What one pass over all rows says about one transition model.
struct LikelihoodPass {
  /// log P(all observations | all actions, T, start); -∞ when the rows are impossible under T.
  double log_likelihood = -std::numeric_limits<double>::infinity();
  /// [a][s][s']: its derivative by the entry T_a(s,s'), other entries held; all 0 when impossible.
  /// Only differences within a row matter, since a row of T sums to 1.
  std::vector<double> score;
  /// [a][s][s']: expected transitions given all rows, T_a(s,s') · score. The transition of the last
  /// row of a run in `before` timing, of which nothing is seen, is not counted.
  std::vector<double> counts;
  /// Scores of consecutive stretches of rows, [batch][a][s][s'], and their numbers of transitions;
  /// only when asked for. They add up to `score`.
  std::vector<double> batch_scores;
  std::vector<std::int64_t> batch_steps;
  /// Only when asked for: [a][s][o], rows of (a,o) that state s is expected to have emitted given
  /// all rows. Divided by Z_a(o|s) > 0 this is the derivative of the log-likelihood by that entry,
  /// other entries held. And the same of the batches, [batch][a][s][o].
  std::vector<double> emission_counts;
  std::vector<double> batch_emission_counts;
  /// [s]: runs that started in an unknown state, expected to have started in s; empty where there
  /// are none.
  std::vector<double> unknown_starts;
  /// Of a window (see PassOptions): the belief with which the next window starts.
  std::vector<double> last_belief;
  /// Largest error of a smoothed state distribution where two blocks of a run meet, in total
  /// variation; at most 1e-13, mostly 1e-16.
  double handover_error = 0.0;

  [[nodiscard]] bool possible() const {
    return log_likelihood > -std::numeric_limits<double>::infinity();
  }
};

/// What a pass shall bring along.
struct PassOptions {
  /// Cut the score into about this many to twice as many batches, where there are 32 steps for
  /// each; 0: no batches. A S² numbers each.
  int batches = 0;

  /// Other sensors than the model's, of the same sizes; null: the model's. Not for rows that bring
  /// their likelihoods.
  std::shared_ptr<const ObservationModel> sensors;
  /// Also LikelihoodPass::emission_counts, for a fifth more time. Neither for rows that bring their
  /// likelihoods nor with weights by age.
  bool emissions = false;

  /// The law of the first state of runs that start in an unknown one; empty: all states alike.
  std::vector<double> unknown_start;

  /// Rows of T, a·S + s, that were never left: the pass is of the log-likelihood of all rows and of
  /// that. Their scores and counts are 0. Ascending.
  std::vector<std::size_t> never_left;
  /// [a][s][s']: entries that are known to be 0, as they are in T. Their scores are 0 then, and
  /// with more than 16 states neither T nor scores cost work where there are only such. Null: none
  /// are known; the score of an entry at 0 says whether it should leave it.
  std::shared_ptr<const std::vector<char>> known_zeros;

  /// Rows first_row … end_row-1 alone; the end of all rows counts where it comes before.
  std::size_t first_row = 0;
  std::size_t end_row = std::numeric_limits<std::size_t>::max();

  /// A long log is passed window by window. The first run of a window is then
  /// the continuation of the run before, whose LikelihoodPass::last_belief this is; empty: it
  /// starts anew.
  std::vector<double> first_belief;
  /// So many rows at the end belong to the next window and are only looked at. What lies behind
  /// them has no effect unless the chain remembers as long.
  std::size_t rows_ahead = 0;

  /// Weights by age; see weighted_likelihood.hpp. The log-likelihood is then Σ w log P(o | rows
  /// before), score and counts are Σ w times those of a step, and the scores of batches, which
  /// serve for informations, Σ √w times these. Weights are averaged over stretches of
  /// Forgetting::stretch() rows; rows beyond its reach are left out.
  Forgetting forgetting;
  /// In place of these, weights by somebody else's rule: the mean over rows first … first+count-1,
  /// all of one run, in which later rows do not weigh less. Each row counts by its own weight.
  std::function<double(std::size_t first, std::size_t count)> mean_weight;
  /// Rows that follow this window, those ahead included: of the log, or, with weights by Age::run,
  /// of the run that its last row is of.
  std::int64_t rows_behind = 0;
};

/// The log-likelihood of logged rows as a function of the transition model, sensors and start
/// known, actions as logged: any policy, any mixture of policies, both timings, many runs, missing
/// observations (kMissing). Rows are kept as one small integer each (1, 2 or 4 bytes) and can grow:
///
///     TransitionLikelihood likelihood(model);
///     likelihood.append(action, observation);
///     const LikelihoodPass pass = likelihood.pass(transition);
///
/// Rows may bring a vector of likelihoods p(o | s, a) each instead of a finite observation
/// (with_vectors()): S doubles a row, for continuous observations.
///
/// A pass is forward filtering, backward smoothing and expected counts (Baum and others 1970, with
/// an action per transition), O(S²) per row and O(threads) memory beside the rows. Long runs are
/// cut into blocks of kBlockSteps by position alone, which are worked on in parallel. A block takes
/// its first belief and its last message from a burn-in over its neighbours; where these meet, the
/// smoothed distributions are compared, and where they differ by more than 1e-13 (total variation)
/// the neighbour's value is used instead. Given the state at a seam, what is on one side of it does
/// not depend on the other, so this is also the error of everything else. Same bits for any number
/// of threads.
class TransitionLikelihood {
 public:
  static constexpr std::size_t kBlockSteps = 4096;

  /// Sensors, start and timing of `model`; its transition, if any, is not looked at.
  explicit TransitionLikelihood(const Pomdp& model);

  /// For rows that bring their likelihoods; start and timing of `chain`.
  [[nodiscard]] static TransitionLikelihood with_vectors(const Pomdp& chain);

  /// The next row belongs to a new run. Throws InvalidArgument on a start in no state.
  void start_run(RunStart start = {});
  /// One row. Throws InvalidArgument on an index out of range and on an observation that the
  /// sensors give probability 0 in every state.
  void append(Action action, Observation observation);
  void append(std::span<const Action> actions, std::span<const Observation> observations);
  /// One row with its likelihoods, S numbers up to a common factor c, which enters the
  /// log-likelihood as log c; all 1 where nothing was seen. Throws InvalidArgument when one is
  /// negative or not finite or all are 0. Only for with_vectors(), and no other rows with it.
  void append(Action action, std::span<const double> likelihoods);
  /// The runs of another one, of the same model, follow.
  void append(const TransitionLikelihood& other) { append(other, 0, other.rows(), false); }
  /// Rows first … first+count-1 of another one follow; where `goes_on`, the first of them in the
  /// last run here.
  void append(const TransitionLikelihood& other, std::size_t first, std::size_t count,
              bool goes_on);
  /// Makes room for so many rows.
  void reserve(std::size_t rows);
  /// The rows as bytes; load() takes the place of all rows, and throws InvalidArgument.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  /// Row `index`, as it was appended.
  [[nodiscard]] Action action(std::size_t index) const {
    return Action{static_cast<int>(codes_[index]) / (num_observations_ + 1)};
  }
  [[nodiscard]] Observation observation(std::size_t index) const {
    const int o = static_cast<int>(codes_[index]) % (num_observations_ + 1);
    return o == num_observations_ ? kMissing : Observation{o};
  }
  /// [s]: what row `index` says about the state that emitted it, P(o | s, a) up to a factor.
  [[nodiscard]] std::span<const double> emission(std::size_t index) const {
    const auto stride = static_cast<std::size_t>(stride_);
    const double* first = vectors_ ? row_emission_.data() + index * stride
                                   : emission_->values.data() + codes_[index] * stride;
    return {first, static_cast<std::size_t>(num_states_)};
  }
  [[nodiscard]] std::span<const double> start() const {
    return std::span(start_).first(static_cast<std::size_t>(num_states_));
  }
  /// Forgets all rows.
  void clear();

  [[nodiscard]] int num_states() const { return num_states_; }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] int num_observations() const { return num_observations_; }
  [[nodiscard]] Timing timing() const { return timing_; }
  [[nodiscard]] std::size_t rows() const { return codes_.size(); }
  [[nodiscard]] std::size_t runs() const { return run_starts_.size(); }
  /// Rows without observation; of rows with vectors those whose entries are all equal.
  [[nodiscard]] std::size_t missing() const;
  [[nodiscard]] std::size_t bytes() const {
    return codes_.bytes() + (row_emission_.size() + row_log_largest_.size()) * sizeof(double);
  }
  /// Of these, a row's.
  [[nodiscard]] std::size_t bytes_of_row() const {
    return codes_.width() + (vectors_ ? static_cast<std::size_t>(stride_) + 1 : 0) * sizeof(double);
  }
  /// Rows at which runs start, ascending.
  [[nodiscard]] std::span<const std::size_t> run_starts() const { return run_starts_; }
  /// How run `index` starts.
  [[nodiscard]] RunStart start_of(std::size_t index) const {
    return index < starts_.size() ? starts_[index] : RunStart();
  }
  [[nodiscard]] RunLengths run_lengths() const;
  /// [a]: transitions of a that the rows say something about.
  [[nodiscard]] std::vector<std::int64_t> transitions() const;

  /// Throws InvalidArgument when the sizes differ. No allocation per row.
  [[nodiscard]] LikelihoodPass pass(const TransitionModel& transition,
                                    const PassOptions& options = {},
                                    Parallelism parallelism = {}) const;
  /// What LikelihoodPass::last_belief of that pass of a window will most likely be, to the bit,
  /// whatever the first belief: at the price of a few blocks. Empty where the chain does not forget
  /// within a block.
  [[nodiscard]] std::vector<double> guess_last_belief(const TransitionModel& transition,
                                                      const PassOptions& options) const;

 private:
  friend class LikelihoodPassRunner;

  [[nodiscard]] std::uint32_t code(Action action, Observation observation) const;
  // [code]: rows of that code before row `end`.
  [[nodiscard]] std::vector<std::int64_t> codes_before(std::size_t end) const;
  void append_code(std::uint32_t code);
  void require_room(std::size_t rows) const;

  int num_states_;
  int num_actions_;
  int num_observations_;
  int stride_;  // states, padded to whole quadruples
  Timing timing_;
  std::vector<double> start_;                              // [stride]
  std::shared_ptr<const detail::EmissionTable> emission_;  // shared by copies
  std::vector<std::int64_t> code_counts_;                  // [code]: rows of that code
  std::vector<std::int64_t> marks_;  // the same now and then, so that windows need not count
  detail::PackedCodes codes_;        // action · (O + 1) + observation; O: missing
  std::vector<std::size_t> run_starts_;
  std::vector<RunStart> starts_;  // [run], up to the last one not at the model's start
  bool new_run_ = true;
  RunStart next_start_;
  bool vectors_ = false;                 // rows bring their emissions; all codes are `missing`
  std::vector<double> row_emission_;     // [row][stride], then only
  std::vector<double> row_log_largest_;  // [row]
  std::size_t missing_vectors_ = 0;
};

}  // namespace oas
