#include "oas/belief/filter_kernel.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "oas/core/contracts.hpp"
#include "support/path_enumeration.hpp"
#include "support/random_models.hpp"
#include "support/worst.hpp"

namespace oas {
namespace {

using test::enumerate_paths;
using test::PathPosterior;

// Number of states of the model, and the compile-time size of the kernel that filters it.
template <int States, int N>
struct Sizes {
  static constexpr int kStates = States;
  static constexpr int kFixed = N;
};

template <class T>
class FilterKernelTest : public testing::Test {
 protected:
  using Kernel = FilterKernel<T::kFixed>;
  static constexpr int kStates = T::kStates;
  // As many rows as brute force can stand: at most about 10^5 paths.
  static constexpr std::size_t kRows = kStates <= 2 ? 10 : kStates == 3 ? 8 : kStates <= 5 ? 6 : 4;

  static Pomdp model(Timing timing, std::uint64_t seed, double zero_fraction = 0.0) {
    test::RandomModelOptions options;
    options.num_states = kStates;
    options.num_actions = 3;
    options.num_observations = 4;
    options.timing = timing;
    options.concentration = 0.4;  // strongly asymmetric
    options.zero_fraction = zero_fraction;
    return test::random_model(options, seed);
  }

  static std::vector<double> start_belief(const Kernel& kernel, const Pomdp& model) {
    std::vector<double> belief(static_cast<std::size_t>(kernel.stride()), 0.0);
    std::copy(model.start().begin(), model.start().end(), belief.begin());
    return belief;
  }

  // Largest difference, over all rows, between a kernel made of `believed` and the sum over all
  // paths of `truth`, in the belief and in P(o | rows so far, a).
  static double worst_error(const Pomdp& believed, const Pomdp& truth, const Trajectory& rows) {
    const Kernel kernel(believed, believed.transition(), Matrix(0, kStates));
    std::vector<double> belief = start_belief(kernel, truth);
    std::vector<double> scratch(belief.size());
    test::Worst worst;
    double likelihood = 1.0;
    for (std::size_t t = 0; t < rows.size(); ++t) {
      const double probability = kernel.update(belief.data(), rows.actions[t], rows.observations[t],
                                               nullptr, scratch.data());
      const PathPosterior exact = enumerate_paths(truth, std::span(rows.actions).first(t + 1),
                                                  std::span(rows.observations).first(t + 1));
      worst.take(std::abs(probability - exact.likelihood / likelihood));
      likelihood = exact.likelihood;
      for (int s = 0; s < kStates; ++s) {
        worst.take(std::abs(belief[static_cast<std::size_t>(s)] -
                            exact.states(static_cast<Eigen::Index>(t + 1), s)));
      }
      for (std::size_t s = kStates; s < belief.size(); ++s) worst.take(std::abs(belief[s]));
    }
    return worst.value();
  }
};

using AllSizes =
    testing::Types<Sizes<2, 2>, Sizes<3, 3>, Sizes<4, 4>, Sizes<5, 5>, Sizes<6, 6>, Sizes<8, 8>,
                   Sizes<10, 10>, Sizes<2, 0>, Sizes<3, 0>, Sizes<7, 0>, Sizes<10, 0>>;

struct SizeNames {
  template <class T>
  static std::string GetName(int /*index*/) {
    return fmt::format("{}States{}", T::kStates, T::kFixed > 0 ? "Fixed" : "RunTime");
  }
};
TYPED_TEST_SUITE(FilterKernelTest, AllSizes, SizeNames);

TYPED_TEST(FilterKernelTest, EqualsTheSumOverAllPaths) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Pomdp model = this->model(timing, seed, seed % 2 == 0 ? 0.0 : 0.4);
      const Trajectory rows = test::play_uniformly(model, this->kRows, 0.0, seed);
      EXPECT_LT(this->worst_error(model, model, rows), 1e-12) << to_string(timing) << seed;
    }
  }
}

// Proof that the test above has teeth: the same rows filtered with T transposed are far off.
TYPED_TEST(FilterKernelTest, TransposedDynamicsAreCaught) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Pomdp model = this->model(timing, seed);
      const Trajectory rows = test::play_uniformly(model, this->kRows, 0.0, seed);
      EXPECT_GT(this->worst_error(test::transposed(model), model, rows), 1e-3);
    }
  }
}

