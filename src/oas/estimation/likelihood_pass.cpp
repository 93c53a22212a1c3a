#include "oas/estimation/detail/likelihood_pass.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace oas {

using detail::ChainSteps;
using detail::ScaledProduct;

namespace {

constexpr std::size_t kBlock = TransitionLikelihood::kBlockSteps;
constexpr std::size_t kTaskSteps = 8 * kBlock;
constexpr int kGroup = 16;  // steps between two normalisations
constexpr std::array<std::size_t, 6> kBurnIns = {64, 128, 256, 512, 1024, 2048};
constexpr std::size_t kLongestBurnIn = kBurnIns.back();
constexpr std::size_t kNever = static_cast<std::size_t>(-1);
constexpr int kMostRounds = 3;
constexpr double kSeamTolerance = 1e-13;   // total variation where two blocks meet
constexpr double kPilotTolerance = 1e-15;  // of the burn-in that is then doubled

void normalise(double* values, std::size_t count) {
  const double sum = std::accumulate(values, values + count, 0.0);
  std::for_each(values, values + count, [&](double& value) { value /= sum; });
}

// Half the L1 distance of two vectors, each divided by its sum.
double total_variation(const double* x, const double* y, std::size_t count) {
  const double x_sum = std::accumulate(x, x + count, 0.0);
  const double y_sum = std::accumulate(y, y + count, 0.0);
  double distance = 0.0;
  for (std::size_t s = 0; s < count; ++s) distance += std::abs(x[s] / x_sum - y[s] / y_sum);
  return 0.5 * distance;
}

void multiply_into(ScaledProduct& product, double factor) {
  int exponent = 0;
  product.mantissa = std::frexp(product.mantissa * factor, &exponent);
  product.exponent += exponent;
}

}  // namespace

// Room for one block with its burn-ins on both sides.
struct LikelihoodPassRunner::Workspace {
  explicit Workspace(const LikelihoodPassRunner& runner)
      : codes(kBlock + 2 * kLongestBurnIn + 1),
        transition(codes.size()),
        emission(codes.size()),
        states((kBlock + 1) * runner.stride_),
        burn_in((kBlock + 1) * runner.stride_),
        message(2 * runner.stride_),
        end_message(runner.stride_) {}

