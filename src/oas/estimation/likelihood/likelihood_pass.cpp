#include "oas/estimation/likelihood/detail/likelihood_pass.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace oas {

using detail::ChainSteps;
using detail::ScaledProduct;

namespace {

constexpr std::size_t kTaskSteps = 8 * TransitionLikelihood::kBlockSteps;
constexpr int kMostRounds = 3;

void normalise(double* values, std::size_t count) {
  const double sum = std::accumulate(values, values + count, 0.0);
  std::for_each(values, values + count, [&](double& value) { value /= sum; });
}

void multiply_into(ScaledProduct& product, double factor) {
  int exponent = 0;
  product.mantissa = std::frexp(product.mantissa * factor, &exponent);
  product.exponent += exponent;
}

}  // namespace

void LikelihoodPassRunner::Workspace::fit(const LikelihoodPassRunner& runner) {
  const std::size_t rows = runner.end_row_ - runner.first_row_;
  codes.resize(std::min(kBlock + 2 * kLongestBurnIn, rows) + 1);
  transition.resize(codes.size());
  emission.resize(codes.size());
  states.resize((std::min(kBlock, rows) + 1) * runner.stride_);
  burn_in.resize(states.size());
  message.resize(2 * runner.stride_);
  end_message.resize(runner.stride_);
}

LikelihoodPassRunner::Workspace& LikelihoodPassRunner::workspace() const {
  // Kept for the next pass: new memory from the system costs more than a pass over a short log.
  thread_local Workspace work;
  work.fit(*this);
  return work;
}

void LikelihoodPassRunner::Workspace::load(const LikelihoodPassRunner& runner, std::size_t first,
                                           std::size_t count) {
  runner.rows_.codes_.unpack(first, count + runner.shift_, codes.data());
  const auto stride = static_cast<std::uint32_t>(runner.stride_);
  for (std::size_t i = 0; i < count; ++i) {
    transition[i] = runner.action_offset_[codes[i]];
    emission[i] = codes[i + runner.shift_] * stride;
  }
  if (!runner.rows_.vectors_) return;
  for (std::size_t i = 0; i < count; ++i) {
    emission[i] = static_cast<std::uint32_t>(first + i + runner.shift_) * stride;
  }
}

LikelihoodPassRunner::LikelihoodPassRunner(const TransitionLikelihood& rows,
                                           const TransitionModel& transition,
                                           const PassOptions& options, Parallelism parallelism)
    : rows_(rows),
      transition_model_(transition),
      options_(options),
      first_row_(options.first_row),
      end_row_(std::min(options.end_row, rows.rows())),
      window_end_(end_row_ - options.rows_ahead),
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
  for (const std::size_t row : options.never_left) {
    const std::size_t offset = row / n * matrix_;
    std::fill_n(transition_.begin() + static_cast<std::ptrdiff_t>(offset + row % n * stride_), n,
                0.0);
    for (std::size_t next = 0; next < n; ++next) {
      transposed_[offset + next * stride_ + row % n] = 0.0;
    }
  }
  if (options.sensors) emission_ = detail::EmissionTable(*options.sensors, rows.stride_);
  const std::vector<double>& emission = options.sensors ? emission_.values
                                        : rows.vectors_ ? rows.row_emission_
                                                        : rows.emission_->values;
  tables_ = {rows.num_states_, rows.stride_, transition_.data(), transposed_.data(),
             emission.data()};
  if (detail::reads_quads(rows.num_states_)) list_quads();
  cut();
  if (options.batches > 0) {
    std::size_t steps = 0;
    for (const Block& block : blocks_) steps += block.steps;
    batch_target_ = 2 * kGroup;
    const auto wanted = static_cast<std::size_t>(options.batches);
    // Most of the weight is in a tenth of the rows that count at all.
    const std::size_t more = options.forgetting.half_life > 0.0 || options.mean_weight ? 8 : 1;
    while (steps / (2 * static_cast<std::size_t>(batch_target_)) >= more * wanted) {
      batch_target_ *= 2;
    }
  }
}

