#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "estimation/evidence_support.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/simulation/continuous_loop.hpp"
#include "support/random_models.hpp"

/// What every estimator of the table must do, finite and real-valued observations, both timings:
/// however rows are cut, saved, interleaved, dealt out and merged, the same bits come out.
namespace oas {
namespace {

struct Case {
  std::string estimator;
  Timing timing;
  bool continuous;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.estimator << (one.continuous ? " readings " : " finite ") << to_string(one.timing);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const EstimatorInfo& info : estimators()) {
    for (const Timing timing : {Timing::before, Timing::after}) {
      for (const bool continuous : {false, true}) {
        cases.push_back({std::string(info.name), timing, continuous});
      }
    }
  }
  return cases;
}

AnyModel model_of(const Case& one) {
  if (one.continuous) return test::gaussian_model(one.timing);
  return test::finite_model(one.timing);
}

// Runs of many lengths, among them one row, with missing observations and propensities.
std::vector<LogBlock> runs_of(const Case& one, const std::vector<std::size_t>& lengths) {
  const AnyModel model = model_of(one);
  std::vector<LogBlock> runs;
  for (std::uint32_t run = 0; run < lengths.size(); ++run) {
    LogBlock& log = runs.emplace_back();
    const PolicyOptions policy{.name = "belief"};
    if (const auto* continuous = std::get_if<ContinuousPomdp>(&model)) {
      ContinuousLoop loop(*continuous, policy, 3, run);
      loop.advance(lengths[run], log.rows, log.readings, &log.likelihoods);
    } else {
      ClosedLoop(std::get<Pomdp>(model), policy, 3, run).advance(lengths[run], log.rows);
    }
    for (std::size_t t = 5; t < lengths[run]; t += 13) {
      log.rows.observations[t] = kMissing;
      if (one.continuous) log.likelihoods[2 * t] = log.likelihoods[2 * t + 1] = 1.0;
    }
  }
  return runs;
}

const std::vector<std::size_t> kLengths = {900, 1, 40, 5, 2, 330, 17, 64};

std::vector<std::uint64_t> bits(const TransitionEstimate& estimate) {
  std::vector<std::uint64_t> result;
  const auto add = [&](const auto& values) {
    for (const double value : values) result.push_back(std::bit_cast<std::uint64_t>(value));
    result.push_back(values.size());
  };
  add(estimate.transition.values());
  for (const auto* table :
       {&estimate.standard_error, &estimate.lower, &estimate.upper, &estimate.visits,
        &estimate.clipped, &estimate.alpha, &estimate.row_region.lower, &estimate.row_region.l1,
        &estimate.joint_region.factor, &estimate.joint_region.upper}) {
    add(*table);
  }
  for (const std::int64_t value :
       {estimate.rows, estimate.runs, estimate.missing, std::int64_t{estimate.num_batches},
        std::int64_t{estimate.passes}}) {
    result.push_back(static_cast<std::uint64_t>(value));
  }
  return result;
}

class EvidenceContract : public testing::TestWithParam<Case> {
 protected:
  EvidenceContract()
      : runs_(runs_of(GetParam(), kLengths)),
        empty_(make_evidence(GetParam().estimator, model_of(GetParam()))),
        expected_(judged(fed(0, runs_.size()))) {}

  // Runs first … end-1, one block each.
  [[nodiscard]] Evidence fed(std::size_t first, std::size_t end) const {
    Evidence evidence = empty_.fresh(static_cast<std::int64_t>(first));
    for (std::size_t run = first; run < end; ++run) {
      evidence.start_run();
      evidence.add(runs_[run].view());
    }
    return evidence;
  }

  [[nodiscard]] static std::vector<std::uint64_t> judged(const Evidence& evidence) {
    EstimateOptions options;
    options.parallelism = {1};
    return bits(evidence.estimate(options));
  }

