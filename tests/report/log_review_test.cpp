#include "oas/report/log_review.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "oas/belief/smoother.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/temporary_directory.hpp"

/// What a page says about a log.
namespace oas {
namespace {

class Review : public testing::TestWithParam<const char*> {
 protected:
  // Three runs, of which some rows show nothing.
  std::string log_of(const Pomdp& model, std::size_t rows) {
    std::string path = folder_.file("log.csv");
    LogWriter writer(path, model, {.run = true});
    for (std::uint32_t run = 0; run < 3; ++run) {
      ClosedLoop(model, {.name = "uniform"}, 4, run).advance(rows, runs_.emplace_back());
      runs_.back().observations[5] = kMissing;
      writer.write(runs_.back(), run);
    }
    writer.commit();
    return path;
  }

  test::TemporaryDirectory folder_;
  std::vector<Trajectory> runs_;
};

TEST_P(Review, CountsAndSmooths) {
  const Pomdp model = make_problem(GetParam());
  const std::string path = log_of(model, 40);
  const std::vector<std::string> asked = {"2", "0"};
  const LogReview review = review_log(model, path, asked, 9, {});
  EXPECT_EQ(review.rows, 120);
  EXPECT_EQ(review.units, 3);
  EXPECT_EQ(review.missing, 3);
  EXPECT_EQ(review.impossible, 0);
  ASSERT_EQ(review.histories.size(), 2U);
  EXPECT_EQ(review.histories[0].unit, "2");
  EXPECT_EQ(review.histories[0].actions, runs_[2].actions);
  std::vector<double> expected;
  smooth(model, runs_[2].actions, runs_[2].observations,
         [&](std::size_t, std::span<const double>, std::span<const double> smoothed, double) {
           expected.insert(expected.end(), smoothed.begin(), smoothed.end());
         });
  EXPECT_EQ(review.histories[0].smoothed, expected);
  EXPECT_EQ(review_log(model, path, {}, 2, {}).histories.size(), 2U);
}

// A unit that is cut at a gap is one unit, of which the last part is shown, named or not.
TEST_P(Review, UnitsAreNotCountedAnewAtGaps) {
  const Pomdp model = make_problem(GetParam());
  const std::string path = folder_.file("log.csv");
  LogOptions options;
  options.step = "1";
  options.gaps = "new-run";
  const auto review = [&](const std::string& text, std::vector<std::string> units) {
    std::ofstream(path) << text;
    return review_log(model, path, units, 1, options);
  };
  const std::string unnamed = "time,action,observation\n1,0,0\n2,0,0\n9,0,1\n";
  for (const auto& asked : {std::vector<std::string>(), std::vector<std::string>{"0"}}) {
    const LogReview one = review(unnamed, asked);
    EXPECT_EQ(one.units, 1);
    ASSERT_EQ(one.histories.size(), 1U);
    EXPECT_EQ(one.histories[0].unit, "0");
    EXPECT_EQ(one.histories[0].first_step, 8);
  }
  const LogReview two =
      review("run,time,action,observation\np,1,0,0\nq,1,0,0\np,3,0,1\nq,2,0,0\nq,5,0,1\n", {});
  EXPECT_EQ(two.units, 2);
  ASSERT_EQ(two.histories.size(), 1U);  // of the first unit, not of the second one's parts
  EXPECT_EQ(two.histories[0].unit, "p");
  EXPECT_EQ(two.histories[0].first_step, 2);
}

// Scores are martingales divided by their deviation: 0 on average and of size 1 under the model's
// own rows. |score| > 6 has a probability below 1e-8; a wrong sensor moves some far beyond.
TEST_P(Review, ResidualsFindAWrongSensor) {
  const Pomdp model = make_problem(GetParam());
  const std::string path = log_of(model, 4000);
  for (const ObservationResidual& cell : review_log(model, path, {}, 0, {}).residuals) {
    EXPECT_LT(std::abs(cell.score()), 6.0);
  }
  PomdpParts parts = model.parts();
  const ObservationModel& right = model.sensors();
  std::vector<double> values(right.values().begin(), right.values().end());
  const auto observations = static_cast<std::size_t>(model.num_observations());
  for (std::size_t row = 0; row < values.size(); row += observations) {
    for (std::size_t o = 0; o < observations; ++o) {
      values[row + o] = 0.8 * values[row + o] + 0.2 / static_cast<double>(observations);
    }
  }
  parts.sensors = ObservationModel(model.num_states(), model.num_actions(),
                                   model.num_observations(), std::move(values));
  double worst = 0.0;
  for (const auto& cell : review_log(Pomdp(std::move(parts)), path, {}, 0, {}).residuals) {
    worst = std::max(worst, std::abs(cell.score()));
  }
  EXPECT_GT(worst, 6.0);
}

INSTANTIATE_TEST_SUITE_P(BothTimings, Review,
                         testing::Values("pest-control", "corner/dense-3-after"),
                         [](const auto& one) {
                           return std::string(one.param).find("after") == std::string::npos
                                      ? "before"
                                      : "after";
                         });

}  // namespace
}  // namespace oas
