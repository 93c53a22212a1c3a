// Profiles against a reference by another road: plain expectation-maximisation of all other entries
// with the one entry fixed by a structure.

#include "oas/estimation/error_bars/detail/profile_likelihood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "oas/estimation/error_bars/detail/likelihood_errors.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/likelihood/structured_likelihood.hpp"
#include "oas/problems/corner_models.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

class Profiles : public ::testing::TestWithParam<const char*> {
 protected:
  Profiles() : model_(make_problem(GetParam())), rows_(model_) {
    ClosedLoop loop(model_, {.name = "uniform"}, 17);
    Trajectory log;
    loop.advance(600, log);
    rows_.append(log.actions, log.observations);
    likelihood_ = likelihood_rows(rows_, {1}).likelihood;
    const TransitionModel uniform =
        TransitionModel::uniform(model_.num_states(), model_.num_actions());
    LikelihoodOptions options;
    options.tolerance = 1e-6;
    const LikelihoodEstimate climbed = maximize_likelihood(likelihood_, uniform, options);
    ObservedInformation information =
        observed_information(likelihood_, climbed.transition, climbed.pass);
    summit_ = detail::make_summit(likelihood_, climbed.transition, climbed.pass,
                                  std::move(information.matrix));
  }

  // The fall, by plain steps from the summit with a share of uniform.
  [[nodiscard]] double reference(std::size_t entry, double t) const {
    const int n = model_.num_states();
    const auto index = static_cast<int>(entry);
    TransitionKnowledge knowledge(n, model_.num_actions());
    knowledge.fix(model_, Action{index / (n * n)}, State{index / n % n}, State{index % n}, t);
    LikelihoodOptions plain;
    plain.accelerate = false;
    plain.tolerance = 1e-5;
    plain.max_passes = 20'000;
    const LikelihoodEstimate climbed =
        maximize_likelihood(likelihood_, mixed_with_uniform(summit_.at, 0.02),
                            TransitionStructure(model_, knowledge), plain);
    return summit_.value - climbed.pass.log_likelihood;
  }

  Pomdp model_;
  TransitionLikelihood rows_;
  LikelihoodFunction likelihood_;
  detail::Summit summit_;
};

TEST_P(Profiles, EqualTheMaximumWithTheEntryFixed) {
  detail::ProfileLikelihood profile(summit_, 600.0);
  test::Worst worst;
  int compared = 0;
  for (std::size_t entry = 0; entry < summit_.at.values().size(); entry += 2) {
    const double value = summit_.at.values()[entry];
    for (const double t : {0.5 * value, 0.5 + 0.5 * value, std::min(value + 0.05, 0.99)}) {
      const double fall = profile.fall(entry, t);
      if (std::isnan(fall)) continue;  // the passes did not suffice, and it says so
      ++compared;
      worst.take(std::abs(fall - reference(entry, t)) / (1.0 + 0.1 * fall));
    }
  }
  EXPECT_GT(compared, 3);
  // With fewer observations than states the likelihood has many maxima: neither road finds all.
  const bool rugged = model_.num_observations() < model_.num_states();
  EXPECT_LT(worst.value(), rugged ? 1.0 : 0.1);
}

// Sensors that do not tell all states apart widen the intervals of rows that are known badly, and
// of no others.
TEST_P(Profiles, IntervalsOnRidgesAreWider) {
  detail::ErrorContext context;
  context.rows = 600.0;
  context.visits.assign(summit_.references.size(), 50.0);
  int passes = 0;
  const JointErrors seen = detail::likelihood_errors(summit_, context, passes);
  context.revealing = false;
  const JointErrors hidden = detail::likelihood_errors(summit_, context, passes);
  const auto n = static_cast<std::size_t>(model_.num_states());
  int wider = 0;
  for (std::size_t entry = 0; entry < seen.evidence.size(); ++entry) {
    if (seen.evidence[entry].is_certain()) continue;
    const Limits before = seen.evidence[entry].interval(0.95);
    const Limits after = hidden.evidence[entry].interval(0.95);
    const auto first = static_cast<Eigen::Index>(entry / n * n);
    const double error = std::sqrt(seen.factor.middleRows(first, static_cast<Eigen::Index>(n))
                                       .rowwise()
                                       .squaredNorm()
                                       .maxCoeff());
    if (error <= 0.05) {
      EXPECT_EQ(before.lower, after.lower) << entry;
      EXPECT_EQ(before.upper, after.upper) << entry;
      continue;
    }
    // Equal up to rounding where entries at 0 widen them more.
    EXPECT_LE(after.lower, before.lower + 1e-12) << entry;
    EXPECT_GE(after.upper, before.upper - 1e-12) << entry;
    wider += after.upper - after.lower > before.upper - before.lower + 1e-9;
  }
  const bool rugged = model_.num_observations() < model_.num_states();
  EXPECT_GE(wider, rugged ? 4 : 0);
}

INSTANTIATE_TEST_SUITE_P(Models, Profiles,
                         ::testing::Values("corner/minimal", "corner/dense-3",
                                           "corner/dense-3-after", "corner/wear-repair",
                                           "corner/ring-4-noisy", "corner/perfect-sparse",
                                           "corner/few-observations"),
                         [](const auto& one) {
                           std::string name(std::string(one.param).substr(7));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace oas
