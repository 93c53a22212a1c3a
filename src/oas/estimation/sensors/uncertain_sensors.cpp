#include "oas/estimation/sensors/uncertain_sensors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/estimation/sensors/detail/sensor_profile.hpp"

namespace oas {

namespace {

constexpr double kPrior = 0.5;      // rows in each entry
constexpr double kSureNames = 5.0;  // log-likelihood of the labelled rows

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

// What labelled rows lose, in log-likelihood, when two states change names.
double loss_by_exchange(const ObservationCounts& counts, const ObservationModel& sensors, State i,
                        State j) {
  double loss = 0.0;
  for (Action a{0}; a < (counts.shared() ? 1 : counts.num_actions()); ++a) {
    const auto n_i = counts.distribution(a, i);
    const auto n_j = counts.distribution(a, j);
    const auto z_i = sensors.distribution(a, i);
    const auto z_j = sensors.distribution(a, j);
    for (std::size_t o = 0; o < n_i.size(); ++o) {
      loss += (n_i[o] - n_j[o]) * std::log(z_i[o] / z_j[o]);
    }
  }
  return loss;
}

void forget_row(std::size_t row, int num_states, ConfidenceRegion& region) {
  if (region.factor.empty()) return;
  const auto n = static_cast<std::size_t>(num_states);
  region.factor[row] = std::numeric_limits<double>::quiet_NaN();
  region.l1[row] = 2.0;
  std::fill_n(region.lower.begin() + static_cast<std::ptrdiff_t>(row * n), n, 0.0);
  std::fill_n(region.upper.begin() + static_cast<std::ptrdiff_t>(row * n), n, 1.0);
}

// No row is determined, for this reason.
void flag_all(const Pomdp& model, const std::string& reason, TransitionEstimate& estimate) {
  estimate.status = EstimateStatus::flagged;
  estimate.flagged.clear();
  const int n = model.num_states();
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (State s{0}; s < n; ++s) {
      estimate.flagged.push_back({a, s, reason});
      const auto row = static_cast<std::size_t>(a * n + s);
      forget_row(row, n, estimate.row_region);
      forget_row(row, n, estimate.joint_region);
    }
  }
  std::fill(estimate.standard_error.begin(), estimate.standard_error.end(),
            std::numeric_limits<double>::quiet_NaN());
  std::fill(estimate.lower.begin(), estimate.lower.end(), 0.0);
  std::fill(estimate.upper.begin(), estimate.upper.end(), 1.0);
  estimate.warnings.push_back("no row is determined: " + reason);
}

void judge_names(const Pomdp& model, TransitionEstimate& estimate) {
  for (State i{0}; i < model.num_states(); ++i) {
    for (State j{i.value() + 1}; j < model.num_states(); ++j) {
      const double loss = loss_by_exchange(*model.observation_counts(), *estimate.sensors, i, j);
      if (loss >= kSureNames) continue;
      flag_all(model,
               fmt::format("the labelled rows hardly tell which state is '{}' and which is '{}'",
                           model.states()[i], model.states()[j]),
               estimate);
      return;
    }
  }
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
  judge_names(model, estimate);
  if (!sensors.settled()) {
    estimate.warnings.emplace_back("the best sensors were not found to full precision");
  }
  return estimate;
}

}  // namespace oas