  std::vector<LogBlock> runs_;
  Evidence empty_;
  std::vector<std::uint64_t> expected_;
};

TEST_P(EvidenceContract, BlocksDoNotMatter) {
  for (const std::size_t size : {1UL, 7UL, 64UL}) {
    Evidence evidence = empty_;
    for (const LogBlock& run : runs_) {
      evidence.start_run();
      for (std::size_t first = 0; first < run.rows.size(); first += size) {
        evidence.add(run.view().part(first, std::min(size, run.rows.size() - first)));
      }
    }
    EXPECT_EQ(judged(evidence), expected_) << size;
  }
}

TEST_P(EvidenceContract, OneBlockOfAllRunsAndASourceAreTheSame) {
  StoredRows all;
  for (const LogBlock& run : runs_) {
    all.start_run();
    all.add(run.view());
  }
  Evidence at_once = empty_;
  at_once.add(all.all());
  EXPECT_EQ(judged(at_once), expected_);
  Evidence read = empty_;
  read.read(all, {1});
  EXPECT_EQ(judged(read), expected_);
  EXPECT_EQ(read.runs(), static_cast<std::int64_t>(runs_.size()));
}

TEST_P(EvidenceContract, GoesOnWhereItWasSaved) {
  for (const std::size_t stop : {0UL, 3UL, 450UL}) {
    Evidence evidence = empty_;
    for (const LogBlock& run : runs_) {
      const std::size_t cut = std::min(stop, run.rows.size());
      evidence.start_run();
      evidence.add(run.view().part(0, cut));
      Evidence again = empty_;
      again.load(evidence.save());
      EXPECT_EQ(again.save(), evidence.save());
      again.add(run.view().part(cut, run.rows.size() - cut));
      evidence = std::move(again);
    }
    EXPECT_EQ(judged(evidence), expected_) << stop;
  }
}

TEST_P(EvidenceContract, RunsMayBeOpenSideBySide) {
  Evidence evidence = empty_;
  for (std::size_t first = 0; first < 900; first += 11) {
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      if (first >= runs_[run].rows.size()) continue;
      const std::size_t count = std::min<std::size_t>(11, runs_[run].rows.size() - first);
      evidence.add(static_cast<std::int64_t>(run), runs_[run].view().part(first, count));
    }
    if (first == 110) evidence.end_run(2);
    if (first == 220) {
      Evidence again = empty_;
      again.load(evidence.save());
      evidence = again;
    }
  }
  EXPECT_EQ(judged(evidence), expected_);
  EXPECT_THROW(evidence.add(2, runs_[2].view()), InvalidArgument);
}

TEST_P(EvidenceContract, PartsMergeInTheOrderOfRuns) {
  if (empty_.info().reading == Reading::in_order) {
    Evidence first = fed(0, 2);
    EXPECT_THROW(first.merge(fed(2, 8)), InvalidArgument);
    return;
  }
  Evidence left = fed(0, 3);
  left.merge(fed(3, 4));
  left.merge(fed(4, 8));
  EXPECT_EQ(judged(left), expected_);
  Evidence right = fed(3, 6);
  right.merge(fed(6, 8));
  Evidence whole = fed(0, 3);
  whole.merge(right);
  EXPECT_EQ(judged(whole), expected_);
  Evidence from_nothing = empty_;
  from_nothing.merge(fed(0, 8));
  EXPECT_EQ(judged(from_nothing), expected_);
}

TEST_P(EvidenceContract, CopiesAreApart) {
  Evidence evidence = fed(0, 5);
  Evidence copy = evidence;
  copy.start_run();
  copy.add(runs_[6].view());
  for (std::size_t run = 5; run < runs_.size(); ++run) {
    evidence.start_run();
    evidence.add(runs_[run].view());
  }
  EXPECT_EQ(judged(evidence), expected_);
}

// Of a log the reader refuses them; rows from memory come straight here.
TEST_P(EvidenceContract, RefusesRowsThatNoModelHas) {
  Evidence evidence = fed(0, 8);
  constexpr int kMost = std::numeric_limits<int>::max();
  const auto refuses = [&](int action, int observation, double propensity) {
    Trajectory rows;
    rows.actions = {Action{0}, Action{action}};
    rows.observations = {Observation{0}, Observation{observation}};
    rows.propensities = {0.5, propensity};
    EXPECT_THROW(evidence.add(rows), InvalidArgument) << action << ' ' << observation;
    EXPECT_THROW(evidence.add(100, rows), InvalidArgument) << action << observation;
  };
  for (const int index : {-2, 1000, kMost, -kMost}) {
    refuses(index, 0, 0.5);
    refuses(0, index, 0.5);
  }
  refuses(-1, 0, 0.5);
  EXPECT_THROW(evidence.start_run(RunStart::known(State{2})), InvalidArgument);
  for (const double propensity : {0.0, -1.0, 1.5, std::nan(""), HUGE_VAL}) {
    refuses(0, 0, propensity);
  }
  EXPECT_EQ(judged(evidence), expected_);
}

TEST_P(EvidenceContract, RefusesBytesThatAreNotItsOwn) {
  const std::string saved = fed(0, 4).save();
  Evidence evidence = fed(0, 8);
  for (const std::size_t size : {0UL, 20UL, saved.size() / 2, saved.size() - 1}) {
    EXPECT_THROW(evidence.load(std::string_view(saved).substr(0, size)), InvalidArgument) << size;
  }
  EXPECT_THROW(evidence.load(saved + "x"), InvalidArgument);
  for (std::size_t at = 0; at < saved.size(); at += 1 + saved.size() / 97) {
    std::string flipped = saved;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    EXPECT_THROW(evidence.load(flipped), InvalidArgument) << at;
  }
  const std::string other = GetParam().estimator == "oas" ? "oas-overlap" : "oas";
  EXPECT_THROW(make_evidence(other, model_of(GetParam())).load(saved), InvalidArgument);
  EXPECT_EQ(judged(evidence), expected_);
}

