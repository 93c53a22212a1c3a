#include "oas/planning/grid/optimistic_memoryless.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/planning/grid/detail/rewards_by_target.hpp"

namespace oas {

namespace {

constexpr int kMaxSweeps = 20'000;
constexpr double kSpan = 1e-9;
constexpr double kProgress = 1e-9;  // gain that is worth another round

// P(a' | a, emitting state), one A×S table (a', state) for every a.
std::vector<Matrix> next_actions(const Pomdp& model, std::span<const int> greedy, double iota) {
  const int num_actions = model.num_actions();
  const int o = model.num_observations();
  std::vector<Matrix> tables;
  for (int a = 0; a < num_actions; ++a) {
    Matrix table = Matrix::Constant(num_actions, model.num_states(), iota);
    for (int seen = 0; seen < o; ++seen) {
      table.row(greedy[static_cast<std::size_t>(a * o + seen)]) +=
          (1.0 - num_actions * iota) * model.sensors().matrix(Action{a}).row(seen);
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

// Nature's decision process: values of the next state for one (a,s), and its best row.
class Nature {
 public:
  Nature(const ConfidenceSet& set, std::span<const int> greedy, double iota)
      : set_(set),
        model_(set.center),
        rewards_(detail::rewards_by_target(set.center)),
        next_(next_actions(set.center, greedy, iota)),
        values_(static_cast<std::size_t>(set.center.num_states())) {}

  std::vector<double> best_row(int a, int s, const Matrix& h) {
    const int n = model_.num_states();
    const bool before = model_.timing() == Timing::before;
    for (int to = 0; to < n; ++to) {
      const auto chances = next_[static_cast<std::size_t>(a)].col(before ? s : to);
      values_[static_cast<std::size_t>(to)] =
          rewards_[static_cast<std::size_t>(to)](a, s) + chances.dot(h.col(to));
    }
    return optimistic_row(model_.transition().row(Action{a}, State{s}),
                          set_.radius[static_cast<std::size_t>(a * n + s)], values_);
  }

  [[nodiscard]] double value_of(std::span<const double> row) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < row.size(); ++i) sum += row[i] * values_[i];
    return sum;
  }

 private:
  const ConfidenceSet& set_;
  const Pomdp& model_;
  std::vector<Matrix> rewards_;
  std::vector<Matrix> next_;
  std::vector<double> values_;  // of the last best_row
};

}  // namespace

TransitionModel best_member_for(const ConfidenceSet& set, std::span<const int> greedy,
                                double iota) {
  const int n = set.center.num_states();
  const int num_actions = set.center.num_actions();
  Nature nature(set, greedy, iota);
  Matrix h = Matrix::Zero(num_actions, n);
  std::vector<double> values;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    check_interrupted();
    Matrix change(num_actions, n);
    values.clear();
    for (int a = 0; a < num_actions; ++a) {
      for (int s = 0; s < n; ++s) {
        const std::vector<double> row = nature.best_row(a, s, h);
        change(a, s) = nature.value_of(row) - h(a, s);
        values.insert(values.end(), row.begin(), row.end());
      }
    }
    h += 0.5 * change;
    h.array() -= h(0, 0);
    if (change.maxCoeff() - change.minCoeff() < kSpan) break;
  }
  return {n, num_actions, std::move(values)};
}

OptimisticMemoryless optimistic_memoryless(const ConfidenceSet& set,
                                           const MemorylessOptions& options, int rounds) {
  set.validate();
  MemorylessResult policy = best_memoryless(set.center, options);
  OptimisticMemoryless best{policy.greedy, set.center.transition(), policy.gain, policy.gain,
                            policy.exhaustive};
  if (set.max_radius() == 0.0) return best;
  for (int round = 0; round < rounds; ++round) {
    TransitionModel member = best_member_for(set, best.greedy, options.iota);
    const Pomdp model = set.center.with_transition(member);
    policy = best_memoryless(model, options);
    // Where climbing missed it, the policy that chose the member is still there.
    const double kept = memoryless_gain(model, best.greedy, options.iota);
    if (kept > policy.gain) policy = {kept, best.greedy, policy.exhaustive, policy.evaluated};
    if (!(policy.gain > best.gain + kProgress)) break;
    best.greedy = policy.greedy;
    best.member = std::move(member);
    best.gain = policy.gain;
  }
  return best;
}

}  // namespace oas
