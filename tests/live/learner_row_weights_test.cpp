#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "oas/live/detail/learner_row_source.hpp"
#include "support/random_models.hpp"
#include "support/temporary_directory.hpp"

/// Weights by age of rows of many units that take turns, pause and come back, against weights that
/// are worked out row by row.
namespace oas::detail {
namespace {

constexpr double kLargestError = 0.006;  // of a weight: a 128th of the half-life

Pomdp model_of(Timing timing, int states = 2) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.num_observations = 3;
  options.timing = timing;
  return test::random_model(options, 1);
}

// Runs of all rows, in their order. Run u < 150 has u + 1 rows in a row and then pauses, so that a
// pause comes after every number of rows; 160 and 161 fill the pauses, and 170 … 199 take turns.
std::vector<std::uint64_t> runs_with_pauses(int pause) {
  std::vector<std::uint64_t> runs;
  const auto some = [&](std::uint64_t run, int count) {
    runs.insert(runs.end(), static_cast<std::size_t>(count), run);
  };
  for (std::uint64_t run = 0; run < 150; ++run) some(run, static_cast<int>(run) + 1);
  some(160, pause);
  for (std::uint64_t run = 149; run < 150; --run) some(run, 3 + static_cast<int>(run % 30));
  for (int turn = 0; turn < 70; ++turn) {
    for (std::uint64_t run = 170; run < 200; ++run) some(run, 1);
  }
  some(161, pause / 3);
  for (int turn = 0; turn < 20; ++turn) {
    for (std::uint64_t run = 0; run < 200; run += 7) some(run, 1);
  }
  return runs;
}

// The action of a row says whether it came before the pauses.
std::vector<LearnerRow> rows_of(const std::vector<std::uint64_t>& runs, bool likelihoods) {
  Rng rng({3, 0, Role::test});
  std::vector<LearnerRow> rows;
  for (const std::uint64_t run : runs) {
    SeenRow seen;
    seen.action = Action{2 * rows.size() < runs.size() ? 0 : 1};
    seen.observation = Observation{static_cast<int>(rng.below(3))};
    if (likelihoods && rng.below(3) == 0) seen.likelihoods = {rng.uniform() + 0.1, 0.5};
    rows.push_back({run, 1.0, std::move(seen), LearnerRow::Kind::row});
  }
  return rows;
}

// Ages of the rows that are left, in the order in which they are read.
std::vector<double> ages_of(const LearnerRows& kept, const std::vector<std::uint64_t>& runs) {
  std::map<std::uint64_t, std::vector<double>> by_run;
  for (std::size_t n = 0; n < runs.size(); ++n) {
    by_run[runs[n]].push_back(static_cast<double>(runs.size() - 1 - n));
  }
  std::vector<std::size_t> left;  // of each run that has rows
  const auto source = kept.read();
  for (RowBlock block; source->next(block);) {
    if (!block.run_starts.empty()) left.push_back(0);
    left.back() += block.size();
  }
  std::vector<double> ages;
  EXPECT_EQ(left.size(), by_run.size());
  std::size_t run = 0;
  for (const auto& [number, own] : by_run) {
    EXPECT_LE(left[run], own.size());
    ages.insert(ages.end(), own.end() - static_cast<std::ptrdiff_t>(left[run++]), own.end());
  }
  return ages;
}

class LearnerRowAges : public testing::TestWithParam<double> {};

TEST_P(LearnerRowAges, GiveEachRowItsWeight) {
  const double half_life = GetParam();
  const Pomdp model = model_of(Timing::before);
  const test::TemporaryDirectory folder;
  for (const int pause : {5, 700, 20'000}) {
    const std::vector<std::uint64_t> runs = runs_with_pauses(pause);
    const std::vector<LearnerRow> rows = rows_of(runs, pause == 700);
    const auto again = [&](const std::function<bool(const LearnerRow&)>& receive) {
      for (std::size_t i = 0; i < rows.size() && receive(rows[i]); ++i) {
      }
    };
    LearnerRows kept(model, {}, half_life);
    LearnerRows dropped(model, {0, folder.path().string(), again}, half_life);
    for (const LearnerRow& row : rows) {
      kept.add(row);
      dropped.add(row);
    }
    for (const bool drop : {false, true}) {
      if (drop) kept.drop_old(), dropped.drop_old();
      ByteWriter out;
      kept.save(out);
      const std::string bytes = out.take();
      LearnerRows loaded(model, {}, half_life);
      ByteReader in(bytes);
      loaded.load(in);
      const std::vector<double> ages = ages_of(kept, runs);
      for (const LearnerRows* each : {&kept, &dropped, &loaded}) {
        const auto source = each->read();
        for (const double power : {1.0, 2.0}) {
          const auto mean_weight = source->mean_weight(power);
          for (std::size_t row = 0; row < ages.size(); ++row) {
            const double exact = std::exp2(-power * ages[row] / half_life);
            ASSERT_NEAR(mean_weight(row, 1), exact, power * kLargestError * exact + 1e-30)
                << "row " << row << ", age " << ages[row] << ", pause " << pause;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(HalfLives, LearnerRowAges,
                         testing::Values(1.0, 3.5, 100.0, 1000.0, 50'000.0));

TEST(LearnerRowWeights, OfSeveralRowsAreTheirMean) {
  const Pomdp model = model_of(Timing::before);
  const std::vector<std::uint64_t> runs = runs_with_pauses(3000);
  LearnerRows kept(model, {}, 200.0);
  for (const LearnerRow& row : rows_of(runs, false)) kept.add(row);
  const auto source = kept.read();
  const auto mean_weight = source->mean_weight(1.0);
  std::size_t first = 0;
  for (RowBlock block; source->next(block); first += block.size()) {
    for (std::size_t begin = 0; begin < block.size(); begin += 13) {
      const std::size_t end = std::min(block.size(), begin + 150);
      double sum = 0.0;
      for (std::size_t row = begin; row < end; ++row) sum += mean_weight(first + row, 1);
      const auto count = static_cast<double>(end - begin);
      EXPECT_NEAR(mean_weight(first + begin, end - begin), sum / count, 1e-12 * sum / count);
    }
  }
}

// What a pass makes of the weights: Σ w log P(o | rows before), and as many transitions under each
// action as the rows that they explain weigh.
TEST(LearnerRowWeights, MakeTheLikelihoodThatRowsHaveOneByOne) {
  for (const int states : {2, 5, 20}) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      const Pomdp model = model_of(timing, states);
      for (const double half_life : {30.0, 500.0, 20'000.0}) {
        const std::vector<std::uint64_t> runs = runs_with_pauses(4000);
        LearnerRows kept(model, {}, half_life);
        std::map<std::uint64_t, BeliefFilter> filters;
        std::map<std::uint64_t, Action> before;
        std::vector<double> transitions(2, 0.0);
        double log_likelihood = 0.0;
        double age = static_cast<double>(runs.size());
        for (const LearnerRow& row : rows_of(runs, false)) {
          kept.add(row);
          const double weight = std::exp2(-(age -= 1.0) / half_life);
          auto& filter = filters.try_emplace(row.run, model).first->second;
          log_likelihood += weight * std::log(filter.update(row.seen.action, row.seen.observation));
          const auto explains = timing == Timing::after    ? std::optional(row.seen.action)
                                : before.contains(row.run) ? std::optional(before[row.run])
                                                           : std::nullopt;
          if (explains) transitions[static_cast<std::size_t>(*explains)] += weight;
          before[row.run] = row.seen.action;
        }
        RowLikelihood likelihood(model, 0);
        const auto source = kept.read();
        likelihood.read(*source, {});
        PassOptions options;
        options.mean_weight = source->mean_weight(1.0);
        const LikelihoodPass pass = likelihood.pass(model.transition(), options, {1});
        EXPECT_NEAR(pass.log_likelihood, log_likelihood, 0.01 * std::abs(log_likelihood));
        const std::size_t entries = pass.counts.size() / 2;
        for (std::size_t a = 0; a < 2; ++a) {
          double sum = 0.0;
          for (std::size_t i = 0; i < entries; ++i) sum += pass.counts[a * entries + i];
          EXPECT_NEAR(sum, transitions[a], 0.01 * transitions[a] + 1e-12) << a << ", " << half_life;
        }
      }
    }
  }
}

}  // namespace
}  // namespace oas::detail
