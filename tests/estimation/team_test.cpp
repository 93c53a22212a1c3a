#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "estimation/evidence_support.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/bootstrap.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/likelihood/detail/team_rows.hpp"
#include "oas/estimation/sensors/detail/fit_in_parts.hpp"
#include "oas/estimation/sensors/detail/team_fit.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/continuous_loop.hpp"
#include "support/thread_team.hpp"

/// What the ranks of a team estimate together is to the bit what one process does.
namespace oas {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using testing_support::run_team;
using testing_support::ThreadTeam;

// Runs that each rank has a source of, in parts of `runs_of_part` runs, the last of which goes on
// in the next part where it may; 0: not in parts.
class RunSource final : public RowSource {
 public:
  RunSource(std::span<const LogBlock> runs, std::size_t runs_of_part, std::int64_t bad_run = -1)
      : RunSource(whole(runs), runs_of_part, bad_run) {}

  [[nodiscard]] bool next(RowBlock& block) override {
    if (run_ == runs_.size()) return false;
    if (static_cast<std::int64_t>(run_) == bad_run_) fail(3, "cannot be read");
    const Piece& piece = runs_[run_++];
    block = piece.run->view().part(piece.first, piece.end - piece.first);
    if (piece.first == 0) block.run_starts = {&start_, 1};
    return true;
  }
  void rewind() override { run_ = 0; }
  [[noreturn]] void fail(std::size_t row, const std::string& message) const override {
    throw ParseError("runs", static_cast<long>(row), 0, message);
  }
  [[noreturn]] void fail_at(std::int64_t index, const std::string& message) override {
    fail(static_cast<std::size_t>(index), message);
  }
  [[nodiscard]] std::vector<RowPart> parts(Parallelism /*parallelism*/,
                                           const RunCut& cut) const override {
    std::vector<RowPart> parts;
    std::size_t gone = 0;  // rows of the first run that the part before has
    for (std::size_t first = 0; runs_of_part_ > 0 && first < runs_.size(); first += runs_of_part_) {
      std::vector<Piece> own(runs_.begin() + static_cast<std::ptrdiff_t>(first),
                             runs_.begin() + static_cast<std::ptrdiff_t>(
                                                 std::min(first + runs_of_part_, runs_.size())));
      RowPart& part = parts.emplace_back();
      part.first_run = static_cast<std::int64_t>(first);
      if (gone > 0) {
        own.insert(own.begin(), runs_[first - 1]);
        own.front().first = gone;
        part.first_run -= 1;
        part.rows_before = static_cast<std::int64_t>(gone);
        part.before.add(own.front().run->view().part(gone - 1, 1));
      }
      gone = 0;
      if (cut && first + runs_of_part_ < runs_.size()) {
        const auto last = static_cast<std::int64_t>(first + runs_of_part_ - 1);
        const auto rows = static_cast<std::size_t>(cut(last, 1 + last % 40));
        if (rows > own.back().first && rows < own.back().end) own.back().end = gone = rows;
      }
      for (const Piece& piece : own) part.size += static_cast<long>(piece.end - piece.first);
      const auto before = static_cast<std::int64_t>(first) - (part.rows_before > 0 ? 1 : 0);
      part.rows = std::unique_ptr<RunSource>(new RunSource(own, 0, bad_run_ - before));
    }
    return parts;
  }

 private:
  struct Piece {
    const LogBlock* run;
    std::size_t first;
    std::size_t end;
  };

  RunSource(std::vector<Piece> runs, std::size_t runs_of_part, std::int64_t bad_run)
      : runs_(std::move(runs)), runs_of_part_(runs_of_part), bad_run_(bad_run) {}
  static std::vector<Piece> whole(std::span<const LogBlock> runs) {
    std::vector<Piece> pieces;
    for (const LogBlock& run : runs) pieces.push_back({&run, 0, run.rows.size()});
    return pieces;
  }

