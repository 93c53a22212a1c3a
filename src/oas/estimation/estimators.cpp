#include "oas/estimation/estimators.hpp"

#include <array>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/estimation/detail/evidence_body.hpp"

namespace oas {

namespace {

void age_settings(EvidenceOptions& options, SettingFields& fields) {
  Forgetting& forgetting = options.forgetting;
  fields("half_life", forgetting.half_life, {1.0},
         "halve the weight of a row every so many rows, for dynamics that change slowly");
  fields("window", forgetting.window, {2}, "use only the last rows, this many of them; see --age");
  fields.choice("age", forgetting.age, {"", "log", "run"},
                "count the age of rows from the end of their run (run: units watched side by side) "
                "or of all logs (log: runs one after the other); required with several runs");
  fields.when(
      {"age"}, [&forgetting] { return forgetting.active(); },
      "the age of rows matters only with a half-life or a window");
}

void policy_setting(EvidenceOptions& options, SettingFields& fields) {
  fields("actions_ignore_observations", options.actions_ignore_observations,
         "Confirms that logged actions were chosen without looking at "
         "observations");
}

void moment_settings(EvidenceOptions& options, SettingFields& fields) {
  age_settings(options, fields);
  policy_setting(options, fields);
  options.cells.visit_cells(fields);
}

// What is kept of the rows beside the moments, or of the likelihood that starts at moments.
void soft_settings(EvidenceOptions& options, SettingFields& fields) {
  age_settings(options, fields);
  policy_setting(options, fields);
  options.visit_memory(fields);
}

void likelihood_settings(EvidenceOptions& options, SettingFields& fields) {
  age_settings(options, fields);
  options.visit_memory(fields);
}

void seed_and_cells(EvidenceOptions& options, SettingFields& fields) {
  fields("seed", options.stream.seed, "same seed, same bytes");
  options.cells.visit_cells(fields);
}

// How else particles move is for programs: EvidenceOptions::particles.
void particle_settings(EvidenceOptions& options, SettingFields& fields) {
  options.particles.visit_number(fields);
  fields("moves", options.particles.sweeps, {1, 1000},
         "Metropolis steps for each action whenever the particles are moved: "
         "more steps explore the posterior better, and take proportionally "
         "longer");
  seed_and_cells(options, fields);
}

void gibbs_settings(EvidenceOptions& options, SettingFields& fields) {
  options.visit_draws(fields);
  fields("seed", options.stream.seed, "same seed, same bytes");
  options.visit_memory(fields);
}

constexpr std::array kEstimators = {
    EstimatorInfo{
        .name = "oas",
        .summary = "the paper's Algorithm 1: disjoint pairs of rows, Moore-Penrose inverse",
        .reference = "Russo, Metelli, Restelli (AAAI 2025), Algorithm 1",
        .reading = Reading::once,
        .errors = ErrorSource::batches,
        .readings = Readings::cells,
        .pairing = Pairing::disjoint,
        .forgets = true,
        .bootstraps = true,
        .make = detail::make_moment_body,
        .settings = moment_settings},
    EstimatorInfo{.name = "oas-overlap",
                  .summary = "every pair of consecutive rows, all runs and policies pooled",
                  .reference = "docs/reference/estimation.md",
                  .reading = Reading::once,
                  .errors = ErrorSource::batches,
                  .readings = Readings::cells,
                  .pairing = Pairing::overlapping,
                  .forgets = true,
                  .bootstraps = true,
                  .make = detail::make_moment_body,
                  .settings = moment_settings},
    EstimatorInfo{.name = "oas-weighted",
                  .summary = "oas-overlap with weights of least variance; allows blind sensors",
                  .reference = "docs/reference/estimation.md",
                  .reading = Reading::twice,
                  .errors = ErrorSource::batches,
                  .readings = Readings::cells_in_memory,
                  .pairing = Pairing::overlapping,
                  .forgets = true,
                  .make = detail::make_weighted_body,
                  .settings = moment_settings},
    EstimatorInfo{.name = "oas-soft",
                  .summary = "oas-overlap on soft features of real-valued observations, unbinned",
                  .reference = "docs/reference/estimation.md",
                  .reading = Reading::once,
                  .errors = ErrorSource::batches,
                  .readings = Readings::as_they_are,
                  .pairing = Pairing::overlapping,
                  .forgets = true,
                  .bootstraps = true,
                  .make = detail::make_soft_body,
                  .settings = soft_settings},
    EstimatorInfo{.name = "oas-ml",
                  .summary = "maximum likelihood, started at oas-overlap; any policy, any sensors",
                  .reference = "docs/reference/estimation.md",
                  .reading = Reading::again,
                  .errors = ErrorSource::information,
                  .readings = Readings::as_they_are,
                  .pairing = Pairing::overlapping,
                  .forgets = true,
                  .climbs = true,
                  .structured = true,
                  .bootstraps = true,
                  .make = detail::make_refined_body,
                  .settings = soft_settings},
    EstimatorInfo{
        .name = "em",
        .summary = "maximum likelihood by plain expectation-maximisation, started at uniform",
        .reference = "Baum, Petrie, Soules, Weiss (1970)",
        .reading = Reading::again,
        .errors = ErrorSource::information,
        .readings = Readings::as_they_are,
        .pairing = Pairing::overlapping,
        .forgets = true,
        .climbs = true,
        .structured = true,
        .bootstraps = true,
        .make = detail::make_likelihood_body,
        .settings = likelihood_settings},
    EstimatorInfo{.name = "particle",
                  .summary = "posterior mean and spread by particles; any policy, any sensors",
                  .reference = "Chopin (2002), iterated batch importance sampling",
                  .reading = Reading::in_order,
                  .errors = ErrorSource::posterior,
                  .readings = Readings::cells_in_memory,
                  .pairing = Pairing::overlapping,
                  .make = detail::make_particle_body,
                  .settings = particle_settings},
    EstimatorInfo{
        .name = "gibbs",
        .summary = "posterior by Gibbs sampling of the hidden paths; any policy, any sensors",
        .reference = "Scott (JASA 2002), forward filter, backward sample",
        .reading = Reading::again,
        .errors = ErrorSource::posterior,
        .readings = Readings::as_they_are,
        .pairing = Pairing::overlapping,
        .structured = true,
        .make = detail::make_gibbs_body,
        .settings = gibbs_settings},
    EstimatorInfo{.name = "spectral",
                  .summary = "tensor decomposition of three consecutive rows: a baseline",
                  .reference = "Anandkumar, Ge, Hsu, Kakade, Telgarsky (JMLR 2014)",
                  .reading = Reading::once,
                  .errors = ErrorSource::none,
                  .readings = Readings::cells_in_memory,
                  .pairing = Pairing::overlapping,
                  .make = detail::make_spectral_body,
                  .settings = seed_and_cells},
};

}  // namespace

std::span<const EstimatorInfo> estimators() { return kEstimators; }

const EstimatorInfo& find_estimator(std::string_view name) {
  std::string names;
  for (const EstimatorInfo& info : kEstimators) {
    if (info.name == name) return info;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  detail::throw_invalid_argument(fmt::format("unknown estimator '{}'; known are {}", name, names));
}

std::vector<SettingInfo> settings_of(const EstimatorInfo& info) {
  EvidenceOptions options;
  SettingFields fields;
  info.settings(options, fields);
  return fields.describe();
}

EvidenceOptions evidence_options(const EstimatorInfo& info, std::span<const Setting> settings) {
  std::vector<SharedSetting> family;
  for (const EstimatorInfo& each : kEstimators) add_settings(each.name, settings_of(each), family);
  EvidenceOptions options;
  SettingFields fields;
  info.settings(options, fields);
  fields.apply(settings, info.name, family);
  return options;
}

}  // namespace oas
