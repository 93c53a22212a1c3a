#include "oas/jobs/survey.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"

namespace oas {

namespace {

constexpr double kMostWork = 2e9;  // multiplications
constexpr double kFewestSteps = 4096.0;

// Rows at the beginning of a log that know the start.
std::size_t skipped(std::size_t rows) { return std::min<std::size_t>(1024, rows / 4); }

// Leaves out coordinates at 0 whose least step would show at once, in observations that never come:
// their sum of scores is far below 0. Such zeros are known, although directions between two of them
// show no information.
void drop_ruled_out(const TransitionModel& truth, FisherInformation& information) {
  constexpr double kFarBelow = 6.0;  // standard errors
  std::vector<Eigen::Index> kept;
  FisherInformation left = information;
  left.entries.clear();
  left.references.clear();
  for (std::size_t i = 0; i < information.entries.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const double noise = std::sqrt(information.matrix(k, k));
    const bool zero = truth.values()[information.entries[i]] == 0.0;
    if (zero && information.score(k) < -kFarBelow * noise) continue;
    kept.push_back(k);
    left.entries.push_back(information.entries[i]);
    left.references.push_back(information.references[i]);
  }
  left.matrix = information.matrix(kept, kept);
  left.score = information.score(kept);
  information = std::move(left);
}

}  // namespace

void SurveyOptions::validate() const { check_ranges(*this); }

std::vector<Trajectory> simulate_logs(const Pomdp& model, const SurveyOptions& options,
                                      Parallelism parallelism) {
  options.validate();
  options.policy.validate(model);
  std::vector<Trajectory> logs(static_cast<std::size_t>(options.logs));
  parallel_for(logs.size(), parallelism, [&](std::size_t r) {
    ClosedLoop loop(model, options.policy, options.seed, static_cast<std::uint32_t>(r));
    loop.advance(options.steps, logs[r]);
    logs[r].rewards.clear();
  });
  return logs;
}

std::vector<double> count_visits(const Pomdp& model, const std::vector<Trajectory>& logs) {
  const auto n = static_cast<std::size_t>(model.num_states());
  std::vector<double> visits(static_cast<std::size_t>(model.num_actions()) * n, 0.0);
  for (const Trajectory& log : logs) {
    for (std::size_t t = 0; t < log.size(); ++t) {
      visits[static_cast<std::size_t>(log.actions[t]) * n +
             static_cast<std::size_t>(log.states[t])] += 1.0;
    }
  }
  return visits;
}

std::vector<char> unvisited_entries(const Pomdp& model, const std::vector<double>& visits) {
  std::vector<char> held;
  for (const double count : visits) {
    held.insert(held.end(), static_cast<std::size_t>(model.num_states()), count == 0.0 ? 1 : 0);
  }
  return held;
}

TransitionModel just_inside(const TransitionModel& transition) {
  return mixed_with_uniform(transition, 1e-6);
}

FisherInformation survey_information(const Pomdp& model, const TransitionModel& at,
                                     const std::vector<char>& held,
                                     const std::vector<Trajectory>& logs, Parallelism parallelism) {
  const auto free = static_cast<double>(std::count(held.begin(), held.end(), 0));
  const double per_step = free * (2.0 * model.num_states() * model.num_states() + 0.5 * free) + 1.0;
  const auto steps = static_cast<std::size_t>(
      std::max(kFewestSteps, kMostWork / per_step / static_cast<double>(logs.size())));
  FisherOptions options;
  options.held = held;
  std::vector<FisherInformation> parts(logs.size());
  parallel_for(logs.size(), parallelism, [&](std::size_t r) {
    Trajectory rows;
    const std::size_t count = std::min(steps, logs[r].size());
    const auto end = static_cast<std::ptrdiff_t>(count);
    FisherOptions mine = options;
    mine.skip = skipped(count);
    rows.actions.assign(logs[r].actions.begin(), logs[r].actions.begin() + end);
    rows.observations.assign(logs[r].observations.begin(), logs[r].observations.begin() + end);
    parts[r] = fisher_information(model, at, rows, mine);
  });
  FisherInformation result = std::move(parts.front());
  for (std::size_t r = 1; r < parts.size(); ++r) {
    result.matrix += parts[r].matrix;
    result.score += parts[r].score;
    result.steps += parts[r].steps;
  }
  drop_ruled_out(model.transition(), result);
  return result;
}

}  // namespace oas
