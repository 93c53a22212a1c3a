// Logs of several units as engineers have them: columns of any name, rows as they came in.
#include "log_support.hpp"
#include "oas/logs/detail/unit_rows.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "support/random_models.hpp"

namespace oas::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kHead = "ts,pump,cmd,vib,note\n";
const LogOptions kColumns{.columns = "action=cmd,observation=vib,run=pump"};

TEST(FleetColumns, StandWhereTheUserSays) {
  const LogBlock log =
      read_text(kHead + "x,a,2,3,\"a, b\"\ny,a,1,,\n", index_model(), 1000, kColumns);
  EXPECT_THAT(values(log.rows.actions), ElementsAre(2, 1));
  EXPECT_THAT(values(log.rows.observations), ElementsAre(3, -1));
  EXPECT_THAT(log.run_names, ElementsAre("a"));
}

TEST(FleetColumns, ThoseNotNamedHaveTheirOwnNames) {
  const std::string text = "run,action,vib,observation,state\na,1,2,nonsense,elsewhere\n";
  const LogBlock log = read_text(text, index_model(), 1000, {.columns = "observation=vib,state="});
  EXPECT_THAT(values(log.rows.actions), ElementsAre(1));
  EXPECT_THAT(values(log.rows.observations), ElementsAre(2));
  EXPECT_THAT(log.run_names, ElementsAre("a"));
  EXPECT_TRUE(log.rows.states.empty());
}

TEST(FleetColumns, ErrorsListTheColumnsThereAre) {
  const auto error = [](const std::string& columns, const std::string& head = kHead) {
    return error_of(head + "x,a,2,3,\n", index_model(), {.columns = columns});
  };
  EXPECT_EQ(error("action=cmd,observation=vibration"),
            "log.csv:1: there is no column 'vibration' for observation; the columns are ts, pump, "
            "cmd, vib, note");
  EXPECT_EQ(error("action=cmd,observation=cmd"),
            "log.csv:1: columns: 'cmd' is named for two parts of a row; the columns are ts, pump, "
            "cmd, vib, note");
  EXPECT_THAT(error("action=cmd,observation=vib", "ts,vib,cmd,vib,note\n"),
              StartsWith("log.csv:1: column 'vib' for observation occurs twice"));
  EXPECT_EQ(error("action=cmd"),
            "log.csv:1: column 'observation' is missing; the columns are ts, pump, cmd, vib, note");
  EXPECT_THAT(error("action=cmd,observation=vib+note"),
              HasSubstr("observation names 2 columns, but observations of this model are finite"));
  EXPECT_THAT(error("cmd"), StartsWith("columns: 'cmd' is not of the form part=column"));
  EXPECT_THAT(error("act=cmd"), StartsWith("columns: unknown part 'act'; known are action,"));
  EXPECT_EQ(error("run=pump,run=ts"), "columns: run is named twice");
  EXPECT_EQ(error("run=pump+ts"), "columns: run stands in one column, not in 2");
  EXPECT_EQ(error_of(kHead + "x,a,2,3,\n", index_model()),
            error_of(kHead + "x,a,2,3,\n", index_model(), {.columns = ""}));
}

TEST(FleetColumns, VectorsAndLikelihoodsOfSeveralColumns) {
  const Pomdp chain = index_model();
  std::vector<VectorDensity> densities;
  for (int i = 0; i < 6; ++i) {
    densities.emplace_back(VectorDensity({Density::gaussian(i, 1.0), Density::gaussian(-i, 2.0)}));
  }
  const ContinuousPomdp model(chain, DensitySensors(2, 3, std::move(densities)));
  const auto read = [&](const std::string& text, const std::string& columns) {
    return read_all(LogReader(bytes_of(text), "log.csv", model, {.columns = columns}));
  };
  const std::string text = "temp,cmd,vib\n1.5,2,-2\n,0,\n";
  EXPECT_THAT(read(text, "action=cmd,observation=vib+temp").readings, ElementsAre(-2, 1.5, 0, 0));
  EXPECT_THAT(read("p,cmd,q\n0.5,2,0.25\n", "action=cmd,likelihood=q+p").likelihoods,
              ElementsAre(0.25, 0.5));
  EXPECT_THROW(read(text, "action=cmd,observation=vib"), ParseError);
}

