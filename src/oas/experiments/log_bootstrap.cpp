#include "oas/experiments/log_bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood_estimator.hpp"
#include "oas/estimation/oas.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {

namespace {

constexpr double kReacts = 5.0;  // standard deviations
constexpr std::size_t kRowBytes = sizeof(Action) + sizeof(Observation) + sizeof(double);

// New observations for all rows, in place.
void simulate_observations(const Pomdp& fitted, const StreamKey& key, LogBlock& log) {
  Trajectory& rows = log.rows;
  for (std::size_t run = 0; run < log.run_starts.size(); ++run) {
    const std::size_t first = log.run_starts[run];
    const std::size_t end = run + 1 < log.run_starts.size() ? log.run_starts[run + 1] : rows.size();
    // An environment draws one number to start and two a step.
    Environment environment(fitted, Rng(key, 2 * first + run));
    for (std::size_t t = first; t < end; ++t) {
      const Observation seen = environment.step(rows.actions[t]).observation;
      if (rows.observations[t] != kMissing) rows.observations[t] = seen;
    }
  }
}

// Do actions depend on the observation before them? A chi-square test of a_{t+1} against o_t, given
// a_t, as a standard normal number (Wilson and Hilferty 1931).
double reaction(const Pomdp& model, const LogBlock& log) {
  const int num_actions = model.num_actions();
  const int num_observations = model.num_observations();
  std::vector<Matrix> counts(static_cast<std::size_t>(num_actions),
                             Matrix::Zero(num_observations, num_actions));
  const std::vector<Action>& actions = log.rows.actions;
  for (std::size_t t = 1; t < log.rows.size(); ++t) {
    const Observation seen = log.rows.observations[t - 1];
    if (seen == kMissing || std::binary_search(log.run_starts.begin(), log.run_starts.end(), t)) {
      continue;
    }
    counts[static_cast<std::size_t>(actions[t - 1])](seen.value(), actions[t].value()) += 1.0;
  }
  double statistic = 0.0;
  double degrees = 0.0;
  for (const Matrix& table : counts) {
    const Matrix expected =
        table.rowwise().sum() * table.colwise().sum() / std::max(table.sum(), 1.0);
    const auto usable = expected.array() >= 5.0;
    statistic += usable.select((table - expected).array().square() / expected.array(), 0.0).sum();
    const double cells = static_cast<double>(usable.count());
    degrees += std::max(0.0, cells - static_cast<double>(usable.rowwise().any().count()) -
                                 static_cast<double>(usable.colwise().any().count()) + 1.0);
  }
  if (degrees < 1.0) return 0.0;
  const double spread = 2.0 / (9.0 * degrees);
  return (std::cbrt(statistic / degrees) - (1.0 - spread)) / std::sqrt(spread);
}

void warn_of_reaction(const Pomdp& model, const LogBlock& log, TransitionEstimate& estimate) {
  if (reaction(model, log) < kReacts) return;
  estimate.warnings.emplace_back(
      "the logged actions depend on observations; the simulated logs keep them as they are and "
      "visit other states, so these error bars may be wrong by a large factor: use "
      "block-bootstrap or asymptotic");
}

BootstrapOptions bootstrap_options(const LogEstimationOptions& options) {
  BootstrapOptions bootstrap;
  bootstrap.resamples = options.resamples;
  bootstrap.seed = options.seed;
  bootstrap.validate();
  return bootstrap;
}

std::vector<double> climb_simulated(const Pomdp& model, const LogBlock& log,
                                    const TransitionModel& estimate,
                                    const LikelihoodOptions& climb) {
  TransitionLikelihood rows(model);
  auto start = log.run_starts.begin();
  for (std::size_t t = 0; t < log.rows.size(); ++t) {
    if (start != log.run_starts.end() && *start == t) {
      rows.start_run();
      ++start;
    }
    rows.append(log.rows.actions[t], log.rows.observations[t]);
  }
  return climb_again(likelihood_rows(rows, {1}).likelihood, estimate, climb);
}

}  // namespace

