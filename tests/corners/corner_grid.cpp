#include "corners/corner_grid.hpp"

#include <cctype>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "oas/problems/corner_models.hpp"
#include "support/random_models.hpp"

namespace oas::test {

namespace {

struct Sizes {
  int states = 2;
  int actions = 2;
  int observations = 2;
};

Pomdp random(Sizes sizes, double zero_fraction = 0.0) {
  RandomModelOptions options;
  options.num_states = sizes.states;
  options.num_actions = sizes.actions;
  options.num_observations = sizes.observations;
  options.zero_fraction = zero_fraction;
  options.reward = Reward::Kind::by_action_state;
  return random_model(options, 3);
}

Pomdp with_rewards(std::vector<double> by_action_state) {
  PomdpParts parts = random({}).parts();
  parts.reward = Reward::by_action_state(std::move(by_action_state));
  return Pomdp(std::move(parts));
}

// Some entries of T, Z and the start are the least number above 0.
Pomdp with_least_entries() {
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  PomdpParts parts = random({}).parts();
  parts.transition = TransitionModel(2, 2, {1.0, kLeast, kLeast, 1.0, 0.5, 0.5, 1.0, kLeast});
  parts.sensors = ObservationModel(2, 2, 2, {1.0, kLeast, kLeast, 1.0, 1.0, kLeast, 0.5, 0.5});
  parts.start = {1.0, kLeast};
  return Pomdp(std::move(parts));
}

// The third state is never there.
Pomdp with_unreachable_state() {
  PomdpParts parts = random({3, 1, 3}).parts();
  parts.transition = TransitionModel(3, 1, {0.5, 0.5, 0, 0.2, 0.8, 0, 0, 0, 1});
  parts.start = {0.5, 0.5, 0.0};
  return Pomdp(std::move(parts));
}

// Three states, two actions with these sensors each.
Pomdp with_sensors(int observations, std::vector<double> one, const std::vector<double>& other) {
  PomdpParts parts = random({3, 2, observations}).parts();
  one.insert(one.end(), other.begin(), other.end());
  parts.sensors = ObservationModel(3, 2, observations, std::move(one));
  return Pomdp(std::move(parts));
}

// State 1 leads where state 0 does and action 1 is action 0.
Pomdp with_equal_rows() {
  PomdpParts parts = random({3, 2, 4}).parts();
  const std::vector<double> rows = {0.5, 0.3, 0.2, 0.5, 0.3, 0.2, 0.1, 0.2, 0.7};
  std::vector<double> both = rows;
  both.insert(both.end(), rows.begin(), rows.end());
  parts.transition = TransitionModel(3, 2, std::move(both));
  const auto one =
      std::vector<double>(parts.sensors.values().begin(), parts.sensors.values().begin() + 12);
  std::vector<double> sensors = one;
  sensors.insert(sensors.end(), one.begin(), one.end());
  parts.sensors = ObservationModel(3, 2, 4, std::move(sensors));
  return Pomdp(std::move(parts));
}

Pomdp in_timing(const Pomdp& model, Timing timing) {
  PomdpParts parts = model.parts();
  parts.timing = timing;
  return Pomdp(std::move(parts));
}

std::vector<Corner> all_corners() {
  std::vector<std::pair<std::string, Pomdp>> models;
  for (const ProblemInfo& info : corner_models()) models.emplace_back(info.name, info.make());
  models.emplace_back("one-of-everything", random({1, 1, 1}));
  models.emplace_back("one-state", random({1, 2, 3}));
  models.emplace_back("one-observation", random({3, 2, 1}));
  models.emplace_back("hundreds-of-observations", random({2, 1, 300}));
  models.emplace_back("twelve-states-two-observations", random({12, 1, 2}));
  models.emplace_back("many-zeros", random({4, 3, 5}, 0.7));
  models.emplace_back("least-entries", with_least_entries());
  models.emplace_back("unreachable", with_unreachable_state());
  models.emplace_back("equal-rows", with_equal_rows());
  models.emplace_back("renaming",
                      with_sensors(3, {0, 0, 1, 1, 0, 0, 0, 1, 0}, {0, 1, 0, 0, 0, 1, 1, 0, 0}));
  models.emplace_back("nearly-singular",
                      with_sensors(3, {0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.45, 0.451, 0.099},
                                   {0.7, 0.2, 0.1, 0.1, 0.7, 0.2, 0.2, 0.1, 0.7}));
  models.emplace_back(
      "readings-that-never-come",
      with_sensors(5, {0.8, 0.1, 0.1, 0, 0, 0.1, 0.8, 0.1, 0, 0, 0.1, 0.1, 0.8, 0, 0},
                   {0, 0.8, 0.2, 0, 0, 0, 0.2, 0.8, 0, 0, 0, 0.5, 0.5, 0, 0}));
  models.emplace_back("huge-rewards", with_rewards({1e99, -1e99, 0.0, 1e99}));
  models.emplace_back("tiny-rewards", with_rewards({1e-300, 0.0, -1e-300, 5e-324}));
  models.emplace_back("equal-rewards", with_rewards({-7.0, -7.0, -7.0, -7.0}));
  std::vector<Corner> all;
  for (const auto& [name, model] : models) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      all.push_back({name + "_" + std::string(to_string(timing)), in_timing(model, timing)});
    }
  }
  return all;
}

}  // namespace

void PrintTo(const Corner& corner, std::ostream* out) { *out << corner.name; }

const std::vector<Corner>& corners() {
  static const std::vector<Corner> all = all_corners();
  return all;
}

std::string corner_name(const testing::TestParamInfo<Corner>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

void expect_distribution(std::span<const double> values) {
  for (const double value : values) {
    EXPECT_GE(value, 0.0);
    EXPECT_LE(value, 1.0);
  }
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), 1.0, 1e-9);
}

}  // namespace oas::test
