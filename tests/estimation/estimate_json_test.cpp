#include "oas/estimation/estimate_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/estimation/moments/oas.hpp"
#include "oas/model/model_json.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using ::testing::HasSubstr;

TransitionEstimate some_estimate(const Pomdp& model, std::size_t steps) {
  const LeftInverses inverses(model);
  ClosedLoop loop(model, {}, 1);
  Trajectory rows;
  loop.advance(steps, rows);
  PairFolder folder(inverses, model.timing(), {});
  folder.add(rows.actions, rows.observations, {});
  return estimate_oas(folder.finish(), inverses, model, {.regions = true});
}

TEST(EstimateJson, ReadsBackAsModelAndAsEstimate) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("estimate.json");
  const Pomdp model = machine_maintenance();
  const TransitionEstimate estimate = some_estimate(model, 50'000);
  write_estimate(path, model, estimate);
  EXPECT_EQ(read_model(path), model.with_transition(estimate.transition));
  const EstimateDocument document = read_estimate(path);
  EXPECT_EQ(document.model.transition(), estimate.transition);
  ASSERT_TRUE(document.estimate.has_value());
  EXPECT_EQ(document.estimate->estimator, "oas");
  EXPECT_EQ(document.estimate->lower, estimate.lower);
  EXPECT_EQ(document.estimate->joint_region.upper, estimate.joint_region.upper);
}

// Files of before regions were made are read as ever; a region of the wrong size is named.
TEST(EstimateJson, RegionsMayBeAbsent) {
  const Pomdp model = pest_control();
  auto document = estimate_to_json(model, some_estimate(model, 5000));
  document["estimate"]["simultaneous"]["all"]["l1"][0].erase(0);
  try {
    static_cast<void>(parse_estimate(document.dump(), "e.json"));
    FAIL() << "no exception";
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("$.estimate.simultaneous.all.l1[0]"));
  }
  document["estimate"].erase("simultaneous");
  document["estimate"].erase("error_bars");
  EXPECT_TRUE(parse_estimate(document.dump(), "e.json").estimate->row_region.l1.empty());
}

TEST(EstimateJson, UnknownErrorsAreNullAndTooFewPairsHaveNone) {
  const Pomdp model = pest_control();
  EXPECT_FALSE(
      estimate_to_json(model, some_estimate(model, 20))["estimate"].contains("confidence"));
  TransitionEstimate estimate = some_estimate(model, 50'000);
  estimate.standard_error[0] = std::nan("");
  const auto document = estimate_to_json(model, estimate);
  EXPECT_TRUE(document["estimate"]["standard_error"][0][0][0].is_null());
  estimate.flagged.push_back({Action{1}, State{0}, "no positive mass is left"});
  EXPECT_EQ(estimate_to_json(model, estimate)["estimate"]["determined"].dump(),
            "[[true,true],[false,true]]");
}

TEST(EstimateJson, TellsRowsThatHaveNotSettledFromThoseTheLogDoesNotTell) {
  const Pomdp model = pest_control();
  TransitionEstimate estimate = some_estimate(model, 50'000);
  estimate.flagged = {{Action{0}, State{0}, "never left"}, {Action{1}, State{0}, "apart", false}};
  EXPECT_THAT(estimate.brief(), HasSubstr(", 1 row of T not determined, 1 row of T not settled"));
  const auto document = estimate_to_json(model, estimate);
  EXPECT_FALSE(document["estimate"]["flagged_rows"][0].contains("settled"));
  const auto read = parse_estimate(document.dump(), "e.json").estimate->flagged;
  EXPECT_TRUE(read[0].settled);
  EXPECT_FALSE(read[1].settled);
}

TEST(EstimateJson, PlainModelsAreFineAndMissingTransitionsAreNot) {
  const test::TemporaryDirectory folder;
  const std::string path = folder.file("model.json");
  write_model(path, pest_control());
  EXPECT_FALSE(read_estimate(path).estimate.has_value());
  EXPECT_FALSE(read_estimate(path).has_intervals());
  write_model(path, pest_control().without_transition());
  try {
    static_cast<void>(read_estimate(path));
    FAIL() << "no exception";
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr(path));
    EXPECT_THAT(error.what(), HasSubstr("\"transition\" is missing"));
  }
}

}  // namespace
}  // namespace oas
