#include "oas/simulation/batch_environment.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/simulation/environment.hpp"
#include "support/property.hpp"

namespace oas {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::ThrowsMessage;

// One copy by hand: an Environment, made anew at the stream's position when it restarts, and the
// filter that watches it.
class SingleCopy {
 public:
  SingleCopy(const Pomdp& model, StreamKey key) : model_(model), key_(key), filter_(model) {
    restart();
  }
  void restart() {
    environment_.emplace(model_, Rng(key_, position_));
    position_ += 1;
    observation = kMissing;
    reward = 0.0;
    filter_.reset();
    if (!environment_->opens()) return;
    observation = environment_->open();
    position_ += 1;
    filter_.begin(observation);
  }
  void step(Action action) {
    if (action == kRestart) return restart();
    const Environment::Outcome outcome = environment_->step(action);
    position_ += 2;
    observation = outcome.observation;
    reward = outcome.reward;
    filter_.update(action, observation);
  }
  [[nodiscard]] State state() const { return environment_->state(); }
  [[nodiscard]] std::span<const double> belief() const { return filter_.belief(); }
  [[nodiscard]] std::uint64_t position() const { return position_; }

  Observation observation;
  double reward = 0.0;

 private:
  const Pomdp& model_;
  StreamKey key_;
  std::uint64_t position_ = 0;
  std::optional<Environment> environment_;
  BeliefFilter filter_;
};

Pomdp reading_first(const Pomdp& model, std::uint64_t seed) {
  PomdpParts parts = model.parts();
  Rng rng({seed, 0, Role::test});
  parts.rows = Rows::reading_first;
  parts.first_observation =
      ObservationModel(model.num_states(), 1, model.num_observations(),
                       test::random_rows(model.num_states(), model.num_observations(), 1, 0, rng));
  return Pomdp(std::move(parts));
}

void expect_same(const BatchEnvironment& batch, std::size_t k, const SingleCopy& single) {
  RC_ASSERT(batch.states()[k] == single.state());
  RC_ASSERT(batch.observations()[k] == single.observation);
  RC_ASSERT(batch.rewards()[k] == single.reward);
  RC_ASSERT(batch.position(k) == single.position());
  const auto belief = batch.belief(k);
  RC_ASSERT(std::equal(belief.begin(), belief.end(), single.belief().begin()));
}

// To the bit, with restarts at any time, so that streams stand at even and odd positions; numbers
// of copies that are no multiple of any register.
RC_GTEST_PROP(BatchEnvironment, CopiesAreEnvironmentsOnTheSameStreams, ()) {
  Pomdp model = test::any_model(11, 3, 4);
  const std::uint64_t seed = test::any_seed();
  if (model.timing() == Timing::after && *rc::gen::arbitrary<bool>().as("reading first")) {
    model = reading_first(model, seed);
  }
  BatchOptions options;
  options.copies = *rc::gen::inRange<std::size_t>(1, 40).as("copies");
  options.seed = seed;
  options.first_replication = *rc::gen::element(0U, 7U, 0xfffffe00U).as("first replication");
  options.track_beliefs = true;
  BatchEnvironment batch(model, options);
  std::vector<SingleCopy> singles;
  for (std::size_t k = 0; k < options.copies; ++k) singles.emplace_back(model, batch.stream(k));
  Rng rng({seed, 1, Role::test});
  std::vector<Action> actions(options.copies);
  for (int t = 0; t < 30; ++t) {
    for (std::size_t k = 0; k < options.copies; ++k) {
      expect_same(batch, k, singles[k]);
      const bool restart = rng.uniform() < 0.1;
      actions[k] = restart ? kRestart : Action{rng.below(std::uint32_t(model.num_actions()))};
      singles[k].step(actions[k]);
    }
    batch.step(actions);
  }
}

// More copies than a block.
TEST(BatchEnvironment, BlocksDoNotMatter) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    test::RandomModelOptions sizes;
    sizes.timing = timing;
    const Pomdp model = test::random_model(sizes, 3);
    BatchEnvironment batch(model, {1000, 5});
    const std::vector<Action> actions(1000, Action{1});
    for (int t = 0; t < 20; ++t) batch.step(actions);
    for (std::uint32_t k = 0; k < 1000; ++k) {
      Environment single(model, Rng({5, k, Role::environment}));
      double reward = 0.0;
      for (int t = 0; t < 20; ++t) reward = single.step(Action{1}).reward;
      ASSERT_EQ(batch.states()[k], single.state()) << k;
      ASSERT_EQ(batch.rewards()[k], reward) << k;
    }
  }
}

