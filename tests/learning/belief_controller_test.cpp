// What an agent believes must not depend on how often it was handed dynamics, nor on how many rows
// it keeps: on every corner model, among them periods and failures that sensors told long ago.
#include "oas/learning/belief_controller.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/problems/corner_models.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {
namespace {

constexpr int kResolution = 2;
constexpr int kHistory = static_cast<int>(BeliefController::kHistory);

double total_variation(std::span<const double> one, std::span<const double> two) {
  double sum = 0.0;
  for (std::size_t s = 0; s < one.size(); ++s) sum += std::abs(one[s] - two[s]);
  return sum / 2.0;
}

// A clock whose sensors say nothing: only its start tells the hour, however long ago that was.
Pomdp blind_clock() {
  PomdpParts parts = make_problem("corner/cycle-3").parts();
  parts.start = {1.0, 0.0, 0.0};
  const int num_observations = parts.sensors.num_observations();
  parts.sensors = ObservationModel(
      3, 1, num_observations,
      std::vector<double>(3 * static_cast<std::size_t>(num_observations), 1.0 / num_observations));
  return Pomdp(std::move(parts));
}

std::vector<ProblemInfo> models() {
  std::vector<ProblemInfo> all(corner_models().begin(), corner_models().end());
  all.push_back({"blind-clock", "a cycle of three states, not seen", blind_clock});
  return all;
}

class CornerModel : public testing::TestWithParam<ProblemInfo> {
 protected:
  CornerModel()
      : model_(GetParam().make()),
        bias_(BeliefGrid(model_.num_states(), kResolution).size(), 0.0),
        environment_(model_, Rng({7, 0, Role::environment})),
        rng_({7, 0, Role::agent}) {}

  // One row, to everybody who is to be told.
  template <class... Told>
  void step(Told&... told) {
    const Action action{rng_.below(static_cast<std::uint32_t>(model_.num_actions()))};
    const Observation observation = environment_.step(action).observation;
    (tell(told, action, observation), ...);
  }

  Pomdp model_;
  std::vector<double> bias_;
  Environment environment_;
  Rng rng_;

 private:
  static void tell(BeliefController& told, Action action, Observation observation) {
    told.observe(action, observation);
  }
  static void tell(BeliefFilter& told, Action action, Observation observation) {
    static_cast<void>(told.update(action, observation));
  }
};

// By the rule of conditional distributions a belief that starts 1e-3 away comes, on average, no
// further away than √(1e-3 / 2) in total variation, however long it is kept up to date.
TEST_P(CornerModel, DynamicsHandedOverAgainLeaveTheBelief) {
  BeliefFilter exact(model_);
  BeliefController controller(model_, kResolution);
  double sum = 0.0;
  int handed_over = 0;
  for (int t = 0; t < 8 * kHistory; ++t) {
    if (t % 97 == 0) {
      controller.adopt(model_.transition(), bias_);
      const double error = total_variation(controller.belief(), exact.belief());
      if (t < 2 * kHistory) {
        EXPECT_LT(error, 1e-12) << "after " << t << " rows, all of them kept";
      }
      sum += error;
      ++handed_over;
    }
    step(controller, exact);
  }
  EXPECT_LT(sum / handed_over, 0.0224);
}

TEST_P(CornerModel, RowsBeforeTheFirstDynamicsAllCount) {
  BeliefFilter exact(model_);
  BeliefController controller(model_, kResolution);
  for (int t = 0; t < 3 * kHistory + 5; ++t) step(controller, exact);
  controller.adopt(model_.transition(), bias_);
  EXPECT_LT(total_variation(controller.belief(), exact.belief()), 1e-12);
}

TEST_P(CornerModel, SavedAnywhereItGoesOnToTheBit) {
  BeliefController controller(model_, kResolution);
  for (const int rows : {1, kHistory, kHistory, kHistory + 3, 2 * kHistory - 1}) {
    for (int t = 0; t < rows; ++t) step(controller);
    BeliefController loaded(model_, kResolution);
    const std::string text = dump_json(controller.save());
    const nlohmann::ordered_json document = parse_json(text, "state.json");
    loaded.load(JsonView(document, "state.json"));
    EXPECT_EQ(dump_json(loaded.save()), text);
    for (BeliefController* each : {&controller, &loaded}) each->adopt(model_.transition(), bias_);
    for (int t = 0; t < kHistory; ++t) step(controller, loaded);
    for (BeliefController* each : {&controller, &loaded}) each->adopt(model_.transition(), bias_);
    ASSERT_EQ(dump_json(loaded.save()), dump_json(controller.save()));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CornerModel, testing::ValuesIn(models()),
                         [](const testing::TestParamInfo<ProblemInfo>& corner) {
                           std::string name(corner.param.name);
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

// States that were saved elsewhere or edited by hand.
TEST(BeliefControllerState, RowsAndBeliefsMustBelongTogether) {
  const Pomdp model = corner_models().front().make();
  BeliefController controller(model, kResolution);
  controller.adopt(model.transition(),
                   std::vector<double>(BeliefGrid(model.num_states(), kResolution).size(), 0.0));
  for (int t = 0; t < 3 * kHistory; ++t) controller.observe(Action{0}, kMissing);
  const nlohmann::ordered_json whole = controller.save();
  const auto load = [&](const nlohmann::ordered_json& state) {
    BeliefController(model, kResolution).load(JsonView(state, "state.json"));
  };
  EXPECT_NO_THROW(load(whole));
  for (const char* key : {"middle", "belief", "recent"}) {
    nlohmann::ordered_json state = whole;
    state.erase(key);
    EXPECT_THROW(load(state), InvalidArgument) << key;
  }
  for (const char* key : {"middle", "before", "belief"}) {
    nlohmann::ordered_json state = whole;
    state[key][0] = 2.0;
    EXPECT_THROW(load(state), InvalidArgument) << key;
  }
  nlohmann::ordered_json fewer = whole;
  fewer["recent"].erase(fewer["recent"].begin(), fewer["recent"].begin() + 2);
  EXPECT_THROW(load(fewer), InvalidArgument);
  nlohmann::ordered_json more = whole;
  for (int i = 0; i < 2 * kHistory; ++i) more["recent"].push_back(0);
  EXPECT_THROW(load(more), InvalidArgument);
}

}  // namespace
}  // namespace oas
