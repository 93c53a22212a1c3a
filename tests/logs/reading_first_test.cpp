// Rows that are reading-first become rows of timing `after` in one place, whatever else the log is.
#include <cmath>

#include "log_support.hpp"
#include "support/random_densities.hpp"

namespace oas {
namespace {

using test::error_of;
using test::index_model;
using test::read_all;
using test::read_text;
using test::reader_of;
using test::values;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Pomdp read_first(const Pomdp& model = index_model(Timing::after)) {
  return model.with_rows(Rows::reading_first);
}

constexpr const char* kLog =
    "# oas-log/1 timing=after rows=reading-first\n"
    "run,observation,action,propensity,reward,state\n"
    "a,3,0,0.25,1,1\n"
    "a,1,2,0.5,2,\n"
    "a,,1,0.75,3,0\n"
    "a,2,,,,1\n"
    "b,0,1,1,4,0\n"
    "c,,2,0.5,5,\n"
    "c,1,0,0.125,6,1\n";

TEST(ReadingFirstLog, RowsHoldAnActionAndTheNextReading) {
  const LogBlock rows = read_text(kLog, read_first());
  EXPECT_THAT(values(rows.rows.actions), ElementsAre(0, 2, 1, 2));
  EXPECT_THAT(values(rows.rows.observations), ElementsAre(1, -1, 2, 1));
  EXPECT_THAT(rows.rows.propensities, ElementsAre(0.25, 0.5, 0.75, 0.5));
  EXPECT_THAT(rows.rows.rewards, ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(values(rows.rows.states), ElementsAre(1, -1, 0, -1));
  // A run of one row is nothing to learn from.
  EXPECT_THAT(rows.run_starts, ElementsAre(0, 3));
  EXPECT_THAT(rows.run_names, ElementsAre("a", "c"));
  ASSERT_EQ(rows.starts.size(), 2U);
  EXPECT_TRUE(rows.starts[0].from_model());
  EXPECT_EQ(rows.starts[0].first()->observation, Observation{3});
  EXPECT_THAT(rows.starts[0].first()->likelihood, ElementsAre(0.25, 0.25));
  EXPECT_EQ(rows.starts[1].first()->observation, kMissing);
  EXPECT_THAT(rows.starts[1].first()->likelihood, IsEmpty());
}

TEST(ReadingFirstLog, AnyCutIntoBlocksGivesTheSameRows) {
  const LogBlock all = read_text(kLog, read_first());
  for (std::size_t size = 1; size < 6; ++size) EXPECT_EQ(read_text(kLog, read_first(), size), all);
}

TEST(ReadingFirstLog, AllRowsKeepsLastActionsAndShortRuns) {
  LogReader reader = reader_of(kLog, read_first());
  reader.set_rows(LogRows::all);
  LogBlock block;
  ASSERT_TRUE(reader.read_block(block, 100));
  EXPECT_THAT(values(block.rows.actions), ElementsAre(0, 2, 1, 1, 2, 0));
  EXPECT_THAT(values(block.rows.observations), ElementsAre(1, -1, 2, -1, 1, -1));
  EXPECT_THAT(block.run_starts, ElementsAre(0, 3, 4));
  EXPECT_THAT(block.last_actions, ElementsAre(3, 5));
  EXPECT_EQ(reader.line_of(0), 4);  // that of the reading
  EXPECT_EQ(reader.rows_read(), 7U);
  EXPECT_FALSE(reader.read_block(block, 100));
  LogReader one = reader_of("observation,action\n2,\n", read_first());
  one.set_rows(LogRows::all);
  ASSERT_TRUE(one.read_block(block, 100));
  EXPECT_EQ(block.rows.size(), 0U);
  EXPECT_THAT(block.run_starts, ElementsAre(0));
  EXPECT_FALSE(one.read_block(block, 100));
}

TEST(ReadingFirstLog, AsWrittenChangesNothing) {
  LogReader reader = reader_of(kLog, read_first());
  reader.set_rows(LogRows::as_written);
  const LogBlock rows = read_all(std::move(reader));
  EXPECT_THAT(values(rows.rows.actions), ElementsAre(0, 2, 1, -1, 1, 2, 0));
  EXPECT_THAT(values(rows.rows.observations), ElementsAre(3, 1, -1, 2, 0, -1, 1));
  LogReader bad = reader_of("observation,action\n1,0\n2,\n3,1\n", read_first());
  bad.set_rows(LogRows::as_written);
  EXPECT_THROW(static_cast<void>(read_all(std::move(bad), 1)), ParseError);
}

TEST(ReadingFirstLog, UnitsMayBeMixedAndHaveGaps) {
  const std::string text =
      "time,run,observation,action\n"
      "0,a,3,0\n"
      "0,b,1,2\n"
      "1,a,2,1\n"
      "3,b,0,1\n"
      "2,a,,0\n"
      "4,b,1,\n";
  LogOptions options;
  options.step = "1";
  options.gaps = "repeat";
  const LogBlock filled = read_text(text, read_first(), 1000, options);
  EXPECT_THAT(filled.run_names, ElementsAre("a", "b"));
  EXPECT_THAT(values(filled.rows.actions), ElementsAre(0, 1, 2, 2, 2, 1));
  EXPECT_THAT(values(filled.rows.observations), ElementsAre(2, -1, -1, -1, 0, 1));
  for (std::size_t size = 1; size < 8; ++size) {
    EXPECT_EQ(read_text(text, read_first(), size, options), filled);
  }
  options.gaps = "new-run";
  const LogBlock cut = read_text(text, read_first(), 1000, options);
  EXPECT_THAT(values(cut.rows.actions), ElementsAre(0, 1, 1));
  EXPECT_THAT(values(cut.rows.observations), ElementsAre(2, -1, 1));
  ASSERT_EQ(cut.starts.size(), 2U);  // the first row of b stands alone
  EXPECT_FALSE(cut.starts[1].from_model());
  EXPECT_EQ(cut.starts[1].first()->observation, Observation{0});
  EXPECT_THAT(cut.first_steps, ElementsAre(0, 3));
}

TEST(ReadingFirstLog, KnownStatesAreThoseThatWereRead) {
  LogOptions options;
  options.known_states = true;
  const LogBlock rows = read_text(kLog, read_first(), 1000, options);
  EXPECT_THAT(values(rows.known), ElementsAre(-1, 0, 1, 1));
  EXPECT_THAT(rows.likelihoods, ElementsAre(0.25, 0.25, 1, 0, 0, 0.25, 0, 0.25));
  std::vector<double> belief(2);
  EXPECT_EQ(rows.starts[0].belief(index_model().start(), belief), 0.25);
  EXPECT_THAT(belief, ElementsAre(0, 1));
}

TEST(ReadingFirstLog, FaultsNameLineAndColumn) {
  const Pomdp model = read_first();
  EXPECT_THAT(error_of("observation,action\n1,0\n2,\n3,1\n", model),
              HasSubstr("log.csv:3:2: the action is empty, but the run goes on in line 4"));
  EXPECT_THAT(error_of("observation,action,propensity\n1,0,0.5\n2,1,\n3,1,1\n", model),
              HasSubstr("log.csv:3:3: the propensity is empty beside an action"));
  EXPECT_THAT(error_of("observation,action\n1,0\n4,1\n", model), HasSubstr("log.csv:3:1: "));
  EXPECT_THAT(error_of("# oas-log/1 timing=after\nobservation,action\n1,0\n", model),
              HasSubstr("log.csv:1: the rows of the log are action-first"));
  EXPECT_THAT(error_of("# oas-log/1 timing=after rows=reading-first\nobservation,action\n1,0\n",
                       index_model(Timing::after)),
              HasSubstr("log.csv:1: the rows of the log are reading-first"));
  EXPECT_THAT(error_of("# oas-log/1 timing=before rows=reading-first\nobservation,action\n", model),
              HasSubstr("log.csv:1: rows=reading-first goes with timing=after"));
  EXPECT_THAT(error_of("# oas-log/1 timing=after rows=upside-down\nobservation,action\n", model),
              HasSubstr("log.csv:1: rows are action-first or reading-first, not \"upside-down\""));
  EXPECT_THAT(error_of("observation,action\n", model), HasSubstr("no rows below the header"));
  // Rows that are action-first have an action each.
  EXPECT_THAT(error_of("observation,action\n1,\n", index_model(Timing::after)),
              HasSubstr("log.csv:2:2: "));
  LogOptions options;
  options.rows = "reading-first";
  EXPECT_EQ(error_of(kLog, index_model(Timing::after), options), "");
  EXPECT_THAT(error_of(kLog, index_model(Timing::before), options), HasSubstr("timing `after`"));
}

Pomdp sure() {
  PomdpParts parts = index_model(Timing::after).parts();
  parts.start = {1.0, 0.0};
  parts.first_observation = ObservationModel(2, 1, 4, {1, 0, 0, 0, 0, 0.5, 0.5, 0});
  parts.rows = Rows::reading_first;
  return Pomdp(std::move(parts));
}

TEST(ReadingFirstLog, FirstReadingsThatCannotBeAreFaults) {
  EXPECT_THAT(error_of("action,observation\n1,3\n0,0\n", sure()),
              HasSubstr("log.csv:2:2: observation '3' has probability 0 in every state as a first "
                        "reading"));
  LogOptions options;
  options.known_states = true;
  EXPECT_THAT(error_of("action,observation,state\n1,1,0\n0,0,0\n", sure(), options),
              HasSubstr("log.csv:2:3: state '0' cannot have given the first reading"));
  EXPECT_THAT(error_of("action,observation,state\n1,1,1\n0,0,0\n", sure(), options),
              HasSubstr("log.csv:2:3: state '1' has probability 0 at the start of a run"));
}

TEST(ReadingFirstLog, RealValuedReadingsUseTheSensorOfTheActionBefore) {
  const ContinuousPomdp model = test::gaussian_model(Timing::after);
  const auto density = [](double low, double high) {
    return VectorDensity({Density::table({low, high}, {1.0})});
  };
  const ContinuousPomdp reading(
      model.chain().with_rows(Rows::reading_first), model.sensors(),
      DensitySensors(3, 1, {density(0, 1), density(0, 2), density(1, 2)}));
  const auto read = [&](const char* text) {
    return read_all(LogReader(bytes_of(text), "log.csv", reading));
  };
  const LogBlock rows = read("observation,action\n0.5,1\n2.5,0\n,1\n1.5,\n");
  EXPECT_THAT(rows.starts[0].first()->likelihood, ElementsAre(1, 0.5, 0));
  EXPECT_THAT(rows.starts[0].first()->reading, ElementsAre(0.5));
  EXPECT_THAT(rows.readings, ElementsAre(2.5, 0, 1.5));
  const std::vector<double> seen = {2.5};
  const std::vector<double> last = {1.5};
  for (int s = 0; s < 3; ++s) {
    EXPECT_EQ(rows.likelihoods[s], model.sensors()(Action{1}, State{s})(seen));
    EXPECT_EQ(rows.likelihoods[3 + s], 1.0);
    EXPECT_EQ(rows.likelihoods[6 + s], model.sensors()(Action{1}, State{s})(last));
  }
  const auto fault = [&](const char* text) -> std::string {
    try {
      static_cast<void>(read(text));
    } catch (const ParseError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(fault("action,observation\n1,7\n0,1\n"),
              HasSubstr("log.csv:2:2: observation 7 has density 0 in every state as a first "
                        "reading"));
  EXPECT_THAT(fault("action,observation\n1,0.5\n0,1e6\n"),
              HasSubstr("log.csv:3:2: observation 1000000 has density 0 in every state under "
                        "action '1'"));
  // Likelihoods that the log brings are what they are.
  const LogBlock given =
      read("likelihood_1,likelihood_2,likelihood_3,action\n1,2,3,0\n4,5,6,1\n,,,\n");
  EXPECT_THAT(given.starts[0].first()->likelihood, ElementsAre(1, 2, 3));
  EXPECT_THAT(given.likelihoods, ElementsAre(4, 5, 6, 1, 1, 1));
}

}  // namespace
}  // namespace oas
