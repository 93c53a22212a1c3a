#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "oas/belief/first_beliefs.hpp"
#include "oas/belief/joint_kernel.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/planning/evaluation/detail/evaluation_checks.hpp"
#include "oas/planning/evaluation/policy_evaluation.hpp"
#include "oas/planning/grid/detail/worker_team.hpp"
#include "oas/planning/look_ahead.hpp"

namespace oas {

namespace {

constexpr std::size_t kBlockPoints = 64;
constexpr int kFirstChainCheck = 4096;
constexpr double kChainStallRatio = 0.999;
constexpr int kFirstSettledCheck = 128;

double largest_change(std::span<const double> from, std::span<const double> to) {
  double largest = 0.0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    largest = std::max(largest, std::abs(to[i] - from[i]));
  }
  return largest;
}

// Where the agent's belief goes: for each (point, action, observation) a few vertices, and the
// greedy action at the exact next belief: policies jump at the borders of their regions, so the
// action must not be read off the vertices.
struct Moves {
  std::vector<int> greedy;
  std::vector<std::uint32_t> offsets = {0};
  std::vector<std::uint32_t> targets;
  std::vector<double> weights;
};

// What the agent believes before its first action, and does then.
struct AgentStart {
  Observation first;  // kMissing: rows are not reading-first
  std::vector<double> belief;
  int greedy = 0;
};

// The filter's model, with first readings if the true one has them.
Pomdp as_the_truth_opens(const Pomdp& filter, const Pomdp& truth) {
  return filter.reading_first() == truth.reading_first()
             ? filter
             : filter.with_rows(truth.reading_first() ? Rows::reading_first : Rows::action_first);
}

// One fixed policy on (belief on the grid, greedy action at the exact belief, true state).
class Chain {
 public:
  Chain(const Pomdp& truth, const Plan& plan, const Pomdp& filter, const BeliefGrid& grid,
        Parallelism parallelism);

  ChainEvaluation solve(const ChainOptions& options, Parallelism parallelism);

 private:
  void build_block(std::size_t block, LookAhead look_ahead);
  void add_moves(Moves& moves, int action, const double* belief, LookAhead& look_ahead) const;
  void sweep_block(std::size_t block);
  void back_up_action(const Moves& moves, std::size_t point, std::size_t action, double* out) const;
  [[nodiscard]] std::size_t width() const { return num_actions_ * num_states_; }
  [[nodiscard]] double at_start(std::span<const double> table) const;

