#include <gmock/gmock.h>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/problems/named.hpp"

namespace oas {
namespace {

using testing::ElementsAre;

TEST(EstimateWarnings, RowsOfWhichTheSameIsSaidStandInOneLine) {
  EXPECT_THAT(for_people({"the log is short", "row (a, 0) is not determined: why",
                          "row (a, 1) is poorly determined: standard error up to 0.2",
                          "row (b, 0) is not determined: why", "row (b, 1) has not settled: x",
                          "row (b, 2) has not settled: x", "row broken"}),
              ElementsAre("the log is short", "rows (a, 0), (b, 0) are not determined: why",
                          "row (a, 1) is poorly determined: standard error up to 0.2",
                          "rows (b, 1), (b, 2) have not settled: x", "row broken"));
  std::vector<std::string> many;
  for (int s = 0; s < 36; ++s) many.push_back("row (a, " + std::to_string(s) + ") is not it");
  EXPECT_THAT(for_people(many),
              ElementsAre("rows (a, 0), (a, 1), (a, 2), (a, 3) and 32 more are not it"));
}

TEST(EstimateWarnings, SpeakOfSeveralRowsAsOfSeveral) {
  EXPECT_THAT(for_people({"row (a, 0) is not determined: it was never visited",
                          "row (a, 1) is not determined: it was never visited"}),
              ElementsAre("rows (a, 0), (a, 1) are not determined: they were never visited"));
  EXPECT_THAT(
      for_people({"row (a, 0) is not determined: its pairs are few, and it is far from it all",
                  "row (b, 0) is not determined: its pairs are few, and it is far from it all"}),
      ElementsAre("rows (a, 0), (b, 0) are not determined: their pairs are few, and they are "
                  "far from them all"));
  EXPECT_THAT(for_people({"row (a, 0) is not determined: it was never visited"}),
              ElementsAre("row (a, 0) is not determined: it was never visited"));
}

TEST(EstimateBrief, CountsOneThingAsOne) {
  TransitionEstimate estimate;
  estimate.status = EstimateStatus::ok;
  estimate.estimator = "oas";
  estimate.pairs = {1};
  estimate.rows = 2;
  EXPECT_EQ(estimate.brief(), "oas: 1 pair from 2 rows");
  estimate.pairs = {1, 1};
  estimate.flag(Action{0}, State{0}, "why");
  EXPECT_EQ(estimate.brief(), "oas: 2 pairs from 2 rows, 1 row of T not determined");
  estimate.log_likelihood = -1.0;
  estimate.rows = 1;
  estimate.passes = 1;
  EXPECT_EQ(estimate.brief(),
            "oas: log-likelihood -1.000000 per row, 1 row, 1 pass, 1 row of T not determined");
}

TEST(EstimateWarnings, RowsThatDifferInNumbersOnlyStandInOneLineTheWorstFirst) {
  std::vector<std::string> poor;
  for (int s = 0; s < 31; ++s) {
    poor.push_back("row (a, " + std::to_string(s) +
                   ") is poorly determined: standard error up to 0." +
                   std::to_string(11 + s * 7 % 31));
  }
  EXPECT_THAT(for_people(poor),
              ElementsAre("rows (a, 22), (a, 13), (a, 4), (a, 26) and 27 more are poorly "
                          "determined: standard error up to 0.41"));
  EXPECT_THAT(
      for_people({"row (a, 1) is not determined: its visits, 3.25e-05, may be noise",
                  "row (a, 2) is not determined: its visits, 12, may be noise",
                  "row (b, 3) is not determined: it was never visited", "3 rows", "4 rows"}),
      ElementsAre("rows (a, 1), (a, 2) are not determined: their visits, 3.25e-05, may be "
                  "noise (the first of them)",
                  "row (b, 3) is not determined: it was never visited", "3 rows", "4 rows"));
}

TEST(EstimateWarnings, OfARowThatIsFlaggedNothingMoreIsSaid) {
  const Pomdp model = machine_maintenance();
  TransitionEstimate estimate;
  estimate.transition = TransitionModel::uniform(model.num_states(), model.num_actions());
  const auto rows = static_cast<std::size_t>(model.num_actions() * model.num_states());
  estimate.standard_error.assign(rows * static_cast<std::size_t>(model.num_states()), 0.2);
  estimate.lower.assign(estimate.standard_error.size(), 0.0);
  estimate.upper.assign(estimate.standard_error.size(), 1.0);
  warn_of_poor_rows(model, estimate);
  EXPECT_EQ(estimate.warnings.size(), rows);
  estimate.warnings.clear();
  estimate.flag(Action{1}, State{2}, "because");
  warn_of_poor_rows(model, estimate);
  EXPECT_EQ(estimate.warnings.size(), rows - 1);
}

}  // namespace
}  // namespace oas
