#include "oas/study/guest_estimators.hpp"

#include <algorithm>
#include <set>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

template <class Column>
void append(const Column& from, Column& to) {
  to.insert(to.end(), from.begin(), from.end());
}

const GuestEstimator& find_guest(const std::string& name, const GuestEstimators& guests) {
  const auto found = guests.find(name);
  OAS_REQUIRE(found != guests.end(),
              "estimator '{}' is a function of Python; oas.study.run of the Python package runs "
              "studies that name such",
              name);
  return found->second;
}

}  // namespace

bool is_guest(std::string_view estimator) { return estimator.find(':') != std::string_view::npos; }

void check_estimator(std::string_view name) {
  if (!is_guest(name)) static_cast<void>(find_estimator(name));
}

std::vector<std::string> guest_names(const Study& study) {
  std::set<std::string> names;
  for (const Task& task : study.tasks) {
    for (const std::string& name : task.settings.list("estimators", {})) {
      if (is_guest(name)) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

TaskEstimator::TaskEstimator(const std::string& name, const Pomdp& model,
                             const EvidenceOptions& options, const GuestEstimators& guests)
    : estimator_(is_guest(name)
                     ? std::variant<Evidence, Guest>(
                           Guest{find_guest(name, guests), model.without_transition(), {}})
                     : std::variant<Evidence, Guest>(make_evidence(name, model, options))) {}

void TaskEstimator::add(const Trajectory& block) {
  if (auto* const evidence = std::get_if<Evidence>(&estimator_)) return evidence->add(block);
  Trajectory& rows = std::get<Guest>(estimator_).rows;
  append(block.actions, rows.actions);
  append(block.observations, rows.observations);
  append(block.propensities, rows.propensities);
}

TransitionEstimate TaskEstimator::estimate() const {
  if (const auto* const evidence = std::get_if<Evidence>(&estimator_)) {
    return evidence->estimate(EstimateOptions::bare());
  }
  const Guest& guest = std::get<Guest>(estimator_);
  TransitionEstimate estimate;
  estimate.transition = guest.ask(guest.model, guest.rows);
  return estimate;
}

}  // namespace oas
