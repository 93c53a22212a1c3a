#include <gmock/gmock.h>

#include <cmath>
#include <optional>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "support/random_models.hpp"

/// The estimator `gibbs` against the posterior by enumeration of all hidden paths.
namespace oas {
namespace {

struct Exact {
  std::vector<double> mean;    // [a][s][s']
  std::vector<double> centre;  // of each entry by itself, with a prior of its own
  std::vector<double> second;  // of its square
};

// Visits every hidden path of all runs with its probability given the rows, T integrated out under
// a Dirichlet prior: products of Dirichlet-multinomials. An entry by itself has the prior
// Beta(hit, miss) and sees those paths.
class Enumeration {
 public:
  Enumeration(const Pomdp& model, const std::vector<Trajectory>& runs, double prior, double hit,
              double miss)
      : model_(model),
        runs_(runs),
        prior_(prior),
        hit_(hit),
        miss_(miss),
        states_(static_cast<std::size_t>(model.num_states())) {
    counts_.assign(states_ * states_ * static_cast<std::size_t>(model.num_actions()), 0);
    exact_.mean.assign(counts_.size(), 0.0);
    exact_.centre = exact_.second = exact_.mean;
    start(0, 1.0);
    for (auto* values : {&exact_.mean, &exact_.centre, &exact_.second}) {
      for (double& value : *values) value /= sum_;
    }
  }
  [[nodiscard]] const Exact& exact() const { return exact_; }

 private:
  [[nodiscard]] double seen(std::size_t run, std::size_t t, std::size_t s) const {
    const Observation o = runs_[run].observations[t];
    if (o == kMissing) return 1.0;
    return model_.sensors()(runs_[run].actions[t], State{static_cast<int>(s)}, o);
  }
  void start(std::size_t run, double weight) {
    if (run == runs_.size()) {
      finish(weight);
      return;
    }
    for (std::size_t s = 0; s < states_; ++s) {
      const double first = model_.timing() == Timing::before ? seen(run, 0, s) : 1.0;
      go(run, 0, s, weight * model_.start()[s] * first);
    }
  }
  // State s at row t, before its action.
  void go(std::size_t run, std::size_t t, std::size_t s, double weight) {
    if (weight == 0.0) return;
    const bool before = model_.timing() == Timing::before;
    const std::size_t rows = runs_[run].size();
    if (t == rows || (before && t + 1 == rows)) {
      start(run + 1, weight);
      return;
    }
    const auto action = static_cast<std::size_t>(runs_[run].actions[t]);
    for (std::size_t next = 0; next < states_; ++next) {
      const double shown = before ? seen(run, t + 1, next) : seen(run, t, next);
      int& count = counts_[(action * states_ + s) * states_ + next];
      ++count;
      go(run, t + 1, next, weight * shown);
      --count;
    }
  }
  void finish(double weight) {
    double log_weight = std::log(weight);
    for (std::size_t row = 0; row < counts_.size() / states_; ++row) {
      double total = prior_ * static_cast<double>(states_);
      for (std::size_t j = 0; j < states_; ++j) {
        log_weight += std::lgamma(prior_ + counts_[row * states_ + j]);
        total += counts_[row * states_ + j];
      }
      log_weight -= std::lgamma(total);
    }
    const double share = std::exp(log_weight);
    sum_ += share;
    for (std::size_t row = 0; row < counts_.size() / states_; ++row) {
      double total = prior_ * static_cast<double>(states_);
      for (std::size_t j = 0; j < states_; ++j) total += counts_[row * states_ + j];
      for (std::size_t e = row * states_; e < (row + 1) * states_; ++e) {
        exact_.mean[e] += share * (prior_ + counts_[e]) / total;
        const double hits = hit_ + counts_[e];
        const double all = hit_ + miss_ + total - prior_ * static_cast<double>(states_);
        exact_.centre[e] += share * hits / all;
        exact_.second[e] += share * hits * (hits + 1.0) / (all * (all + 1.0));
      }
    }
  }

