#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oas/estimation/detail/likelihood_kernel.hpp"
#include "oas/estimation/transition_likelihood.hpp"

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

 private:
  // A stretch of a run. Step i of it starts at row `row` + i.
  struct Block {
    std::size_t row;
    std::size_t steps;
    std::size_t steps_after;  // of the same run
    bool starts_run;
    bool exact_start = false;  // start vector and end message are to be taken from seams_
    bool exact_end = false;
    [[nodiscard]] bool ends_run() const { return steps_after == 0; }
  };
  // The four vectors of a block where it meets its neighbours, in this order.
  enum Side { kStart, kEnd, kEndMessage, kStartMessage, kSides };
  struct Workspace;
  struct TaskResult {
    std::vector<double> sums;  // [a][s][stride]
    detail::ScaledProduct product;
    std::vector<double> batches;  // [batch][a][s][stride]
    std::vector<std::int64_t> batch_steps;
    bool possible = true;
  };

  void cut();
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
  bool first_state(const Block& block, Workspace& work, detail::ScaledProduct& product);
  bool last_message(std::size_t index, Workspace& work);
  void close_batch(TaskResult& result, std::int64_t& steps) const;
  void settle_all();
  bool settle();
  bool settle_start(std::size_t index, Workspace& work);
  bool settle_message(std::size_t index, Workspace& work);
  [[nodiscard]] double seam_error(const double* truth, const double* guess,
                                  const double* weight) const;
  [[nodiscard]] LikelihoodPass collect() const;

  const TransitionLikelihood& rows_;
  const TransitionModel& transition_model_;
  Parallelism parallelism_;
  const detail::LikelihoodKernels& kernels_;
  std::size_t stride_;
  std::size_t shift_;   // emission of step i is row i + shift
  std::size_t matrix_;  // doubles of one padded matrix
  std::vector<double> transition_;
  std::vector<double> transposed_;
  std::vector<std::uint32_t> action_offset_;  // [code]
  detail::ChainTables tables_;

  std::vector<Block> blocks_;
  std::vector<std::size_t> tasks_;  // first block of each
  std::vector<double> seams_;       // [block][side][stride]; empty when no run has two blocks
  std::vector<TaskResult> results_;
  std::vector<char> dirty_;  // tasks to be run (again)
  std::size_t burn_in_ = 0;
  std::int64_t batch_target_ = 0;  // steps; 0: no batches
  double handover_error_ = 0.0;
};

}  // namespace oas