  // Steps that start at rows first … first+count-1; returns the whole.
  ChainSteps load(const LikelihoodPassRunner& runner, std::size_t first, std::size_t count) {
    runner.rows_.codes_.unpack(first, count + runner.shift_, codes.data());
    const auto stride = static_cast<std::uint32_t>(runner.stride_);
    for (std::size_t i = 0; i < count; ++i) {
      transition[i] = runner.action_offset_[codes[i]];
      emission[i] = codes[i + runner.shift_] * stride;
    }
    return part(0, count);
  }
  [[nodiscard]] ChainSteps part(std::size_t first, std::size_t count) const {
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
  std::size_t before = 0;    // steps loaded before those of the block
};

LikelihoodPassRunner::LikelihoodPassRunner(const TransitionLikelihood& rows,
                                           const TransitionModel& transition,
                                           const PassOptions& options, Parallelism parallelism)
    : rows_(rows),
      transition_model_(transition),
      parallelism_(parallelism),
      kernels_(detail::likelihood_kernels(rows.num_states_)),
      stride_(static_cast<std::size_t>(rows.stride_)),
      shift_(rows.timing_ == Timing::before ? 1 : 0),
      matrix_(static_cast<std::size_t>(rows.num_states_) * stride_),
      transition_(matrix_ * static_cast<std::size_t>(rows.num_actions_)),
      transposed_(transition_.size()) {
  const auto n = static_cast<std::size_t>(rows.num_states_);
  for (Action a{0}; a < rows.num_actions_; ++a) {
    const std::size_t offset = static_cast<std::size_t>(a) * matrix_;
    for (std::size_t s = 0; s < n; ++s) {
      for (std::size_t next = 0; next < n; ++next) {
        const double value = transition(a, State{s}, State{next});
        transition_[offset + s * stride_ + next] = value;
        transposed_[offset + next * stride_ + s] = value;
      }
    }
    action_offset_.insert(action_offset_.end(),
                          static_cast<std::size_t>(rows.num_observations_) + 1,
                          static_cast<std::uint32_t>(offset));
  }
  tables_ = {rows.num_states_, rows.stride_, transition_.data(), transposed_.data(),
             rows.emission_.data()};
  cut();
  if (options.batches > 0) {
    std::size_t steps = 0;
    for (const Block& block : blocks_) steps += block.steps;
    batch_target_ = 2 * kGroup;
    const auto wanted = static_cast<std::size_t>(options.batches);
    while (steps / (2 * static_cast<std::size_t>(batch_target_)) >= wanted) batch_target_ *= 2;
  }
}

void LikelihoodPassRunner::cut() {
  bool seams = false;
  std::size_t task_steps = kTaskSteps;
  for (std::size_t run = 0; run < rows_.run_starts_.size(); ++run) {
    const std::size_t first = rows_.run_starts_[run];
    const std::size_t end =
        run + 1 < rows_.run_starts_.size() ? rows_.run_starts_[run + 1] : rows_.rows();
    const std::size_t steps = end - first - shift_;
    seams = seams || steps > kBlock;
    std::size_t done = 0;
    do {  // a run of one row in `before` timing is a block of no steps
      const std::size_t count = std::min(kBlock, steps - done);
      if (task_steps >= kTaskSteps) {
        tasks_.push_back(blocks_.size());
        task_steps = 0;
      }
      blocks_.push_back({first + done, count, steps - done - count, done == 0});
      task_steps += count + 8;  // a block is some work however short
      done += count;
    } while (done < steps);
  }
  if (seams) seams_.resize(blocks_.size() * kSides * stride_);
}

LikelihoodPass LikelihoodPassRunner::run() {
  results_.resize(tasks_.size());
  dirty_.assign(tasks_.size(), 1);
  choose_burn_in();
  if (burn_in_ == kNever) {
    settle_all();
    if (!settle()) return collect();
  }
  for (int round = 1;; ++round) {
    parallel_for(tasks_.size(), parallelism_, [&](std::size_t task) {
      if (dirty_[task] != 0) run_task(task);
    });
    const bool possible = std::all_of(results_.begin(), results_.end(),
                                      [](const TaskResult& result) { return result.possible; });
    if (!possible || seams_.empty() || burn_in_ == kNever) break;
    if (round == kMostRounds) settle_all();
    if (!settle()) break;
    if (std::find(dirty_.begin(), dirty_.end(), 1) == dirty_.end()) break;
  }
  return collect();
}

// From now on no burn-in: every block takes what its neighbours have.
void LikelihoodPassRunner::settle_all() {
  burn_in_ = kNever;
  for (Block& block : blocks_) block.exact_start = block.exact_end = true;
  dirty_.assign(tasks_.size(), 1);
}

// How long a burn-in must be is found at some seams: the shortest that agrees with one over a
// whole block, doubled.
void LikelihoodPassRunner::choose_burn_in() {
  std::vector<std::size_t> candidates;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!blocks_[b].starts_run) candidates.push_back(b);
  }
  if (candidates.empty()) return;
  const std::size_t pilots = std::clamp<std::size_t>(candidates.size() / 16, 1, 8);
  Workspace work(*this);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < pilots && longest < kLongestBurnIn; ++i) {
    const std::size_t block = candidates[(2 * i + 1) * candidates.size() / (2 * pilots)];
    longest = std::max(longest, needed_burn_in(block, work));
  }
  burn_in_ = longest >= kLongestBurnIn ? kNever : 2 * longest;
}