void LikelihoodPassRunner::cut() {
  bool seams = !options_.first_belief.empty() || options_.rows_ahead > 0;
  std::size_t task_steps = kTaskSteps;
  const std::vector<std::size_t>& starts = rows_.run_starts_;
  const auto after_first = std::upper_bound(starts.begin(), starts.end(), first_row_);
  const auto first_run = static_cast<std::size_t>(after_first - starts.begin()) - 1;
  for (std::size_t run = first_run; run < starts.size(); ++run) {
    const std::size_t first = std::max(starts[run], first_row_);
    if (first >= window_end_) break;
    const std::size_t end =
        std::min(run + 1 < starts.size() ? starts[run + 1] : end_row_, end_row_);
    const std::int64_t oldest = ages_end(end) - options_.forgetting.reach();
    const std::size_t all = end - first - shift_;
    const std::size_t steps = std::min(all, window_end_ - first);
    seams = seams || steps > kBlock;
    const bool continued = run == first_run && !options_.first_belief.empty();
    std::size_t done = 0;
    bool forgotten = false;
    do {  // a run of one row in `before` timing is a block of no steps
      const std::size_t count = std::min(kBlock, steps - done);
      // One block more than counts is kept to settle in.
      if (static_cast<std::int64_t>(first + done + count + kBlock) <= oldest) {
        forgotten = true;
        done += count;
        continue;
      }
      if (task_steps >= kTaskSteps) {
        tasks_.push_back(blocks_.size());
        task_steps = 0;
      }
      Block block = {first + done, count, all - done - count};
      block.starts_run = done == 0 && !continued;
      if (block.starts_run) block.start = rows_.start_of(run);
      block.has_previous = done > 0;
      block.has_next = done + count < steps;
      block.exact_start = done == 0 && continued;
      block.exact_end = !block.has_next && block.steps_after > 0;
      block.ages_end = ages_end(end);
      if (std::exchange(forgotten, false)) {
        block.has_previous = false;
        block.exact_start = block.uniform_start = true;
        seams = true;
      }
      blocks_.push_back(block);
      task_steps += count + 8;  // a block is some work however short
      done += count;
    } while (done < steps);
    ends_forgotten_ = forgotten;
  }
  if (seams) seams_.resize(blocks_.size() * kSides * stride_);
}

