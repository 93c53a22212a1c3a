#include "oas/estimation/spectral/three_views.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kRankTolerance = 1e-10;  // of σ_S against σ_1

// Means of products of two views: K12, K13, K23.
struct PairMeans {
  Matrix k12, k13, k23;
};

Matrix mapped(const Matrix& features, const Matrix& matrix) {
  return features.size() == 0 ? matrix : features * matrix;
}

Matrix mapped_columns(const Matrix& matrix, const Matrix& features) {
  return features.size() == 0 ? matrix : matrix * features;
}

PairMeans pair_means(const ThreeViews& views, double total) {
  const auto [d1, d2, d3] = views.sizes;
  PairMeans means{Matrix::Zero(d1, d2), Matrix::Zero(d1, d3), Matrix::Zero(d2, d3)};
  const double* weight = views.weights.data();
  for (int i = 0; i < d1; ++i) {
    for (int j = 0; j < d2; ++j) {
      for (int k = 0; k < d3; ++k, ++weight) {
        if (*weight == 0.0) continue;
        means.k12(i, j) += *weight;
        means.k13(i, k) += *weight;
        means.k23(j, k) += *weight;
      }
    }
  }
  const auto finish = [&](Matrix& mean, const Matrix& left, const Matrix& right) {
    mean = mapped(right, mapped(left, mean / total).transpose()).transpose().eval();
  };
  finish(means.k12, views.features[0], views.features[1]);
  finish(means.k13, views.features[0], views.features[2]);
  finish(means.k23, views.features[1], views.features[2]);
  return means;
}

// The Moore-Penrose inverse of a matrix cut to its `rank` largest singular values.
struct CutInverse {
  Matrix inverse;
  double smallest = 0.0;  // singular value kept
  bool has_rank = false;
};

CutInverse cut_inverse(const Matrix& matrix, int rank) {
  CutInverse result;
  if (std::min(matrix.rows(), matrix.cols()) < rank) return result;
  const ThinSvd svd = thin_svd(matrix);
  const auto& sigma = svd.singular_values;
  result.smallest = sigma(rank - 1);
  result.has_rank = result.smallest > kRankTolerance * sigma(0);
  if (!result.has_rank) return result;
  result.inverse = svd.v.leftCols(rank) * sigma.head(rank).cwiseInverse().asDiagonal() *
                   svd.u.leftCols(rank).transpose();
  return result;
}

struct PairInverses {
  PairInverses(const PairMeans& means, int rank)
      : k12(cut_inverse(means.k12, rank)),
        k13(cut_inverse(means.k13, rank)),
        k23(cut_inverse(means.k23, rank)) {}

  [[nodiscard]] bool have_rank() const { return k12.has_rank && k13.has_rank && k23.has_rank; }
  [[nodiscard]] double smallest() const {
    return std::min({k12.smallest, k13.smallest, k23.smallest});
  }

  CutInverse k12, k13, k23;
};

// The largest eigenvalues of a second moment, in increasing order, and what makes it the identity.
struct Whitening {
  Whitening(const Matrix& moment, int rank) {
    const SymmetricEigen eigen = symmetric_eigen(0.5 * (moment + moment.transpose()));
    values = eigen.values.tail(rank);  // the solver sorts them
    vectors = eigen.vectors.rightCols(rank);
  }

  [[nodiscard]] Matrix map() const {
    return values.cwiseSqrt().cwiseInverse().asDiagonal() * vectors.transpose();
  }
  [[nodiscard]] Matrix undo(const Matrix& whitened) const {
    return vectors * values.cwiseSqrt().asDiagonal() * whitened;
  }

  Vector values;
  Matrix vectors;
};

// G(i,j,k) = Σ w(x1,x2,x3) a(i,x1) b(j,x2) c(k,x3) / total.
CubicTensor contract(const ThreeViews& views, double total, const Matrix& a, const Matrix& b,
                     const Matrix& c) {
  const auto [d1, d2, d3] = views.sizes;
  const auto n = a.rows();
  CubicTensor tensor(static_cast<int>(n));
  Matrix inner(n, n);  // over x2 and x3, for one x1
  for (int x1 = 0; x1 < d1; ++x1) {
    const MatrixView slice(views.weights.data() + static_cast<std::size_t>(x1) *
                                                      static_cast<std::size_t>(d2) *
                                                      static_cast<std::size_t>(d3),
                           d2, d3);
    inner.noalias() = b * (slice * c.transpose());
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int k = 0; k < n; ++k) tensor(i, j, k) += a(i, x1) * inner(j, k) / total;
      }
    }
  }
  return tensor;
}