// At the start of a block that has a neighbour before it; kLongestBurnIn when none is enough.
std::size_t LikelihoodPassRunner::needed_burn_in(std::size_t index, Workspace& work) {
  const Block& block = blocks_[index];
  const auto n = static_cast<std::size_t>(rows_.num_states_);
  work.load(*this, block.row - kBlock, kBlock);
  const auto end_state = [&](std::size_t count, double* out) {
    std::fill_n(work.burn_in.data(), n, 1.0);
    if (!advance(work.part(kBlock - count, count), work.burn_in.data())) return false;
    std::copy_n(work.burn_in.data() + count * stride_, n, out);
    return true;
  };
  const auto start_message = [&](std::size_t count, double* out) {
    std::fill(work.message.begin(), work.message.end(), 0.0);
    std::fill_n(work.message.data(), n, 1.0);
    if (!retreat(work.part(0, count), work.message.data())) return false;
    std::copy_n(work.message.data(), n, out);
    return true;
  };
  std::vector<double> truth(2 * n);
  std::vector<double> guess(2 * n);
  if (!end_state(kBlock, truth.data()) || !start_message(kBlock, truth.data() + n)) {
    return kBurnIns.front();  // impossible rows; the pass itself will find out
  }
  for (const std::size_t count : kBurnIns) {
    if (end_state(count, guess.data()) && start_message(count, guess.data() + n) &&
        total_variation(truth.data(), guess.data(), n) <= kPilotTolerance &&
        total_variation(truth.data() + n, guess.data() + n, n) <= kPilotTolerance) {
      return count;
    }
  }
  return kLongestBurnIn;
}

// Forward without keeping the factors.
bool LikelihoodPassRunner::advance(const ChainSteps& steps, double* states) const {
  ScaledProduct ignored;
  return kernels_.forward(tables_, steps, kGroup, states, ignored) ||
         kernels_.forward(tables_, steps, 1, states, ignored);
}

bool LikelihoodPassRunner::retreat(const ChainSteps& steps, double* message) const {
  return kernels_.retreat(tables_, steps, kGroup, message) ||
         kernels_.retreat(tables_, steps, 1, message);
}

void LikelihoodPassRunner::run_task(std::size_t task) {
  TaskResult& result = results_[task];
  result = {};
  result.sums.assign(transition_.size(), 0.0);
  Workspace work(*this);
  std::int64_t steps_in_batch = 0;
  for (std::size_t b = tasks_[task]; b < blocks_end(task) && result.possible; ++b) {
    result.possible = run_block(b, work, result, steps_in_batch);
  }
  if (batch_target_ > 0 && steps_in_batch > 0) close_batch(result, steps_in_batch);
  dirty_[task] = 0;
}

bool LikelihoodPassRunner::run_block(std::size_t index, Workspace& work, TaskResult& result,
                                     std::int64_t& steps_in_batch) {
  const Block& block = blocks_[index];
  const bool burn_before = !block.starts_run && !block.exact_start;
  const bool burn_after = !block.ends_run() && !block.exact_end;
  work.before = burn_before ? burn_in_ : 0;
  const std::size_t after = burn_after ? std::min(burn_in_, block.steps_after) : 0;
  work.load(*this, block.row - work.before, work.before + block.steps + after);
  if (!block.starts_run && block.exact_start) {
    std::copy_n(seam(index, kStart), stride_, work.states.data());
  } else if (!first_state(block, work, result.product)) {
    return false;
  }
  if (!last_message(index, work)) return false;
  std::copy_n(work.message.data(), stride_, work.end_message.data());
  if (!run_steps(block, kGroup, work, result, steps_in_batch)) {
    std::copy_n(work.end_message.data(), stride_, work.message.data());
    if (!run_steps(block, 1, work, result, steps_in_batch)) return false;
  }
  if (!seams_.empty()) {
    std::copy_n(work.states.data(), stride_, seam(index, kStart));
    std::copy_n(work.states.data() + block.steps * stride_, stride_, seam(index, kEnd));
    std::copy_n(work.end_message.data(), stride_, seam(index, kEndMessage));
    normalise(work.message.data(), stride_);
    std::copy_n(work.message.data(), stride_, seam(index, kStartMessage));
  }
  return true;
}

// Both directions, once the first belief and the last message are there. On failure `result` is as
// before.
bool LikelihoodPassRunner::run_steps(const Block& block, int group, Workspace& work,
                                     TaskResult& result, std::int64_t& steps_in_batch) const {
  ScaledProduct product;
  if (!kernels_.forward(tables_, work.part(work.before, block.steps), group, work.states.data(),
                        product)) {
    return false;
  }
  work.sums = result.sums;
  const std::size_t num_batches = result.batch_steps.size();
  const std::int64_t steps_before = steps_in_batch;
  const std::size_t piece =
      batch_target_ > 0 ? std::min(kBlock, static_cast<std::size_t>(batch_target_)) : kBlock;
  for (std::size_t end = block.steps; end > 0;) {
    const std::size_t first = (end - 1) / piece * piece;
    if (!kernels_.backward(tables_, work.part(work.before + first, end - first), group,
                           work.states.data() + first * stride_, work.message.data(),
                           result.sums.data())) {
      result.sums = work.sums;
      result.batch_steps.resize(num_batches);
      result.batches.resize(num_batches * result.sums.size());
      steps_in_batch = steps_before;
      return false;
    }
    steps_in_batch += static_cast<std::int64_t>(end - first);
    if (batch_target_ > 0 && steps_in_batch >= batch_target_) close_batch(result, steps_in_batch);
    end = first;
  }
  multiply_into(result.product, product.mantissa);
  result.product.exponent += product.exponent;
  return true;
}