  const Pomdp& model_;
  const std::vector<Trajectory>& runs_;
  double prior_;
  double hit_;
  double miss_;
  std::size_t states_;
  std::vector<int> counts_;
  double sum_ = 0.0;
  Exact exact_;
};

TransitionEstimate gibbs(const AnyModel& model, const std::vector<Trajectory>& runs, int draws,
                         int threads = 1, std::optional<double> concentration = {}) {
  EvidenceOptions settings;
  settings.draws = draws;
  settings.concentration = concentration;
  Evidence evidence = make_evidence("gibbs", model, settings);
  for (const Trajectory& run : runs) {
    evidence.start_run();
    evidence.add(run);
  }
  EstimateOptions options;
  options.parallelism = {threads};
  return evidence.estimate(options);
}

Pomdp small_model(int states, Timing timing) {
  test::RandomModelOptions options;
  options.num_states = states;
  options.num_actions = 2;
  options.num_observations = 3;
  options.timing = timing;
  return test::random_model(options, 5);
}

class GibbsOfTiming : public testing::TestWithParam<Timing> {};

// 160,000 draws: an error of a mean of sd · 4 / √160,000 allows for an autocorrelation time of 10
// at more than five standard errors; fixed seed.
TEST_P(GibbsOfTiming, IsThePosteriorByEnumeration) {
  for (const int states : {2, 3}) {
    const Pomdp model = small_model(states, GetParam());
    std::vector<Trajectory> runs(2);
    ClosedLoop(model, {.name = "uniform"}, 8, 0).advance(states == 2 ? 9 : 5, runs[0]);
    ClosedLoop(model, {.name = "uniform"}, 8, 1).advance(3, runs[1]);
    runs[0].observations[2] = kMissing;
    // The default is 1/S for rows and 1/2 for entries; with two states something else.
    const std::optional<double> asked = states == 2 ? std::optional(1.5) : std::nullopt;
    const double prior = asked.value_or(1.0 / states);
    const double hit = asked.value_or(0.5);
    const Exact exact = Enumeration(model, runs, prior, hit, hit).exact();
    const TransitionEstimate found = gibbs(model, runs, 160'000, 1, asked);
    for (std::size_t e = 0; e < exact.mean.size(); ++e) {
      const double deviation = std::sqrt(exact.second[e] - exact.centre[e] * exact.centre[e]);
      EXPECT_NEAR(found.transition.values()[e], exact.mean[e], deviation * 16.0 / 400.0) << e;
      EXPECT_NEAR(found.standard_error[e], deviation, 0.05 * deviation) << e;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Both, GibbsOfTiming, testing::Values(Timing::before, Timing::after),
                         [](const auto& one) { return std::string(to_string(one.param)); });

// Sensors that show the state leave nothing to be drawn: rows are Dirichlet of the counts.
TEST(Gibbs, IsDirichletUnderPerfectSensors) {
  const Pomdp model = make_problem("corner/perfect-sparse");
  ASSERT_EQ(model.timing(), Timing::before);
  const auto states = static_cast<std::size_t>(model.num_states());
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(1500, runs[0]);
  std::vector<double> counts(model.transition().values().size(), 0.0);
  for (std::size_t t = 0; t + 1 < runs[0].size(); ++t) {
    const auto row = static_cast<std::size_t>(runs[0].actions[t]) * states +
                     static_cast<std::size_t>(runs[0].observations[t]);
    ++counts[row * states + static_cast<std::size_t>(runs[0].observations[t + 1])];
  }
  const TransitionEstimate found = gibbs(model, runs, 8000);
  for (std::size_t row = 0; row < counts.size() / states; ++row) {
    double total = 1.0;  // 1/S for each entry
    for (std::size_t j = 0; j < states; ++j) total += counts[row * states + j];
    for (std::size_t e = row * states; e < (row + 1) * states; ++e) {
      const double mean = (1.0 / static_cast<double>(states) + counts[e]) / total;
      const double deviation = std::sqrt(mean * (1.0 - mean) / (total + 1.0));
      EXPECT_NEAR(found.transition.values()[e], mean, 5.5 * deviation / std::sqrt(8000.0));
      EXPECT_LE(found.lower[e], mean);
      EXPECT_GE(found.upper[e], mean);
      if (counts[e] == 0.0) {
        EXPECT_EQ(found.lower[e], 0.0);
      }
    }
    EXPECT_NEAR(found.visits[row], total - 1.0, 1e-9);
  }
}

// However many states there are: what was not seen is not known to be 0. Forty states that lead
// anywhere, fifteen visits of each: of 1600 intervals of 95 % (rows are independent, entries of a
// row nearly so) fewer than 1400 hold the truth with a probability below 1e-6.
TEST(Gibbs, IntervalsHoldWithManyStates) {
  test::RandomModelOptions options;
  options.num_states = 40;
  options.num_actions = 1;
  options.num_observations = 40;
  PomdpParts parts = test::random_model(options, 6).parts();
  std::vector<double> visible(40 * 40, 0.0);
  for (std::size_t s = 0; s < 40; ++s) visible[s * 41] = 1.0;
  parts.sensors = ObservationModel(40, 1, 40, std::move(visible));
  const Pomdp model(std::move(parts));
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 5, 0).advance(600, runs[0]);
  const TransitionEstimate found = gibbs(model, runs, 1000);
  int held = 0;
  for (std::size_t e = 0; e < found.lower.size(); ++e) {
    const double truth = model.transition().values()[e];
    held += static_cast<int>(found.lower[e] <= truth && truth <= found.upper[e]);
    EXPECT_LE(found.lower[e], found.transition.values()[e]);
  }
  EXPECT_GE(held, 1400);
}

// Paths without a transition, or with no other, put the bound into its interval; what is left
// without the transitions that were never seen are the dynamics.
TEST(Gibbs, IntervalsReachTheBounds) {
  for (const char* name : {"corner/perfect-cycle", "corner/flip"}) {
    const Pomdp model = make_problem(name);
    std::vector<Trajectory> runs(1);
    ClosedLoop(model, {.name = "uniform"}, 5, 0).advance(500, runs[0]);
    const TransitionEstimate found = gibbs(model, runs, 1000);
    const auto truth = model.transition().values();
    for (std::size_t e = 0; e < truth.size(); ++e) {
      EXPECT_EQ(truth[e] == 0.0 ? found.lower[e] : found.upper[e], truth[e]) << name << e;
    }
    EXPECT_EQ(without_unseen(found), model.transition()) << name;
    EXPECT_EQ(drawn_transitions(found).size(), 200U);
  }
}

TEST(Gibbs, OneStateLeavesNothingOpen) {
  const Pomdp model = small_model(1, Timing::before);
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 5, 0).advance(10, runs[0]);
  const TransitionEstimate found = gibbs(model, runs, 100);
  EXPECT_THAT(found.standard_error, testing::Each(0.0));
  EXPECT_THAT(found.lower, testing::Each(1.0));
}

TEST(Gibbs, RowsAloneDecideNotThreads) {
  const Pomdp model = make_problem("pest-control");
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(3000, runs[0]);
  const TransitionEstimate one = gibbs(model, runs, 200, 1);
  const TransitionEstimate three = gibbs(model, runs, 200, 3);
  EXPECT_EQ(one.transition, three.transition);
  EXPECT_EQ(one.lower, three.lower);
}

// A row that was never left, and a pair of states that no sensor tells apart.
TEST(Gibbs, FlagsWhatTheLogDoesNotTell) {
  PomdpParts parts = small_model(3, Timing::before).parts();
  const std::vector<double> blind = {0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.8, 0.1};
  std::vector<double> sensors = blind;
  sensors.insert(sensors.end(), blind.begin(), blind.end());
  parts.sensors = ObservationModel(3, 2, 3, std::move(sensors));
  const Pomdp model(std::move(parts));
  std::vector<Trajectory> runs(1);
  ClosedLoop(model, {.name = "uniform"}, 3, 0).advance(2000, runs[0]);
  for (Action& action : runs[0].actions) action = Action{0};
  const TransitionEstimate found = gibbs(model, runs, 2000);
  std::vector<int> flagged;
  for (const FlaggedRow& row : found.flagged) {
    flagged.push_back(row.action.value() * 3 + row.state.value());
  }
  EXPECT_THAT(flagged, testing::IsSupersetOf({1, 2, 3, 4, 5}));
}

TEST(Gibbs, NamesTheRowThatCannotHappen) {
  PomdpParts parts = make_problem("corner/perfect-sparse").parts();
  parts.start.assign(parts.start.size(), 0.0);
  parts.start.front() = 1.0;
  const Pomdp sure(std::move(parts));
  std::vector<Trajectory> runs(1);
  runs[0].actions = {Action{0}};
  runs[0].observations = {Observation{1}};
  try {
    static_cast<void>(gibbs(sure, runs, 100));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("row 1: after the rows before it, observation"));
  }
}

}  // namespace
}  // namespace oas
