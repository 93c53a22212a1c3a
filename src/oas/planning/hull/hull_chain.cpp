#include "oas/planning/hull/detail/hull_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "oas/core/interruption.hpp"

namespace oas::detail {

namespace {

constexpr double kDamping = 0.5;
constexpr int kSweepsPerLook = 20;
constexpr int kMostSweeps = 4000;
constexpr double kSettled = 1e-6;  // of the range of rewards, in so many sweeps
constexpr double kRounding = 1e-13;
constexpr int kFirstSteps = 500;  // of the chain, for its occupancy
constexpr int kMoreSteps = 100;
constexpr double kNoMass = 1e-15;

}  // namespace

HullChain::HullChain(const Pomdp& model, double iota)
    : num_actions_(model.num_actions()),
      iota_(iota),
      rewards_(model.expected_reward()),
      points_(model.num_states()),
      program_(points_),
      successors_(model),
      scratch_(static_cast<std::size_t>(num_actions_)) {
  const auto corners = static_cast<std::size_t>(points_.size());
  values_.assign(corners, 0.0);
  home_.resize(corners);
  q_.assign(corners * scratch_.size(), 0.0);
  reward_.resize(q_.size());
  branches_.resize(q_.size());
  for (int s = 0; s < points_.num_states(); ++s) {
    check_interrupted();
    for (int a = 0; a < num_actions_; ++a) {
      reward_[pair(s, a)] = rewards_(a, s);
      for (const auto& next : successors_.from(points_[s], a)) {
        branches_[pair(s, a)].push_back(
            {next.observation, next.probability, {next.belief.states, next.belief.shares}});
        num_entries_ += next.belief.states.size();
      }
    }
  }
}

double HullChain::mean_over_policy(const double* values) const {
  double sum = 0.0;
  double best = -std::numeric_limits<double>::infinity();
  for (int a = 0; a < num_actions_; ++a) {
    sum += values[a];
    best = std::max(best, values[a]);
  }
  return (1.0 - num_actions_ * iota_) * best + iota_ * sum;
}

double HullChain::worth(const Mixture& mixture) const {
  std::vector<double> q(scratch_.size(), 0.0);
  for (std::size_t k = 0; k < mixture.points.size(); ++k) {
    const double* of_point = q_.data() + pair(mixture.points[k], 0);
    for (std::size_t a = 0; a < q.size(); ++a) q[a] += mixture.weights[k] * of_point[a];
  }
  return mean_over_policy(q.data());
}

void HullChain::fill_deferred(int point) {
  const Mixture& home = home_[static_cast<std::size_t>(point)];
  for (int a = 0; a < num_actions_; ++a) {
    if (is_expanded(point, a)) continue;
    double q = 0.0;
    for (std::size_t k = 0; k < home.points.size(); ++k) {
      q += home.weights[k] * q_[pair(home.points[k], a)];
    }
    q_[pair(point, a)] = q;
  }
  values_[static_cast<std::size_t>(point)] = mean_over_policy(q_.data() + pair(point, 0));
}

int HullChain::add(SparseBelief belief, Mixture home) {
  const int point = points_.add(std::move(belief));
  num_entries_ += home.points.size();
  home_.push_back(std::move(home));
  q_.resize(q_.size() + scratch_.size(), 0.0);
  reward_.resize(q_.size(), 0.0);
  branches_.resize(q_.size());
  values_.push_back(0.0);
  fill_deferred(point);
  for (int tries = 0; tries < num_actions_; ++tries) {
    const double* q = q_.data() + pair(point, 0);
    const auto best = static_cast<int>(std::max_element(q, q + num_actions_) - q);
    if (is_expanded(point, best)) break;
    expand(point, best);
  }
  return point;
}

void HullChain::expand(int point, int action) {
  const std::size_t number = pair(point, action);
  const SparseBelief belief = points_[point];
  double q = 0.0;
  for (std::size_t k = 0; k < belief.states.size(); ++k) {
    q += belief.shares[k] * rewards_(action, belief.states[k]);
  }
  reward_[number] = q;
  std::vector<Branch> branches;
  for (const auto& next : successors_.from(belief, action)) {
    branches.push_back({next.observation, next.probability, cheapest(next.belief)});
    num_entries_ += branches.back().next.points.size();
    q += next.probability * worth(branches.back().next);
  }
  branches_[number] = std::move(branches);
  q_[number] = std::min(q_[number], q - gain_);
  values_[static_cast<std::size_t>(point)] = mean_over_policy(q_.data() + pair(point, 0));
  flat_is_old_ = true;
}

void HullChain::set_next(int point, int action, int branch, Mixture next) {
  Mixture& old = branches_[pair(point, action)][static_cast<std::size_t>(branch)].next;
  num_entries_ += next.points.size() - old.points.size();
  old = std::move(next);
  flat_is_old_ = true;
}

void HullChain::flatten() {
  if (!flat_is_old_) return;
  flat_ = {};
  for (std::size_t number = 0; number < branches_.size(); ++number) {
    if (branches_[number].empty()) continue;
    flat_.pairs.push_back(number);
    flat_.first_branch.push_back(flat_.probability.size());
    for (const Branch& branch : branches_[number]) {
      flat_.first_entry.push_back(flat_.point.size());
      flat_.probability.push_back(branch.probability);
      flat_.point.insert(flat_.point.end(), branch.next.points.begin(), branch.next.points.end());
      flat_.weight.insert(flat_.weight.end(), branch.next.weights.begin(),
                          branch.next.weights.end());
    }
  }
  flat_.first_branch.push_back(flat_.probability.size());
  flat_.first_entry.push_back(flat_.point.size());
  increments_.resize(flat_.pairs.size());
  flat_is_old_ = false;
}

void HullChain::mix(std::size_t branch) {
  std::fill(scratch_.begin(), scratch_.end(), 0.0);
  const std::size_t width = scratch_.size();
  for (std::size_t k = flat_.first_entry[branch]; k < flat_.first_entry[branch + 1]; ++k) {
    const double* q = q_.data() + flat_.point[k] * width;
    const double weight = flat_.weight[k];
    for (std::size_t a = 0; a < width; ++a) scratch_[a] += weight * q[a];
  }
}

double HullChain::sweep() {
  flatten();
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < flat_.pairs.size(); ++i) {
    double q = reward_[flat_.pairs[i]];
    for (std::size_t b = flat_.first_branch[i]; b < flat_.first_branch[i + 1]; ++b) {
      mix(b);
      q += flat_.probability[b] * mean_over_policy(scratch_.data());
    }
    increments_[i] = q - q_[flat_.pairs[i]];
    // What is no number bounds nothing.
    largest = std::isnan(increments_[i]) ? std::numeric_limits<double>::infinity()
                                         : std::max(largest, increments_[i]);
  }
  work_ += static_cast<double>(flat_.point.size() * scratch_.size() + q_.size());
  return largest;
}

