#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oas/estimation/likelihood/detail/likelihood_kernel.hpp"
#include "oas/estimation/likelihood/detail/quad_tables.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"

namespace oas {

/// Carries out one pass over the rows of a TransitionLikelihood; see there. Blocks are first worked
/// on with burn-ins; then neighbours are compared, and tasks (consecutive blocks) that hold a block
/// whose neighbour disagrees are done again with the neighbour's vectors, which settle() has
/// computed one after the other.
class LikelihoodPassRunner {
 public:
  LikelihoodPassRunner(const TransitionLikelihood& rows, const TransitionModel& transition,
                       const PassOptions& options, Parallelism parallelism);

  [[nodiscard]] LikelihoodPass run();
  /// See TransitionLikelihood::guess_last_belief().
  [[nodiscard]] std::vector<double> guess_last_belief();

 private:
  static constexpr std::size_t kBlock = TransitionLikelihood::kBlockSteps;
  static constexpr int kGroup = 16;  // steps between two normalisations
  static constexpr std::size_t kLongestBurnIn = 2048;
  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

  // A stretch of a run. Step i of it starts at row `row` + i.
  struct Block {
    std::size_t row;
    std::size_t steps;
    std::size_t steps_after;  // of the same run, also beyond the window
    bool starts_run = false;
    RunStart start = {};        // then
    bool has_previous = false;  // the block before is of the same run
    bool has_next = false;
    bool exact_start = false;  // start vector and end message are to be taken from seams_
    bool exact_end = false;
    bool uniform_start = false;  // what is before it is too old to count
    std::int64_t ages_end = 0;   // with forgetting: ages are counted from here
  };
  // The four vectors of a block where it meets its neighbours, in this order.
  enum Side { kStart, kEnd, kEndMessage, kStartMessage, kSides };
  // Room for one block with its burn-ins on both sides.
  struct Workspace {
    // Room for this pass, with anything in it.
    void fit(const LikelihoodPassRunner& runner);
    // Steps that start at rows first … first+count-1.
    void load(const LikelihoodPassRunner& runner, std::size_t first, std::size_t count);
    [[nodiscard]] detail::ChainSteps part(std::size_t first, std::size_t count) const {
      return {transition.data() + first, emission.data() + first, count};
    }

    std::vector<std::uint32_t> codes;
    std::vector<std::uint32_t> transition;
    std::vector<std::uint32_t> emission;
    std::vector<double> states;
    std::vector<double> burn_in;
    std::vector<double> message;
    std::vector<double> end_message;
    std::vector<double> sums;  // those before the block
    std::vector<double> emissions;
    std::size_t before = 0;  // steps loaded before those of the block
  };
  struct TaskResult {
    std::vector<double> sums;  // [a][s][stride]
    detail::ScaledProduct product;
    std::vector<double> emissions;  // [code][stride]; empty: not asked for
    std::vector<double> starts;     // [s], of runs that start in an unknown state; empty: none do
    std::vector<double> batches;    // [batch][a][s][stride]
    std::vector<double> emission_batches;
    std::vector<std::int64_t> batch_steps;
    bool possible = true;
    // With forgetting: Σ w log P, and the running totals that batches are cut from.
    double weighted_log = 0.0;
    std::vector<double> batch_sums;
  };

  [[nodiscard]] Workspace& workspace() const;
  void list_quads();
  void cut();
  void look_back();
  bool look_ahead(Workspace& work);
  [[nodiscard]] double* seam(std::size_t block, Side side) {
    return seams_.data() + (block * kSides + side) * stride_;
  }
  [[nodiscard]] std::size_t blocks_end(std::size_t task) const {
    return task + 1 < tasks_.size() ? tasks_[task + 1] : blocks_.size();
  }

