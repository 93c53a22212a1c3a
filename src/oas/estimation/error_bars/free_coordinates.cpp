#include "oas/estimation/error_bars/detail/free_coordinates.hpp"

#include <algorithm>
#include <numeric>

namespace oas::detail {

FreeCoordinates::FreeCoordinates(const TransitionModel& at, const std::vector<char>& held)
    : num_states_(static_cast<std::size_t>(at.num_states())), num_entries_(at.values().size()) {
  const auto values = at.values();
  for (std::size_t first = 0; first < values.size(); first += num_states_) {
    const auto row = values.subspan(first, num_states_);
    const auto largest =
        first + static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    for (std::size_t i = first; i < first + num_states_; ++i) {
      if (i == largest || values[i] == 0.0 || (!held.empty() && held[i] != 0)) continue;
      entries_.push_back(i);
      references_.push_back(largest);
    }
  }
}

Vector FreeCoordinates::reduce(const double* table) const {
  Vector reduced(size());
  for (Eigen::Index i = 0; i < size(); ++i) reduced(i) = table[entry(i)] - table[reference(i)];
  return reduced;
}

Matrix FreeCoordinates::batch_deviations(const LikelihoodPass& pass) const {
  const auto steps = static_cast<double>(
      std::accumulate(pass.batch_steps.begin(), pass.batch_steps.end(), std::int64_t{0}));
  const Vector mean = reduce(pass.score.data()) / steps;
  Matrix deviations(static_cast<Eigen::Index>(pass.batch_steps.size()), size());
  for (std::size_t b = 0; b < pass.batch_steps.size(); ++b) {
    deviations.row(static_cast<Eigen::Index>(b)) =
        (reduce(pass.batch_scores.data() + b * pass.score.size()) -
         static_cast<double>(pass.batch_steps[b]) * mean)
            .transpose();
  }
  return deviations;
}

Vector FreeCoordinates::batch_diagonal(const LikelihoodPass& pass) const {
  return batch_deviations(pass).colwise().squaredNorm().transpose();
}

Matrix FreeCoordinates::batch_information(const LikelihoodPass& pass) const {
  const Matrix deviations = batch_deviations(pass);
  Matrix information = Matrix::Zero(size(), size());
  information.selfadjointView<Eigen::Lower>().rankUpdate(deviations.transpose());
  information.triangularView<Eigen::StrictlyUpper>() = information.transpose();
  return information;
}

Matrix FreeCoordinates::complete_information(const TransitionModel& at,
                                             const std::vector<double>& counts) const {
  const auto values = at.values();
  const auto per_square = [&](std::size_t i) { return counts[i] / (values[i] * values[i]); };
  Matrix information = Matrix::Zero(size(), size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    information(i, i) = per_square(entry(i));
    for (Eigen::Index j = 0; j < size(); ++j) {
      if (reference(i) == reference(j)) information(i, j) += per_square(reference(i));
    }
  }
  return information;
}

Matrix FreeCoordinates::expand(const Eigen::Ref<const Matrix>& columns) const {
  Matrix entries = Matrix::Zero(static_cast<Eigen::Index>(num_entries_), columns.cols());
  for (Eigen::Index i = 0; i < size(); ++i) {
    entries.row(static_cast<Eigen::Index>(entry(i))) += columns.row(i);
    entries.row(static_cast<Eigen::Index>(reference(i))) -= columns.row(i);
  }
  return entries;
}

}  // namespace oas::detail
