#include "oas/planning/grid/detail/shift_prices.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace oas::detail {

ShiftPrices::ShiftPrices(const BeliefGrid& grid)
    : num_states_(static_cast<std::size_t>(grid.num_states())),
      beliefs_(grid.size() * num_states_),
      slack_(grid.size()),
      lost_(num_states_),
      price_(num_states_),
      plain_(num_states_),
      order_(num_states_),
      taken_(num_states_),
      rest_(num_states_) {
  for (int s = 0; s < grid.num_states(); ++s) {
    corner_.push_back(static_cast<std::uint32_t>(grid.corner(s)));
  }
  for (std::size_t i = 0; i < grid.size(); ++i) {
    grid.point(i, std::span(beliefs_).subspan(i * num_states_, num_states_));
  }
}

void ShiftPrices::set_bias(std::span<const double> bias) {
  bias_ = bias;
  for (std::size_t i = 0; i < slack_.size(); ++i) {
    double corners = 0.0;
    for (std::size_t s = 0; s < num_states_; ++s) {
      corners += beliefs_[i * num_states_ + s] * bias[corner_[s]];
    }
    slack_[i] = std::max(0.0, corners - bias[i]);
  }
}

void ShiftPrices::begin() {
  held_.clear();
  std::fill(lost_.begin(), lost_.end(), 0.0);
}

void ShiftPrices::add(std::uint32_t point, double mass) {
  held_.push_back({point, mass});
  const double loss = mass * slack_[point];
  if (loss == 0.0) return;
  const double* belief = beliefs_.data() + point * num_states_;
  for (std::size_t s = 0; s < num_states_; ++s) {
    if (belief[s] > 0.0) lost_[s] += loss;
  }
}

// What taking t at most from others than the target wins at these prices, dearest first.
double ShiftPrices::drain(std::span<const double> price, std::size_t target, double t) {
  double won = 0.0;
  for (const std::size_t s : order_) {
    if (t <= 0.0) break;
    const double unit = price[s] + plain_[target];
    if (s == target || unit <= 0.0) continue;
    const double mass = std::min(p_[s], t);
    won += mass * unit;
    t -= mass;
  }
  return won;
}

// The mixture that is left when the dearest is moved to the target.
void ShiftPrices::mix(std::span<const double> p, std::size_t target, double t) {
  std::fill(taken_.begin(), taken_.end(), 0.0);
  double moved = 0.0;
  for (const std::size_t s : order_) {
    if (s == target || !(p[s] > 0.0) || price_[s] + plain_[target] <= 0.0) continue;
    const double mass = std::min(p[s], t - moved);
    if (mass <= 0.0) break;
    taken_[s] = mass / p[s];
    moved += mass;
  }
  for (std::size_t s = 0; s < num_states_; ++s) rest_[s] = p[s] * (1.0 - taken_[s]);
  rest_[target] += moved;
  move_.entries.clear();
  for (const Entry& part : held_) {
    const double* belief = beliefs_.data() + part.point * num_states_;
    double most = 0.0;
    for (std::size_t s = 0; s < num_states_; ++s) {
      if (belief[s] > 0.0) most = std::max(most, taken_[s]);
    }
    const double stays = part.mass * (1.0 - most);
    if (stays <= 0.0) continue;
    move_.entries.push_back({part.point, stays});
    for (std::size_t s = 0; s < num_states_; ++s) rest_[s] -= stays * belief[s];
  }
  for (std::size_t s = 0; s < num_states_; ++s) {
    if (rest_[s] > 1e-15) move_.entries.push_back({corner_[s], rest_[s]});
  }
}

const ShiftPrices::Move& ShiftPrices::move(std::span<const double> p, double t,
                                           std::span<const double> arriving) {
  p_ = p;
  double held = 0.0;     // Σ_j μ_j v_j
  double corners = 0.0;  // all of it at corners
  double rewards = 0.0;
  for (const Entry& part : held_) held += part.mass * bias_[part.point];
  for (std::size_t s = 0; s < num_states_; ++s) {
    plain_[s] = arriving[s] + bias_[corner_[s]];
    price_[s] = (p[s] > 0.0 ? lost_[s] / p[s] : 0.0) - plain_[s];
    corners += p[s] * bias_[corner_[s]];
    rewards += p[s] * arriving[s];
  }
  corners = std::max(corners, held);
  const auto best_target = [&](std::span<const double> price) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t i, std::size_t j) { return price[i] > price[j]; });
    std::pair<double, std::size_t> best{-1.0, 0};
    for (std::size_t target = 0; target < num_states_; ++target) {
      best = std::max(best, {drain(price, target, t), target});
    }
    return best;
  };
  for (std::size_t s = 0; s < num_states_; ++s) rest_[s] = -plain_[s];
  const double at_corners = corners + best_target(rest_).first;
  const auto [won, target] = best_target(price_);
  move_.value = rewards + std::min(held + won, at_corners);
  mix(p, target, t);
  double worth = 0.0;
  for (const Entry& part : move_.entries) worth += part.mass * bias_[part.point];
  move_.reward = move_.value - worth;
  return move_;
}

}  // namespace oas::detail