  const Pomdp& truth_;
  const BeliefGrid& grid_;
  std::size_t num_states_;
  std::size_t num_actions_;
  std::size_t num_observations_;
  double iota_;
  std::vector<AgentStart> starts_;
  Matrix rewards_;                      // A×S, under the truth
  std::vector<double> kernel_;          // joint kernel of the truth
  std::vector<double> filter_kernel_;   // prefix kernel of the filter
  std::vector<double> filter_predict_;  // [a][s][S]: prefix sums of T_a(s,·), the filter's
  std::vector<Moves> moves_;            // per block
  std::vector<double> values_;          // [point][greedy action][state]
  std::vector<double> next_;
  std::vector<double> increments_;
};

Chain::Chain(const Pomdp& truth, const Plan& plan, const Pomdp& filter, const BeliefGrid& grid,
             Parallelism parallelism)
    : truth_(truth),
      grid_(grid),
      num_states_(static_cast<std::size_t>(truth.num_states())),
      num_actions_(static_cast<std::size_t>(truth.num_actions())),
      num_observations_(static_cast<std::size_t>(truth.num_observations())),
      iota_(plan.iota),
      rewards_(truth.expected_reward()),
      kernel_(joint_kernel(truth, truth.transition())),
      filter_kernel_(detail::prefix_kernel(filter)),
      filter_predict_(num_actions_ * num_states_ * num_states_, 0.0),
      moves_((grid.size() + kBlockPoints - 1) / kBlockPoints),
      values_(grid.size() * num_actions_ * num_states_, 0.0),
      next_(values_.size()),
      increments_(values_.size()) {
  const std::size_t square = num_states_ * num_states_;
  for (std::size_t i = 0; i < filter_kernel_.size(); ++i) {
    filter_predict_[i / (square * num_observations_) * square + i % square] += filter_kernel_[i];
  }
  LookAhead look_ahead(plan);
  for (const FirstBelief& start : first_beliefs(as_the_truth_opens(filter, truth))) {
    starts_.push_back({start.first, start.belief, look_ahead.greedy(start.belief)});
  }
  parallel_for(moves_.size(), parallelism,
               [&](std::size_t block) { build_block(block, look_ahead); });
}

void Chain::add_moves(Moves& moves, int action, const double* belief, LookAhead& look_ahead) const {
  const auto n = static_cast<std::ptrdiff_t>(num_states_);
  std::array<double, kMaxGridStates> next;
  const double* kernel =
      filter_kernel_.data() + action * static_cast<int>(num_observations_) * n * n;
  const auto move = [&](const double* prefix_kernel) {
    double previous = 0.0;
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      double prefix = 0.0;
      for (std::ptrdiff_t s = 0; s < n; ++s) prefix += belief[s] * prefix_kernel[s * n + j];
      next[j] = prefix - previous;
      previous = prefix;
    }
    for (std::ptrdiff_t j = 0; j < n; ++j) next[j] = std::max(next[j] / previous, 0.0);
    return previous;
  };
  std::array<std::uint32_t, kMaxGridStates> indices;
  std::array<double, kMaxGridStates> weights;
  const auto view = std::span<const double>(next).first(num_states_);
  for (std::size_t o = 0; o < num_observations_; ++o, kernel += n * n) {
    // An observation that the filter thinks impossible is skipped: the belief moves by T_a alone.
    if (!(move(kernel) > 0.0)) move(filter_predict_.data() + action * n * n);
    const int count = grid_.interpolate(view, indices.data(), weights.data());
    moves.targets.insert(moves.targets.end(), indices.begin(), indices.begin() + count);
    moves.weights.insert(moves.weights.end(), weights.begin(), weights.begin() + count);
    moves.offsets.push_back(static_cast<std::uint32_t>(moves.targets.size()));
    moves.greedy.push_back(look_ahead.greedy(view));
  }
}

void Chain::build_block(std::size_t block, LookAhead look_ahead) {
  const std::size_t first = block * kBlockPoints;
  const std::size_t last = std::min(first + kBlockPoints, grid_.size());
  std::vector<double> belief(num_states_);
  for (std::size_t point = first; point < last; ++point) {
    grid_.point(point, belief);
    for (std::size_t a = 0; a < num_actions_; ++a) {
      add_moves(moves_[block], static_cast<int>(a), belief.data(), look_ahead);
    }
  }
}

// out(s) = r(a,s) + Σ_{o,s'} K_a^o(s,s') h(next belief, its greedy action, s').
void Chain::back_up_action(const Moves& moves, std::size_t point, std::size_t action,
                           double* out) const {
  std::array<double, kMaxGridStates> mixed;
  std::size_t row = (point % kBlockPoints * num_actions_ + action) * num_observations_;
  const double* kernel = kernel_.data() + action * num_observations_ * num_states_ * num_states_;
  for (std::size_t s = 0; s < num_states_; ++s) {
    out[s] = rewards_(static_cast<Eigen::Index>(action), static_cast<Eigen::Index>(s));
  }
  for (std::size_t o = 0; o < num_observations_; ++o, ++row) {
    std::fill_n(mixed.begin(), num_states_, 0.0);
    const double* labelled =
        values_.data() + static_cast<std::size_t>(moves.greedy[row]) * num_states_;
    for (std::uint32_t k = moves.offsets[row]; k < moves.offsets[row + 1]; ++k) {
      const double* value = labelled + moves.targets[k] * width();
      for (std::size_t s = 0; s < num_states_; ++s) mixed[s] += moves.weights[k] * value[s];
    }
    for (std::size_t s = 0; s < num_states_; ++s, kernel += num_states_) {
      for (std::size_t t = 0; t < num_states_; ++t) out[s] += kernel[t] * mixed[t];
    }
  }
}

