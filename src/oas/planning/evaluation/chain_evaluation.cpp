#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/planning/evaluation/detail/evaluation_checks.hpp"
#include "oas/planning/evaluation/detail/grid_chain.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"

namespace oas {

namespace {

constexpr int kFirstChainCheck = 4096;
constexpr double kChainStallRatio = 0.999;
constexpr int kFirstSettledCheck = 128;
constexpr double kUnchanged = 1e-7;      // change of increments, at most
constexpr double kMostWork = 1e11;       // products of all sweeps
constexpr double kFirstForecast = 0.06;  // of that work, until it is asked how much there will be
constexpr std::size_t kSmall = 20'000;   // products of a sweep that are not worth a thread

double largest_change(std::span<const double> from, std::span<const double> to) {
  double largest = 0.0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    largest = std::max(largest, std::abs(to[i] - from[i]));
  }
  return largest;
}

// By linear systems; false: the chain is too large for them.
bool solve_exactly(const detail::GridChain& grid, double tolerance, ChainEvaluation& result) {
  std::vector<std::size_t> places;
  std::optional<detail::MarkovChain> chain = grid.reached(places);
  if (!chain) return false;
  Eigen::MatrixXd worth(static_cast<Eigen::Index>(places.size()), 1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    worth(static_cast<Eigen::Index>(i), 0) = grid.worth_of(places[i]);
  }
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(worth.rows(), 1);
  result.smallest = std::numeric_limits<double>::infinity();
  result.largest = -result.smallest;
  const std::vector<std::vector<int>> classes = chain->classes();
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (!chain->closed()[c]) continue;
    // The increments over what is never left are bounds of its gain on both sides.
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const int i : classes[c]) {
      const double increment = grid.increments()[places[static_cast<std::size_t>(i)]];
      low = std::min(low, increment);
      high = std::max(high, increment);
    }
    const double gain =
        high - low <= tolerance ? 0.5 * (low + high) : chain->class_mean(classes[c], worth)(0, 0);
    for (const int i : classes[c]) mean(i, 0) = gain;
    result.smallest = std::min(result.smallest, gain);
    result.largest = std::max(result.largest, gain);
  }
  chain->solve_passing(mean);
  std::vector<double> table(grid.increments().size(), 0.0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    table[places[i]] = mean(static_cast<Eigen::Index>(i), 0);
  }
  result.gain = grid.at_start(table);
  return true;
}

// Whether sweeps still bring something: looked at where their number is a power of two. And whether
// they are worth their work, which is counted, not timed.
class Progress {
 public:
  Progress(const ChainOptions& options, double tolerance, double sweep_work, double most_work)
      : span_(options.span_tolerance),
        tolerance_(tolerance),
        sweep_work_(sweep_work),
        most_work_(most_work) {}

  void look(int sweep, double residual, const std::vector<double>& increments) {
    milestone_ = (sweep & (sweep - 1)) == 0;
    spent_ = sweep_work_ * sweep >= most_work_;
    if (!milestone_) return;
    spent_ = spent_ || (sweep_work_ * sweep >= kFirstForecast * most_work_ &&
                        sweep_work_ * sweeps_in_all(sweep, residual) > most_work_);
    // Increments that hardly change do not show that they have settled: what is left once in a
    // million steps changes as little.
    settled_ = sweep >= kFirstSettledCheck && largest_change(at_check_, increments) <= tolerance_;
    slow_ = sweep >= kFirstChainCheck;
    stalled_ = slow_ && residual > kChainStallRatio * checked_;
    checked_ = residual;
    if (2 * sweep >= kFirstSettledCheck) at_check_ = increments;
  }

  [[nodiscard]] bool is_slow() const { return milestone_ && (settled_ || slow_); }
  [[nodiscard]] bool has_ended() const { return milestone_ && (settled_ || stalled_); }
  [[nodiscard]] bool is_spent() const { return spent_; }

 private:
  // Until the span has fallen to its tolerance, were it to go on falling as since the last
  // milestone. It never rises, and where many parts settle at rates of their own it falls ever more
  // slowly: the forecast is too short rather than too long.
  [[nodiscard]] double sweeps_in_all(int sweep, double residual) const {
    const double fall = std::log(checked_ / residual);
    return sweep * (1.0 + 0.5 * std::log(residual / span_) / fall);
  }

