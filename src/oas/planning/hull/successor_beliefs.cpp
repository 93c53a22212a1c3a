#include "oas/planning/hull/detail/successor_beliefs.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace oas::detail {

using Entry = SparseModel::Rows::InnerIterator;

namespace {

// What is less likely cannot be divided by; together it is far below what certificates allow for
// rounding.
constexpr double kLeastMass = std::numeric_limits<double>::min();

}  // namespace

SuccessorBeliefs::SuccessorBeliefs(const Pomdp& model)
    : timing_(model.timing()),
      model_(model),
      moved_(static_cast<std::size_t>(model.num_states()), 0.0),
      seen_(static_cast<std::size_t>(model.num_observations())) {}

SparseBelief& SuccessorBeliefs::seen(int observation) {
  SparseBelief& masses = seen_[static_cast<std::size_t>(observation)];
  if (masses.states.empty()) observed_.push_back(observation);
  return masses;
}

void SuccessorBeliefs::move(const SparseBelief& masses, const Rows& transition, SparseBelief& out) {
  out.states.clear();
  out.shares.clear();
  for (std::size_t i = 0; i < masses.states.size(); ++i) {
    for (Entry entry(transition, masses.states[i]); entry; ++entry) {
      double& mass = moved_[static_cast<std::size_t>(entry.col())];
      if (mass == 0.0) out.states.push_back(static_cast<int>(entry.col()));
      mass += masses.shares[i] * entry.value();
    }
  }
  std::sort(out.states.begin(), out.states.end());
  out.states.erase(std::unique(out.states.begin(), out.states.end()), out.states.end());
  for (const int s : out.states) {
    out.shares.push_back(std::exchange(moved_[static_cast<std::size_t>(s)], 0.0));
  }
}

void SuccessorBeliefs::after(const SparseBelief& belief, const Rows& transition,
                             const Rows& sensors) {
  SparseBelief next;
  move(belief, transition, next);
  for (std::size_t i = 0; i < next.states.size(); ++i) {
    for (Entry entry(sensors, next.states[i]); entry; ++entry) {
      const double mass = next.shares[i] * entry.value();
      if (mass <= 0.0) continue;
      SparseBelief& masses = seen(static_cast<int>(entry.col()));
      masses.states.push_back(next.states[i]);
      masses.shares.push_back(mass);
    }
  }
}

void SuccessorBeliefs::before(const SparseBelief& belief, const Rows& transition,
                              const Rows& sensors) {
  for (std::size_t i = 0; i < belief.states.size(); ++i) {
    for (Entry entry(sensors, belief.states[i]); entry; ++entry) {
      const double mass = belief.shares[i] * entry.value();
      if (mass <= 0.0) continue;
      SparseBelief& masses = seen(static_cast<int>(entry.col()));
      masses.states.push_back(belief.states[i]);
      masses.shares.push_back(mass);
    }
  }
  SparseBelief next;
  for (const int o : observed_) {
    SparseBelief& masses = seen_[static_cast<std::size_t>(o)];
    move(masses, transition, next);
    std::swap(masses, next);
  }
}

const std::vector<SuccessorBeliefs::Successor>& SuccessorBeliefs::from(const SparseBelief& belief,
                                                                       int action) {
  const auto a = static_cast<std::size_t>(action);
  observed_.clear();
  timing_ == Timing::after ? after(belief, model_.transition[a], model_.sensors[a])
                           : before(belief, model_.transition[a], model_.sensors[a]);
  std::sort(observed_.begin(), observed_.end());
  successors_.clear();
  for (const int o : observed_) {
    SparseBelief& masses = seen_[static_cast<std::size_t>(o)];
    const double sum = std::accumulate(masses.shares.begin(), masses.shares.end(), 0.0);
    if (sum < kLeastMass) {
      masses = {};
      continue;
    }
    for (double& share : masses.shares) share /= sum;
    successors_.push_back({o, sum, std::exchange(masses, {})});
  }
  return successors_;
}

}  // namespace oas::detail