// Sorted by the first row of each unit, stably.
TEST(FleetUnits, InterleavedRowsAreSortedApart) {
  const std::string mixed =
      "run,action,observation,propensity\nb,0,1,0.1\na,1,2,0.2\nb,2,,0.3\nc,0,0,0.4\na,1,3,0.5\n";
  const std::string sorted =
      "run,action,observation,propensity\nb,0,1,0.1\nb,2,,0.3\na,1,2,0.2\na,1,3,0.5\nc,0,0,0.4\n";
  for (const std::size_t size : {1UL, 2UL, 3UL, 1000UL}) {
    const LogBlock found = read_text(mixed, index_model(), size);
    const LogBlock expected = read_text(sorted, index_model(), size);
    EXPECT_EQ(found.rows, expected.rows) << size;
    EXPECT_EQ(found.run_starts, expected.run_starts);
    EXPECT_THAT(found.run_names, ElementsAre("b", "a", "c"));
  }
}

TEST(FleetUnits, FaultsNameTheLineOfTheFile) {
  const std::string head = "run,action,observation\nb,0,1\na,1,2\nb,2,1\n";
  EXPECT_THAT(error_of(head + "a,7,1\n", index_model()), StartsWith("log.csv:5:2: action '7'"));
  EXPECT_THAT(error_of(head + "a,,1\n", index_model()), StartsWith("log.csv:5:2: the action is"));
  LogReader reader = reader_of(head + "a,2,0\n", index_model());
  LogBlock block;
  ASSERT_TRUE(reader.read_block(block, 10));
  EXPECT_EQ(reader.line_of(0), 2);
  EXPECT_EQ(reader.line_of(1), 4);
  EXPECT_EQ(reader.line_of(2), 3);
  EXPECT_EQ(reader.line_of(3), 5);
}

TEST(FleetUnits, OptionsNeedTheirColumns) {
  const std::string text = "action,observation\n0,0\n";
  EXPECT_EQ(error_of(text, index_model(), {.step = "1h"}),
            "log.csv:1: step: the log has no column 'time'");
  EXPECT_EQ(error_of(text, index_model(), {.gaps = "repeat"}),
            "log.csv:1: gaps: the log has no column 'time'");
  EXPECT_EQ(error_of(text, index_model(), {.known_states = true}),
            "log.csv:1: known_states: the log has no column 'state'");
  EXPECT_EQ(error_of(text, index_model(), {.interleaved = true}),
            "log.csv:1: interleaved: the log has no column 'run'");
}

// The same rows, whatever fits into memory.
TEST(FleetUnits, RowsThatDoNotFitGoToAFile) {
  LogBlock block;
  for (int i = 0; i < 1000; ++i) {
    block.rows.actions.emplace_back(i);
    block.rows.observations.emplace_back(i % 7);
    block.readings.insert(block.readings.end(), {0.5 * i, -1.0 * i});
  }
  const auto pieces = [&](std::size_t memory) {
    detail::UnitRows units(memory);
    for (std::size_t row = 0; row < 1000; ++row) {
      const double time = static_cast<double>(row);
      const std::size_t unit = units.unit(row * row % 11 < 5 ? "low" : "high");
      units.add(unit, block, row, static_cast<long>(row) + 2, &time);
    }
    std::string text;
    int count = 0;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      text += units.name(unit);
      for (detail::UnitPiece piece; units.next_piece(unit, piece); ++count) {
        for (std::size_t i = 0; i < piece.size(); ++i) {
          text += fmt::format(" {},{},{},{},{},{}", piece.rows.actions[i].value(),
                              piece.rows.observations[i].value(), piece.readings[2 * i],
                              piece.readings[2 * i + 1], piece.times[i], piece.lines[i]);
        }
      }
    }
    return std::pair(text, count);
  };
  const auto [expected, two] = pieces(1 << 20);
  const auto [spilled, many] = pieces(4000);
  EXPECT_EQ(two, 2);
  EXPECT_GE(many, 10);
  EXPECT_EQ(spilled, expected);
}

}  // namespace
}  // namespace oas::test
