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
