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
}

LeftInverses::LeftInverses(const Pomdp& model, std::span<const double> weights)
    : num_states_(model.num_states()), num_observations_(model.num_observations()) {
  const auto width = static_cast<std::size_t>(num_observations_);
  OAS_REQUIRE(weights.size() == width * static_cast<std::size_t>(model.num_actions()),
              "{} weights for {} actions and {} observations", weights.size(), model.num_actions(),
              num_observations_);
  for (int a = 0; a < model.num_actions(); ++a) {
    const VectorView weight(weights.data() + static_cast<std::size_t>(a) * width,
                            num_observations_);
    OAS_REQUIRE(weight.minCoeff() > 0.0, "a weight of action {} is {}; it must be positive", a,
                weight.minCoeff());
    const Matrix sensor = model.sensors().matrix(Action{a});
    const PseudoInverse plain = pseudo_inverse(sensor);
    const bool sees = plain.rank == num_states_;
    alpha_.push_back(sees ? plain.smallest : 0.0);
    Matrix transposed = Matrix::Zero(num_observations_, num_states_);
    if (sees) {
      // The pseudo-inverse of √W Z, times √W.
      const Vector root = weight.cwiseSqrt();
      transposed = root.asDiagonal() *
                   pseudo_inverse(Matrix(root.asDiagonal() * sensor)).inverse.transpose();
    }
    columns_.insert(columns_.end(), transposed.data(), transposed.data() + transposed.size());
  }
}

}  // namespace oas
