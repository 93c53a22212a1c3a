#include "oas/study/guest_estimators.hpp"

#include <gmock/gmock.h>

#include "oas/core/contracts.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/study/run_study.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kStudy = R"(
format = "oas-study/1"
name = "guests"
title = "t"
question = "q"
replications = 2
[[sweep]]
name = "sizes"
kind = "estimation"
size = ["2x2x3", "3x2x4"]
estimators = ["oas-overlap", "ours:uniform", "ours:overlap"]
pairs = 600
)";

TransitionModel uniform(const Pomdp& model, const Trajectory& /*rows*/) {
  return TransitionModel::uniform(model.num_states(), model.num_actions());
}
TransitionModel overlap(const Pomdp& model, const Trajectory& rows) {
  Evidence evidence = make_evidence("oas-overlap", model);
  evidence.add(rows);
  return evidence.estimate(EstimateOptions::bare()).transition;
}

Trajectory a_log(const Pomdp& model) {
  Trajectory log;
  ClosedLoop(model, {.name = "belief"}, 1).advance(500, log);
  return log;
}

TEST(GuestEstimators, GetAllRowsAndNoDynamics) {
  const Pomdp model = machine_maintenance();
  const Trajectory log = a_log(model);
  Trajectory seen;
  const GuestEstimators guests = {{"ours:f", [&](const Pomdp& given, const Trajectory& rows) {
                                     EXPECT_FALSE(given.has_transition());
                                     seen = rows;
                                     return uniform(given, rows);
                                   }}};
  TaskEstimator estimator("ours:f", model, {}, guests);
  for (const std::size_t end : {200, 500}) {
    Trajectory block = log;
    const auto cut = [&](auto& column) {
      column = {column.begin() + static_cast<std::ptrdiff_t>(seen.size()),
                column.begin() + static_cast<std::ptrdiff_t>(end)};
    };
    cut(block.actions);
    cut(block.observations);
    cut(block.propensities);
    estimator.add(block);
    EXPECT_EQ(estimator.estimate().transition, uniform(model, log));
    EXPECT_EQ(seen.size(), end);
  }
  EXPECT_EQ(seen.actions, log.actions);
  EXPECT_EQ(seen.observations, log.observations);
  EXPECT_EQ(seen.propensities, log.propensities);
}

TEST(GuestEstimators, AreNamedWithAColon) {
  EXPECT_NO_THROW(check_estimator("oas-ml"));
  EXPECT_NO_THROW(check_estimator("a:b"));
  EXPECT_THAT([] { check_estimator("magic"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("unknown estimator 'magic'")));
  EXPECT_THAT(guest_names(parse_study(kStudy, "s.toml")),
              ElementsAre("ours:overlap", "ours:uniform"));
  EXPECT_THAT([] { TaskEstimator("a:b", machine_maintenance(), {}, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("'a:b' is a function of Python")));
}

TEST(GuestEstimators, StandInStudiesBesideTheOthers) {
  const test::TemporaryDirectory directory;
  ResultStore store = ResultStore::open(directory.file("out"), parse_study(kStudy, "s.toml"));
  const StudyRun without = run_study(store);
  EXPECT_EQ(without.failed, 4);
  StudyRunOptions options;
  options.guests = {{"ours:uniform", uniform}, {"ours:overlap", overlap}};
  EXPECT_EQ(run_study(store, options).status, StudyRun::Status::complete);
  for (std::int64_t unit = 0; unit < 4; ++unit) {
    const ResultRows rows = store.unit(unit).rows;
    ASSERT_EQ(rows.size() % 3, 0U);
    constexpr std::size_t kError = 16;  // columns
    for (std::size_t i = 0; i < rows.size(); i += 3) {
      EXPECT_EQ(rows[i][kError], rows[i + 2][kError]);
      EXPECT_NE(rows[i][kError], rows[i + 1][kError]);
    }
  }
}

}  // namespace
}  // namespace oas
