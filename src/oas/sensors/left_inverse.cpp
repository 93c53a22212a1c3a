#include "oas/sensors/left_inverse.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas {

LeftInverses::LeftInverses(const Pomdp& model)
    : num_states_(model.num_states()), num_observations_(model.num_observations()) {
  columns_.reserve(model.sensors().values().size());
  for (int a = 0; a < model.num_actions(); ++a) {
    const Matrix sensor = model.sensors().matrix(Action{a});
    const PseudoInverse inverse = pseudo_inverse(sensor);
    const Vector smallest =
        inverse.singular_values.tail(std::min<Eigen::Index>(3, inverse.singular_values.size()));
    OAS_REQUIRE(inverse.rank == num_states_,
                "the sensor of action '{}' cannot tell the states apart: its {}x{} matrix "
                "(observations x states) has rank {}, smallest singular values {:.3g}; the moment "
                "estimators need {} linearly independent columns for every action",
                model.actions()[a], num_observations_, num_states_, inverse.rank,
                fmt::join(smallest.begin(), smallest.end(), ", "), num_states_);
    alpha_.push_back(inverse.smallest);
    const Matrix transposed = inverse.inverse.transpose();
    columns_.insert(columns_.end(), transposed.data(), transposed.data() + transposed.size());
  }
  has_first_ = model.reading_first();
  if (!has_first_) return;
  const PseudoInverse first = pseudo_inverse(Matrix(model.first_observation()->matrix(Action{0})));
  sees_first_ = first.rank == num_states_;
  Matrix transposed = Matrix::Zero(num_observations_, num_states_);
  if (sees_first_) transposed = first.inverse.transpose();
  columns_.insert(columns_.end(), transposed.data(), transposed.data() + transposed.size());
}

LeftInverses::LeftInverses(const Pomdp& model, std::span<const double> weights)
    : num_states_(model.num_states()),
      num_observations_(model.num_observations()),
      has_first_(model.reading_first()) {
  const auto width = static_cast<std::size_t>(num_observations_);
  const std::size_t sensors = static_cast<std::size_t>(model.num_actions()) + (has_first_ ? 1 : 0);
  OAS_REQUIRE(weights.size() == width * sensors, "{} weights for {} sensors and {} observations",
              weights.size(), sensors, num_observations_);
  for (int a = 0; a < model.num_actions(); ++a) {
    const Matrix sensor = model.sensors().matrix(Action{a});
    const bool sees = add_weighted(sensor, weights.data() + static_cast<std::size_t>(a) * width);
    alpha_.push_back(sees ? pseudo_inverse(sensor).smallest : 0.0);
  }
  if (!has_first_) return;
  sees_first_ = add_weighted(Matrix(model.first_observation()->matrix(Action{0})),
                             weights.data() + (sensors - 1) * width);
}

// False where the columns of the sensor are dependent: then 0 is added.
bool LeftInverses::add_weighted(const Matrix& sensor, const double* weights) {
  const VectorView weight(weights, num_observations_);
  OAS_REQUIRE(weight.minCoeff() > 0.0, "a weight of an observation is {}; it must be positive",
              weight.minCoeff());
  const bool sees = pseudo_inverse(sensor).rank == num_states_;
  Matrix transposed = Matrix::Zero(num_observations_, num_states_);
  if (sees) {
    // The pseudo-inverse of √W Z, times √W.
    const Vector root = weight.cwiseSqrt();
    transposed =
        root.asDiagonal() * pseudo_inverse(Matrix(root.asDiagonal() * sensor)).inverse.transpose();
  }
  columns_.insert(columns_.end(), transposed.data(), transposed.data() + transposed.size());
  return sees;
}

}  // namespace oas
