#include "oas/jobs/log_estimation.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/team.hpp"
#include "oas/estimation/error_bars/density_errors.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/structure_json.hpp"
#include "oas/jobs/log_bootstrap.hpp"
#include "oas/jobs/log_sensors.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas {

namespace {

void require_table(const Pomdp& model) {
  const double entries =
      static_cast<double>(model.num_actions()) * model.num_states() * model.num_states();
  OAS_REQUIRE(entries <= static_cast<double>(TransitionModel::kMaxTable),
              "{} states and {} actions make a transition model of {:.0f} entries, more than the "
              "limit of {}",
              model.num_states(), model.num_actions(), entries, TransitionModel::kMaxTable);
}

bool is_real_valued(const AnyModel& model) {
  return std::holds_alternative<ContinuousPomdp>(model);
}

std::vector<SettingInfo> settings_in(Estimation how, std::string_view estimator) {
  how.estimator = estimator;
  SettingFields fields;
  how.visit(fields);
  return fields.describe();
}

// What is set, whoever looks at it.
std::vector<Setting> changed_settings(const Estimation& how) {
  std::vector<Setting> changed;
  for (const EstimatorInfo& info : estimators()) {
    const auto plain = settings_in({}, info.name);
    const auto set = settings_in(how, info.name);
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i].value != plain[i].value) changed.push_back({set[i].name, set[i].value});
    }
  }
  return changed;
}

void require_usable(const EstimatorInfo& info, const AnyModel& model, const Estimation& how) {
  require_table(chain_of(model));
  static_cast<void>(estimation_from(how.estimator, model, changed_settings(how)));
  OAS_REQUIRE(how.estimate.structure.empty() || (info.structured && !how.bootstrap.active()),
              "estimator '{}' cannot use a structure{}", info.name,
              how.bootstrap.active() ? " with error bars by bootstrap" : "");
  OAS_REQUIRE(!is_real_valued(model) || info.readings != Readings::cells_in_memory,
              "estimator {} needs finite observations: oas discretise makes a model and a log with "
              "such; oas-ml, oas-soft, oas-overlap and oas take real-valued ones",
              info.name);
}

TransitionStructure structure_of(const Estimation& how, const Pomdp& model) {
  if (how.structures.empty()) return how.estimate.structure;
  TransitionKnowledge knowledge;
  for (const std::string& name : how.structures) knowledge.add(model, read_structure(name, model));
  return {model, knowledge};
}

}  // namespace

void Estimation::visit(SettingFields& fields, bool real_valued, bool exact_densities) {
  const EstimatorInfo& info = find_estimator(estimator);
  if (info.errors != ErrorSource::none) estimate.visit_confidence(fields);
  if (info.bootstraps) bootstrap.visit(fields);
  if (info.climbs) {
    estimate.visit_prior(fields);
    estimate.visit_budget(fields);
  }
  if (info.climbs || info.structured) estimate.visit_carried_draws(fields);
  if (info.structured) {
    fields.words("structure", structures,
                 "what is known about T: a file (docs/reference/formats.md), zeros-of-model or "
                 "same-for-all-actions; can be repeated");
  }
  if (info.reading == Reading::again) rows.visit_known_states(fields);
  info.settings(evidence, fields);
  fields.choice("sensors", sensors, {"", "exact", "uncertain"},
                "treat calibrated sensors as uncertain (default where possible) or exact");
  if (info.bootstraps && !fields.knows("memory")) {
    evidence.visit_memory(fields);
    fields.when(
        {"memory"}, [this] { return bootstrap.error_bars == ErrorBars::parametric_bootstrap; },
        "moments keep no rows unless --error-bars is parametric-bootstrap");
  }
  fields.when(
      {"half_life", "window", "structure"}, [this] { return !bootstrap.active(); },
      "bootstraps do not support it; use asymptotic error bars");
  fields.when(
      {"cells", "search"}, [real_valued] { return real_valued; },
      "only real-valued observations are cut into cells");
  fields.when(
      {"half_life", "window"}, [real_valued] { return !real_valued; },
      "weights by age need finite observations; oas discretise makes such");
  fields.when(
      {"error_bars"}, [this, real_valued] { return !real_valued || !bootstrap.active(); },
      "a bootstrap needs finite observations (oas discretise); use asymptotic "
      "error bars");
  fields.when(
      {"half_life", "window"}, [this] { return !rows.known_states; },
      "weights by age cannot be combined with known states");
  fields.when(
      {"error_bars"}, [this] { return !rows.known_states || !bootstrap.active(); },
      "a bootstrap cannot be combined with known states; use asymptotic error "
      "bars");
  fields.when(
      {"sensors"}, [exact_densities] { return !exact_densities; },
      "only sensors that were calibrated on labelled rows (density_draws) can be uncertain or "
      "exact");
}