void Chain::sweep_block(std::size_t block) {
  const std::size_t first = block * kBlockPoints;
  const std::size_t last = std::min(first + kBlockPoints, grid_.size());
  const double greedy_share = 1.0 - static_cast<double>(num_actions_) * iota_;
  std::array<double, kMaxGridStates> sum;
  for (std::size_t point = first; point < last; ++point) {
    double* increments = increments_.data() + point * width();
    std::fill_n(sum.begin(), num_states_, 0.0);
    for (std::size_t a = 0; a < num_actions_; ++a) {
      back_up_action(moves_[block], point, a, increments + a * num_states_);
      for (std::size_t s = 0; s < num_states_; ++s) sum[s] += increments[a * num_states_ + s];
    }
    for (std::size_t i = 0; i < width(); ++i) {
      const double now = values_[point * width() + i];
      increments[i] = greedy_share * increments[i] + iota_ * sum[i % num_states_] - now;
      next_[point * width() + i] = now + 0.5 * increments[i];
    }
  }
}

// The mean over the true start state, the first reading, and the cell of the filter's belief.
double Chain::at_start(std::span<const double> table) const {
  std::array<std::uint32_t, kMaxGridStates> indices;
  std::array<double, kMaxGridStates> weights;
  double value = 0.0;
  for (const AgentStart& start : starts_) {
    const int count = grid_.interpolate(start.belief, indices.data(), weights.data());
    for (int k = 0; k < count; ++k) {
      for (std::size_t s = 0; s < num_states_; ++s) {
        const double seen = start.first == kMissing
                                ? 1.0
                                : (*truth_.first_observation())(Action{0}, State{s}, start.first);
        value +=
            weights[k] * truth_.start()[s] * seen *
            table[indices[k] * width() + static_cast<std::size_t>(start.greedy) * num_states_ + s];
      }
    }
  }
  return value;
}

ChainEvaluation Chain::solve(const ChainOptions& options, Parallelism parallelism) {
  const bool small = values_.size() * num_observations_ < 20'000;
  detail::WorkerTeam team(small ? 1 : detail::resolve_threads(parallelism.threads), moves_.size());
  ChainEvaluation result;
  result.resolution = grid_.resolution();
  double checked = std::numeric_limits<double>::infinity();
  std::vector<double> at_check;
  for (int sweep = 1;; ++sweep) {
    check_interrupted();
    team.for_each([&](std::size_t block) { sweep_block(block); });
    std::swap(values_, next_);
    const auto [low, high] = std::minmax_element(increments_.begin(), increments_.end());
    result.smallest = *low;
    result.largest = *high;
    result.residual = *high - *low;
    result.iterations = sweep;
    const bool milestone = (sweep & (sweep - 1)) == 0;
    // Where the chain falls into pieces, every start settles at its own gain.
    const bool settled = milestone && sweep >= kFirstSettledCheck &&
                         largest_change(at_check, increments_) <= options.span_tolerance;
    const bool stalled = settled || (milestone && sweep >= kFirstChainCheck &&
                                     result.residual > kChainStallRatio * checked);
    if (milestone) checked = result.residual;
    if (milestone && 2 * sweep >= kFirstSettledCheck) at_check = increments_;
    if (result.residual <= options.span_tolerance) {
      result.status = SolveStatus::converged;
      result.message = "the span fell to the tolerance";
    } else if (stalled) {
      result.status = SolveStatus::stalled;
      result.message = fmt::format("the gain depends on the start: from {:.6g} to {:.6g}",
                                   result.smallest, result.largest);
    } else if (sweep == options.max_sweeps) {
      result.status = SolveStatus::sweep_limit;
      result.message =
          fmt::format("the span is {:.3g} after {} sweeps, the limit", result.residual, sweep);
    } else {
      continue;
    }
    result.gain = at_start(increments_);
    return result;
  }
}

}  // namespace

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
  return Chain(truth, plan, filter, grid, parallelism).solve(options, parallelism);
}

}  // namespace oas