LikelihoodPass LikelihoodPassRunner::run() {
  results_.resize(tasks_.size());
  dirty_.assign(tasks_.size(), 1);
  look_back();
  choose_burn_in();
  if (burn_in_ == kNever) {
    if (!look_ahead(workspace())) return collect();
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

void LikelihoodPassRunner::run_task(std::size_t task) {
  TaskResult& result = results_[task];
  result = {};
  result.sums.assign(transition_.size(), 0.0);
  if (weighted()) result.batch_sums = result.sums;
  if (options_.emissions) result.emissions.assign(rows_.emission_->values.size(), 0.0);
  Workspace& work = workspace();
  std::int64_t steps_in_batch = 0;
  if (task + 1 == tasks_.size()) result.possible = look_ahead(work);
  for (std::size_t b = tasks_[task]; b < blocks_end(task) && result.possible; ++b) {
    result.possible = run_block(b, work, result, steps_in_batch);
  }
  if (batch_target_ > 0 && steps_in_batch > 0) close_batch(result, steps_in_batch);
  dirty_[task] = 0;
}

bool LikelihoodPassRunner::run_block(std::size_t index, Workspace& work, TaskResult& result,
                                     std::int64_t& steps_in_batch) {
  const Block& block = blocks_[index];
  work.before = block.has_previous && !block.exact_start ? burn_in_ : 0;
  const std::size_t after = block.exact_end ? 0 : std::min(burn_in_, block.steps_after);
  work.load(*this, block.row - work.before, work.before + block.steps + after);
  if (!block.starts_run && block.exact_start) {
    std::copy_n(seam(index, kStart), stride_, work.states.data());
  } else {
    ScaledProduct product;
    if (!first_state(block, work, product)) return false;
    multiply_into(result.product, product.mantissa);
    result.product.exponent += product.exponent;
    if (weighted() && block.starts_run && shift_ == 1) {
      result.weighted_log +=
          weight_of(block, block.row, 1) *
          (std::log(product.mantissa) + static_cast<double>(product.exponent) * std::log(2.0) +
           log_largest(block.row));
    }
  }
  if (!last_message(index, work)) return false;
  std::copy_n(work.message.data(), stride_, work.end_message.data());
  if (!run_steps(block, kGroup, work, result, steps_in_batch)) {
    std::copy_n(work.end_message.data(), stride_, work.message.data());
    if (!run_steps(block, 1, work, result, steps_in_batch)) return false;
  }
  if (options_.emissions) add_first_emission(block, work, result);
  if (block.starts_run && block.start.is_unknown()) add_first_state(work, result);
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
  if (weighted()) {
    return run_weighted_steps(block, group, work, result, steps_in_batch);
  }
  ScaledProduct product;
  if (!kernels_.forward(tables_, work.part(work.before, block.steps), group, work.states.data(),
                        product)) {
    return false;
  }
  work.sums = result.sums;
  work.emissions = result.emissions;
  const std::size_t num_batches = result.batch_steps.size();
  const std::int64_t steps_before = steps_in_batch;
  const std::size_t piece =
      batch_target_ > 0 ? std::min(kBlock, static_cast<std::size_t>(batch_target_)) : kBlock;
  for (std::size_t end = block.steps; end > 0;) {
    const std::size_t first = (end - 1) / piece * piece;
    if (!step_back(work.part(work.before + first, end - first), group,
                   work.states.data() + first * stride_, work.message.data(), result)) {
      result.sums = work.sums;
      result.emissions = work.emissions;
      result.batch_steps.resize(num_batches);
      result.batches.resize(num_batches * result.sums.size());
      result.emission_batches.resize(num_batches * result.emissions.size());
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
  std::fill_n(first, stride_, 0.0);
  const auto states = static_cast<std::size_t>(rows_.num_states_);
  const double read = block.start.belief(std::span(rows_.start_).first(states), {first, states},
                                         options_.unknown_start);
  if (block.start.first() != nullptr) {  // a factor that does not depend on T
    if (!(read > 0.0)) return false;
    multiply_into(product, read);
  }
  if (rows_.timing_ == Timing::after) return true;
  const double* const shown = emission(block.row);
  double sum = 0.0;
  for (std::size_t s = 0; s < stride_; ++s) sum += first[s] *= shown[s];
  if (!(sum > 0.0)) return false;
  for (std::size_t s = 0; s < stride_; ++s) first[s] /= sum;
  multiply_into(product, sum);
  return true;
}

// Given all rows of its run.
void LikelihoodPassRunner::add_first_state(const Workspace& work, TaskResult& result) const {
  const auto n = static_cast<std::size_t>(rows_.num_states_);
  const double* const state = work.states.data();
  const double* const message = work.message.data();
  const double total = std::inner_product(state, state + n, message, 0.0);
  if (!(total > 0.0)) return;
  result.starts.resize(n, 0.0);
  for (std::size_t s = 0; s < n; ++s) result.starts[s] += state[s] * message[s] / total;
}

// The message at the end of a block: 1 at the end of a run, else by a burn-in or as settled.
bool LikelihoodPassRunner::last_message(std::size_t index, Workspace& work) {
  const Block& block = blocks_[index];
  std::fill(work.message.begin(), work.message.end(), 0.0);
  if (block.steps_after > 0 && block.exact_end) {
    std::copy_n(seam(index, kEndMessage), stride_, work.message.data());
    return true;
  }
  std::fill_n(work.message.data(), rows_.num_states_, 1.0);
  const std::size_t count = std::min(burn_in_, block.steps_after);
  return retreat(work.part(work.before + block.steps, count), work.message.data());
}

void LikelihoodPassRunner::close_batch(TaskResult& result, std::int64_t& steps) const {
  // result.sums holds the running total; a batch is what was added since the last one.
  const std::vector<double>& total = result.batch_sums.empty() ? result.sums : result.batch_sums;
  result.batches.insert(result.batches.end(), total.begin(), total.end());
  result.emission_batches.insert(result.emission_batches.end(), result.emissions.begin(),
                                 result.emissions.end());
  result.batch_steps.push_back(steps);
  steps = 0;
}

// The largest entries by which emissions were divided, over all steps.
double LikelihoodPassRunner::log_scale() const {
  // Rows of a window that belong to the windows before and behind it do not count.
  std::size_t end = window_end_;
  const bool crosses = shift_ == 1 && end < end_row_ &&
                       !std::binary_search(rows_.run_starts_.begin(), rows_.run_starts_.end(), end);
  if (crosses) ++end;
  const std::size_t first = first_row_ + (shift_ == 1 && !options_.first_belief.empty() ? 1 : 0);
  double sum = 0.0;
  if (rows_.vectors_) {
    for (std::size_t row = first; row < end; ++row) sum += rows_.row_log_largest_[row];
    return sum;
  }
  const std::vector<std::int64_t> until = rows_.codes_before(end);
  const std::vector<std::int64_t> before = rows_.codes_before(first);
  for (std::size_t code = 0; code < until.size(); ++code) {
    const std::int64_t count = until[code] - before[code];
    if (count > 0) sum += static_cast<double>(count) * log_largest_of(code);
  }
  return sum;
}

LikelihoodPass LikelihoodPassRunner::collect() const {
  LikelihoodPass pass;
  const auto n = static_cast<std::size_t>(rows_.num_states_);
  const auto actions = static_cast<std::size_t>(rows_.num_actions_);
  pass.score.assign(actions * n * n, 0.0);
  pass.counts = pass.score;
  pass.handover_error = handover_error_;
  if (options_.emissions) {
    pass.emission_counts.assign(actions * n * static_cast<std::size_t>(rows_.num_observations_),
                                0.0);
  }
  if (std::any_of(results_.begin(), results_.end(), [](const TaskResult& result) {
        return !result.possible || result.sums.empty();
      })) {
    return pass;
  }
  pass.log_likelihood = weighted() ? 0.0 : log_scale();
  if (ends_forgotten_) {
    pass.last_belief.assign(n, 1.0 / static_cast<double>(n));
  } else if (!seams_.empty()) {
    const double* const last = seams_.data() + ((blocks_.size() - 1) * kSides + kEnd) * stride_;
    pass.last_belief.assign(last, last + n);
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
    if (!result.starts.empty()) pass.unknown_starts.resize(n, 0.0);
    for (std::size_t s = 0; s < result.starts.size(); ++s) {
      pass.unknown_starts[s] += result.starts[s];
    }
    pass.log_likelihood += weighted()
                               ? result.weighted_log
                               : std::log(result.product.mantissa) +
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
  if (options_.emissions) collect_emissions(pass);
  clear_unwanted(pass);
  const auto values = transition_model_.values();
  for (std::size_t i = 0; i < values.size(); ++i) pass.counts[i] = values[i] * pass.score[i];
  return pass;
}

}  // namespace oas
