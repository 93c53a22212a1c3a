#include <cmath>
#include <string>
#include <vector>

#include "corners/corner_grid.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

class EstimatorCorner : public testing::TestWithParam<test::Corner> {};

// Few draws, where an estimator makes any.
std::vector<Setting> quick_settings(const EstimatorInfo& info) {
  std::vector<Setting> settings;
  for (const SettingInfo& known : settings_of(info)) {
    if (known.name == "draws") settings.push_back({"draws", "80"});
    if (known.name == "patience") settings.push_back({"patience", "1"});
    if (known.name == "particles") settings.push_back({"particles", "30"});
  }
  return settings;
}

void expect_rows(const TransitionModel& transition) {
  const auto size = static_cast<std::size_t>(transition.num_states());
  const std::span<const double> values = transition.values();
  for (std::size_t row = 0; row < values.size(); row += size) {
    test::expect_distribution(values.subspan(row, size));
  }
}

// NaN means unknown, and nothing else.
void expect_ordered(const std::vector<double>& lower, const std::vector<double>& upper) {
  ASSERT_EQ(lower.size(), upper.size());
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (std::isnan(lower[i]) || std::isnan(upper[i])) continue;
    EXPECT_LE(0.0, lower[i]);
    EXPECT_LE(lower[i], upper[i]);
    EXPECT_LE(upper[i], 1.0);
  }
}

void expect_not_negative(const std::vector<double>& values, bool may_be_unknown) {
  for (const double value : values) {
    EXPECT_TRUE(value >= 0.0 || (may_be_unknown && std::isnan(value))) << value;
  }
}

void expect_sound(const TransitionEstimate& estimate, const Pomdp& model) {
  expect_rows(estimate.transition);
  EXPECT_NE(estimate.status, EstimateStatus::not_run);
  EXPECT_EQ(estimate.status == EstimateStatus::flagged, !estimate.flagged.empty());
  expect_not_negative(estimate.standard_error, true);
  for (const double visits : estimate.visits) EXPECT_TRUE(std::isfinite(visits));
  expect_not_negative(estimate.clipped, false);
  expect_not_negative(estimate.alpha, false);
  expect_not_negative(estimate.row_region.l1, false);
  expect_ordered(estimate.lower, estimate.upper);
  expect_ordered(estimate.row_region.lower, estimate.row_region.upper);
  expect_ordered(estimate.joint_region.lower, estimate.joint_region.upper);
  EXPECT_TRUE(std::isfinite(estimate.log_likelihood.value_or(0.0)));
  for (const TransitionModel& drawn : drawn_transitions(estimate)) expect_rows(drawn);
  EXPECT_NO_THROW(static_cast<void>(estimated_model(model, estimate)));
}

// An estimator takes a model with its rows or says why not.
TEST_P(EstimatorCorner, NumbersAreNumbers) {
  const Pomdp& model = GetParam().model;
  int taken = 0;
  for (const std::size_t rows : {0UL, 1UL, 2UL, 300UL}) {
    for (const EstimatorInfo& info : estimators()) {
      SCOPED_TRACE(std::string(info.name) + ", rows " + std::to_string(rows));
      try {
        Evidence evidence = make_evidence(info.name, model, quick_settings(info));
        if (rows > 0) evidence.add(test::play_uniformly(model, rows, 0.1, 5));
        expect_sound(evidence.estimate(), model);
        ++taken;
      } catch (const InvalidArgument& error) {
        EXPECT_GT(std::string(error.what()).size(), 20U) << error.what();
      }
    }
  }
  EXPECT_GE(taken, 4) << "some estimators take any model";
}

// Fleets: many runs of one row, or of a few, some of which start nobody knows where.
TEST_P(EstimatorCorner, ShortRunsToo) {
  const Pomdp& model = GetParam().model;
  for (const std::size_t length : {1UL, 2UL, 5UL}) {
    for (const EstimatorInfo& info : estimators()) {
      SCOPED_TRACE(std::string(info.name) + ", runs of " + std::to_string(length));
      try {
        Evidence evidence = make_evidence(info.name, model, quick_settings(info));
        for (std::uint64_t run = 0; run < 30; ++run) {
          evidence.start_run(run % 3 == 2 ? RunStart::unknown() : RunStart());
          evidence.add(test::play_uniformly(model, length, 0.1, run));
        }
        expect_sound(evidence.estimate(), model);
      } catch (const InvalidArgument& error) {
        EXPECT_GT(std::string(error.what()).size(), 20U) << error.what();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grid, EstimatorCorner, testing::ValuesIn(test::corners()),
                         test::corner_name);

}  // namespace
}  // namespace oas