Decomposition failed(Decomposition result, DecompositionStatus status, std::string message) {
  result.status = status;
  result.message = std::move(message);
  return result;
}

void check_weights(const DecompositionOptions& options, Decomposition& result) {
  const double largest = result.weights.maxCoeff();
  const double sum = result.weights.sum();
  result.status = DecompositionStatus::ok;
  if (!(largest <= 1.0 + options.weight_tolerance)) {
    result.status = DecompositionStatus::weight_above_one;
    result.message = fmt::format("a state would have probability {:.3g}", largest);
  } else if (!(std::abs(sum - 1.0) <= options.weight_tolerance)) {
    result.status = DecompositionStatus::weights_off;
    result.message = fmt::format("the states' probabilities sum to {:.3g}", sum);
  }
}

void check_sizes(const ThreeViews& views, int num_states) {
  const auto [d1, d2, d3] = views.sizes;
  OAS_REQUIRE(num_states >= 1 && d1 >= 1 && d2 >= 1 && d3 >= 1,
              "{} states, views of {}, {} and {} symbols", num_states, d1, d2, d3);
  OAS_REQUIRE(views.weights.size() == static_cast<std::size_t>(d1) * static_cast<std::size_t>(d2) *
                                          static_cast<std::size_t>(d3),
              "{} weights for {}x{}x{} triples", views.weights.size(), d1, d2, d3);
  for (std::size_t i = 0; i < 3; ++i) {
    OAS_REQUIRE(views.features[i].size() == 0 || views.features[i].cols() == views.sizes[i],
                "{} feature vectors for the {} symbols of view {}", views.features[i].cols(),
                views.sizes[i], i + 1);
  }
}

}  // namespace

std::string_view to_string(DecompositionStatus status) {
  switch (status) {
    case DecompositionStatus::not_run:
      return "not run";
    case DecompositionStatus::ok:
      return "ok";
    case DecompositionStatus::no_data:
      return "no data";
    case DecompositionStatus::rank_deficient:
      return "rank deficient";
    case DecompositionStatus::not_positive:
      return "M2 not positive";
    case DecompositionStatus::weight_above_one:
      return "weight above one";
    case DecompositionStatus::weights_off:
      return "weights off";
  }
  return "unknown";
}

void DecompositionOptions::validate() const {
  power.validate();
  OAS_REQUIRE(weight_tolerance > 0.0, "weight_tolerance is {}; it must be positive",
              weight_tolerance);
}

Decomposition decompose(const ThreeViews& views, int num_states,
                        const DecompositionOptions& options, Rng& rng) {
  options.validate();
  check_sizes(views, num_states);
  Decomposition result;
  result.total = std::accumulate(views.weights.begin(), views.weights.end(), 0.0);
  if (!(result.total > 0.0)) {
    return failed(std::move(result), DecompositionStatus::no_data, "no three rows were counted");
  }
  const PairMeans k = pair_means(views, result.total);
  const PairInverses inverse(k, num_states);
  result.smallest_singular_value = inverse.smallest();
  if (!inverse.have_rank()) {
    return failed(std::move(result), DecompositionStatus::rank_deficient,
                  fmt::format("two of three views show fewer than {} states", num_states));
  }
  const Matrix r1 = k.k23.transpose() * inverse.k12.inverse;
  const Matrix r2 = k.k13.transpose() * inverse.k12.inverse.transpose();
  const Whitening whitening(r1 * k.k12 * r2.transpose(), num_states);
  result.smallest_eigenvalue = whitening.values(0);
  if (!(whitening.values(0) > 0.0)) {
    return failed(std::move(result), DecompositionStatus::not_positive,
                  fmt::format("the second moment is not positive: its eigenvalue {} is {:.2g}",
                              num_states, whitening.values(0)));
  }
  const Matrix map = whitening.map();
  const CubicTensor tensor =
      contract(views, result.total, mapped_columns(map * r1, views.features[0]),
               mapped_columns(map * r2, views.features[1]), mapped_columns(map, views.features[2]));
  const TensorEigenpairs pairs = tensor_power_method(tensor, options.power, rng);
  if (!(pairs.values.minCoeff() > 0.0)) {
    return failed(std::move(result), DecompositionStatus::weights_off,
                  fmt::format("fewer than {} components were found", num_states));
  }
  result.weights = pairs.values.cwiseAbs2().cwiseInverse();
  result.means[2] = whitening.undo(pairs.vectors) * pairs.values.asDiagonal();
  result.means[1] = k.k12.transpose() * inverse.k13.inverse.transpose() * result.means[2];
  result.means[0] = k.k12 * inverse.k23.inverse.transpose() * result.means[2];
  check_weights(options, result);
  return result;
}

}  // namespace oas
