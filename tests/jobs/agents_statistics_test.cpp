// Claims about agents that no single run can show, on random instances that nothing was tuned on.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "oas/jobs/learning_run.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {
namespace {

constexpr int kInstances = 20;
constexpr std::int64_t kSteps = 64'000;

struct Result {
  double regret = 0.0;              // against the best policy
  double floor_regret = 0.0;        // against the best with floor
  double early_floor_regret = 0.0;  // the same after an eighth of the steps
};

struct Instance {
  Pomdp model;
  RegretOracle oracle;
};

const std::vector<Instance>& instances() {
  static const std::vector<Instance> list = [] {
    std::vector<Instance> made;
    for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
      RandomPomdpOptions options;
      options.min_alpha = 0.3;
      Rng rng({900 + seed, 0, Role::problem});
      const Pomdp model = random_pomdp(options, rng).model;
      made.push_back(
          {model, RegretOracle(model, {.floor = default_floor(3), .gap = 1e-5}, Parallelism{1})});
    }
    return made;
  }();
  return list;
}

std::vector<Result> play(const char* agent, std::vector<Setting> settings = {}) {
  std::vector<Result> results;
  for (const Instance& instance : instances()) {
    LearningOptions options;
    options.agent = agent;
    options.settings = settings;
    options.steps = kSteps;
    options.checkpoints = 8;
    const LearningRun run = learn(instance.model, instance.oracle, options);
    const Regrets end = regrets(instance.oracle, run.end());
    results.push_back({end.expected, end.expected_floor,
                       regrets(instance.oracle, run.checkpoints.front()).expected_floor});
  }
  return results;
}

const std::vector<Setting> kShortEpisodes = {{"first_episode", "800"}};

// Better on all of 20 independent instances: by chance once in 2^20, about a million.
void expect_always_less(const std::vector<Result>& one, const std::vector<Result>& other,
                        const std::string& what) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_LT(one[i].regret, other[i].regret) << what << ", instance " << i;
  }
}

TEST(AgentsStatistics, OasAgentsBeatSeeuAndWhoKnowsNoDynamics) {
  const std::vector<Result> paper = play("oas-ucrl", kShortEpisodes);
  const std::vector<Result> pooled = play("oas-ucrl-pooled");
  const std::vector<Result> likelihood = play("oas-ucrl-ml");
  // SEEU's phases are the paper's, scaled to the number of steps.
  const std::vector<Setting> short_phases = {{"tau1", "800"}, {"tau2", "2600"}};
  for (const char* name : {"uniform", "myopic", "seeu"}) {
    const std::vector<Result> other =
        play(name, std::string(name) == "seeu" ? short_phases : std::vector<Setting>{});
    expect_always_less(paper, other, std::string("oas-ucrl and ") + name);
    expect_always_less(pooled, other, std::string("oas-ucrl-pooled and ") + name);
    expect_always_less(likelihood, other, std::string("oas-ucrl-ml and ") + name);
  }
  double sum_paper = 0.0;
  double sum_pooled = 0.0;
  double sum_likelihood = 0.0;
  for (std::size_t i = 0; i < paper.size(); ++i) {
    sum_paper += paper[i].floor_regret;  // judged by its own, weaker, oracle
    sum_pooled += pooled[i].regret;
    sum_likelihood += likelihood[i].regret;
  }
  EXPECT_LT(sum_pooled, 0.7 * sum_paper);
  EXPECT_LT(sum_likelihood, 0.7 * sum_paper);
}

// R(T) ~ T^p: p from two points of each instance, its mean with a 95 % interval well below 1.
TEST(AgentsStatistics, RegretOfOasUcrlGrowsSlowerThanLinearly) {
  double sum = 0.0;
  double squares = 0.0;
  for (const Result& result : play("oas-ucrl", kShortEpisodes)) {
    const double exponent =
        std::log(result.floor_regret / result.early_floor_regret) / std::log(8.0);
    sum += exponent;
    squares += exponent * exponent;
  }
  const double mean = sum / kInstances;
  const double error = std::sqrt((squares / kInstances - mean * mean) / (kInstances - 1));
  RecordProperty("exponent", std::to_string(mean));
  EXPECT_LT(mean + 2.09 * error, 0.85) << mean << " ± " << error;
  EXPECT_GT(mean, 0.0);
}

}  // namespace
}  // namespace oas