  std::vector<Piece> runs_;
  std::size_t runs_of_part_;
  std::int64_t bad_run_;
  std::size_t run_ = 0;
  std::size_t start_ = 0;
};

std::vector<std::uint64_t> bits(const TransitionEstimate& estimate) {
  std::vector<std::uint64_t> result;
  const auto add = [&](const auto& values) {
    for (const double value : values) result.push_back(std::bit_cast<std::uint64_t>(value));
    result.push_back(values.size());
  };
  add(estimate.transition.values());
  add(std::vector{estimate.log_likelihood.value_or(0.0), estimate.fit_p_value.value_or(2.0)});
  for (const auto* table : {&estimate.standard_error, &estimate.lower, &estimate.visits,
                            &estimate.clipped, &estimate.joint_region.upper}) {
    add(*table);
  }
  for (const std::int64_t value :
       {estimate.rows, estimate.runs, estimate.missing, std::int64_t{estimate.num_batches},
        std::int64_t{estimate.passes}}) {
    result.push_back(static_cast<std::uint64_t>(value));
  }
  for (const std::int64_t pairs : estimate.pairs) {
    result.push_back(static_cast<std::uint64_t>(pairs));
  }
  return result;
}

std::vector<std::uint64_t> alone(const Evidence& empty, std::span<const LogBlock> runs,
                                 std::size_t runs_of_part, EstimateOptions options) {
  Evidence evidence = empty;
  RunSource source(runs, runs_of_part);
  evidence.read(source, {1});
  options.parallelism = {1};
  TransitionEstimate estimate = evidence.estimate(options);
  evidence.check(options, estimate);
  return bits(estimate);
}

std::vector<std::uint64_t> together(int ranks, const Evidence& empty,
                                    std::span<const LogBlock> runs, std::size_t runs_of_part,
                                    EstimateOptions options) {
  std::vector<std::uint64_t> result;
  const bool clean = run_team(ranks, [&](ThreadTeam& team) {
    Evidence evidence = empty;
    RunSource source(runs, runs_of_part);
    evidence.read(source, {1, &team});
    if (!team.leads()) evidence.help({1, &team});
    EstimateOptions asked = options;
    asked.parallelism = {1, &team};
    TransitionEstimate estimate = evidence.estimate(asked);
    evidence.check(asked, estimate);
    result = bits(estimate);
  });
  EXPECT_TRUE(clean) << "messages were left over";
  return result;
}

std::vector<LogBlock> simulated(const AnyModel& model, const std::vector<std::size_t>& lengths) {
  std::vector<LogBlock> runs;
  for (std::uint32_t run = 0; run < lengths.size(); ++run) {
    LogBlock& log = runs.emplace_back();
    const PolicyOptions policy{.name = "belief"};
    if (const auto* continuous = std::get_if<ContinuousPomdp>(&model)) {
      ContinuousLoop(*continuous, policy, 3, run)
          .advance(lengths[run], log.rows, log.readings, &log.likelihoods);
    } else {
      ClosedLoop(std::get<Pomdp>(model), policy, 3, run).advance(lengths[run], log.rows);
    }
  }
  return runs;
}

class TeamEstimate : public testing::TestWithParam<std::string> {};

TEST_P(TeamEstimate, IsThatOfOneProcess) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const AnyModel& model :
         {AnyModel(test::finite_model(timing)), AnyModel(test::gaussian_model(timing))}) {
      const Evidence empty = make_evidence(GetParam(), model);
      const auto runs = simulated(model, {900, 1, 40, 5, 2, 330, 17, 64});
      const auto expected = alone(empty, runs, 0, {});
      for (const std::size_t runs_of_part : {0, 1, 3}) {
        EXPECT_EQ(alone(empty, runs, runs_of_part, {}), expected) << runs_of_part;
        for (const int ranks : {1, 2, 3, 5, 8, 11}) {
          EXPECT_EQ(together(ranks, empty, runs, runs_of_part, {}), expected)
              << ranks << " ranks, " << runs_of_part << " runs a part";
        }
      }
    }
  }
}

std::vector<std::string> quick_estimators() {
  return {"oas", "oas-overlap", "oas-weighted", "oas-soft", "oas-ml", "em", "spectral"};
}
INSTANTIATE_TEST_SUITE_P(Estimators, TeamEstimate, testing::ValuesIn(quick_estimators()),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

constexpr std::size_t kWindow = detail::kWindowRows;
constexpr std::size_t kMuch = std::size_t{1} << 28;

void expect_same(const Pomdp& model, const std::vector<std::size_t>& lengths,
                 std::size_t runs_of_part, std::size_t memory) {
  EvidenceOptions options;
  options.memory_limit = memory;
  const auto runs = simulated(model, lengths);
  const Evidence empty = make_evidence("oas-ml", model, options);
  const auto expected = alone(empty, runs, runs_of_part, EstimateOptions::bare());
  for (const int ranks : {2, 3, 5}) {
    EXPECT_EQ(together(ranks, empty, runs, runs_of_part, EstimateOptions::bare()), expected)
        << ranks << " ranks, memory of " << memory;
  }
}

TEST(TeamPasses, GoOnWithinARunThatSpansManyWindows) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    expect_same(test::finite_model(timing), {1'700'000}, 0, kMuch);
  }
}

