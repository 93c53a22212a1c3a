#include "oas/estimation/estimators.hpp"

#include <array>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/estimation/detail/evidence_body.hpp"

namespace oas {

namespace {

void policy_setting(EvidenceOptions& options, SettingFields& fields) {
  fields("actions_ignore_observations", options.actions_ignore_observations,
         "your word that actions were chosen without looking at observations");
}

void moment_settings(EvidenceOptions& options, SettingFields& fields) {
  policy_setting(options, fields);
  fields("half_life", options.forgetting.half_life, "rows that lie so far back count half; 0: all");
  fields("window", options.forgetting.window, "only so many rows at the end count; 0: all");
  fields.choice("age", options.forgetting.age, {"unsaid", "log", "run"},
                "back from the end of all rows, or of a row's own run");
}

void likelihood_settings(EvidenceOptions& options, SettingFields& fields) {
  moment_settings(options, fields);
  fields("memory", options.memory_limit, "bytes of rows kept; beyond, their source is read again");
  fields("uncertain_sensors", options.uncertain_sensors,
         "sensors are known only as well as their labelled rows say");
}

void particle_settings(EvidenceOptions& options, SettingFields& fields) {
  options.particles.visit(fields);
  fields("seed", options.stream.seed, "same seed, same estimate");
}

void spectral_settings(EvidenceOptions& options, SettingFields& fields) {
  fields("seed", options.stream.seed, "same seed, same estimate");
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
                  .settings = moment_settings},
    EstimatorInfo{.name = "oas-ml",
                  .summary = "maximum likelihood, started at oas-overlap; any policy, any sensors",
                  .reference = "docs/reference/estimation.md",
                  .reading = Reading::again,
                  .errors = ErrorSource::information,
                  .readings = Readings::as_they_are,
                  .pairing = Pairing::overlapping,
                  .forgets = true,
                  .climbs = true,
                  .bootstraps = true,
                  .make = detail::make_refined_body,
                  .settings = likelihood_settings},
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
    EstimatorInfo{.name = "spectral",
                  .summary = "tensor decomposition of three consecutive rows: a baseline",
                  .reference = "Anandkumar, Ge, Hsu, Kakade, Telgarsky (JMLR 2014)",
                  .reading = Reading::once,
                  .errors = ErrorSource::none,
                  .readings = Readings::cells_in_memory,
                  .pairing = Pairing::overlapping,
                  .make = detail::make_spectral_body,
                  .settings = spectral_settings},
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

}  // namespace oas