LogBlock read_rows(const Pomdp& model, std::span<const std::string> paths,
                   std::size_t memory_limit) {
  LogBlock log;
  LogBlock block;
  for (const std::string& path : paths) {
    OAS_REQUIRE(path != "-" && std::filesystem::is_regular_file(path),
                "{}: a parametric bootstrap reads the log a second time, which a pipe does not "
                "allow; put it into a file",
                input_name(path));
    LogReader reader(path, model);
    while (reader.read_block(block, kLogBlockRows)) {
      const auto append = [](const auto& from, auto& to) {
        to.insert(to.end(), from.begin(), from.end());
      };
      for (const std::size_t start : block.run_starts) {
        log.run_starts.push_back(log.rows.size() + start);
      }
      append(block.rows.actions, log.rows.actions);
      append(block.rows.observations, log.rows.observations);
      append(block.rows.propensities, log.rows.propensities);
      OAS_REQUIRE(log.rows.size() * kRowBytes <= memory_limit,
                  "the rows need more than {} bytes of memory, and a parametric bootstrap keeps "
                  "them there; allow more memory, or take block-bootstrap",
                  memory_limit);
    }
  }
  // Files with and without propensities: none are usable.
  if (log.rows.propensities.size() != log.rows.size()) log.rows.propensities.clear();
  return log;
}

Resampled resample_parametric(const Pomdp& fitted, const LogBlock& log,
                              const std::function<std::vector<double>(const LogBlock&)>& again,
                              const BootstrapOptions& options, Parallelism parallelism) {
  options.validate();
  Resampled resampled;
  resampled.estimates.resize(static_cast<std::size_t>(options.resamples));
  parallel_for(resampled.estimates.size(), parallelism, [&](std::size_t r) {
    LogBlock simulated = log;
    simulate_observations(fitted, {options.seed, static_cast<std::uint32_t>(r), Role::bootstrap},
                          simulated);
    resampled.estimates[r] = again(simulated);
  });
  return resampled;
}

void bootstrap_moments(const MomentSetting& setting, const MomentSeries& series,
                       std::span<const std::string> paths, const LogEstimationOptions& options,
                       Parallelism parallelism, TransitionEstimate& estimate) {
  if (estimate.standard_error.empty()) return;
  const BootstrapOptions bootstrap = bootstrap_options(options);
  Resampled resampled;
  if (options.error_bars == ErrorBars::block_bootstrap) {
    resampled = resample_batches(series, bootstrap, parallelism);
  } else {
    const LogBlock rows = read_rows(setting.model, paths, options.memory_limit);
    warn_of_reaction(setting.model, rows, estimate);
    const std::vector<double> ratios = moment_ratios(series.total());
    resampled = resample_parametric(
        setting.model.with_transition(estimate.transition), rows,
        [&](const LogBlock& log) {
          PairFolder folder(setting.inverses, setting.model.timing(), setting.fold);
          fold_block(log, log.rows.propensities, folder);
          return moment_ratios(folder.finish().total(), ratios);
        },
        bootstrap, parallelism);
  }
  set_bootstrap_errors(resampled, options.error_bars, estimate);
}

void bootstrap_likelihood(const Pomdp& model, const LogLikelihood& log,
                          const LikelihoodOptions& climb, const LogEstimationOptions& options,
                          Parallelism parallelism, TransitionEstimate& estimate) {
  if (estimate.standard_error.empty()) return;
  const BootstrapOptions bootstrap = bootstrap_options(options);
  OAS_REQUIRE(log.in_memory(),
              "the rows need more than {} bytes of memory, and a bootstrap keeps them there; allow "
              "more memory, or take asymptotic error bars",
              options.memory_limit);
  Resampled resampled;
  if (options.error_bars == ErrorBars::block_bootstrap) {
    resampled =
        resample_blocks(model, log.stored(), estimate.transition, climb, bootstrap, parallelism);
  } else {
    LogBlock rows;
    log.visit_rows([&](Action action, Observation observation, bool starts_run) {
      if (starts_run) rows.run_starts.push_back(rows.rows.size());
      rows.rows.actions.push_back(action);
      rows.rows.observations.push_back(observation);
    });
    warn_of_reaction(model, rows, estimate);
    resampled = resample_parametric(
        model.with_transition(estimate.transition), rows,
        [&](const LogBlock& simulated) {
          return climb_simulated(model, simulated, estimate.transition, climb);
        },
        bootstrap, parallelism);
  }
  set_bootstrap_errors(resampled, options.error_bars, estimate);
}

}  // namespace oas
