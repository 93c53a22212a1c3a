#include "oas/estimation/uncertain_sensors.hpp"

#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/estimation/detail/sensor_profile.hpp"

namespace oas {

namespace {

constexpr double kPrior = 0.5;  // rows in each entry

// States that no labelled row shows under some action.
std::string unlabelled_states(const Pomdp& model) {
  std::string names;
  const ObservationCounts& counts = model.observation_counts().value();
  for (State s{0}; s < model.num_states(); ++s) {
    for (Action a{0}; a < (counts.shared() ? 1 : model.num_actions()); ++a) {
      if (counts.total(a, s) > 0.0) continue;
      names += names.empty() ? "" : ", ";
      names += counts.shared() ? model.states()[s]
                               : fmt::format("({}, {})", model.actions()[a], model.states()[s]);
    }
  }
  return names;
}

}  // namespace

UncertainSensors::UncertainSensors(LikelihoodFunction likelihood, const Pomdp& model) {
  OAS_REQUIRE(model.observation_counts().has_value(),
              "the model has no observation_counts; its sensors are exact");
  OAS_REQUIRE(possible(model), "sensors of {} entries are too many to be uncertain; at most {} are",
              model.observation_counts()->values().size(), kMostEntries);
  profile_ = std::make_unique<detail::SensorProfile>(std::move(likelihood), model, kPrior);
}

UncertainSensors::~UncertainSensors() = default;

bool UncertainSensors::possible(const Pomdp& model) {
  const auto& counts = model.observation_counts();
  return counts && counts->values().size() <= static_cast<std::size_t>(kMostEntries);
}

Pomdp UncertainSensors::opened(const Pomdp& model) {
  const ObservationCounts& counts = model.observation_counts().value();
  PomdpParts parts = model.parts();
  std::vector<double> values;
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (State s{0}; s < model.num_states(); ++s) {
      const double rows = counts.total(a, s) + 1.0;  // an unlabelled state keeps what was given
      for (const double value : model.sensors().distribution(a, s)) {
        values.push_back((rows * value + kPrior) / (rows + kPrior * model.num_observations()));
      }
    }
  }
  parts.sensors = ObservationModel(model.num_states(), model.num_actions(),
                                   model.num_observations(), std::move(values));
  return Pomdp(std::move(parts));
}

LikelihoodPass UncertainSensors::pass(const TransitionModel& transition,
                                      const PassOptions& options) {
  OAS_REQUIRE(!options.sensors && !options.emissions && !options.forgetting.active(),
              "uncertain sensors go with neither given sensors, counts of emissions nor weights by "
              "age");
  return profile_->pass(transition, options);
}

LikelihoodFunction UncertainSensors::function() {
  return [this](const TransitionModel& transition, const PassOptions& options) {
    return pass(transition, options);
  };
}

ObservationModel UncertainSensors::sensors() const { return profile_->sensors(); }
double UncertainSensors::log_likelihood() const { return profile_->log_likelihood(); }
bool UncertainSensors::settled() const { return profile_->settled(); }
int UncertainSensors::passes() const { return profile_->passes(); }

TransitionEstimate estimate_with_sensors(const LikelihoodRows& rows,
                                         const std::vector<TransitionModel>& starts,
                                         const Pomdp& model,
                                         const LikelihoodEstimatorOptions& options) {
  UncertainSensors sensors(rows.likelihood, model);
  LikelihoodRows profiled = rows;
  profiled.likelihood = sensors.function();
  TransitionEstimate estimate = estimate_likelihood(profiled, starts, model, options);
  static_cast<void>(sensors.pass(estimate.transition));
  estimate.sensors = sensors.sensors();
  estimate.labelled_rows = model.observation_counts()->total();
  estimate.log_likelihood = sensors.log_likelihood();
  estimate.passes = sensors.passes();
  estimate.alpha = sensor_alphas(estimated_model(model, estimate));
  const std::string unlabelled = unlabelled_states(model);
  if (!unlabelled.empty()) {
    estimate.warnings.push_back(fmt::format(
        "no labelled row tells the sensors of {}: the log alone does, if at all, and cannot tell "
        "such states from each other by name",
        unlabelled));
  }
  if (!sensors.settled()) {
    estimate.warnings.emplace_back("the best sensors were not found to full precision");
  }
  return estimate;
}

}  // namespace oas
