#include "oas/estimation/sensors/detail/sensor_coordinates.hpp"

#include <algorithm>

namespace oas::detail {

SensorRows::SensorRows(const ObservationCounts& counts)
    : num_states_(counts.num_states()),
      num_actions_(counts.num_actions()),
      num_observations_(counts.num_observations()),
      shared_(counts.shared()),
      labelled_(Eigen::Map<const Vector>(counts.values().data(),
                                         static_cast<Eigen::Index>(counts.values().size()))) {}

Vector SensorRows::fold(const double* table) const {
  Vector folded = Vector::Zero(size());
  for (int a = 0; a < (shared_ ? num_actions_ : 1); ++a) {
    folded += Eigen::Map<const Vector>(table + a * size(), size());
  }
  return folded;
}

Vector SensorRows::from(const ObservationModel& sensors) const {
  return Eigen::Map<const Vector>(sensors.values().data(), size());
}

std::shared_ptr<const ObservationModel> SensorRows::to_sensors(const Vector& entries) const {
  std::vector<double> values;
  for (int a = 0; a < (shared_ ? num_actions_ : 1); ++a) {
    values.insert(values.end(), entries.data(), entries.data() + entries.size());
  }
  return std::make_shared<const ObservationModel>(num_states_, num_actions_, num_observations_,
                                                  std::move(values));
}

Vector SensorRows::normalised(Vector entries) const {
  for (Eigen::Index first = 0; first < size(); first += width()) {
    entries.segment(first, width()) /= entries.segment(first, width()).sum();
  }
  return entries;
}

Matrix SensorRows::centred(Matrix columns) const {
  for (Eigen::Index first = 0; first < size(); first += width()) {
    columns.middleRows(first, width()).rowwise() -=
        columns.middleRows(first, width()).colwise().mean().eval();
  }
  return columns;
}

SensorCoordinates::SensorCoordinates(const Vector& at, Eigen::Index width)
    : num_entries_(at.size()) {
  for (Eigen::Index first = 0; first < at.size(); first += width) {
    Eigen::Index largest = 0;
    at.segment(first, width).maxCoeff(&largest);
    for (Eigen::Index i = first; i < first + width; ++i) {
      if (i == first + largest) continue;
      entries_.push_back(i);
      references_.push_back(first + largest);
    }
  }
}

Matrix SensorCoordinates::reduce(const Matrix& columns) const {
  Matrix reduced(size(), columns.cols());
  for (Eigen::Index i = 0; i < size(); ++i) {
    reduced.row(i) = columns.row(entry(i)) - columns.row(reference(i));
  }
  return reduced;
}

Matrix SensorCoordinates::expand(const Matrix& columns) const {
  Matrix entries = Matrix::Zero(num_entries_, columns.cols());
  for (Eigen::Index i = 0; i < size(); ++i) {
    entries.row(entry(i)) += columns.row(i);
    entries.row(reference(i)) -= columns.row(i);
  }
  return entries;
}

}  // namespace oas::detail