// The first belief of a block, as the start of a run or by a burn-in.
bool LikelihoodPassRunner::first_state(const Block& block, Workspace& work,
                                       ScaledProduct& product) {
  double* const first = work.states.data();
  if (!block.starts_run) {
    std::fill_n(work.burn_in.data(), stride_, 0.0);
    std::fill_n(work.burn_in.data(), rows_.num_states_, 1.0);
    if (!advance(work.part(0, work.before), work.burn_in.data())) return false;
    std::copy_n(work.burn_in.data() + work.before * stride_, stride_, first);
    return true;
  }
  std::copy(rows_.start_.begin(), rows_.start_.end(), first);
  if (rows_.timing_ == Timing::after) return true;
  const double* const emission = rows_.emission_.data() + rows_.codes_[block.row] * stride_;
  double sum = 0.0;
  for (std::size_t s = 0; s < stride_; ++s) sum += first[s] *= emission[s];
  if (!(sum > 0.0)) return false;
  for (std::size_t s = 0; s < stride_; ++s) first[s] /= sum;
  multiply_into(product, sum);
  return true;
}

// The message at the end of a block: 1 at the end of a run, else by a burn-in or as settled.
bool LikelihoodPassRunner::last_message(std::size_t index, Workspace& work) {
  const Block& block = blocks_[index];
  std::fill(work.message.begin(), work.message.end(), 0.0);
  if (!block.ends_run() && block.exact_end) {
    std::copy_n(seam(index, kEndMessage), stride_, work.message.data());
    return true;
  }
  std::fill_n(work.message.data(), rows_.num_states_, 1.0);
  const std::size_t count = block.ends_run() ? 0 : std::min(burn_in_, block.steps_after);
  return retreat(work.part(work.before + block.steps, count), work.message.data());
}

void LikelihoodPassRunner::close_batch(TaskResult& result, std::int64_t& steps) const {
  // result.sums holds the running total; a batch is what was added since the last one.
  result.batches.insert(result.batches.end(), result.sums.begin(), result.sums.end());
  result.batch_steps.push_back(steps);
  steps = 0;
}

// Compares neighbours; computes exact vectors where they disagree or are asked for, and marks the
// tasks that need them. False when the rows are impossible.
bool LikelihoodPassRunner::settle() {
  if (seams_.empty()) return true;
  Workspace work(*this);
  const auto mark = [&](std::size_t block) {
    const auto task = std::upper_bound(tasks_.begin(), tasks_.end(), block) - tasks_.begin() - 1;
    dirty_[static_cast<std::size_t>(task)] = 1;
  };
  const bool all = burn_in_ == kNever;
  handover_error_ = 0.0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].starts_run) {
      if (all && !blocks_[b].ends_run() && !settle_start(b, work)) return false;
      continue;
    }
    if (!all) {
      const double error = seam_error(seam(b - 1, kEnd), seam(b, kStart), seam(b, kStartMessage));
      if (error <= kSeamTolerance) {
        handover_error_ = std::max(handover_error_, error);
        continue;
      }
      blocks_[b].exact_start = true;
      mark(b);
    }
    if (!settle_start(b, work)) return false;
  }
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    if (blocks_[b].ends_run()) {
      if (all && !blocks_[b].starts_run && !settle_message(b, work)) return false;
      continue;
    }
    if (!all) {
      const double error =
          seam_error(seam(b + 1, kStartMessage), seam(b, kEndMessage), seam(b, kEnd));
      if (error <= kSeamTolerance) {
        handover_error_ = std::max(handover_error_, error);
        continue;
      }
      blocks_[b].exact_end = true;
      mark(b);
    }
    if (!settle_message(b, work)) return false;
  }
  return true;
}