void HullChain::apply_increments(double damping, double shift) {
  for (std::size_t i = 0; i < flat_.pairs.size(); ++i) {
    q_[flat_.pairs[i]] += damping * (increments_[i] - shift);
  }
  for (int point = 0; point < points_.size(); ++point) fill_deferred(point);
}

// What a sweep may have lost: mass that mixtures leave out (HullProgram), points that are taken for
// the same (PointSet), and rounding.
double HullChain::rounding_margin() const {
  const auto [least, most] = std::minmax_element(q_.begin(), q_.end());
  const double largest =
      std::max({std::abs(*least), std::abs(*most), rewards_.cwiseAbs().maxCoeff()});
  return 2.0 * HullProgram::kDropped * (*most - *least) + kRounding * largest;
}

double HullChain::certificate() { return sweep() + rounding_margin(); }

double HullChain::settle() {
  const double tolerance = kSettled * (rewards_.maxCoeff() - rewards_.minCoeff());
  double least = std::numeric_limits<double>::infinity();
  double before = least;
  for (int i = 1; i <= kMostSweeps; ++i) {
    check_interrupted();
    gain_ = sweep();
    least = std::min(least, gain_ + rounding_margin());
    apply_increments(kDamping, gain_);
    if (i % kSweepsPerLook != 0) continue;
    if (before - least <= tolerance) break;
    before = least;
  }
  const double top = *std::max_element(values_.begin(), values_.end());
  for (double& q : q_) q -= top;
  for (double& v : values_) v -= top;
  return least;
}

// The action that the best policy takes after each branch.
void HullChain::choose_actions() {
  flatten();
  best_.resize(flat_.probability.size());
  for (std::size_t b = 0; b < best_.size(); ++b) {
    mix(b);
    best_[b] =
        static_cast<int>(std::max_element(scratch_.begin(), scratch_.end()) - scratch_.begin());
  }
  flat_number_.assign(q_.size(), 0);
  for (std::size_t i = 0; i < flat_.pairs.size(); ++i) flat_number_[flat_.pairs[i]] = i;
}

// One step of the chain from an expanded pair.
void HullChain::spread(std::size_t number, double mass, std::vector<double>& out) const {
  const std::size_t i = flat_number_[number];
  const std::size_t width = scratch_.size();
  for (std::size_t b = flat_.first_branch[i]; b < flat_.first_branch[i + 1]; ++b) {
    for (std::size_t k = flat_.first_entry[b]; k < flat_.first_entry[b + 1]; ++k) {
      const double share = mass * flat_.probability[b] * flat_.weight[k];
      double* to = out.data() + flat_.point[k] * width;
      to[best_[b]] += (1.0 - num_actions_ * iota_) * share;
      for (std::size_t a = 0; iota_ > 0.0 && a < width; ++a) to[a] += iota_ * share;
    }
  }
}

// A deferred pair passes its mass on to older points, so the newest come first.
void HullChain::step(std::vector<double>& now, std::vector<double>& next, double counted) {
  std::fill(next.begin(), next.end(), 0.0);
  for (std::size_t number = now.size(); number-- > 0;) {
    const double mass = now[number];
    if (mass < kNoMass) continue;
    occupancy_[number] += counted * mass;
    if (!branches_[number].empty()) {
      spread(number, mass, next);
      continue;
    }
    const Mixture& home = home_[number / scratch_.size()];
    const auto action = static_cast<int>(number % scratch_.size());
    for (std::size_t k = 0; k < home.points.size(); ++k) {
      now[pair(home.points[k], action)] += mass * home.weights[k];
    }
  }
  work_ += static_cast<double>(flat_.point.size() + q_.size());
}

const std::vector<double>& HullChain::occupancy() {
  choose_actions();
  const int steps = occupancy_.empty() ? kFirstSteps : kMoreSteps;
  if (occupancy_.empty()) occupancy_.assign(q_.size(), 1.0 / static_cast<double>(q_.size()));
  occupancy_.resize(q_.size(), 0.0);
  std::vector<double> now = occupancy_;
  std::vector<double> next(q_.size());
  std::fill(occupancy_.begin(), occupancy_.end(), 0.0);
  for (int i = 0; i < steps; ++i) {
    check_interrupted();
    step(now, next, 2 * i < steps ? 0.0 : 1.0 / (steps - steps / 2));
    now.swap(next);
  }
  return occupancy_;
}

}  // namespace oas::detail
