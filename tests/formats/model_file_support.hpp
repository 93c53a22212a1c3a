#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/formats/model_text.hpp"
#include "oas/model/pomdp.hpp"

/// Short ways to look at models that went through a file.
namespace oas::test {

/// The reward of one fully known step, whatever the kind.
inline double step_reward(const Pomdp& model, int a, int s, int next, int o) {
  const auto values = model.reward().values();
  const auto at = [&](int i) { return values[static_cast<std::size_t>(i)]; };
  const int n = model.num_states();
  switch (model.reward().kind()) {
    case Reward::Kind::none:
      return 0.0;
    case Reward::Kind::by_observation:
      return at(o);
    case Reward::Kind::by_action_state:
      return at(a * n + s);
    case Reward::Kind::by_transition:
      break;
  }
  if (const auto& table = model.reward().table()) return (*table)(a, s, next, o);
  return at(((a * n + s) * n + next) * model.num_observations() + o);
}

/// The largest difference between two lists of numbers; infinite when their lengths differ.
template <class List>
double largest_difference(const List& x, const List& y) {
  if (x.size() != y.size()) return INFINITY;
  double largest = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

/// The largest difference of any number of two models of the same sizes; infinite when sizes,
/// timing or what is known differ. Rewards are compared step by step, not by how they are stored.
inline double model_difference(const Pomdp& x, const Pomdp& y) {
  if (x.timing() != y.timing() || x.has_transition() != y.has_transition()) return INFINITY;
  double largest = std::max(largest_difference(x.start(), y.start()),
                            largest_difference(x.sensors().values(), y.sensors().values()));
  if (x.has_transition()) {
    largest =
        std::max(largest, largest_difference(x.transition().values(), y.transition().values()));
  }
  if (std::isinf(largest)) return largest;
  for (int a = 0; a < x.num_actions(); ++a) {
    for (int s = 0; s < x.num_states(); ++s) {
      for (int next = 0; next < x.num_states(); ++next) {
        for (int o = 0; o < x.num_observations(); ++o) {
          largest = std::max(
              largest, std::abs(step_reward(x, a, s, next, o) - step_reward(y, a, s, next, o)));
        }
      }
    }
  }
  return largest;
}

}  // namespace oas::test
