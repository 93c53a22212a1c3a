#include "oas/live/detail/learner_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "oas/live/detail/learner_row_source.hpp"
#include "oas/live/detail/live_learner.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

namespace oas::detail {
namespace {

Pomdp model_of(int states, int actions, int observations) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.num_actions = actions;
  options.num_observations = observations;
  return test::random_model(options, 1);
}

// All that is read, in a form that can be compared.
struct Read {
  std::vector<int> actions;
  std::vector<int> observations;
  std::vector<double> likelihoods;
  std::vector<std::size_t> starts;
  std::vector<RunStart> kinds;

  friend bool operator==(const Read&, const Read&) = default;
};

Read all_of(RowSource& source) {
  Read read;
  source.rewind();
  for (RowBlock block; source.next(block);) {
    for (std::size_t i = 0; i < block.run_starts.size(); ++i) {
      read.starts.push_back(read.actions.size() + block.run_starts[i]);
      read.kinds.push_back(block.starts[i]);
    }
    for (const Action action : block.actions) read.actions.push_back(action);
    for (const Observation seen : block.observations) read.observations.push_back(seen);
    read.likelihoods.insert(read.likelihoods.end(), block.likelihoods.begin(),
                            block.likelihoods.end());
  }
  return read;
}

// Rows of a fleet as they come: runs begin, end and are forgotten, and rows take turns.
std::vector<LearnerRow> rows_of_fleet(const Pomdp& model, bool likelihoods, int count) {
  Rng rng({5, 0, Role::test});
  std::vector<LearnerRow> rows;
  std::uint64_t first = 0;
  const auto below = [&](int n) {
    return static_cast<int>(rng.below(static_cast<std::uint32_t>(n)));
  };
  const auto seen = [&](Action action) {
    SeenRow row;
    row.action = action;
    if (below(5) > 0) row.observation = Observation{below(model.num_observations())};
    if (likelihoods && below(2) == 0) {
      for (int s = 0; s < model.num_states(); ++s) row.likelihoods.push_back(rng.uniform() + 0.1);
    }
    return row;
  };
  for (int i = 0; i < count; ++i) {
    const std::uint64_t run = first + static_cast<std::uint64_t>(below(6));
    rows.push_back({run, 0.5, seen(Action{below(model.num_actions())}), LearnerRow::Kind::row});
    if (below(200) == 0) rows.push_back({first++, 1.0, {}, LearnerRow::Kind::run_ends});
    if (below(4000) == 0) rows.push_back({0, 1.0, {}, LearnerRow::Kind::all_forgotten});
  }
  return rows;
}

// Sizes with codes of 1, 2 and 4 bytes; one state; forty.
class LearnerRowsTest : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(LearnerRowsTest, AreReadAgainAsTheyWere) {
  const auto [states, actions, observations] = GetParam();
  const Pomdp model = model_of(states, actions, observations);
  const test::TemporaryDirectory folder;
  for (const bool likelihoods : {false, true}) {
    const std::vector<LearnerRow> rows = rows_of_fleet(model, likelihoods, 9000);
    std::size_t told = 0;  // the journal has those that were added
    const auto again = [&](const std::function<bool(const LearnerRow&)>& receive) {
      for (std::size_t i = 0; i < told && receive(rows[i]); ++i) {
      }
    };
    LearnerRows kept(model, {});
    LearnerRows dropped(model, {0, folder.path().string(), again});
    LearnerRows few(model, {20'000, folder.path().string(), again});
    for (const LearnerRow& row : rows) {
      ++told;
      for (LearnerRows* each : {&kept, &dropped, &few}) each->add(row);
      if (told % 1777 != 0 && told != rows.size()) continue;
      const auto source = kept.read();
      const Read expected = all_of(*source);
      EXPECT_FALSE(expected.actions.empty());
      EXPECT_EQ(all_of(*source), expected) << "twice";
      EXPECT_EQ(all_of(*dropped.read()), expected) << told;
      EXPECT_EQ(all_of(*few.read()), expected) << told;
      for (const LearnerRows* each : {&kept, &dropped, &few}) {
        EXPECT_EQ(each->bytes(), kept.bytes());
        ByteWriter out;
        each->save(out);
        const std::string bytes = out.take();
        LearnerRows loaded(model, {20'000, folder.path().string(), again});
        ByteReader in(bytes);
        loaded.load(in);
        EXPECT_EQ(all_of(*loaded.read()), expected);
      }
    }
    EXPECT_TRUE(kept.in_memory());
    EXPECT_FALSE(dropped.in_memory());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LearnerRowsTest,
                         testing::Values(std::tuple(3, 2, 3), std::tuple(1, 1, 1),
                                         std::tuple(40, 3, 60), std::tuple(2, 40, 900)));

// With a half-life old rows are dropped, the same ones whenever that was looked at, and weights are
// those of the rows that came since, of all runs.
TEST(LearnerRows, FadeByTheRowsOfAllRuns) {
  const Pomdp model = model_of(3, 2, 3);
  const test::TemporaryDirectory folder;
  constexpr double kHalfLife = 40.0;
  for (const bool likelihoods : {false, true}) {
    const std::vector<LearnerRow> rows = rows_of_fleet(model, likelihoods, 9000);
    std::size_t told = 0;
    const auto again = [&](const std::function<bool(const LearnerRow&)>& receive) {
      for (std::size_t i = 0; i < told && receive(rows[i]); ++i) {
      }
    };
    LearnerRows late(model, {}, kHalfLife);
    LearnerRows often(model, {}, kHalfLife);
    LearnerRows dropped(model, {0, folder.path().string(), again}, kHalfLife);
    LearnerRows all(model, {});
    for (const LearnerRow& row : rows) {
      ++told;
      for (LearnerRows* each : {&late, &often, &dropped, &all}) each->add(row);
      if (told % 97 == 0) often.drop_old();
      if (told % 1777 != 0 && told != rows.size()) continue;
      dropped.drop_old();
      if (told % 1777 == 0) continue;
      late.drop_old();
      often.drop_old();
      const Read expected = all_of(*late.read());
      EXPECT_EQ(all_of(*often.read()), expected);
      EXPECT_EQ(all_of(*dropped.read()), expected);
      EXPECT_LT(late.bytes(), all.bytes());
      ByteWriter out;
      often.save(out);
      const std::string bytes = out.take();
      LearnerRows loaded(model, {20'000, folder.path().string(), again}, kHalfLife);
      ByteReader in(bytes);
      loaded.load(in);
      EXPECT_EQ(all_of(*loaded.read()), expected);
    }
  }
}

// One run, whose ages are places: the weights of Forgetting, and so its likelihood.
TEST(LearnerRows, OneRunFadesAsALogDoes) {
  const Pomdp model = model_of(3, 2, 4);
  const Trajectory rows = test::play_uniformly(model, 5000, 0.1, 1);
  const Forgetting forgetting{300.0, 0, Age::log};
  LearnerRows kept(model, {}, forgetting.half_life);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    kept.add({0, 1.0, {rows.actions[t], rows.observations[t], {}}, LearnerRow::Kind::row});
  }
  RowLikelihood likelihood(model, 0);  // read again and again
  const auto source = kept.read();
  likelihood.read(*source, {});
  PassOptions by_age;
  by_age.forgetting = forgetting;
  PassOptions by_number;
  by_number.mean_weight = source->mean_weight(1.0);
  const LikelihoodPass expected = likelihood.pass(model.transition(), by_age, {1});
  const LikelihoodPass found = likelihood.pass(model.transition(), by_number, {1});
  // A step counts as the row that it explains; by Forgetting as the row before.
  const double younger = 1.0 / forgetting.weight(1.0);
  EXPECT_NEAR(found.log_likelihood, younger * expected.log_likelihood,
              1e-3 * std::abs(expected.log_likelihood));
  for (std::size_t i = 0; i < expected.counts.size(); ++i) {
    EXPECT_NEAR(found.counts[i], younger * expected.counts[i], 1e-3 * expected.counts[i] + 1e-6);
  }
  by_age.mean_weight = by_number.mean_weight;
  EXPECT_THROW(static_cast<void>(likelihood.pass(model.transition(), by_age, {1})),
               InvalidArgument);
}

// Windows know where their rows stand among all.
TEST(LearnerRows, WeightsGoWithTheRowsOfAWindow) {
  const Pomdp model = model_of(2, 1, 2);
  TransitionLikelihood all(model);
  StoredRows stored;
  constexpr std::size_t kRows = 600'000;  // two windows
  const Trajectory rows = test::play_uniformly(model, kRows, 0.0, 1);
  all.append(rows.actions, rows.observations);
  stored.add(rows);
  PassOptions late;  // only the last rows weigh anything
  late.mean_weight = [](std::size_t first, std::size_t) {
    return first >= kRows - 1600 ? 1.0 : 0.0;
  };
  const LikelihoodPass expected = all.pass(model.transition(), late, {1});
  for (const std::size_t memory : {std::size_t{0}, SIZE_MAX}) {
    RowLikelihood likelihood(model, memory);
    stored.rewind();
    likelihood.read(stored, {});
    const LikelihoodPass found = likelihood.pass(model.transition(), late, {1});
    for (std::size_t i = 0; i < expected.counts.size(); ++i) {
      EXPECT_NEAR(found.counts[i], expected.counts[i], 1e-9 * kRows);
    }
    EXPECT_GT(found.counts[0], 100.0);
  }
}

TEST(LearnerRows, AJournalThatChangedIsRefused) {
  const Pomdp model = model_of(2, 2, 2);
  const test::TemporaryDirectory folder;
  const std::vector<LearnerRow> rows = rows_of_fleet(model, false, 50);
  std::size_t told = rows.size();
  LearnerRows dropped(model, {0, folder.path().string(), [&](const auto& receive) {
                                for (std::size_t i = 0; i < told && receive(rows[i]); ++i) {
                                }
                              }});
  for (const LearnerRow& row : rows) dropped.add(row);
  static_cast<void>(dropped.read());
  told -= 10;
  EXPECT_THROW(static_cast<void>(dropped.read()), InvalidArgument);
}

}  // namespace
}  // namespace oas::detail
