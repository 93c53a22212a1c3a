#include "oas/estimation/evidence.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "oas/experiments/log_estimation.hpp"
#include "oas/io/log_writer.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/temporary_directory.hpp"

/// Rows in memory and rows in files: the same estimate, error bars included, over several runs.
namespace oas {
namespace {

class EvidenceOfName : public testing::TestWithParam<const char*> {};

TEST_P(EvidenceOfName, SaysWhatTheCommandSays) {
  const std::string name = GetParam();
  const Pomdp model = make_problem("pest-control");
  test::TemporaryDirectory directory;
  EvidenceOptions settings;
  settings.stream = {1, 0, Role::bootstrap};
  Evidence evidence = make_evidence(name, model, settings);
  const std::vector<std::string> paths = {directory.file("log.csv")};
  LogWriter writer(paths.front(), model, {.run = true, .propensity = true});
  for (std::uint32_t run = 0; run < 3; ++run) {
    ClosedLoop loop(model, {.name = "belief"}, 9, run);
    Trajectory rows;
    loop.advance(1500, rows);
    evidence.start_run();
    evidence.add(rows);
    writer.write(rows, run);
  }
  writer.commit();
  LogEstimationOptions options;
  options.estimator = name;
  options.confidence = 0.9;
  const TransitionEstimate files = estimate_from_logs(model, paths, options);
  EstimateOptions asked;
  asked.confidence = 0.9;
  const TransitionEstimate memory = evidence.estimate(asked);
  EXPECT_EQ(memory.rows, files.rows);
  EXPECT_EQ(memory.runs, files.runs);
  EXPECT_EQ(memory.confidence, files.confidence);
  ASSERT_EQ(memory.lower.size(), files.lower.size());
  ASSERT_FALSE(memory.joint_region.lower.empty());
  for (std::size_t i = 0; i < files.lower.size(); ++i) {
    EXPECT_NEAR(memory.transition.values()[i], files.transition.values()[i], 1e-9);
    EXPECT_NEAR(memory.lower[i], files.lower[i], 1e-9);
    EXPECT_NEAR(memory.upper[i], files.upper[i], 1e-9);
    EXPECT_NEAR(memory.row_region.lower[i], files.row_region.lower[i], 1e-9);
    EXPECT_NEAR(memory.joint_region.upper[i], files.joint_region.upper[i], 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EvidenceOfName,
                         testing::Values("oas", "oas-overlap", "oas-weighted", "oas-ml", "em",
                                         "particle"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace oas
