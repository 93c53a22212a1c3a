#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "oas/estimation/likelihood/detail/likelihood_pass.hpp"

/// Where blocks, and windows of a log, meet: burn-ins, comparison, repair.
namespace oas {

using detail::ChainSteps;
using detail::ScaledProduct;

namespace {

constexpr std::array<std::size_t, 6> kBurnIns = {64, 128, 256, 512, 1024, 2048};
constexpr double kSeamTolerance = 1e-13;   // total variation where two blocks meet
constexpr double kPilotTolerance = 1e-15;  // of the burn-in that is then doubled

// Half the L1 distance of two vectors, each divided by its sum.
double total_variation(const double* x, const double* y, std::size_t count) {
  const double x_sum = std::accumulate(x, x + count, 0.0);
  const double y_sum = std::accumulate(y, y + count, 0.0);
  double distance = 0.0;
  for (std::size_t s = 0; s < count; ++s) distance += std::abs(x[s] / x_sum - y[s] / y_sum);
  return 0.5 * distance;
}

}  // namespace

// The belief with which a window starts, that came from the window before.
void LikelihoodPassRunner::look_back() {
  if (blocks_.empty() || seams_.empty()) return;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].uniform_start) std::fill_n(seam(b, kStart), rows_.num_states_, 1.0);
  }
  if (!options_.first_belief.empty() && !blocks_.front().uniform_start) {
    std::copy(options_.first_belief.begin(), options_.first_belief.end(), seam(0, kStart));
  }
}

// The message from the rows ahead, with which it ends: the business of its last task, so that the
// others need not wait.
bool LikelihoodPassRunner::look_ahead(Workspace& work) {
  if (blocks_.empty() || seams_.empty() || std::exchange(looked_ahead_, true)) return true;
  const std::size_t last = blocks_.size() - 1;
  if (!blocks_[last].exact_end) return true;
  work.before = 0;
  std::fill(work.message.begin(), work.message.end(), 0.0);
  std::fill_n(work.message.data(), rows_.num_states_, 1.0);
  const std::size_t first = blocks_[last].row + blocks_[last].steps;
  for (std::size_t end = blocks_[last].steps_after; end > 0;) {
    const std::size_t start = (end - 1) / kBlock * kBlock;
    work.load(*this, first + start, end - start);
    if (!retreat(work.part(0, end - start), work.message.data())) return false;
    end = start;
  }
  std::copy_n(work.message.data(), stride_, seam(last, kEndMessage));
  return true;
}

// As run_block() has it when no seam disagrees.
std::vector<double> LikelihoodPassRunner::guess_last_belief() {
  if (blocks_.empty() || seams_.empty()) return {};
  choose_burn_in();
  if (burn_in_ == kNever) return {};
  const std::size_t last = blocks_.size() - 1;
  const Block& block = blocks_[last];
  Workspace& work = workspace();
  work.before = block.has_previous ? burn_in_ : 0;
  work.load(*this, block.row - work.before, work.before + block.steps);
  ScaledProduct ignored;
  if (block.exact_start) {
    std::copy(options_.first_belief.begin(), options_.first_belief.end(), work.states.data());
  } else if (!first_state(block, work, ignored)) {
    return {};
  }
  if (!advance(work.part(work.before, block.steps), work.states.data())) return {};
  const double* const end = work.states.data() + block.steps * stride_;
  return {end, end + rows_.num_states_};
}

// How long a burn-in must be is found at some seams: the shortest that agrees with one over a
// whole block, doubled.
void LikelihoodPassRunner::choose_burn_in() {
  std::vector<std::size_t> candidates;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b].has_previous) candidates.push_back(b);
  }
  if (candidates.empty()) return;
  const std::size_t pilots = std::clamp<std::size_t>(candidates.size() / 16, 1, 8);
  Workspace work;
  work.fit(*this);
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

// From now on no burn-in: every block takes what its neighbours have.
void LikelihoodPassRunner::settle_all() {
  burn_in_ = kNever;
  for (Block& block : blocks_) {
    block.exact_start = block.exact_start || block.has_previous;
    block.exact_end = block.exact_end || block.has_next;
  }
  dirty_.assign(tasks_.size(), 1);
}

// Compares neighbours; computes exact vectors where they disagree or are asked for, and marks the
// tasks that need them. False when the rows are impossible.
bool LikelihoodPassRunner::settle() {
  if (seams_.empty()) return true;
  Workspace work;
  work.fit(*this);
  const auto mark = [&](std::size_t block) {
    const auto task = std::upper_bound(tasks_.begin(), tasks_.end(), block) - tasks_.begin() - 1;
    dirty_[static_cast<std::size_t>(task)] = 1;
  };
  const bool all = burn_in_ == kNever;
  handover_error_ = 0.0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!blocks_[b].has_previous) {
      if (all && blocks_[b].has_next && !settle_start(b, work)) return false;
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
    if (!blocks_[b].has_next) {
      if (all && blocks_[b].has_previous && !settle_message(b, work)) return false;
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
    std::copy_n(block.has_previous ? seam(index - 1, kEnd) : seam(index, kStart), stride_,
                work.states.data());
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
  if (block.has_next) {
    std::copy_n(seam(index + 1, kStartMessage), stride_, work.message.data());
  } else if (block.steps_after > 0) {
    std::copy_n(seam(index, kEndMessage), stride_, work.message.data());
  } else {
    std::fill_n(work.message.data(), rows_.num_states_, 1.0);
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

}  // namespace oas
