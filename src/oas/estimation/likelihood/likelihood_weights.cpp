#include <algorithm>
#include <cmath>

#include "oas/estimation/likelihood/detail/likelihood_pass.hpp"

/// Weights by age.
namespace oas {

using detail::ScaledProduct;

namespace {

constexpr double kUneven = 1.05;  // times the weight of the oldest of some rows

}  // namespace

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

// Of the steps from `first` on. A step counts as the row it starts at; where somebody else says
// what a row weighs, as the row that it explains: the one before may be as good as forgotten.
double LikelihoodPassRunner::weight_of_steps(const Block& block, std::size_t first,
                                             std::size_t count) const {
  return weight_of(block, block.row + first + (options_.mean_weight ? shift_ : 0), count);
}

// Cuts a block into stretches of at most so many steps that weigh nearly the same.
std::vector<LikelihoodPassRunner::Stretch> LikelihoodPassRunner::stretches(const Block& block,
                                                                           std::size_t most) const {
  std::vector<Stretch> cut;
  cut.reserve(block.steps / most + 2);
  for (std::size_t first = 0; first < block.steps; first += most) {
    const std::size_t end = std::min(first + most, block.steps);
    const bool even = !options_.mean_weight || weight_of_steps(block, end - 1, 1) <=
                                                   kUneven * weight_of_steps(block, first, 1);
    if (even) {
      cut.push_back({first, end, weight_of_steps(block, first, end - first)});
      continue;
    }
    double oldest = weight_of_steps(block, first, 1);
    cut.push_back({first, first + 1, oldest});
    for (std::size_t step = first + 1; step < end; ++step) {
      const double weight = weight_of_steps(block, step, 1);
      Stretch& last = cut.back();
      if (weight > kUneven * oldest) {
        oldest = weight;
        cut.push_back({step, step + 1, weight});
        continue;
      }
      const auto before = static_cast<double>(step - last.first);
      last.weight = (before * last.weight + weight) / (before + 1.0);
      last.end = step + 1;
    }
  }
  return cut;
}

// Rows of a block over which weights may be taken for equal.
std::size_t LikelihoodPassRunner::weight_stretch(const Block& block) const {
  if (options_.mean_weight) return kGroup;
  const double whole = weight_of(block, block.row, std::max<std::size_t>(1, block.steps));
  const bool fades = options_.forgetting.half_life > 0.0;
  if (!fades && !(whole > 0.0 && whole < 1.0)) return kBlock;
  return static_cast<std::size_t>(options_.forgetting.stretch(static_cast<std::int64_t>(kBlock)));
}

// As run_steps(), stretch by stretch, each with its weight.
bool LikelihoodPassRunner::run_weighted_steps(const Block& block, int group, Workspace& work,
                                              TaskResult& result,
                                              std::int64_t& steps_in_batch) const {
  std::size_t piece = kBlock;
  if (batch_target_ > 0) piece = std::min(piece, static_cast<std::size_t>(batch_target_));
  piece = std::min(piece, weight_stretch(block));
  const std::vector<Stretch> all = stretches(block, piece);
  double log_sum = 0.0;
  for (const auto& [first, end, weight] : all) {
    const std::size_t count = end - first;
    ScaledProduct product;
    if (!kernels_.forward(tables_, work.part(work.before + first, count), group,
                          work.states.data() + first * stride_, product)) {
      return false;
    }
    double log_factor =
        std::log(product.mantissa) + static_cast<double>(product.exponent) * std::log(2.0);
    const std::size_t row = block.row + first + shift_;
    for (std::size_t i = row; i < row + count; ++i) log_factor += log_largest(i);
    log_sum += weight * log_factor;
  }
  const TaskResult before = result;
  const std::int64_t steps_before = steps_in_batch;
  std::vector<double> sums(result.sums.size());
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    const auto& [first, end, weight] = *at;
    std::fill(sums.begin(), sums.end(), 0.0);
    if (!kernels_.backward(tables_, work.part(work.before + first, end - first), group,
                           work.states.data() + first * stride_, work.message.data(),
                           sums.data())) {
      result = before;
      steps_in_batch = steps_before;
      return false;
    }
    const double root = std::sqrt(weight);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      result.sums[i] += weight * sums[i];
      result.batch_sums[i] += root * sums[i];
    }
    steps_in_batch += static_cast<std::int64_t>(end - first);
    if (batch_target_ > 0 && steps_in_batch >= batch_target_) close_batch(result, steps_in_batch);
  }
  result.weighted_log += log_sum;
  return true;
}

}  // namespace oas
