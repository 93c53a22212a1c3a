#pragma once

#include <memory>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/model/observation_counts.hpp"
#include "oas/model/observation_model.hpp"

namespace oas::detail {

/// The distributions that the sensors are made of: one for each (action, state), or one for each
/// state where all actions share them. Tables of theirs are vectors [row][o].
class SensorRows {
 public:
  explicit SensorRows(const ObservationCounts& counts);

  [[nodiscard]] Eigen::Index size() const { return labelled_.size(); }
  [[nodiscard]] Eigen::Index width() const { return num_observations_; }
  [[nodiscard]] const Vector& labelled() const { return labelled_; }

  /// From [a][s][o], added up over the actions that share a distribution.
  [[nodiscard]] Vector fold(const double* table) const;
  [[nodiscard]] Vector from(const ObservationModel& sensors) const;
  [[nodiscard]] std::shared_ptr<const ObservationModel> to_sensors(const Vector& entries) const;

  /// Every row divided by its sum.
  [[nodiscard]] Vector normalised(Vector entries) const;
  /// Every row less its mean: what a slope says about moves that keep the sums.
  [[nodiscard]] Matrix centred(Matrix columns) const;

 private:
  int num_states_;
  int num_actions_;
  int num_observations_;
  bool shared_;
  Vector labelled_;
};

/// Coordinates around some sensors: in each row every entry but the largest, which takes up what
/// the others leave.
class SensorCoordinates {
 public:
  SensorCoordinates() = default;
  SensorCoordinates(const Vector& at, Eigen::Index width);

  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(entries_.size()); }
  [[nodiscard]] Eigen::Index entry(Eigen::Index i) const {
    return entries_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] Eigen::Index reference(Eigen::Index i) const {
    return references_[static_cast<std::size_t>(i)];
  }

  /// Derivatives by the coordinates from those by the entries, column by column.
  [[nodiscard]] Matrix reduce(const Matrix& columns) const;
  /// Second derivatives.
  [[nodiscard]] Matrix reduce_square(const Matrix& matrix) const {
    return reduce(reduce(matrix).transpose());
  }
  /// Changes of all entries.
  [[nodiscard]] Matrix expand(const Matrix& columns) const;

 private:
  Eigen::Index num_entries_ = 0;
  std::vector<Eigen::Index> entries_;
  std::vector<Eigen::Index> references_;
};

}  // namespace oas::detail
