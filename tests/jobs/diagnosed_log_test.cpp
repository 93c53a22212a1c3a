#include <gmock/gmock.h>

#include "oas/jobs/log_diagnosis.hpp"
#include "reading_first_support.hpp"
#include "support/temporary_directory.hpp"

/// From files to rows with their units and places.
namespace oas {
namespace {

using ::testing::ElementsAre;

class ReadDiagnosedLog : public testing::Test {
 protected:
  DiagnosedRows read(const AnyModel& model, const std::vector<std::string>& texts,
                     const LogOptions& options = {}) {
    paths_.clear();
    for (const std::string& text : texts) {
      paths_.push_back(folder_.file(std::to_string(paths_.size()) + ".csv"));
      test::spill(paths_.back(), text);
    }
    return read_diagnosed_log(model, paths_, options).rows;
  }

  const test::TemporaryDirectory folder_;
  std::vector<std::string> paths_;
};

// A unit goes on where the file before left it, wherever its rows stand.
TEST_F(ReadDiagnosedLog, PositionsCountOnFromFileToFile) {
  const Pomdp model = test::random_model({.named = false}, 1);
  const DiagnosedRows rows = read(model, {"run,action,observation\na,0,0\na,0,1\nb,0,0\n",
                                          "run,action,observation\nb,0,0\na,0,0\nb,0,1\n"});
  EXPECT_THAT(rows.units, ElementsAre("a", "b"));
  EXPECT_THAT(rows.unit_of_run, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(rows.run_starts, ElementsAre(0U, 2U, 3U, 5U));
  EXPECT_THAT(rows.place, ElementsAre(1, 2, 1, 2, 3, 3));
}

// Numbers say nothing about which unit of another file is meant.
TEST_F(ReadDiagnosedLog, NumbersCountAnewInEachFile) {
  const Pomdp model = test::random_model({.named = false}, 1);
  const DiagnosedRows rows =
      read(model, {"action,observation\n0,0\n0,1\n", "run,action,observation\n0,0,0\n0,0,1\n"});
  EXPECT_THAT(rows.units, ElementsAre(paths_[0] + ":0", paths_[1] + ":0"));
  EXPECT_THAT(rows.place, ElementsAre(1, 2, 1, 2));
}

// Rows are counted as the files count them: also the last of a run, whose action has shown nothing
// yet, and a row alone, which holds no transition.
TEST_F(ReadDiagnosedLog, ReadingFirstRowsCountAsTheFilesCountThem) {
  const std::string header = "run,action,observation\n";
  const DiagnosedRows rows =
      read(test::reading_model(),
           {header + "a,0,0\na,0,1\na,0,0\n", header + "a,0,0\nb,0,1\n", header + "a,0,0\na,,1\n"});
  EXPECT_THAT(rows.units, ElementsAre("a"));
  EXPECT_THAT(rows.place, ElementsAre(1, 2, 5));
}

// What the diagnosis makes of rows that it takes to be of another order, and what the reader does.
TEST_F(ReadDiagnosedLog, OrdersAreThoseOfTheReader) {
  const Pomdp first = test::reading_model();
  PomdpParts parts = first.parts();
  parts.rows = Rows::action_first;
  const Pomdp after(parts);
  const std::vector<std::string> texts = {
      "run,action,observation\na,0,1\na,1,\na,1,3\nb,0,\nb,0,2\nb,1,1\nb,1,0\n"};
  const DiagnosedRows as_first = read(first, texts);
  const DiagnosedRows as_after = read(after, texts);
  const DiagnosedRows made = rows_in_order(after, as_after, RowOrder::reading_first).rows;
  EXPECT_EQ(made.actions, as_first.actions);
  EXPECT_EQ(made.observations, as_first.observations);
  EXPECT_EQ(made.run_starts, as_first.run_starts);
  EXPECT_EQ(made.place, as_first.place);
  ASSERT_EQ(made.starts.size(), 2U);
  for (std::size_t run = 0; run < 2; ++run) EXPECT_EQ(made.starts[run], as_first.starts[run]);
  const DiagnosedRows back = rows_in_order(first, as_first, RowOrder::after).rows;
  EXPECT_THAT(back.run_starts, ElementsAre(0U, 2U));
  EXPECT_THAT(back.observations,
              ElementsAre(Observation{1}, kMissing, kMissing, Observation{2}, Observation{1}));
  EXPECT_EQ(back.actions, as_first.actions);
}

// Whoever draws readings or judges them anew must allow for the same outliers.
TEST_F(ReadDiagnosedLog, RowsKnowTheShareOfOutliers) {
  PomdpParts parts;
  parts.states = Labels(2, "state");
  parts.actions = Labels(1, "action");
  parts.observations = Labels(1, "observation");
  parts.sensors = ObservationModel(2, 1, 1, {1.0, 1.0});
  const DensitySensors densities(
      2, 1, {VectorDensity({Density::gaussian(0, 1)}), VectorDensity({Density::gaussian(4, 1)})});
  LogOptions options;
  options.outliers = "0.02";
  const DiagnosedRows rows = read(ContinuousPomdp(Pomdp(parts), densities),
                                  {"action,observation\n0,0.5\n0,99\n"}, options);
  EXPECT_EQ(rows.outlier_share, 0.02);
}

}  // namespace
}  // namespace oas