// Bytes that fit their checksum and hold what add() would refuse, or anything else: the numbers of
// an honest value one by one replaced. Refused or taken, nothing reads beyond its tables.
TEST_P(EvidenceContract, ForgedBytesDoNoHarm) {
  std::string saved = fed(0, 4).save();
  saved.resize(saved.size() - sizeof(std::uint64_t));
  for (std::size_t at = 0; at + 8 < saved.size(); at += 4 * (1 + saved.size() / 300)) {
    std::string forged = saved;
    constexpr std::int32_t kOdd = 0x7ffffff0;
    forged.replace(at, sizeof kOdd, reinterpret_cast<const char*>(&kOdd), sizeof kOdd);
    const std::uint64_t checksum = fingerprint(forged);
    forged.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
    Evidence evidence = empty_;
    try {
      evidence.load(forged);
      evidence.start_run();
      evidence.add(runs_[6].view());
      if (evidence.info().errors == ErrorSource::posterior) continue;  // thousands of draws
      static_cast<void>(evidence.estimate(EstimateOptions::bare()));
    } catch (const InvalidArgument&) {
    }
  }
}

TEST_P(EvidenceContract, KnowsItsSettings) {
  const std::vector<Setting> unknown = {{"magic", "1"}};
  EXPECT_THROW(
      static_cast<void>(make_evidence(GetParam().estimator, model_of(GetParam()), unknown)),
      InvalidArgument);
  for (const SettingInfo& info : settings_of(empty_.info())) {
    if (info.value.empty()) continue;
    const std::vector<Setting> settings = {{info.name, info.value}};
    Evidence made = make_evidence(GetParam().estimator, model_of(GetParam()), settings);
    made.load(fed(0, 2).save());  // the defaults: of the same make
  }
}

INSTANTIATE_TEST_SUITE_P(All, EvidenceContract, testing::ValuesIn(all_cases()),
                         [](const auto& parameter) {
                           std::string name = parameter.param.estimator;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           name += parameter.param.continuous ? "_readings_" : "_finite_";
                           return name + std::string(to_string(parameter.param.timing));
                         });

// Thousands of runs of all lengths, in parts of any size.
class ManyRuns : public testing::TestWithParam<Timing> {
 protected:
  ManyRuns() {
    Rng rng({5, 0, Role::test});
    for (std::size_t i = 0; i < 3000; ++i) {
      lengths_.push_back(1 + rng.below(i % 50 == 0 ? 3000 : 40));
    }
  }

  std::vector<std::size_t> lengths_;
};

TEST_P(ManyRuns, PartsOfAnySizeGiveTheSameBitsInConstantMemory) {
  const Case one{"oas-overlap", GetParam(), false};
  const std::vector<LogBlock> runs = runs_of(one, lengths_);
  const Evidence empty = make_evidence(one.estimator, model_of(one));
  Evidence whole = empty;
  std::size_t most = 0;
  for (const LogBlock& run : runs) {
    whole.start_run();
    whole.add(run.view());
    most = std::max(most, whole.save().size());
  }
  EXPECT_LT(most, 120'000U);  // some 700 batches of 80 bytes
  const TransitionEstimate expected = whole.estimate();
  EXPECT_GE(expected.num_batches, 64);
  EXPECT_LE(expected.num_batches, 128);
  Rng rng({6, 0, Role::test});
  for (int trial = 0; trial < 5; ++trial) {
    Evidence merged = empty;
    for (std::size_t first = 0; first < runs.size();) {
      const std::size_t end = std::min(runs.size(), first + 1 + rng.below(trial < 3 ? 700 : 9));
      Evidence part = empty.fresh(static_cast<std::int64_t>(first));
      for (; first < end; ++first) {
        part.start_run();
        part.add(runs[first].view());
      }
      merged.merge(part);
    }
    EXPECT_EQ(bits(merged.estimate()), bits(expected)) << trial;
  }
}

INSTANTIATE_TEST_SUITE_P(BothTimings, ManyRuns, testing::Values(Timing::before, Timing::after));

TEST(Evidence, PartsMustSayWhereTheyBegin) {
  const Case one{"oas", Timing::before, false};
  const std::vector<LogBlock> runs = runs_of(one, {50, 50});
  Evidence first = make_evidence(one.estimator, model_of(one));
  Evidence second = first;
  first.add(runs[0].view());
  second.add(runs[1].view());
  EXPECT_THROW(first.merge(second), InvalidArgument);
}

TEST(Evidence, OneActionNeedsNoPropensities) {
  test::RandomModelOptions options;
  options.num_actions = 1;
  options.timing = Timing::after;
  options.min_alpha = 0.2;
  const Pomdp model = test::random_model(options, 4);
  const Trajectory rows = test::play_uniformly(model, 500, 0.0, 1);
  for (const EstimatorInfo& info : estimators()) {
    Evidence evidence = make_evidence(info.name, model);
    evidence.add(rows);
    EXPECT_EQ(evidence.estimate(EstimateOptions::bare()).rows, 500) << info.name;
  }
}

}  // namespace
}  // namespace oas
