#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "estimation/evidence_support.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/continuous_loop.hpp"
#include "support/temporary_directory.hpp"
#include "support/thread_team.hpp"

/// Whatever estimator reads it, and with however many threads and ranks: a file that is cut into
/// parts is the file.
namespace oas {
namespace {

using testing_support::run_team;
using testing_support::ThreadTeam;

// Runs of these lengths, one after the other.
template <class Model, class Loop>
void write_log(const std::string& path, const Model& model, std::vector<std::size_t> lengths) {
  LogWriter writer(path, model, {.run = lengths.size() > 1, .propensity = true});
  for (std::uint32_t run = 0; run < lengths.size(); ++run) {
    Loop loop(model, {.name = "belief"}, 3, run);
    Trajectory rows;
    if constexpr (std::is_same_v<Loop, ContinuousLoop>) {
      std::vector<double> readings;
      loop.advance(lengths[run], rows, readings, nullptr);
      writer.write(rows, readings, run);
    } else {
      loop.advance(lengths[run], rows);
      for (std::size_t t = 5; t < rows.size(); t += 13) rows.observations[t] = kMissing;
      writer.write(rows, run);
    }
  }
  writer.commit();
}

struct Estimate {
  std::vector<std::uint64_t> bits;  // an error that is not known is a NaN like any other
  std::vector<std::int64_t> counts;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

class SplitFiles : public testing::TestWithParam<std::string> {
 protected:
  // By one process, or by the ranks of a team; parts of `least` bytes.
  Estimate estimated(const AnyModel& model, std::int64_t least, int threads, int ranks) const {
    const auto read = [&](Parallelism parallelism) {
      const std::vector<std::string> paths = {folder_.file("log.csv")};
      Evidence evidence = make_evidence(GetParam(), model);
      auto files = std::visit([&](const auto& any) { return LogFiles(any, paths); }, model);
      files.split_from(least);
      evidence.read(files, parallelism);
      if (parallelism.team != nullptr && !parallelism.team->leads()) evidence.help(parallelism);
      EstimateOptions asked;
      asked.parallelism = parallelism;
      const TransitionEstimate estimate = evidence.estimate(asked);
      Estimate found{{}, {estimate.rows, estimate.runs, estimate.missing, estimate.num_batches}};
      for (const double value : estimate.transition.values()) {
        found.bits.push_back(std::bit_cast<std::uint64_t>(value));
      }
      for (const double error : estimate.standard_error) {
        found.bits.push_back(std::bit_cast<std::uint64_t>(error));
      }
      found.counts.insert(found.counts.end(), estimate.pairs.begin(), estimate.pairs.end());
      return found;
    };
    if (ranks == 0) return read({threads});
    Estimate found;
    EXPECT_TRUE(run_team(ranks, [&](ThreadTeam& team) { found = read({threads, &team}); }));
    return found;
  }

  void expect_same(const AnyModel& model) const {
    const Estimate whole = estimated(model, 1 << 30, 1, 0);
    for (const int threads : {2, 3, 16}) EXPECT_EQ(estimated(model, 50, threads, 0), whole);
    for (const int ranks : {1, 2, 3, 5}) EXPECT_EQ(estimated(model, 50, 2, ranks), whole);
  }

  test::TemporaryDirectory folder_;
};

TEST_P(SplitFiles, AreTheFileWithFiniteObservations) {
  for (const Timing timing : {Timing::before, Timing::after}) {
    for (const std::vector<std::size_t>& lengths :
         {std::vector<std::size_t>{4000},
          std::vector<std::size_t>{900, 1, 40, 5, 2, 330, 17, 64}}) {
      const Pomdp model = test::finite_model(timing);
      write_log<Pomdp, ClosedLoop>(folder_.file("log.csv"), model, lengths);
      expect_same(model);
    }
  }
}

TEST_P(SplitFiles, AreTheFileWithReadings) {
  const ContinuousPomdp model = test::gaussian_model(Timing::before);
  write_log<ContinuousPomdp, ContinuousLoop>(folder_.file("log.csv"), model, {1300, 1, 40, 300});
  expect_same(model);
}

INSTANTIATE_TEST_SUITE_P(Estimators, SplitFiles,
                         testing::Values("oas", "oas-overlap", "oas-weighted", "oas-soft", "oas-ml",
                                         "em", "spectral"),
                         [](const auto& name) {
                           std::string text = name.param;
                           for (char& c : text) c = c == '-' ? '_' : c;
                           return text;
                         });

}  // namespace
}  // namespace oas
