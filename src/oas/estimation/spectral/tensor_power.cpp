#include "oas/estimation/spectral/tensor_power.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"

namespace oas {

namespace {

constexpr double kConverged = 1e-15;  // squared change of a unit vector in one step

// Up to `steps` power steps from v, in place; fewer when v no longer moves.
void iterate(const CubicTensor& tensor, int steps, Vector& v, Vector& next) {
  for (int i = 0; i < steps; ++i) {
    tensor.apply(v, next);
    const double norm = next.norm();
    if (!(norm > 0.0)) return;  // nothing is left of the tensor in this direction
    next /= norm;
    const double change = (next - v).squaredNorm();
    std::swap(v, next);
    if (change < kConverged * kConverged) return;
  }
}

Vector random_direction(int size, Rng& rng) {
  Vector v(size);
  do {
    for (Eigen::Index i = 0; i < v.size(); ++i) v(i) = sample_normal(rng);
  } while (!(v.norm() > 0.0));
  return v.normalized();
}

}  // namespace

CubicTensor::CubicTensor(int size)
    : size_(size),
      values_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size) *
              static_cast<std::size_t>(size)) {}

void CubicTensor::symmetrise() {
  const std::vector<double> old = values_;
  for (int i = 0; i < size_; ++i) {
    for (int j = 0; j < size_; ++j) {
      for (int l = 0; l < size_; ++l) {
        const double sum = old[index(i, j, l)] + old[index(i, l, j)] + old[index(j, i, l)] +
                           old[index(j, l, i)] + old[index(l, i, j)] + old[index(l, j, i)];
        (*this)(i, j, l) = sum / 6.0;
      }
    }
  }
}

void CubicTensor::add_rank_one(double scale, const Vector& v) {
  for (int i = 0; i < size_; ++i) {
    for (int j = 0; j < size_; ++j) {
      for (int l = 0; l < size_; ++l) (*this)(i, j, l) += scale * v(i) * v(j) * v(l);
    }
  }
}

void CubicTensor::apply(const Vector& v, Vector& out) const {
  const double* entry = values_.data();
  for (int i = 0; i < size_; ++i) {
    double sum = 0.0;
    for (int j = 0; j < size_; ++j, entry += size_) {
      sum += v(j) * VectorView(entry, size_).dot(v);
    }
    out(i) = sum;
  }
}

double CubicTensor::value(const Vector& v) const {
  Vector image(size_);
  apply(v, image);
  return image.dot(v);
}

void TensorPowerOptions::validate() const {
  OAS_REQUIRE(restarts >= 1, "restarts is {}; at least 1 is needed", restarts);
  OAS_REQUIRE(iterations >= 1, "iterations is {}; at least 1 is needed", iterations);
}

TensorEigenpairs tensor_power_method(CubicTensor tensor, const TensorPowerOptions& options,
                                     Rng& rng) {
  options.validate();
  const int n = tensor.size();
  tensor.symmetrise();
  TensorEigenpairs pairs{Vector::Zero(n), Matrix::Zero(n, n)};
  Vector next(n);
  for (int k = 0; k < n; ++k) {
    Vector best;
    double best_value = 0.0;
    for (int restart = 0; restart < options.restarts; ++restart) {
      Vector v = random_direction(n, rng);
      iterate(tensor, options.iterations, v, next);
      const double value = tensor.value(v);
      if (best.size() == 0 || value > best_value) {
        best = v;
        best_value = value;
      }
    }
    iterate(tensor, options.iterations, best, next);
    pairs.values(k) = tensor.value(best);
    pairs.vectors.col(k) = best;
    tensor.add_rank_one(-pairs.values(k), best);
  }
  return pairs;
}

}  // namespace oas
