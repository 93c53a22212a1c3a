#include "oas/jobs/log_bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/team.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {

namespace {

constexpr double kReacts = 5.0;  // standard deviations

// New observations for all rows, and new first readings.
struct NewObservations {
  std::vector<Observation> rows;
  std::vector<RunStart> starts;
};
NewObservations simulate_observations(const Pomdp& fitted, const StreamKey& key,
                                      const RowBlock& log) {
  NewObservations drawn{{log.observations.begin(), log.observations.end()},
                        {log.starts.begin(), log.starts.end()}};
  std::vector<Observation>& observations = drawn.rows;
  const std::uint64_t opening = fitted.reading_first() ? 2 : 1;
  for (std::size_t run = 0; run < log.run_starts.size(); ++run) {
    const std::size_t first = log.run_starts[run];
    const std::size_t end = run + 1 < log.run_starts.size() ? log.run_starts[run + 1] : log.size();
    // An environment draws one number to start, one for a first reading, and two a step.
    Environment environment(fitted, Rng(key, 2 * first + opening * run));
    if (environment.opens()) {
      static_cast<void>(environment.open());
      const FirstReading* const seen = drawn.starts[run].first();
      if (seen != nullptr && seen->observation != kMissing) {
        drawn.starts[run] = environment.start();
      }
    }
    for (std::size_t t = first; t < end; ++t) {
      const Observation seen = environment.step(log.actions[t]).observation;
      if (observations[t] != kMissing) observations[t] = seen;
    }
  }
  return drawn;
}

// Do actions depend on the observation before them? A chi-square test of a_{t+1} against o_t, given
// a_t, as a standard normal number (Wilson and Hilferty 1931).
double reaction(const Pomdp& model, const RowBlock& log) {
  const int num_actions = model.num_actions();
  const int num_observations = model.num_observations();
  std::vector<Matrix> counts(static_cast<std::size_t>(num_actions),
                             Matrix::Zero(num_observations, num_actions));
  const std::span<const Action> actions = log.actions;
  for (std::size_t t = 1; t < log.size(); ++t) {
    const Observation seen = log.observations[t - 1];
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

void warn_of_reaction(const Pomdp& model, const RowBlock& log, TransitionEstimate& estimate) {
  if (reaction(model, log) < kReacts) return;
  estimate.warnings.emplace_back(
      "the logged actions depend on observations; the simulated logs keep them as they are and "
      "visit other states, so these error bars may be wrong by a large factor: use "
      "block-bootstrap or asymptotic");
}

// Once more from the source.
StoredRows read_rows(RowSource& source, std::size_t memory_limit) {
  OAS_REQUIRE(source.cannot_rewind().empty(),
              "{}: a parametric bootstrap reads the log a second time, which a pipe does not "
              "allow; put it into a file",
              source.cannot_rewind());
  constexpr std::size_t kRowBytes = sizeof(Action) + sizeof(Observation) + sizeof(double);
  source.rewind();
  StoredRows rows;
  for (RowBlock block; source.next(block);) {
    rows.add(block);
    OAS_REQUIRE(rows.size() * kRowBytes <= memory_limit,
                "the rows need more than {} bytes of memory, and a parametric bootstrap "
                "keeps them there; allow more memory, or use block-bootstrap",
                memory_limit);
  }
  return rows;
}

void require_from_start(const RowBlock& rows) {
  OAS_REQUIRE(std::all_of(rows.starts.begin(), rows.starts.end(),
                          [](RunStart start) { return start.from_model(); }),
              "a parametric bootstrap simulates runs from the model's start, but some "
              "go on after a gap; use block-bootstrap or asymptotic error bars");
}

// `rows`: for a parametric bootstrap.
Resampled resample(const Evidence& evidence, const Pomdp& model,
                   const std::optional<StoredRows>& rows, const Estimation& how,
                   const EstimateOptions& asked, const TransitionEstimate& estimate) {
  if (!rows) return evidence.resample(estimate, asked, how.bootstrap);
  return resample_parametric(
      model.with_transition(estimate.transition), rows->all(),
      [&](const RowBlock& log) {
        Evidence simulated = evidence.fresh();
        simulated.add(log);
        return evidence.again(simulated, estimate, asked);
      },
      how.bootstrap, asked.parallelism);
}

// What another rank needs for its share of the resamples.
std::string saved(const Evidence& evidence, const TransitionEstimate& estimate,
                  const std::optional<StoredRows>& rows) {
  ByteWriter out;
  out.put_text(evidence.save());
  out.put_all(estimate.transition.values());
  out.put(rows.has_value());
  if (rows) rows->save(out);
  return out.take();
}

}  // namespace

Resampled resample_parametric(const Pomdp& fitted, const RowBlock& log,
                              const std::function<std::vector<double>(const RowBlock&)>& again,
                              const BootstrapOptions& options, Parallelism parallelism) {
  options.validate();
  Resampled resampled;
  resampled.estimates = resampled_estimates(options.resamples, parallelism, [&](std::size_t r) {
    const NewObservations drawn = simulate_observations(
        fitted, {options.seed, static_cast<std::uint32_t>(r), Role::bootstrap}, log);
    RowBlock simulated = log;
    simulated.observations = drawn.rows;
    simulated.starts = drawn.starts;
    return again(simulated);
  });
  return resampled;
}

bool bootstrap_needs_rows(const Estimation& how) {
  return how.bootstrap.error_bars == ErrorBars::parametric_bootstrap ||
         (how.bootstrap.active() && find_estimator(how.estimator).reading == Reading::again);
}

void bootstrap_errors(const Evidence& evidence, const Pomdp& model, RowSource& source,
                      const Estimation& how, const EstimateOptions& asked,
                      TransitionEstimate& estimate) {
  if (estimate.standard_error.empty()) return;
  how.bootstrap.validate();
  std::optional<StoredRows> rows;
  if (how.bootstrap.error_bars == ErrorBars::parametric_bootstrap) {
    rows = evidence.rows();
    if (!rows) rows.emplace(read_rows(source, how.evidence.memory_limit));
    require_from_start(rows->all());
    warn_of_reaction(model, rows->all(), estimate);
  }
  if (asked.parallelism.team != nullptr && bootstrap_needs_rows(how)) {
    asked.parallelism.team->give_order(saved(evidence, estimate, rows));
  }
  const Resampled resampled = resample(evidence, model, rows, how, asked, estimate);
  set_bootstrap_errors(resampled, how.bootstrap.error_bars, estimate);
}

void help_bootstrap(Evidence evidence, const Pomdp& model, const Estimation& how,
                    const EstimateOptions& asked) {
  const std::string order = asked.parallelism.team->order();
  ByteReader in(order);
  evidence.load(in.get_text());
  TransitionEstimate estimate;
  estimate.transition =
      TransitionModel(model.num_states(), model.num_actions(), in.get_all<double>());
  std::optional<StoredRows> rows;
  if (in.get<bool>()) rows.emplace().load(in);
  static_cast<void>(resample(evidence, model, rows, how, asked, estimate));
}

}  // namespace oas
