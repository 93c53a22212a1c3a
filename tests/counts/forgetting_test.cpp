#include "oas/counts/forgetting.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "support/random_models.hpp"

namespace oas {
namespace {

TEST(Forgetting, MeanWeightsAndEffectiveRowsAreSums) {
  for (const Forgetting& weights :
       {Forgetting{100.0, 0}, Forgetting{0.0, 70}, Forgetting{1000.0, 50}, Forgetting{1.0, 0}}) {
    for (const std::int64_t first : {0, 13, 60, 69, 200}) {
      for (const std::int64_t count : {1, 16, 64}) {
        double sum = 0.0;
        for (std::int64_t age = first; age < first + count; ++age) {
          sum += weights.weight(static_cast<double>(age));
        }
        EXPECT_NEAR(weights.mean_weight(first, count), sum / static_cast<double>(count), 1e-12);
      }
    }
    EXPECT_LT(weights.weight(static_cast<double>(weights.reach())), 1.0000001 * std::exp2(-30.0));
  }
  EXPECT_NEAR((Forgetting{1000.0, 0}.effective_rows(1'000'000)), 2000.0 / std::log(2.0), 1.0);
  EXPECT_DOUBLE_EQ((Forgetting{0.0, 500}.effective_rows(1'000'000)), 500.0);
  EXPECT_DOUBLE_EQ((Forgetting{0.0, 500}.effective_rows(100)), 100.0);
  EXPECT_FALSE(Forgetting{}.active());
  EXPECT_THROW((Forgetting{0.5, 0}.validate()), InvalidArgument);
  EXPECT_THROW((Forgetting{-1.0, 0}.validate()), InvalidArgument);
  EXPECT_THROW((Forgetting{0.0, 1}.validate()), InvalidArgument);
  EXPECT_THROW((Forgetting{0.0, -5}.validate()), InvalidArgument);
}

MomentSeries folded(const LeftInverses& inverses, const Trajectory& rows, std::size_t first,
                    std::size_t count, const Forgetting& forgetting) {
  FoldOptions options;
  options.forgetting = forgetting;
  PairFolder folder(inverses, Timing::before, options);
  const std::span<const Action> actions(rows.actions);
  const std::span<const Observation> observations(rows.observations);
  for (std::size_t at = first; at < first + count; at += 1000) {  // blocks must not matter
    const std::size_t size = std::min<std::size_t>(1000, first + count - at);
    folder.add(actions.subspan(at, size), observations.subspan(at, size), {});
  }
  return folder.finish();
}

TEST(Forgetting, AWindowIsTheEndOfTheLogAndFilesFollowEachOther) {
  test::RandomModelOptions model_options;
  model_options.min_alpha = 0.2;
  const Pomdp model = test::random_model(model_options, 3);
  const LeftInverses inverses(model);
  const Trajectory rows = test::play_uniformly(model, 64'000, 0.05, 1);
  // A window of whole batches: 12,800 rows are 128 batches of 100.
  const Forgetting window{0.0, 12'800};
  MomentSeries late = folded(inverses, rows, 0, 64'000, window);
  EXPECT_LE(late.batches.size(), 300U) << "old batches are let go";
  late.forget(window);
  MomentSeries tail = folded(inverses, rows, 51'200, 12'800, {});
  const PairMoments expected = tail.total();
  const PairMoments found = late.total();
  for (std::size_t i = 0; i < expected.sums.size(); ++i) {
    // The pair across the edge of the window belongs to its second row here.
    EXPECT_NEAR(found.sums[i], expected.sums[i], 20.0);
  }
  EXPECT_EQ(late.rows, 64'000);
  // Two files, cut where a batch ends, are as one but for the pair across.
  const Forgetting fading{1600.0, 0};
  MomentSeries whole = folded(inverses, rows, 0, 64'000, fading);
  MomentSeries parts = folded(inverses, rows, 0, 32'000, fading);
  parts.append(folded(inverses, rows, 32'000, 32'000, fading));
  whole.forget(fading);
  parts.forget(fading);
  const PairMoments one = whole.total();
  const PairMoments two = parts.total();
  double mass = 0.0;
  for (std::size_t i = 0; i < one.sums.size(); ++i) {
    EXPECT_NEAR(one.sums[i], two.sums[i], 1e-3);
    mass += one.sums[i];
  }
  EXPECT_NEAR(mass, 0.95 * 0.95 * 1600.0 / std::log(2.0), 250.0);
}

}  // namespace
}  // namespace oas
