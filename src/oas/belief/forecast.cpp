#include "oas/belief/forecast.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// [s]: whether one of `goals` can be reached from s over the positive entries of `edges`.
std::vector<char> can_reach(const Matrix& edges, std::vector<char> goals) {
  std::vector<Eigen::Index> open;
  for (std::size_t s = 0; s < goals.size(); ++s) {
    if (goals[s] != 0) open.push_back(static_cast<Eigen::Index>(s));
  }
  while (!open.empty()) {
    const Eigen::Index to = open.back();
    open.pop_back();
    for (Eigen::Index from = 0; from < edges.rows(); ++from) {
      char& known = goals[static_cast<std::size_t>(from)];
      if (known != 0 || !(edges(from, to) > 0.0)) continue;
      known = 1;
      open.push_back(from);
    }
  }
  return goals;
}

// The solution of x = constant + matrix x on the chosen states; elsewhere `other`.
Vector solve_on(const std::vector<char>& chosen, const Matrix& matrix, const Vector& constant,
                double other) {
  std::vector<Eigen::Index> states;
  for (std::size_t s = 0; s < chosen.size(); ++s) {
    if (chosen[s] != 0) states.push_back(static_cast<Eigen::Index>(s));
  }
  Vector result = Vector::Constant(constant.size(), other);
  if (states.empty()) return result;
  const auto n = static_cast<Eigen::Index>(states.size());
  const Eigen::MatrixXd system = Eigen::MatrixXd::Identity(n, n) - matrix(states, states);
  const Vector right = constant(states);
  const Vector solution = system.partialPivLu().solve(right);
  for (Eigen::Index i = 0; i < n; ++i) result[states[static_cast<std::size_t>(i)]] = solution[i];
  return result;
}

// T_aᵀ law.
Vector law_of_next(const TransitionModel& transition, Action action, const Vector& law) {
  if (!transition.is_listed()) return transition.matrix(action).transpose() * law;
  Vector after = Vector::Zero(law.size());
  for (State s{0}; s < transition.num_states(); ++s) {
    if (law(s.value()) == 0.0) continue;
    transition.for_each_next(
        action, s, [&](State next, double p) { after(next.value()) += p * law(s.value()); });
  }
  return after;
}

}  // namespace

void ForecastQuestion::validate(int num_states, int num_actions) const {
  OAS_REQUIRE(steps >= 0, "steps is {}; it must not be negative", steps);
  OAS_REQUIRE(!schedule.empty(), "schedule is empty; at least one action is needed");
  for (const Action action : schedule) {
    OAS_REQUIRE(action.value() >= 0 && action.value() < num_actions,
                "schedule has action {}, but there are {}", action.value(), num_actions);
  }
  for (const State state : reach) {
    OAS_REQUIRE(state.value() >= 0 && state.value() < num_states,
                "reach has state {}, but there are {}", state.value(), num_states);
  }
}

std::optional<int> Forecast::quantile(double level) const {
  for (std::size_t k = 0; k < survival.size(); ++k) {
    if (survival[k] <= 1.0 - level) return static_cast<int>(k);
  }
  return {};
}

Forecaster::Forecaster(TransitionModel transition, ForecastQuestion question)
    : transition_(std::move(transition)),
      question_(std::move(question)),
      inside_(static_cast<std::size_t>(transition_.num_states()), 0) {
  question_.validate(transition_.num_states(), transition_.num_actions());
  for (const State state : question_.reach) inside_[static_cast<std::size_t>(state)] = 1;
  if (!question_.reach.empty()) solve();
}

// T of an action between states that are not to be reached.
Matrix Forecaster::step_outside(Action action) const {
  Matrix matrix = transition_.matrix(action);
  for (std::size_t s = 0; s < inside_.size(); ++s) {
    if (inside_[s] == 0) continue;
    matrix.row(static_cast<Eigen::Index>(s)).setZero();
    matrix.col(static_cast<Eigen::Index>(s)).setZero();
  }
  return matrix;
}

// From the start of the schedule: ever = hit + cycle · ever and mean = spent + cycle · mean, where
// `cycle` leads once through the schedule without reaching, `hit` is the probability to reach on
// the way and `spent` the expected number of steps until then or until its end.
void Forecaster::solve() {
  const auto n = static_cast<Eigen::Index>(inside_.size());
  Vector outside(n);
  for (Eigen::Index s = 0; s < n; ++s)
    outside[s] = inside_[static_cast<std::size_t>(s)] ? 0.0 : 1.0;
  Matrix cycle = outside.asDiagonal();
  Vector spent = Vector::Zero(n);
  Vector hit = Vector::Zero(n);  // sums of products: 0 only where nothing leads there
  for (const Action action : question_.schedule) {
    spent += cycle.rowwise().sum();
    hit += cycle * (transition_.matrix(action) * (Vector::Ones(n) - outside));
    cycle = cycle * step_outside(action);
  }
  std::vector<char> direct(inside_.size());
  for (std::size_t s = 0; s < direct.size(); ++s) {
    direct[s] = hit[static_cast<Eigen::Index>(s)] > 0.0;
  }
  const std::vector<char> possible = can_reach(cycle, direct);
  std::vector<char> stuck(inside_.size());
  for (std::size_t s = 0; s < stuck.size(); ++s) stuck[s] = possible[s] == 0 && inside_[s] == 0;
  const std::vector<char> may_stick = can_reach(cycle, stuck);
  std::vector<char> certain(inside_.size());
  for (std::size_t s = 0; s < certain.size(); ++s) {
    certain[s] = possible[s] != 0 && may_stick[s] == 0;
  }
  ever_ = solve_on(possible, cycle, hit, 0.0).cwiseMin(1.0).cwiseMax(0.0);
  mean_ = solve_on(certain, cycle, spent, std::numeric_limits<double>::infinity());
  for (std::size_t s = 0; s < inside_.size(); ++s) {
    const auto i = static_cast<Eigen::Index>(s);
    if (certain[s] != 0 || inside_[s] != 0) ever_[i] = 1.0;
    if (inside_[s] != 0) mean_[i] = 0.0;
  }
}

Forecast Forecaster::operator()(std::span<const double> belief) const {
  OAS_REQUIRE(belief.size() == inside_.size(), "a belief over {} states for {}", belief.size(),
              inside_.size());
  const auto n = static_cast<Eigen::Index>(belief.size());
  Forecast forecast;
  Vector now = VectorView(belief.data(), n);
  Vector outside = now;
  for (std::size_t s = 0; s < inside_.size(); ++s) {
    if (inside_[s] != 0) outside[static_cast<Eigen::Index>(s)] = 0.0;
  }
  if (!question_.reach.empty()) {
    for (Eigen::Index s = 0; s < n; ++s) {
      if (now[s] <= 0.0) continue;
      forecast.ever += now[s] * ever_[s];
      forecast.mean_steps += now[s] * mean_[s];
    }
    forecast.ever = std::min(forecast.ever, 1.0);
  }
  for (int k = 0;; ++k) {
    forecast.states.insert(forecast.states.end(), now.begin(), now.end());
    if (!question_.reach.empty()) forecast.survival.push_back(outside.sum());
    if (k == question_.steps) return forecast;
    const auto& schedule = question_.schedule;
    const Action action = schedule[static_cast<std::size_t>(k) % schedule.size()];
    now = law_of_next(transition_, action, now);
    outside = law_of_next(transition_, action, outside);
    for (std::size_t s = 0; s < inside_.size(); ++s) {
      if (inside_[s] != 0) outside[static_cast<Eigen::Index>(s)] = 0.0;
    }
  }
}

}  // namespace oas