// And so is the other timing.
TYPED_TEST(FilterKernelTest, TheOtherTimingIsCaught) {
  const Pomdp before = this->model(Timing::before, 3);
  const Pomdp after = this->model(Timing::after, 3);
  const Trajectory rows = test::play_uniformly(before, this->kRows, 0.0, 3);
  EXPECT_GT(this->worst_error(after, before, rows), 1e-3);
}

// Scores are c_k · b' up to one common positive factor, whatever the number of scores.
TYPED_TEST(FilterKernelTest, ScoresAreProportionalToTheNextBelief) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    const Pomdp model = this->model(timing, 7);
    const Trajectory rows = test::play_uniformly(model, 200, 0.0, 7);
    for (const int num_scores : {1, 3, 4, 5, 9}) {
      const Matrix weights = Matrix::Random(num_scores, this->kStates).array() + 2.0;
      const typename TestFixture::Kernel kernel(model, model.transition(), weights);
      ASSERT_EQ(kernel.score_storage(), (num_scores + 3) / 4 * 4);
      std::vector<double> belief = this->start_belief(kernel, model);
      std::vector<double> scratch(belief.size());
      std::vector<double> scores(static_cast<std::size_t>(kernel.score_storage()));
      const auto expect_scores = [&](double factor_of_first) {
        const Vector exact = weights * VectorView(belief.data(), this->kStates);
        const double factor = factor_of_first > 0.0 ? factor_of_first : scores[0] / exact(0);
        ASSERT_GT(factor, 0.0);
        for (int k = 0; k < num_scores; ++k) {
          ASSERT_NEAR(scores[static_cast<std::size_t>(k)] / factor, exact(k), 1e-12);
        }
      };
      kernel.score(belief.data(), scores.data());
      expect_scores(1.0);
      for (std::size_t t = 0; t < rows.size(); ++t) {
        kernel.update(belief.data(), rows.actions[t], rows.observations[t], scores.data(),
                      scratch.data());
        expect_scores(0.0);
      }
      kernel.predict(belief.data(), 1, scores.data(), scratch.data());
      expect_scores(1.0);
    }
  }
}

TYPED_TEST(FilterKernelTest, PredictMovesTheBeliefByTheTransition) {
  const Pomdp model = this->model(Timing::before, 9);
  const typename TestFixture::Kernel kernel(model, model.transition(), Matrix(0, this->kStates));
  std::vector<double> belief = this->start_belief(kernel, model);
  std::vector<double> scratch(belief.size());
  const Vector before = VectorView(belief.data(), this->kStates);
  kernel.predict(belief.data(), 2, nullptr, scratch.data());
  const Vector expected = model.transition().matrix(Action{2}).transpose() * before;
  EXPECT_LT((VectorView(belief.data(), this->kStates) - expected).norm(), 1e-15);
}

// The dynamics of the kernel may be those of another model: a learner that believes wrongly.
TYPED_TEST(FilterKernelTest, UsesTheTransitionItIsGiven) {
  const Pomdp model = this->model(Timing::before, 11);
  const Pomdp other = this->model(Timing::before, 12);
  const Pomdp mixed = model.with_transition(other.transition());
  const Trajectory rows = test::play_uniformly(model, this->kRows, 0.0, 11);
  const typename TestFixture::Kernel given(model, other.transition(), Matrix(0, this->kStates));
  const typename TestFixture::Kernel own(mixed, mixed.transition(), Matrix(0, this->kStates));
  std::vector<double> x = this->start_belief(given, model);
  std::vector<double> y = x;
  std::vector<double> scratch(x.size());
  for (std::size_t t = 0; t < rows.size(); ++t) {
    given.update(x.data(), rows.actions[t], rows.observations[t], nullptr, scratch.data());
    own.update(y.data(), rows.actions[t], rows.observations[t], nullptr, scratch.data());
  }
  EXPECT_EQ(x, y);
}

// Fixed and run-time sizes are two pieces of code for one thing.
TEST(FilterKernel, FixedSizeExistsForTheseNumbers) {
  std::vector<int> sizes;
  for (int n = 1; n <= 12; ++n) {
    sizes.push_back(with_fixed_size(n, []<int N>(std::integral_constant<int, N>) { return N; }));
  }
  EXPECT_THAT(sizes, testing::ElementsAre(0, 2, 3, 4, 5, 6, 0, 8, 0, 10, 0, 0));
}

}  // namespace
}  // namespace oas