TEST(TeamPasses, StartRunsWhereWindowsBegin) {
  expect_same(test::finite_model(Timing::before), {kWindow, kWindow, 3, kWindow - 3, 20'000}, 1,
              kMuch);
}

TEST(TeamPasses, ReadTheirFilesAgainWhereMemoryIsShort) {
  expect_same(test::finite_model(Timing::before), {300'000, 5, 800'000, 1, 200'000}, 1, 1000);
}

// Action 0 mixes and is seen well; under action 1 next to nothing moves, and little is seen.
Pomdp with_stand_still() {
  PomdpParts parts;
  parts.states = Labels(2, "state");
  parts.actions = Labels(2, "action");
  parts.observations = Labels(2, "observation");
  parts.transition =
      TransitionModel(2, 2, {0.9, 0.1, 0.2, 0.8, 1.0 - 1e-6, 1e-6, 1e-6, 1.0 - 1e-6});
  parts.sensors = ObservationModel(2, 2, 2, {0.8, 0.2, 0.3, 0.7, 0.505, 0.495, 0.495, 0.505});
  parts.reward = Reward::by_action_state({0.0, 1.0, 0.0, 1.0});
  return Pomdp(parts);
}

// One run, in which some stretches of rows have action 1.
LogBlock one_run(std::size_t rows, const std::vector<std::pair<std::size_t, std::size_t>>& still) {
  LogBlock log;
  for (std::size_t t = 0; t < rows; ++t) {
    const bool stands = std::any_of(still.begin(), still.end(), [&](const auto& stretch) {
      return t >= stretch.first && t < stretch.second;
    });
    log.rows.actions.push_back(Action{stands ? 1 : 0});
    log.rows.observations.push_back(Observation{static_cast<int>((t * 7 + t / 11) % 3 == 0)});
  }
  return log;
}

SensorFit fit_alone(const LogBlock& log, const Pomdp& model) {
  detail::FitInParts fit(model, {2});
  const RunStart start;
  for (std::size_t t = 0; t < log.rows.size(); ++t) {
    fit.add(log.rows.actions[t], log.rows.observations[t], t == 0 ? &start : nullptr);
  }
  return fit.finish();
}

void expect_same_pass(const LogBlock& log) {
  const Pomdp model = with_stand_still();
  const auto rows = static_cast<std::int64_t>(log.rows.size());
  PassOptions asked;
  asked.batches = 8;
  asked.emissions = true;
  RowLikelihood one(model, kMuch);
  RunSource source({&log, 1}, 0);
  one.read(source, {});
  const LikelihoodPass expected = one.pass(model.transition(), asked, {1});
  const SensorFit expected_fit = fit_alone(log, model);
  for (const int ranks : {2, 3, 5}) {
    LikelihoodPass pass;
    SensorFit fit;
    EXPECT_TRUE(run_team(ranks, [&](ThreadTeam& team) {
      const std::vector<std::shared_ptr<RowSource>> sources = {
          std::make_shared<RunSource>(std::span(&log, 1), 0)};
      const RowLikelihood empty(model, kMuch);
      detail::CountedRows counted({}, team, empty.stored(), 0);
      counted.add({&rows, 1}, false);
      const detail::TeamRows share(team, empty, std::move(counted), sources);
      while (!team.leads()) {
        const std::string order = team.order();
        if (detail::is_fit_order(order)) {
          detail::help_fit(share, model, order, {1});
        } else {
          share.help(order, {1});
        }
      }
      pass = share.lead(model.transition(), asked, {1});
      fit = detail::lead_fit(share, model, {}, {1});
    }));
    EXPECT_EQ(fit.statistic, expected_fit.statistic) << ranks;
    EXPECT_EQ(fit.degrees, expected_fit.degrees) << ranks;
    EXPECT_EQ(fit.p_value, expected_fit.p_value) << ranks;
    EXPECT_EQ(pass.log_likelihood, expected.log_likelihood) << ranks;
    EXPECT_EQ(pass.score, expected.score) << ranks;
    EXPECT_EQ(pass.counts, expected.counts) << ranks;
    EXPECT_EQ(pass.emission_counts, expected.emission_counts) << ranks;
    EXPECT_EQ(pass.batch_scores, expected.batch_scores) << ranks;
    EXPECT_EQ(pass.batch_steps, expected.batch_steps) << ranks;
    EXPECT_EQ(pass.batch_emission_counts, expected.batch_emission_counts) << ranks;
    EXPECT_EQ(pass.handover_error, expected.handover_error) << ranks;
  }
}

// What the burn-in leaves out comes from the rank before, which finds out only at the end.
TEST(TeamPasses, AreCorrectedWhereABurnInIsTooShort) {
  expect_same_pass(
      one_run(1'700'000, {{kWindow - 9000, kWindow + 2}, {2 * kWindow - 5000, 2 * kWindow - 1}}));
}

TEST(TeamPasses, WaitForEachOtherWhereNothingIsForgotten) {
  expect_same_pass(one_run(1'700'000, {{0, 1'700'000}}));
}

// A correction that reaches through all windows of a rank.
TEST(TeamPasses, AreCorrectedThroughManyWindows) {
  expect_same_pass(one_run(1'700'000, {{kWindow - 9000, 3 * kWindow + 2000}}));
}

// Pieces are added up in pairs: whoever has which of them, the sums are the same.
TEST(TeamFit, SumsOfPiecesDoNotDependOnWhoHasThem) {
  const Pomdp model = with_stand_still();
  const LogBlock log = one_run(1300, {{200, 700}});
  const SensorFitTest fresh(model);
  std::vector<SensorFitTest> pieces;
  const RunStart start;
  for (std::size_t t = 0; t < log.rows.size(); ++t) {
    if (t % 100 == 0) {
      pieces.push_back(fresh);
      if (t > 0) pieces.back().continue_from(pieces[pieces.size() - 2]);
    }
    pieces.back().add(log.rows.actions[t], log.rows.observations[t], t == 0 ? &start : nullptr);
  }
  const auto summed = [&](const std::vector<std::size_t>& cuts) {
    detail::FitSums all(fresh);
    std::size_t piece = 0;
    for (const std::size_t end : cuts) {
      detail::FitSums share(fresh);
      for (; piece < end; ++piece) share.add(static_cast<std::int64_t>(piece), pieces[piece]);
      ByteWriter out;
      share.save(out);
      const std::string bytes = out.take();
      detail::FitSums sent(fresh);
      ByteReader in(bytes);
      sent.load(in);
      all.append(sent);
    }
    return all.total().finish().statistic;
  };
  const double expected = summed({13});
  EXPECT_GT(expected, 0.0);
  for (const auto& cuts : std::vector<std::vector<std::size_t>>{
           {1, 13}, {3, 7, 13}, {5, 6, 11, 12, 13}, {0, 8, 8, 13}, {1, 2, 3, 4, 5, 6, 7, 8, 13}}) {
    EXPECT_EQ(summed(cuts), expected);
  }
}

TEST(TeamBootstrap, ResamplesAreInTheirOrderWhoeverMakesThem) {
  const auto resample = [](std::size_t r) {
    return std::vector<double>(3, 1.0 / (1.0 + static_cast<double>(r)));
  };
  const auto expected = resampled_estimates(50, {1}, resample);
  ASSERT_EQ(expected[49], resample(49));
  for (const int ranks : {1, 2, 5, 8}) {
    std::vector<std::vector<double>> found;
    EXPECT_TRUE(run_team(ranks, [&](ThreadTeam& team) {
      auto estimates = resampled_estimates(50, {2, &team}, resample);
      if (team.leads()) found = std::move(estimates);
    }));
    EXPECT_EQ(found, expected) << ranks;
  }
}

TEST(TeamBootstrap, WhatFailsOnAnotherRankIsToldByRankZero) {
  std::atomic<bool> failed = false;
  const auto bootstrap = [&](ThreadTeam& team) {
    static_cast<void>(resampled_estimates(100, {1, &team}, [&](std::size_t) {
      if (!team.leads()) {
        failed = true;
        throw InvalidArgument("cannot be resampled");
      }
      while (!failed) std::this_thread::yield();
      return std::vector<double>();
    }));
  };
  EXPECT_THAT([&] { run_team(3, bootstrap); },
              ThrowsMessage<InvalidArgument>(HasSubstr("cannot be resampled (found by rank ")));
}

TEST(TeamReading, TheFirstFaultInOrderIsReported) {
  const Pomdp model = test::finite_model(Timing::before);
  const auto runs = simulated(model, std::vector<std::size_t>(20, 10));
  const auto read = [&](int ranks) {
    run_team(ranks, [&](ThreadTeam& team) {
      Evidence evidence = make_evidence("oas-ml", model);
      RunSource source(runs, 1, 13);
      evidence.read(source, {1, &team});
      if (!team.leads()) evidence.help({1, &team});
    });
  };
  for (const int ranks : {1, 2, 3, 5, 40}) {
    EXPECT_THAT([&] { read(ranks); },
                ThrowsMessage<InvalidArgument>(HasSubstr("runs:3: cannot be read")));
  }
}

TEST(TeamReading, SaysWhatOnlyRankZeroCanDo) {
  const Pomdp model = test::finite_model(Timing::before);
  const auto runs = simulated(model, {50, 60});
  std::vector<std::string> told;
  run_team(3, [&](ThreadTeam& team) {
    Evidence evidence = make_evidence("particle", model);
    RunSource source(runs, 1);
    evidence.read(source, {1, &team});
    if (!team.leads()) evidence.help({1, &team});
    told = team.told;
    EXPECT_EQ(evidence.runs(), 2);
  });
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0], "estimator 'particle' runs on rank 0 alone: it takes rows in their order");
}

}  // namespace
}  // namespace oas
