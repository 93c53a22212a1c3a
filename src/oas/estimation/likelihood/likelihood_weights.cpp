#include <algorithm>
#include <cmath>

#include "oas/estimation/likelihood/detail/likelihood_pass.hpp"

/// Weights by age.
namespace oas {

using detail::ScaledProduct;

// Mean weight of some rows of a block.
double LikelihoodPassRunner::weight_of(const Block& block, std::size_t first,
                                       std::size_t count) const {
  if (options_.mean_weight) return options_.mean_weight(first, count);
  return options_.forgetting.mean_weight(block.ages_end - static_cast<std::int64_t>(first + count),
                                         static_cast<std::int64_t>(count));
}

// Behind the row of age 0: the end of the log, or of the run that ends before row `run_end` of the
// window. Rows are counted in the window, beyond it too.
std::int64_t LikelihoodPassRunner::ages_end(std::size_t run_end) const {
  if (options_.forgetting.by_run() && run_end <= window_end_ && run_end < end_row_) {
    return static_cast<std::int64_t>(run_end);
  }
  return static_cast<std::int64_t>(window_end_) + options_.rows_behind;
}

// Rows of a block over which weights may be taken for equal.
std::size_t LikelihoodPassRunner::weight_stretch(const Block& block) const {
  if (options_.mean_weight) return kGroup;
  const double whole = weight_of(block, block.row, std::max<std::size_t>(1, block.steps));
  const bool fades = options_.forgetting.half_life > 0.0;
  if (!fades && !(whole > 0.0 && whole < 1.0)) return kBlock;
  return static_cast<std::size_t>(options_.forgetting.stretch(static_cast<std::int64_t>(kBlock)));
}

// As run_steps(), stretch by stretch, each with its weight. A step counts as the row it starts at.
bool LikelihoodPassRunner::run_weighted_steps(const Block& block, int group, Workspace& work,
                                              TaskResult& result,
                                              std::int64_t& steps_in_batch) const {
  std::size_t piece = kBlock;
  if (batch_target_ > 0) piece = std::min(piece, static_cast<std::size_t>(batch_target_));
  piece = std::min(piece, weight_stretch(block));
  double log_sum = 0.0;
  for (std::size_t first = 0; first < block.steps; first += piece) {
    const std::size_t count = std::min(piece, block.steps - first);
    ScaledProduct product;
    if (!kernels_.forward(tables_, work.part(work.before + first, count), group,
                          work.states.data() + first * stride_, product)) {
      return false;
    }
    double log_factor =
        std::log(product.mantissa) + static_cast<double>(product.exponent) * std::log(2.0);
    const std::size_t row = block.row + first + shift_;
    for (std::size_t i = row; i < row + count; ++i) log_factor += log_largest(i);
    log_sum += weight_of(block, block.row + first, count) * log_factor;
  }
  const TaskResult before = result;
  const std::int64_t steps_before = steps_in_batch;
  std::vector<double> sums(result.sums.size());
  for (std::size_t end = block.steps; end > 0;) {
    const std::size_t first = (end - 1) / piece * piece;
    std::fill(sums.begin(), sums.end(), 0.0);
    if (!kernels_.backward(tables_, work.part(work.before + first, end - first), group,
                           work.states.data() + first * stride_, work.message.data(),
                           sums.data())) {
      result = before;
      steps_in_batch = steps_before;
      return false;
    }
    const double weight = weight_of(block, block.row + first, end - first);
    const double root = std::sqrt(weight);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      result.sums[i] += weight * sums[i];
      result.batch_sums[i] += root * sums[i];
    }
    steps_in_batch += static_cast<std::int64_t>(end - first);
    if (batch_target_ > 0 && steps_in_batch >= batch_target_) close_batch(result, steps_in_batch);
    end = first;
  }
  result.weighted_log += log_sum;
  return true;
}

}  // namespace oas
