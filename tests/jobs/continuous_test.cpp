#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/transition_error.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_score.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/simulation/continuous_loop.hpp"
#include "support/random_densities.hpp"
#include "support/temporary_directory.hpp"

namespace oas::test {
namespace {

using testing::HasSubstr;

LogBlock play(const ContinuousPomdp& model, std::size_t steps, std::uint32_t replication) {
  PolicyOptions policy;
  policy.min_action_probability = 0.2;
  ContinuousLoop loop(model, policy, 11, replication);
  LogBlock block;
  loop.advance(steps, block.rows, block.readings, &block.likelihoods);
  return block;
}

struct Errors {
  double few = 0.0;
  double many = 0.0;
};

// Mean errors after n and 16 n rows of a policy that reacts.
Errors errors_of(const std::string& name, const ContinuousPomdp& model) {
  constexpr std::size_t kFew = 10'000;
  constexpr int kRuns = 6;
  Errors errors;
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    const LogBlock rows = play(model, 16 * kFew, run);
    for (const bool all : {false, true}) {
      Evidence evidence = make_evidence(name, model);
      const RowBlock block = all ? rows.view() : rows.view().part(0, kFew);
      evidence.add(block);
      const TransitionEstimate estimate = evidence.estimate(EstimateOptions::bare());
      (all ? errors.many : errors.few) +=
          transition_error(model.chain().transition(), estimate.transition).frobenius / kRuns;
    }
  }
  return errors;
}

// 16 times the rows must leave about a quarter of the error. A bias of the size of the error at the
// fewer rows, which any mistake in M, cells or timing brings, leaves more than half.
class Consistency : public testing::TestWithParam<std::tuple<const char*, Timing>> {};

TEST_P(Consistency, ErrorFallsAsOneOverTheRoot) {
  const auto [name, timing] = GetParam();
  const Errors errors = errors_of(name, gaussian_model(timing));
  EXPECT_LT(errors.many, 0.4 * errors.few);
  EXPECT_GT(errors.many, 0.13 * errors.few);
  EXPECT_LT(errors.many, 0.12);
}

INSTANTIATE_TEST_SUITE_P(Estimators, Consistency,
                         testing::Combine(testing::Values("oas", "oas-overlap", "oas-soft",
                                                          "oas-ml"),
                                          testing::Values(Timing::before, Timing::after)));

TEST(ContinuousEstimation, TheMoreIsKeptOfAReadingTheBetter) {
  const ContinuousPomdp model = gaussian_model(Timing::before, 1.5);
  const double cells = errors_of("oas-overlap", model).many;
  const double soft = errors_of("oas-soft", model).many;
  const double likelihood = errors_of("oas-ml", model).many;
  EXPECT_LT(soft, cells);
  EXPECT_LT(likelihood, soft);
}

// One log as readings and as likelihoods with a factor of its own in every row.
struct TwoLogs {
  TemporaryDirectory folder;
  std::string readings = folder.file("readings.csv");
  std::string likelihoods = folder.file("likelihoods.csv");
  ContinuousPomdp model;

  TwoLogs(Timing timing, std::size_t steps) : model(gaussian_model(timing)) {
    LogBlock rows = play(model, steps, 3);
    rows.rows.observations[steps / 2] = kMissing;
    LogWriter writer(readings, model, {.propensity = true});
    writer.write(rows.rows, rows.readings, 0);
    writer.commit();
    std::ofstream out(likelihoods);
    out << "action,propensity,likelihood_1,likelihood_2,likelihood_3\n";
    for (std::size_t t = 0; t < steps; ++t) {
      out << fmt::format("{},{}", rows.rows.actions[t].value(), rows.rows.propensities[t]);
      for (std::size_t s = 0; s < 3; ++s) {
        if (rows.rows.observations[t] == kMissing) {
          out << ",";
        } else {
          out << fmt::format(",{}", rows.likelihoods[3 * t + s] * static_cast<double>(1 + t % 5));
        }
      }
      out << '\n';
    }
  }

  [[nodiscard]] TransitionEstimate estimate(const std::string& name, bool brought,
                                            std::size_t memory = std::size_t{1} << 28) const {
    Estimation how;
    how.estimator = name;
    how.evidence.memory_limit = memory;
    if (name == "oas-ml") how.estimate.carried_draws = 0;  // they have tests of their own
    const std::string& path = brought ? likelihoods : readings;
    return brought ? estimate_from_logs(ContinuousPomdp(model.chain()), std::span(&path, 1), how)
                   : estimate_from_logs(model, std::span(&path, 1), how);
  }
};

TEST(ContinuousEstimation, LikelihoodsInTheLogSayTheSameAsReadings) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const TwoLogs logs(timing, 60'000);
    const TransitionEstimate ml = logs.estimate("oas-ml", false);
    const TransitionEstimate brought = logs.estimate("oas-ml", true);
    EXPECT_LT(transition_error(ml.transition, brought.transition).frobenius, 2e-3);
    EXPECT_EQ(ml.missing, 1);
    EXPECT_EQ(brought.missing, 1);
    EXPECT_EQ(ml.rows, 60'000);
    const auto values = logs.model.chain().transition().values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_LT(std::abs(ml.transition.values()[i] - values[i]), 5.5 * ml.standard_error[i]);
    }
    const TransitionEstimate soft = logs.estimate("oas-soft", false);
    const TransitionEstimate learned = logs.estimate("oas-soft", true);
    EXPECT_LT(transition_error(soft.transition, learned.transition).frobenius, 0.15);
    EXPECT_LT(transition_error(logs.model.chain().transition(), learned.transition).frobenius, 0.2);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_LT(std::abs(soft.transition.values()[i] - values[i]), 6.0 * soft.standard_error[i]);
    }
    EXPECT_THROW(static_cast<void>(logs.estimate("oas", true)), InvalidArgument);
    EXPECT_THROW(static_cast<void>(logs.estimate("spectral", false)), InvalidArgument);
  }
}

TEST(ContinuousEstimation, FilesThatDoNotFitAreReadAgain) {
  const TwoLogs logs(Timing::before, 20'000);
  const TransitionEstimate in_memory = logs.estimate("oas-ml", false);
  const TransitionEstimate reread = logs.estimate("oas-ml", false, 1000);
  EXPECT_LT(transition_error(in_memory.transition, reread.transition).frobenius, 1e-6);
}

TEST(ContinuousEstimation, FarAwayFromTheTruthScoresLess) {
  const TwoLogs logs(Timing::before, 20'000);
  const std::vector<ContinuousPomdp> models = {
      logs.model, logs.model.with_transition(TransitionModel::uniform(3, 2))};
  const LogScore score = score_logs(models, std::span(&logs.readings, 1));
  EXPECT_LT(score.differences[1].value, -5.0 * score.differences[1].standard_error);
  EXPECT_EQ(score.missing, 1);
}

TEST(ContinuousLoop, CutsAndReadingsAreAsTheSeedSays) {
  const ContinuousPomdp model = gaussian_model(Timing::after);
  ContinuousLoop whole(model, {}, 5);
  ContinuousLoop cut(model, {}, 5);
  LogBlock a;
  LogBlock b;
  whole.advance(1000, a.rows, a.readings);
  for (int i = 0; i < 10; ++i) cut.advance(100, b.rows, b.readings);
  EXPECT_EQ(a, b);
  EXPECT_THROW(ContinuousLoop(ContinuousPomdp(model.chain()), {}, 5), InvalidArgument);
}

}  // namespace
}  // namespace oas::test