  double span_;
  double tolerance_;
  double sweep_work_;
  double most_work_;
  bool spent_ = false;
  bool milestone_ = false;
  bool settled_ = false;
  bool slow_ = false;
  bool stalled_ = false;
  double checked_ = std::numeric_limits<double>::infinity();
  std::vector<double> at_check_;
};

void finish(ChainEvaluation& result, SolveStatus status, std::string message) {
  result.status = status;
  result.message = std::move(message);
}

void finish_exactly(ChainEvaluation& result, double tolerance) {
  if (result.largest - result.smallest <= tolerance) {
    finish(result, SolveStatus::converged, "solved by linear systems: sweeps would take too many");
  } else {
    finish(result, SolveStatus::stalled,
           fmt::format("the gain depends on the start: from {:.6g} to {:.6g}", result.smallest,
                       result.largest));
  }
}

}  // namespace

ChainEvaluation detail::solve_chain(GridChain& chain, const ChainOptions& options,
                                    Parallelism parallelism, double most_work) {
  const bool small = chain.work_of_sweep() < kSmall;
  detail::WorkerTeam team(small ? 1 : detail::resolve_threads(parallelism.threads),
                          chain.num_blocks());
  ChainEvaluation result;
  result.resolution = chain.resolution();
  const double tolerance = std::min(options.span_tolerance, kUnchanged);
  Progress progress(options, tolerance, chain.products_of_sweep(), most_work);
  bool fits = true;  // the linear systems
  for (int sweep = 1; result.status == SolveStatus::not_run; ++sweep) {
    check_interrupted();
    chain.sweep(team);
    const auto [low, high] =
        std::minmax_element(chain.increments().begin(), chain.increments().end());
    result.smallest = *low;
    result.largest = *high;
    result.residual = *high - *low;
    result.iterations = sweep;
    const bool last = sweep == options.max_sweeps;
    progress.look(sweep, result.residual, chain.increments());
    if (result.residual <= options.span_tolerance) {
      finish(result, SolveStatus::converged, "the span fell to the tolerance");
    } else if (fits && (last || progress.is_slow() || progress.is_spent())) {
      fits = solve_exactly(chain, tolerance, result);
      if (fits) {
        finish_exactly(result, options.span_tolerance);
        return result;
      }
    }
    if (result.status != SolveStatus::not_run) continue;
    if (progress.has_ended()) {
      finish(result, SolveStatus::stalled,
             fmt::format("the gain depends on the start, or the chain mixes too slowly to tell: "
                         "from {:.6g} to {:.6g}",
                         *low, *high));
    } else if (last) {
      finish(result, SolveStatus::sweep_limit,
             fmt::format("the span is {:.3g} after {} sweeps, the limit", result.residual, sweep));
    } else if (progress.is_spent()) {
      finish(result, SolveStatus::sweep_limit,
             fmt::format("too large for more than {} sweeps, and it mixes slowly: its gain lies "
                         "between {:.6g} and {:.6g}",
                         sweep, *low, *high));
    }
  }
  result.gain = chain.at_start(chain.increments());
  return result;
}

void ChainOptions::validate() const {
  OAS_REQUIRE(resolution >= 0, "resolution is {}; it must not be negative", resolution);
  OAS_REQUIRE(std::isfinite(span_tolerance) && span_tolerance > 0.0,
              "span_tolerance is {}; it must be positive", span_tolerance);
  OAS_REQUIRE(max_sweeps >= 1, "max_sweeps is {}; it must be at least 1", max_sweeps);
}

ChainEvaluation evaluate_on_chain(const Pomdp& truth, const Plan& plan, const Pomdp& filter,
                                  const ChainOptions& options, Parallelism parallelism) {
  options.validate();
  detail::check_same_sizes(truth, plan, filter);
  const int resolution = options.resolution > 0 ? options.resolution : plan.grid_resolution();
  OAS_REQUIRE(resolution > 0, "the plan has no grid of its own; give the resolution of the chain");
  const BeliefGrid grid(truth.num_states(), resolution);
  detail::GridChain chain(truth, plan, filter, grid, parallelism);
  return detail::solve_chain(chain, options, parallelism, kMostWork);
}

}  // namespace oas
