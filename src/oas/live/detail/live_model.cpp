#include "oas/live/detail/live_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/sensors/cell_search.hpp"

namespace oas::detail {

namespace {

Cells even_cells(const ContinuousPomdp& model) {
  OAS_REQUIRE(model.has_sensors(),
              "the model has no sensors; an agent plans by what its sensors are going to tell");
  CellSearchOptions options;
  options.method = "even";
  return find_cells(model.sensors(), options).cells;
}

bool all_zero(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0.0; });
}

// A common factor says nothing, and products with very small numbers would be 0.
void make_largest_one(std::vector<double>& likelihoods) {
  const double largest = *std::max_element(likelihoods.begin(), likelihoods.end());
  for (double& p : likelihoods) p /= largest;
}

}  // namespace

LiveModel::LiveModel(AnyModel model) : given_(std::make_shared<AnyModel>(std::move(model))) {
  if (const auto* const finite = std::get_if<Pomdp>(given_.get())) {
    finite_ = std::shared_ptr<const Pomdp>(given_, finite);
    return;
  }
  const auto& continuous = std::get<ContinuousPomdp>(*given_);
  cells_ = even_cells(continuous);
  dimension_ = cells_->dimension();
  finite_ = std::make_shared<Pomdp>(discretise(continuous, *cells_));
  density_ = std::make_shared<ReadingLikelihood>(continuous.sensors());
  if (continuous.first_density()) {
    first_density_ = std::make_shared<ReadingLikelihood>(*continuous.first_density());
  }
}

SeenRow LiveModel::seen(const JournalRow& row) const {
  if (row.action >= 0) check_action(row.action, finite_->num_actions());
  SeenRow seen;
  seen.action = row.action;
  if (!row.likelihoods.empty()) {
    see_likelihoods(row, seen);
  } else if (!row.reading.empty()) {
    see_reading(row, seen);
  } else if (row.observation != kMissing) {
    see_observation(row, seen);
  }
  return seen;
}

void LiveModel::see_observation(const JournalRow& row, SeenRow& seen) const {
  OAS_REQUIRE(!cells_, "observation {}: those of this model are {} real numbers, a \"reading\"",
              row.observation.value(), dimension_);
  check_observation(row.observation, finite_->num_observations());
  const bool first = row.action < 0;
  const ObservationModel& sensors = first ? *finite_->first_observation() : finite_->sensors();
  const Action sensor = first ? Action{0} : row.action;
  for (State s{0}; s < finite_->num_states(); ++s) {
    if (!(sensors(sensor, s, row.observation) > 0.0)) continue;
    seen.observation = row.observation;
    return;
  }
  throw InvalidArgument(fmt::format(
      "observation {} is impossible: after action {} every state gives it with "
      "probability 0; send null if nothing was seen",
      finite_->observations()[row.observation], first ? "(none)" : finite_->actions()[row.action]));
}

void LiveModel::see_reading(const JournalRow& row, SeenRow& seen) const {
  OAS_REQUIRE(cells_.has_value(),
              "the model has finite observations, and a reading of {} real numbers is none of them",
              row.reading.size());
  OAS_REQUIRE(row.reading.size() == static_cast<std::size_t>(dimension_),
              "a reading of {} numbers; those of this model have {}", row.reading.size(),
              dimension_);
  const auto missing =
      std::count_if(row.reading.begin(), row.reading.end(), [](double x) { return std::isnan(x); });
  if (missing == dimension_) return;
  const bool first = row.action < 0;
  seen.likelihoods.resize(static_cast<std::size_t>(finite_->num_states()));
  const ReadingLikelihood& density = first ? *first_density_ : *density_;
  density(first ? Action{0} : row.action, row.reading, seen.likelihoods);
  const bool finite = std::all_of(seen.likelihoods.begin(), seen.likelihoods.end(),
                                  [](double value) { return std::isfinite(value); });
  OAS_REQUIRE(finite && !all_zero(seen.likelihoods),
              "reading {} is impossible: after action {} its density is 0, or infinite, "
              "in the states; send null if nothing was read",
              fmt::join(row.reading, ", "), first ? "(none)" : finite_->actions()[row.action]);
  make_largest_one(seen.likelihoods);
  if (missing == 0) seen.observation = cells_->cell(row.reading);
}

void LiveModel::see_likelihoods(const JournalRow& row, SeenRow& seen) const {
  OAS_REQUIRE(row.likelihoods.size() == static_cast<std::size_t>(finite_->num_states()),
              "{} likelihoods for {} states", row.likelihoods.size(), finite_->num_states());
  for (std::size_t s = 0; s < row.likelihoods.size(); ++s) {
    OAS_REQUIRE(std::isfinite(row.likelihoods[s]) && row.likelihoods[s] >= 0.0,
                "likelihood[{}] is {}; it must be a number that is not negative", s,
                row.likelihoods[s]);
  }
  OAS_REQUIRE(!all_zero(row.likelihoods),
              "likelihoods are all 0: no state can give what was seen; send null if "
              "nothing was seen");
  seen.likelihoods = row.likelihoods;
  make_largest_one(seen.likelihoods);
}

}  // namespace oas::detail
