#include "oas/planning/grid/relative_value_iteration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/planning/grid/detail/worker_team.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

namespace {

// Below this many probabilities a sweep is shorter than waking a thread is worth.
constexpr std::size_t kParallelEntries = 100'000;
// The bias drifts by the gain every sweep; it is pulled back this often, to keep digits.
constexpr int kRecentre = 256;
// From here on, at every power of two: a span still above this share of the one half as many sweeps
// ago has stopped falling.
constexpr int kFirstStallCheck = 4096;
constexpr double kStallRatio = 0.999;

bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

void recentre(std::vector<double>& bias) {
  const double origin = bias.front();
  for (double& value : bias) value -= origin;
}

}  // namespace

std::string_view to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::not_run:
      return "not_run";
    case SolveStatus::converged:
      return "converged";
    case SolveStatus::stalled:
      return "stalled";
    case SolveStatus::sweep_limit:
      return "sweep_limit";
  }
  return "?";
}

void RviOptions::validate(int num_actions) const {
  check_floor(iota, num_actions);
  OAS_REQUIRE(std::isfinite(span_tolerance) && span_tolerance > 0.0,
              "span_tolerance is {}; it must be positive", span_tolerance);
  OAS_REQUIRE(max_sweeps >= 1, "max_sweeps is {}; it must be at least 1", max_sweeps);
  OAS_REQUIRE(damping > 0.0 && damping <= 1.0, "damping is {}; it must lie in (0, 1]", damping);
}

std::string RviResult::brief() const {
  return fmt::format("{} after {} sweeps: gain of the grid {:.6g} (span {:.2g})", to_string(status),
                     iterations, gain(), residual);
}

GridSolver::GridSolver(BeliefGrid grid, Parallelism parallelism)
    : mdp_(std::move(grid)),
      parallelism_(parallelism),
      next_(mdp_.grid().size()),
      lowest_(mdp_.num_blocks()),
      highest_(mdp_.num_blocks()) {
  result_.bias.assign(mdp_.grid().size(), 0.0);
}

void GridSolver::reset() { std::fill(result_.bias.begin(), result_.bias.end(), 0.0); }

void GridSolver::reset(std::span<const double> bias) {
  OAS_REQUIRE(bias.size() == result_.bias.size(), "a bias of {} values for {} grid points",
              bias.size(), result_.bias.size());
  std::copy(bias.begin(), bias.end(), result_.bias.begin());
}

const RviResult& GridSolver::solve(const Pomdp& model, const RviOptions& options) {
  mdp_.compile(model, parallelism_);
  return iterate(options);
}

void GridSolver::sweep_block(std::size_t index, const RviOptions& options) {
  const BeliefMdp::Block& block = std::as_const(mdp_).block(index);
  const int num_actions = mdp_.num_actions();
  const double greedy_weight = 1.0 - num_actions * options.iota;
  const double* v = result_.bias.data();
  const std::uint32_t* targets = block.targets.data();
  const double* probabilities = block.probabilities.data();
  const std::uint32_t* offsets = block.offsets.data();
  const double* rewards = block.rewards.data();
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const std::size_t first = mdp_.first_point(index);
  const std::size_t last = first + mdp_.num_block_points(index);
  std::uint32_t k = 0;
  for (std::size_t point = first; point < last; ++point) {
    double best = -std::numeric_limits<double>::infinity();
    double sum = 0.0;
    for (int a = 0; a < num_actions; ++a) {
      double value = *rewards++;
      for (const std::uint32_t end = *++offsets; k < end; ++k) {
        value += probabilities[k] * v[targets[k]];
      }
      best = std::max(best, value);
      sum += value;
    }
    const double increment = greedy_weight * best + options.iota * sum - v[point];
    low = std::min(low, increment);
    high = std::max(high, increment);
    next_[point] = v[point] + options.damping * increment;
  }
  lowest_[index] = low;
  highest_[index] = high;
}

const RviResult& GridSolver::iterate(const RviOptions& options) {
  options.validate(mdp_.num_actions());
  const bool small = mdp_.num_entries() < kParallelEntries;
  detail::WorkerTeam team(small ? 1 : detail::resolve_threads(parallelism_.threads),
                          mdp_.num_blocks());
  double checked = std::numeric_limits<double>::infinity();
  recentre(result_.bias);
  for (int sweep = 1;; ++sweep) {
    check_interrupted();
    team.for_each([&](std::size_t block) { sweep_block(block, options); });
    std::swap(result_.bias, next_);
    result_.smallest_increment = *std::min_element(lowest_.begin(), lowest_.end());
    result_.largest_increment = *std::max_element(highest_.begin(), highest_.end());
    result_.residual = result_.largest_increment - result_.smallest_increment;
    if (result_.residual <= options.span_tolerance) {
      finish(SolveStatus::converged, sweep);
      return result_;
    }
    if (sweep >= kFirstStallCheck && is_power_of_two(sweep)) {
      if (result_.residual > kStallRatio * checked) {
        finish(SolveStatus::stalled, sweep);
        return result_;
      }
    }
    if (is_power_of_two(sweep)) checked = result_.residual;
    if (sweep == options.max_sweeps) {
      finish(SolveStatus::sweep_limit, sweep);
      return result_;
    }
    if (sweep % kRecentre == 0) recentre(result_.bias);
  }
}

void GridSolver::finish(SolveStatus status, int sweeps) {
  recentre(result_.bias);
  result_.status = status;
  result_.iterations = sweeps;
  switch (status) {
    case SolveStatus::stalled:
      result_.message = fmt::format(
          "the increments stay between {:.6g} and {:.6g}: the best gain depends on the start "
          "belief "
          "(or the model mixes too slowly to tell)",
          result_.smallest_increment, result_.largest_increment);
      break;
    case SolveStatus::sweep_limit:
      result_.message =
          fmt::format("the span is {:.3g} after {} sweeps, the limit", result_.residual, sweeps);
      break;
    default:
      result_.message.assign("the span fell to the tolerance");
  }
}

RviResult relative_value_iteration(const Pomdp& model, const BeliefGrid& grid,
                                   const RviOptions& options, Parallelism parallelism) {
  GridSolver solver(grid, parallelism);
  return solver.solve(model, options);
}

}  // namespace oas
