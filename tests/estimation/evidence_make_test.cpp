#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "support/random_models.hpp"

/// Evidence is put together only with evidence of the same make: whatever of the model or of the
/// options decides what rows mean or what is kept of them must not differ.
namespace oas {
namespace {

Pomdp small_model() {
  test::RandomModelOptions options;
  options.num_states = 2;
  options.num_observations = 3;
  options.timing = Timing::after;
  options.min_alpha = 0.3;
  options.named = true;
  PomdpParts parts = test::random_model(options, 11).parts();
  std::vector<double> same(parts.sensors.values().begin(), parts.sensors.values().end());
  std::copy_n(same.begin(), same.size() / 2, same.begin() + same.size() / 2);
  parts.sensors = ObservationModel(2, 2, 3, same);
  parts.reward = Reward::by_action_state({1, 0, 0, 1});
  return Pomdp(parts);
}

void expect_apart(const Evidence& one, const Evidence& other, const std::string& what) {
  Evidence loads = one;
  EXPECT_THROW(loads.load(other.save()), InvalidArgument) << what;
  EXPECT_THROW(loads.merge(other), InvalidArgument) << what;
}

void expect_alike(const Evidence& one, const Evidence& other, const std::string& what) {
  Evidence loads = one;
  EXPECT_NO_THROW(loads.load(other.save())) << what;
}

// Another value than `value` that the setting takes.
std::string other_value(const SettingInfo& setting) {
  std::vector<std::string> candidates = {"true", "7", "100", "0.25", "2"};
  std::string word;
  for (const char c : setting.range + ",") {  // the names of a choice
    if (c == ',') candidates.push_back(std::exchange(word, ""));
    if (c != ',' && c != ' ') word += c;
  }
  for (const std::string& text : candidates) {
    if (setting.accepts(text) && text != setting.value) return text;
  }
  ADD_FAILURE() << "no other value for " << setting.name;
  return setting.value;
}

TEST(EvidenceMake, EverySettingOfEveryEstimatorBelongsToIt) {
  const Pomdp model = small_model();
  for (const EstimatorInfo& info : estimators()) {
    for (const SettingInfo& setting : settings_of(info)) {
      std::vector<Setting> usual;
      if (setting.name == "age") usual = {{"half_life", "50"}};
      std::vector<Setting> changed = usual;
      changed.push_back({setting.name, other_value(setting)});
      const Evidence one = make_evidence(info.name, model, usual);
      const Evidence other = make_evidence(info.name, model, changed);
      const std::string what = fmt::format("{} {}", info.name, setting.name);
      if (setting.name == "memory") {  // never changes a result
        expect_alike(one, other, what);
      } else {
        expect_apart(one, other, what);
      }
    }
  }
}

// Also those that only programs can set.
template <class Part>
void expect_all_fields_apart(Part EvidenceOptions::*part) {
  EvidenceOptions usual;
  SettingFields defaults;
  (usual.*part).visit(defaults);
  const Evidence one = make_evidence("particle", small_model(), usual);
  for (const SettingInfo& setting : defaults.describe()) {
    EvidenceOptions changed;
    SettingFields fields;
    (changed.*part).visit(fields);
    fields.set({setting.name, other_value(setting)});
    expect_apart(one, make_evidence("particle", small_model(), changed), setting.name);
  }
}

TEST(EvidenceMake, EveryOptionOfParticlesAndCellsBelongsToIt) {
  expect_all_fields_apart(&EvidenceOptions::particles);
  expect_all_fields_apart(&EvidenceOptions::cells);
}

struct Change {
  const char* what;
  std::function<void(PomdpParts& parts)> make;
};

TEST(EvidenceMake, WhateverSaysWhatRowsMeanBelongsToIt) {
  const std::vector<Change> changes = {
      {"timing", [](PomdpParts& parts) { parts.timing = Timing::before; }},
      {"rows", [](PomdpParts& parts) { parts.rows = Rows::reading_first; }},
      {"names of states",
       [](PomdpParts& parts) {
         parts.states = Labels({"one", "other"}, "state");
       }},
      {"order of actions",
       [](PomdpParts& parts) {
         parts.actions = Labels({parts.actions[1], parts.actions[0]}, "action");
       }},
      {"names of observations",
       [](PomdpParts& parts) { parts.observations = Labels(3, "observation"); }},
      {"start",
       [](PomdpParts& parts) {
         parts.start = {0.25, 0.75};
       }},
      {"sensors",
       [](PomdpParts& parts) {
         std::vector<double> values(parts.sensors.values().begin(), parts.sensors.values().end());
         std::swap(values[0], values[1]);
         parts.sensors = ObservationModel(2, 2, 3, values);
       }},
      {"first_observation",
       [](PomdpParts& parts) {
         parts.first_observation = ObservationModel(2, 1, 3, {0.5, 0.5, 0.0, 0.0, 0.5, 0.5});
       }},
      {"observation_counts",
       [](PomdpParts& parts) {
         parts.observation_counts = ObservationCounts(2, 2, 3, std::vector<double>(6, 9.0));
       }},
  };
  const Evidence usual = make_evidence("oas-ml", small_model());
  for (const Change& change : changes) {
    PomdpParts parts = small_model().parts();
    change.make(parts);
    expect_apart(usual, make_evidence("oas-ml", Pomdp(parts)), change.what);
  }
}

// The same rows under other first readings mean something else.
TEST(EvidenceMake, FirstReadingsOfAnotherSensorAreForeign) {
  PomdpParts parts = small_model().parts();
  parts.rows = Rows::reading_first;
  const Evidence usual = make_evidence("oas-overlap", Pomdp(parts));
  parts.first_observation = ObservationModel(2, 1, 3, {0.5, 0.5, 0.0, 0.0, 0.5, 0.5});
  expect_apart(usual, make_evidence("oas-overlap", Pomdp(parts)), "first_observation");
}

TEST(EvidenceMake, DynamicsAndRewardsDoNot) {
  PomdpParts parts = small_model().parts();
  const Evidence usual = make_evidence("oas-ml", Pomdp(parts));
  const AnyModel real = ContinuousPomdp(Pomdp(parts));
  parts.transition.reset();
  parts.reward = {};
  parts.discount = 0.9;
  expect_alike(usual, make_evidence("oas-ml", Pomdp(parts)), "finite");
  expect_alike(make_evidence("oas-ml", real),
               make_evidence("oas-ml", ContinuousPomdp(Pomdp(parts))), "real-valued");
}

}  // namespace
}  // namespace oas