std::vector<SharedSetting> estimation_settings() {
  std::vector<SharedSetting> all;
  for (const EstimatorInfo& info : estimators()) {
    add_settings(info.name, settings_in({}, info.name), all);
  }
  return all;
}

Estimation estimation_from(const std::string& estimator, const AnyModel& model,
                           std::span<const Setting> settings) {
  Estimation how;
  how.estimator = estimator;
  SettingFields fields;
  const auto* const continuous = std::get_if<ContinuousPomdp>(&model);
  how.visit(fields, continuous != nullptr,
            continuous != nullptr && continuous->density_draws().draws.empty());
  fields.apply(settings, estimator, estimation_settings());
  return how;
}

Estimation estimation_from(const std::string& estimator, const AnyModel& model,
                           std::span<const Setting> settings, const LogOptions& rows) {
  Estimation how = estimation_from(estimator, model, settings);
  const LogOptions known = std::exchange(how.rows, rows);  // only some estimators look at it
  how.rows.known_states = known.known_states;
  how.rows.noticed = known.noticed;
  return how;
}

AnyModel row_model(const AnyModel& model, const std::string& log, const LogOptions& options) {
  const auto* finite = std::get_if<Pomdp>(&model);
  if (finite == nullptr) return model;
  const std::array names = {log};  // may be a folder, or a pattern
  if (log_brings_likelihoods(log_files(names).front(), options)) return ContinuousPomdp(*finite);
  return model;
}

