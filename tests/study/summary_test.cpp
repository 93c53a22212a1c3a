#include "oas/study/summary.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace oas {
namespace {

using testing::HasSubstr;

// Two replications of two estimators at three sample sizes; `other` is half of `one`.
ResultTable example_table() {
  ResultTable table{"estimation",
                    {"task", "sweep", "replication", "seed", "size", "estimator", "pairs", "error"},
                    {}};
  for (std::int64_t replication = 0; replication < 2; ++replication) {
    for (const std::int64_t pairs : {100, 1000, 10000}) {
      const double error =
          (1.0 + static_cast<double>(replication)) / std::sqrt(static_cast<double>(pairs));
      table.rows.push_back({replication, std::string("a"), replication, std::int64_t{1},
                            std::string("2x2x2, \"small\""), std::string("one"), pairs, error});
      table.rows.push_back({replication, std::string("a"), replication, std::int64_t{1},
                            std::string("2x2x2, \"small\""), std::string("other"), pairs,
                            0.5 * error});
    }
  }
  return table;
}

FigureSpec example_spec() {
  FigureSpec spec;
  spec.name = "f";
  spec.kind = "estimation";
  spec.x = "pairs";
  spec.y = "error";
  spec.series = "estimator";
  spec.predicted = -0.5;
  return spec;
}

TEST(Summary, MeansIntervalsAndSlopes) {
  const FigureData figure = summarise(example_spec(), example_table(), 1);
  ASSERT_EQ(figure.panels.size(), 1U);
  ASSERT_EQ(figure.panels[0].series.size(), 2U);
  const Series& one = figure.panels[0].series[0];
  EXPECT_EQ(one.label, "one");
  ASSERT_EQ(one.points.size(), 3U);
  EXPECT_DOUBLE_EQ(one.points[2].x, 10000);
  EXPECT_DOUBLE_EQ(one.points[2].y.mean, 0.015);
  EXPECT_EQ(one.points[2].y.count, 2);
  EXPECT_NEAR(one.slope->mean, -0.5, 1e-12);
}

TEST(Summary, PairedDifferencesUseTheSameRuns) {
  FigureSpec spec = example_spec();
  spec.paired = "one";
  const FigureData figure = summarise(spec, example_table(), 1);
  EXPECT_FALSE(figure.panels[0].series[0].difference.has_value());
  const MeanInterval difference = *figure.panels[0].series[1].difference;
  EXPECT_DOUBLE_EQ(difference.mean, -0.0075);
  // Differences are -0.005 and -0.01: the interval is theirs, not that of two separate means.
  EXPECT_NEAR(difference.upper - difference.lower, 2 * 12.7062047362 * 0.0025, 1e-9);
}

TEST(Summary, WhereLastAndPanels) {
  FigureSpec spec = example_spec();
  spec.where["estimator"] = {"other", "none"};
  spec.panel = "size";
  spec.last = true;
  const FigureData figure = summarise(spec, example_table(), 1);
  EXPECT_EQ(figure.panels[0].label, "2x2x2, \"small\"");
  ASSERT_EQ(figure.panels[0].series.size(), 1U);
  ASSERT_EQ(figure.panels[0].series[0].points.size(), 1U);
  EXPECT_FALSE(figure.panels[0].series[0].slope.has_value());
}

TEST(Summary, SlopeOfTheLastDecadesOnly) {
  ResultTable table = example_table();
  for (ResultRow& row : table.rows) {
    if (std::get<std::int64_t>(row[6]) == 100) row[7] = 1.0;
  }
  FigureSpec spec = example_spec();
  EXPECT_LT(summarise(spec, table, 1).panels[0].series[0].slope->mean, -0.6);
  spec.fit_decades = 1.0;
  EXPECT_NEAR(summarise(spec, table, 1).panels[0].series[0].slope->mean, -0.5, 1e-12);
}

TEST(Summary, TheAnswerHasNumbersInIt) {
  Study study;
  study.answer = "{f.count} curves, {f.slope}, {f.last.min[other]} or {f.last.max}; {f.covers}.";
  ResultTable table = example_table();
  table.rows[0][7] = 0.11;  // slopes now lie around -0.5, not on it
  study.figures = {example_spec()};
  const std::vector<FigureData> figures = {summarise(example_spec(), table, 1)};
  // The other curve has the exponent -0.5 in every run, up to rounding: its interval is a point.
  EXPECT_EQ(answer_text(study, figures), "2 curves, −0.505, 0.0075 or 0.015; 1.");
  EXPECT_TRUE(answer_has_data(study, figures));
  EXPECT_FALSE(answer_has_data(study, {}));
  study.answer = "{f.last.min[nobody]}";
  EXPECT_FALSE(answer_has_data(study, figures));
  EXPECT_EQ(answer_text(study, figures), "?");
  EXPECT_EQ(answer_text(study, {}), "?");
}

TEST(Summary, TidyTables) {
  const std::vector<FigureData> figures = {summarise(example_spec(), example_table(), 1)};
  EXPECT_THAT(points_csv(figures), HasSubstr("\nf,,other,10000,0.0075,"));
  EXPECT_THAT(curves_csv(figures), HasSubstr("\nf,,one,10000,0.015,"));
}

}  // namespace
}  // namespace oas