TEST(BatchEnvironment, ResetIsANewBatch) {
  const Pomdp model = test::random_model({}, 3);
  BatchEnvironment batch(model, {50, 5});
  batch.step(std::vector<Action>(50, Action{1}));
  batch.reset(7, 9);
  BatchEnvironment fresh(model, {50, 7, 9});
  for (int t = 0; t < 5; ++t) {
    EXPECT_THAT(batch.states(), ElementsAreArray(fresh.states()));
    batch.step(std::vector<Action>(50, Action{0}));
    fresh.step(std::vector<Action>(50, Action{0}));
  }
  EXPECT_THAT(batch.rewards(), ElementsAreArray(fresh.rewards()));
}

TEST(BatchEnvironment, SomeCopiesBeginAnewAndTheOthersStay) {
  const Pomdp model = test::random_model({}, 3);
  BatchEnvironment batch(model, {3, 5});
  BatchEnvironment same(model, {3, 5});
  for (BatchEnvironment* each : {&batch, &same}) each->step(std::vector<Action>(3, Action{1}));
  const bool begins[] = {false, true, false};
  batch.restart(begins);
  EXPECT_EQ(batch.position(1), same.position(1) + 1);
  EXPECT_EQ(batch.observations()[1], kMissing);
  for (const std::size_t k : {0U, 2U}) {
    EXPECT_EQ(batch.states()[k], same.states()[k]);
    EXPECT_EQ(batch.position(k), same.position(k));
    EXPECT_EQ(batch.rewards()[k], same.rewards()[k]);
  }
  same.step(std::vector<Action>{Action{0}, kRestart, Action{0}});
  EXPECT_EQ(batch.states()[1], same.states()[1]);
}

TEST(BatchEnvironment, ABadActionChangesNothing) {
  const Pomdp model = test::random_model({}, 1);
  BatchEnvironment batch(model, {5, 1});
  const std::vector<State> before(batch.states().begin(), batch.states().end());
  for (const int bad : {-2, 2, 1 << 30}) {
    std::vector<Action> actions(5, Action{0});
    actions[3] = Action{bad};
    EXPECT_THAT([&] { batch.step(actions); },
                ThrowsMessage<InvalidArgument>(
                    fmt::format("the action of copy 3 is {}; there are 2 actions", bad)));
  }
  EXPECT_THAT([&] { batch.step(std::vector<Action>(4)); },
              ThrowsMessage<InvalidArgument>("4 actions for 5 copies"));
  EXPECT_THAT(batch.states(), ElementsAreArray(before));
  EXPECT_EQ(batch.position(3), 1U);
}

TEST(BatchEnvironment, BadOptionsAreRefused) {
  const Pomdp model = test::random_model({}, 1);
  EXPECT_THAT(
      [&] {
        BatchEnvironment(model, {0, 1});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("copies is 0")));
  EXPECT_THAT(
      [&] {
        BatchEnvironment(model, {2, 1, 0xffffffffU});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("replication 4294967295")));
  EXPECT_THAT(
      [&] {
        BatchEnvironment(model.without_transition(), {2, 1});
      },
      ThrowsMessage<InvalidArgument>("the model has no transition model"));
  EXPECT_THAT(
      [&] {
        static_cast<void>(BatchEnvironment(model, {2, 1}).belief(1));
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("the belief of copy 1")));
}

}  // namespace
}  // namespace oas