namespace {

// Who reads the rows. Bootstraps of a likelihood need all of them in one place, from where they go
// to all ranks together.
Parallelism reading_of(const Estimation& how, const EstimatorInfo& info, Parallelism parallelism) {
  const bool alone = how.bootstrap.active() && info.reading == Reading::again;
  if (parallelism.team == nullptr || !alone) return parallelism;
  parallelism.team->tell(
      "a bootstrap of a likelihood keeps all rows in the memory of each rank; only its resamples "
      "are dealt out");
  return {parallelism.threads};
}

// Another rank: reads its part, and does what rank 0 asks for until it has its estimate, or for
// good, where rows are resampled.
void help_estimate(Evidence& evidence, RowSource& source, const Pomdp* finite,
                   const Estimation& how, const EstimateOptions& asked, Parallelism reading) {
  if (reading.team != nullptr) {
    evidence.read(source, reading);
    evidence.help(reading);
  }
  if (bootstrap_needs_rows(how)) help_bootstrap(evidence.fresh(), *finite, how, asked);
}

// Under the densities of `model` as they are, or with uncertain sensors of finite observations.
TransitionEstimate estimate_once(const AnyModel& model, const OpenRows& open, const Estimation& how,
                                 const EstimateOptions& asked, bool uncertain_sensors) {
  const EstimatorInfo& info = find_estimator(how.estimator);
  const auto* finite = std::get_if<Pomdp>(&model);
  EvidenceOptions options = how.evidence;
  options.uncertain_sensors = uncertain_sensors;
  // A posterior from logs has always drawn from this stream.
  if (info.errors == ErrorSource::posterior) options.stream.role = Role::bootstrap;
  const bool vectors = finite != nullptr && how.rows.known_states;
  Evidence evidence =
      make_evidence(how.estimator, vectors ? AnyModel(ContinuousPomdp(*finite)) : model, options);
  const std::unique_ptr<RowSource> source = open(model, asked.progress, how.rows);
  Team* const team = asked.parallelism.team;
  const Parallelism reading = reading_of(how, info, asked.parallelism);
  if (team != nullptr && !team->leads()) {
    help_estimate(evidence, *source, finite, how, asked, reading);
    return {};
  }
  evidence.read(*source, reading);
  TransitionEstimate estimate = evidence.estimate(asked);
  if (vectors) estimate.alpha = sensor_alphas(*finite);  // likelihoods alone do not tell it
  if (how.bootstrap.active()) {
    if (reading.team != nullptr) Evidence::release(*reading.team);
    bootstrap_errors(evidence, *finite, *source, how, asked, estimate);
  }
  evidence.check(asked, estimate);
  if (reading.team != nullptr && !how.bootstrap.active()) Evidence::release(*reading.team);
  return estimate;
}

constexpr int kDrawsUnderDensities = 20;

// The same under each of the densities that labelled rows allow, one thread for each.
std::vector<TransitionEstimate> estimate_under_draws(const ContinuousPomdp& model,
                                                     const OpenRows& open, const Estimation& how,
                                                     const EstimateOptions& asked) {
  Estimation again = how;
  // Fewer draws of T are enough under each; all of them together are many.
  again.evidence.draws = std::min(std::max(how.evidence.draws / 10, 400), how.evidence.draws);
  again.evidence.patience = 1;
  // Readings that the densities allow are not to fail under a draw of them.
  if (Outliers(how.rows.outliers).kind == Outliers::Kind::error) again.rows.outliers = "missing";
  EstimateOptions single = asked;
  single.parallelism = Parallelism{1};
  if (find_estimator(how.estimator).climbs && asked.carried_draws != 0) {
    single.carried_draws = kDrawsUnderDensities;
  }
  std::vector<TransitionEstimate> drawn(model.density_draws().draws.size());
  parallel_for(drawn.size(), asked.parallelism, [&](std::size_t k) {
    Estimation one = again;
    // Chains under different densities must not share their luck: draws of all of them are kept.
    one.evidence.stream.replication += static_cast<std::uint32_t>(k + 1);
    drawn[k] = estimate_once(model.with_draw(k), open, one, single, false);
  });
  return drawn;
}

void require_outliers_used(const EstimatorInfo& info, const Estimation& how) {
  OAS_REQUIRE(
      Outliers(how.rows.outliers).kind != Outliers::Kind::share || info.reading == Reading::again,
      "outliers: estimator '{}' works on cells or mean features of whole readings, which a "
      "share of outliers does not enter; use oas-ml, em or gibbs, or 'missing'",
      info.name);
}

TransitionEstimate estimate_opened(const AnyModel& model, const OpenRows& open,
                                   const Estimation& how, const SensorTreatment& sensors) {
  std::mutex progress_mutex;
  EstimateOptions asked = how.estimate;
  asked.structure = structure_of(how, chain_of(model));
  asked.progress = [&](std::int64_t rows) {
    const std::lock_guard lock(progress_mutex);
    if (how.estimate.progress) how.estimate.progress(rows);
  };
  const auto* const continuous = std::get_if<ContinuousPomdp>(&model);
  TransitionEstimate estimate =
      estimate_once(model, open, how, asked, sensors.uncertain && continuous == nullptr);
  if (asked.parallelism.team != nullptr && !asked.parallelism.team->leads()) return {};
  if (sensors.uncertain && continuous != nullptr && asked.error_bars) {
    if (asked.parallelism.team != nullptr) {
      asked.parallelism.team->tell("estimates under drawn densities run on rank 0 alone");
    }
    add_density_errors(estimate_under_draws(*continuous, open, how, asked), estimate);
    estimate.labelled_rows = continuous->density_draws().labelled_rows;
  }
  if (!sensors.warning.empty()) estimate.warnings.push_back(sensors.warning);
  warn_of_poor_rows(chain_of(model), estimate);
  return estimate;
}

}  // namespace

TransitionEstimate estimate_from_logs(const AnyModel& model, std::span<const std::string> paths,
                                      const Estimation& how) {
  OAS_REQUIRE(!paths.empty(), "no log to estimate from");
  const EstimatorInfo& info = find_estimator(how.estimator);
  require_usable(info, model, how);
  require_outliers_used(info, how);
  const OpenRows open = [&](const AnyModel& of, const RowsRead& progress, const LogOptions& rows) {
    return std::visit(
        [&](const auto& any) -> std::unique_ptr<RowSource> {
          return std::make_unique<LogFiles>(any, paths, progress, rows);
        },
        of);
  };
  return estimate_opened(model, open, how, sensor_treatment(model, paths, how));
}

TransitionEstimate estimate_from_rows(const Pomdp& model, const OpenRows& open,
                                      const Estimation& how) {
  require_usable(find_estimator(how.estimator), model, how);
  OAS_REQUIRE(!how.rows.known_states, "known states are read from log files only");
  return estimate_opened(model, open, how, sensor_treatment(model, {}, how));
}

}  // namespace oas