  void choose_burn_in();
  [[nodiscard]] std::size_t needed_burn_in(std::size_t block, Workspace& work);
  bool advance(const detail::ChainSteps& steps, double* states) const;
  bool retreat(const detail::ChainSteps& steps, double* message) const;
  void run_task(std::size_t task);
  bool run_block(std::size_t index, Workspace& work, TaskResult& result,
                 std::int64_t& steps_in_batch);
  bool run_steps(const Block& block, int group, Workspace& work, TaskResult& result,
                 std::int64_t& steps_in_batch) const;
  bool run_weighted_steps(const Block& block, int group, Workspace& work, TaskResult& result,
                          std::int64_t& steps_in_batch) const;
  [[nodiscard]] bool weighted() const {
    return options_.forgetting.active() || options_.mean_weight;
  }
  [[nodiscard]] std::size_t weight_stretch(const Block& block) const;
  [[nodiscard]] double weight_of(const Block& block, std::size_t first, std::size_t count) const;
  [[nodiscard]] double weight_of_steps(const Block& block, std::size_t first,
                                       std::size_t count) const;
  struct Stretch {  // of steps of a block
    std::size_t first;
    std::size_t end;
    double weight;  // of a step, in the mean
  };
  [[nodiscard]] std::vector<Stretch> stretches(const Block& block, std::size_t most) const;
  [[nodiscard]] std::int64_t ages_end(std::size_t run_end) const;
  [[nodiscard]] double log_largest(std::size_t row) const {
    return rows_.vectors_ ? rows_.row_log_largest_[row] : log_largest_of(rows_.codes_[row]);
  }
  [[nodiscard]] double log_largest_of(std::size_t code) const {
    return options_.sensors ? emission_.log_largest[code] : rows_.emission_->log_largest[code];
  }
  // Z of a row, [stride], divided by its largest entry.
  [[nodiscard]] const double* emission(std::size_t row) const {
    return tables_.emission + (rows_.vectors_ ? row : rows_.codes_[row]) * stride_;
  }
  bool step_back(const detail::ChainSteps& steps, int group, const double* states, double* message,
                 TaskResult& result) const;
  void add_first_emission(const Block& block, const Workspace& work, TaskResult& result) const;
  void add_first_state(const Workspace& work, TaskResult& result) const;
  bool first_state(const Block& block, Workspace& work, detail::ScaledProduct& product);
  bool last_message(std::size_t index, Workspace& work);
  void close_batch(TaskResult& result, std::int64_t& steps) const;
  void settle_all();
  bool settle();
  bool settle_start(std::size_t index, Workspace& work);
  bool settle_message(std::size_t index, Workspace& work);
  [[nodiscard]] double seam_error(const double* truth, const double* guess,
                                  const double* weight) const;
  [[nodiscard]] double log_scale() const;
  [[nodiscard]] LikelihoodPass collect() const;
  void clear_unwanted(LikelihoodPass& pass) const;
  void collect_emissions(LikelihoodPass& pass) const;

  const TransitionLikelihood& rows_;
  const TransitionModel& transition_model_;
  const PassOptions& options_;
  std::size_t first_row_;
  std::size_t end_row_;     // of what is looked at
  std::size_t window_end_;  // without the rows ahead
  Parallelism parallelism_;
  const detail::LikelihoodKernels& kernels_;
  std::size_t stride_;
  std::size_t shift_;   // emission of step i is row i + shift
  std::size_t matrix_;  // doubles of one padded matrix
  std::vector<double> transition_;
  std::vector<double> transposed_;
  std::vector<std::uint32_t> action_offset_;  // [code]
  detail::EmissionTable emission_;            // of options_.sensors, else empty
  detail::ChainTables tables_;
  detail::QuadTables forward_quads_;
  detail::QuadTables backward_quads_;
  detail::QuadTables score_quads_;

  std::vector<Block> blocks_;
  bool looked_ahead_ = false;
  bool ends_forgotten_ = false;     // the last rows are too old to count, and have no block
  std::vector<std::size_t> tasks_;  // first block of each
  std::vector<double> seams_;       // [block][side][stride]; empty when no run has two blocks
  std::vector<TaskResult> results_;
  std::vector<char> dirty_;  // tasks to be run (again)
  std::size_t burn_in_ = 0;
  std::int64_t batch_target_ = 0;  // steps; 0: no batches
  double handover_error_ = 0.0;
};

}  // namespace oas