// Start vector from the neighbour before, and from it the end vector.
bool LikelihoodPassRunner::settle_start(std::size_t index, Workspace& work) {
  const Block& block = blocks_[index];
  work.before = 0;
  work.load(*this, block.row, block.steps);
  ScaledProduct ignored;
  if (block.starts_run) {
    if (!first_state(block, work, ignored)) return false;
  } else {
    std::copy_n(seam(index - 1, kEnd), stride_, work.states.data());
  }
  std::copy_n(work.states.data(), stride_, seam(index, kStart));
  if (!advance(work.part(0, block.steps), work.states.data())) return false;
  std::copy_n(work.states.data() + block.steps * stride_, stride_, seam(index, kEnd));
  return true;
}

// End message from the neighbour behind, and from it the start message.
bool LikelihoodPassRunner::settle_message(std::size_t index, Workspace& work) {
  const Block& block = blocks_[index];
  work.load(*this, block.row, block.steps);
  std::fill(work.message.begin(), work.message.end(), 0.0);
  if (block.ends_run()) {
    std::fill_n(work.message.data(), rows_.num_states_, 1.0);
  } else {
    std::copy_n(seam(index + 1, kStartMessage), stride_, work.message.data());
  }
  std::copy_n(work.message.data(), stride_, seam(index, kEndMessage));
  if (!retreat(work.part(0, block.steps), work.message.data())) return false;
  std::copy_n(work.message.data(), stride_, seam(index, kStartMessage));
  return true;
}

double LikelihoodPassRunner::seam_error(const double* truth, const double* guess,
                                        const double* weight) const {
  std::vector<double> smoothed(2 * stride_);
  for (std::size_t s = 0; s < stride_; ++s) {
    smoothed[s] = truth[s] * weight[s];
    smoothed[stride_ + s] = guess[s] * weight[s];
  }
  const double error = total_variation(smoothed.data(), smoothed.data() + stride_, stride_);
  return std::isfinite(error) ? error : 1.0;
}

LikelihoodPass LikelihoodPassRunner::collect() const {
  LikelihoodPass pass;
  const auto n = static_cast<std::size_t>(rows_.num_states_);
  const auto actions = static_cast<std::size_t>(rows_.num_actions_);
  pass.score.assign(actions * n * n, 0.0);
  pass.counts = pass.score;
  pass.handover_error = handover_error_;
  if (std::any_of(results_.begin(), results_.end(), [](const TaskResult& result) {
        return !result.possible || result.sums.empty();
      })) {
    return pass;
  }
  pass.log_likelihood = 0.0;
  for (std::size_t code = 0; code < rows_.code_counts_.size(); ++code) {
    if (rows_.code_counts_[code] > 0) {
      pass.log_likelihood +=
          static_cast<double>(rows_.code_counts_[code]) * rows_.log_largest_[code];
    }
  }
  const auto unpadded = [&](const double* from, const double* minus, std::vector<double>& out) {
    for (std::size_t row = 0; row < actions * n; ++row) {
      for (std::size_t next = 0; next < n; ++next) {
        const std::size_t i = row * stride_ + next;
        out.push_back(minus != nullptr ? from[i] - minus[i] : from[i]);
      }
    }
  };
  for (const TaskResult& result : results_) {
    pass.log_likelihood += std::log(result.product.mantissa) +
                           static_cast<double>(result.product.exponent) * std::log(2.0);
    std::vector<double> sums;
    unpadded(result.sums.data(), nullptr, sums);
    for (std::size_t i = 0; i < sums.size(); ++i) pass.score[i] += sums[i];
    for (std::size_t b = 0; b < result.batch_steps.size(); ++b) {
      const double* const total = result.batches.data() + b * result.sums.size();
      unpadded(total, b > 0 ? total - result.sums.size() : nullptr, pass.batch_scores);
      pass.batch_steps.push_back(result.batch_steps[b]);
    }
  }
  const auto values = transition_model_.values();
  for (std::size_t i = 0; i < values.size(); ++i) pass.counts[i] = values[i] * pass.score[i];
  return pass;
}

}  // namespace oas
