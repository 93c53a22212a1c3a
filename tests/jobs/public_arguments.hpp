#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <new>
#include <vector>

#include "oas/oas.hpp"
#include "support/random_models.hpp"

/// Wrong arguments for every public function: the tables of public_*_arguments_test.cpp. A script
/// (tests/style/check_public.py) sees to it that no function of oas/oas.hpp is left out.
namespace oas::test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
inline constexpr int kMostInt = std::numeric_limits<int>::max();

/// A call that must throw InvalidArgument.
struct Refused {
  const char* call;  ///< the function, and what is wrong
  std::function<void()> make;
};

inline void expect_all_refused(const std::vector<Refused>& table) {
  for (const Refused& each : table) {
    SCOPED_TRACE(each.call);
    EXPECT_THROW(each.make(), InvalidArgument);
  }
}

/// Options with the defaults but for what `change` does.
template <class Options, class Change>
Options with(const Change& change) {
  Options options;
  change(options);
  return options;
}

/// Three states, two actions, four observations.
inline Pomdp sample_model(Timing timing = Timing::before) {
  return random_model({.timing = timing, .min_alpha = 0.1}, 7);
}
/// Two states, three actions, two observations.
inline Pomdp other_model() {
  return random_model({.num_states = 2, .num_actions = 3, .num_observations = 2, .min_alpha = 0.1},
                      8);
}

inline Trajectory sample_rows(const Pomdp& model, std::size_t steps = 400) {
  return play_uniformly(model, steps, 0.0, 3);
}

}  // namespace oas::test
