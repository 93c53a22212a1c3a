#include "oas/sensors/soft_features.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/low_discrepancy.hpp"

namespace oas {

namespace {

constexpr int kFeaturePoints = 1 << 14;  // per state, for vectors
constexpr double kTail = 1e-14;          // probability that is left out at an open end
constexpr int kMostIterations = 200;

// Levels of the quantiles between which densities are smooth enough for one rule.
constexpr std::array kLevels = {1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 5e-3, 0.02,
                                0.05,  0.1,   0.15,  0.2,  0.25, 0.3,  0.35, 0.4,  0.45, 0.5};

// Adds up weight · p_i p_s / Σ_j p_j over points, and keeps M symmetric to the bit.
class MeanMatrix {
 public:
  MeanMatrix(const DensitySensors& sensors, Action action)
      : sensors_(sensors),
        action_(action),
        likelihood_(static_cast<std::size_t>(sensors.num_states())),
        sum_(Matrix::Zero(sensors.num_states(), sensors.num_states())) {}

  // `drawn`: x comes from the mixture Σ_j p_j, whose density is then no part of the weight.
  void add(std::span<const double> x, double weight, bool drawn) {
    sensors_.likelihood(action_, x, likelihood_);
    const double total = std::accumulate(likelihood_.begin(), likelihood_.end(), 0.0);
    if (!(total > 0.0) || !std::isfinite(total)) return;
    const VectorView p(likelihood_.data(), static_cast<Eigen::Index>(likelihood_.size()));
    sum_.noalias() += (weight / (drawn ? total * total : total)) * p * p.transpose();
  }

  // [s][i], rows divided by their sums, which are 1 but for the error of the rule.
  [[nodiscard]] Matrix rows() const {
    Matrix rows = sum_;
    for (Eigen::Index s = 0; s < rows.rows(); ++s) rows.row(s) /= rows.row(s).sum();
    return rows;
  }

 private:
  const DensitySensors& sensors_;
  Action action_;
  std::vector<double> likelihood_;
  Matrix sum_;
};

// A bandwidth apart, wherever a kernel is not negligible.
void add_kernel_breaks(const Density& density, std::vector<double>& breaks) {
  constexpr int kReach = 8;
  const double step = density.bandwidth();
  double last = -std::numeric_limits<double>::infinity();
  for (const double point : density.parameters()) {
    for (int k = -kReach; k <= kReach; ++k) {
      const double next = point + k * step;
      if (next <= last + 0.5 * step) continue;
      breaks.push_back(next);
      last = next;
    }
  }
}

void add_breaks(const Density& density, std::vector<double>& breaks) {
  if (density.kind() == Density::Kind::mixture) {
    for (const Density& part : density.parts()) add_breaks(part, breaks);
    return;
  }
  if (density.kind() == Density::Kind::table) {
    breaks.insert(breaks.end(), density.parameters().begin(), density.parameters().end());
    return;
  }
  if (density.kind() == Density::Kind::kernel) return add_kernel_breaks(density, breaks);
  for (const double level : kLevels) {
    breaks.push_back(density.quantile(level));
    breaks.push_back(density.quantile(1.0 - level));
  }
  for (const double end : {density.quantile(0.0), density.quantile(1.0)}) {
    if (std::isfinite(end)) breaks.push_back(end);
  }
}

void integrate_line(const DensitySensors& sensors, Action action, MeanMatrix& mean) {
  std::vector<double> breaks;
  for (State s{0}; s < sensors.num_states(); ++s) {
    add_breaks(sensors(action, s).marginals().front(), breaks);
  }
  std::sort(breaks.begin(), breaks.end());
  using Rule = boost::math::quadrature::gauss<double, 10>;
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {
    const double middle = 0.5 * (breaks[i] + breaks[i + 1]);
    const double half = 0.5 * (breaks[i + 1] - breaks[i]);
    if (!(half > 0.0)) continue;
    for (std::size_t k = 0; k < Rule::abscissa().size(); ++k) {
      for (const double side : {-1.0, 1.0}) {
        const double x = middle + side * half * Rule::abscissa()[k];
        mean.add({&x, 1}, half * Rule::weights()[k], false);
      }
    }
  }
}

void sum_counts(const DensitySensors& sensors, Action action, MeanMatrix& mean) {
  double first = std::numeric_limits<double>::infinity();
  double last = 0.0;
  for (State s{0}; s < sensors.num_states(); ++s) {
    const Density& density = sensors(action, s).marginals().front();
    first = std::min(first, density.quantile(kTail));
    last = std::max(last, density.quantile(1.0 - kTail));
  }
  for (double x = first; x <= last; ++x) mean.add({&x, 1}, 1.0, false);
}

void average_points(const DensitySensors& sensors, Action action, MeanMatrix& mean) {
  const LowDiscrepancy points(sensors.dimension(), kFeaturePoints);
  std::vector<double> x(static_cast<std::size_t>(sensors.dimension()));
  for (State s{0}; s < sensors.num_states(); ++s) {
    for (int k = 0; k < kFeaturePoints; ++k) {
      points.point(k, x);
      sensors(action, s).from_uniform(x, x);
      mean.add(x, 1.0 / kFeaturePoints, true);
    }
  }
}

ObservationModel as_sensors(int num_states, const std::vector<Matrix>& rows) {
  std::vector<double> values;
  for (const Matrix& matrix : rows) {
    values.insert(values.end(), matrix.data(), matrix.data() + matrix.size());
  }
  return {num_states, static_cast<int>(rows.size()), num_states, std::move(values), "soft sensor"};
}

}  // namespace

ObservationModel soft_sensors(const DensitySensors& sensors) {
  std::vector<Matrix> rows;
  for (Action a{0}; a < sensors.num_actions(); ++a) {
    MeanMatrix mean(sensors, a);
    if (sensors.dimension() > 1) {
      average_points(sensors, a, mean);
    } else if (sensors.discrete(0)) {
      sum_counts(sensors, a, mean);
    } else {
      integrate_line(sensors, a, mean);
    }
    rows.push_back(mean.rows());
  }
  return as_sensors(sensors.num_states(), rows);
}

SoftSample::SoftSample(int num_states, int num_actions, std::size_t max_bytes)
    : num_states_(num_states),
      max_bytes_(max_bytes),
      features_(static_cast<std::size_t>(num_actions)) {}

void SoftSample::add(Action action, std::span<const double> features) {
  ++rows_;
  if (bytes_ >= max_bytes_) return;
  std::vector<double>& rows = features_[static_cast<std::size_t>(action)];
  rows.insert(rows.end(), features.begin(), features.end());
  actions_.push_back(action);
  bytes_ += features.size_bytes();
}

void SoftSample::append(const SoftSample& other) {
  const std::size_t rows = rows_ + other.rows_;
  const auto n = static_cast<std::size_t>(num_states_);
  std::vector<std::size_t> done(features_.size(), 0);  // [a]
  for (const Action action : other.actions_) {
    const auto a = static_cast<std::size_t>(action);
    add(action, std::span(other.features_[a]).subspan(n * done[a]++, n));
  }
  rows_ = rows;
}

void SoftSample::save(ByteWriter& out) const {
  out.put(static_cast<std::uint64_t>(rows_));
  for (const std::vector<double>& rows : features_) out.put_all(rows);
  out.put_all(actions_);
}

void SoftSample::load(ByteReader& in) {
  rows_ = in.get<std::uint64_t>();
  bytes_ = 0;
  for (std::vector<double>& rows : features_) {
    rows = in.get_all<double>();
    bytes_ += rows.size() * sizeof(double);
  }
  actions_ = in.get_all<Action>(kept());
}

std::size_t SoftSample::kept() const {
  std::size_t numbers = 0;
  for (const auto& rows : features_) numbers += rows.size();
  return numbers / static_cast<std::size_t>(num_states_);
}

ObservationModel SoftSample::sensors() const {
  std::vector<Matrix> result;
  for (const std::vector<double>& features : features_) {
    if (features.empty()) {
      result.emplace_back(Matrix::Identity(num_states_, num_states_));
      continue;
    }
    const MatrixView rows(features.data(), static_cast<Eigen::Index>(features.size()) / num_states_,
                          num_states_);
    const Vector weights = mixture_weights(features, num_states_);
    Matrix mean = Matrix::Zero(num_states_, num_states_);  // [s][i]
    for (Eigen::Index t = 0; t < rows.rows(); ++t) {
      const auto row = rows.row(t);
      const double total = row.dot(weights);
      if (total > 0.0) mean.noalias() += row.transpose() * row / total;
    }
    for (Eigen::Index s = 0; s < mean.rows(); ++s) {
      const double sum = mean.row(s).sum();
      mean.row(s) /= sum > 0.0 ? sum : 1.0;
      if (!(sum > 0.0)) mean(s, s) = 1.0;  // a state that no row is likely in
    }
    result.push_back(std::move(mean));
  }
  return as_sensors(num_states_, result);
}

namespace {

// Mean log-likelihood of a mixture with its derivatives by the weights.
struct MixtureFit {
  double value = 0.0;
  Vector gradient;
  Matrix information;  // minus the second derivative

  MixtureFit(const MatrixView& rows, const Vector& weights)
      : gradient(Vector::Zero(weights.size())),
        information(Matrix::Zero(weights.size(), weights.size())) {
    Vector share(weights.size());
    for (Eigen::Index t = 0; t < rows.rows(); ++t) {
      const double total = rows.row(t).dot(weights);
      value += std::log(total);
      share = rows.row(t).transpose() / total;
      gradient += share;
      information.noalias() += share * share.transpose();
    }
    const auto n = static_cast<double>(rows.rows());
    value /= n;
    gradient /= n;
    information /= n;
  }
};

// The step to the maximum of the quadratic approximation under Σ d = 1, shortened so that weights
// stay positive.
Vector newton_step(const MixtureFit& fit, const Vector& weights) {
  const Eigen::Index n = weights.size();
  Matrix system = Matrix::Zero(n + 1, n + 1);
  Vector right = Vector::Zero(n + 1);
  system.topLeftCorner(n, n) = fit.information;
  for (Eigen::Index s = 0; s < n; ++s) {
    const bool held = weights(s) < 1e-12 && fit.gradient(s) < 1.0;  // leaves through the wall
    if (held) {
      system.row(s).setZero();
      system.col(s).setZero();
    }
    system(s, s) += held ? 1.0 : 1e-12;
    system(s, n) = system(n, s) = held ? 0.0 : 1.0;
    right(s) = held ? 0.0 : fit.gradient(s);
  }
  Vector step = system.fullPivLu().solve(right).head(n);
  double length = 1.0;
  for (Eigen::Index s = 0; s < n; ++s) {
    if (step(s) < 0.0) length = std::min(length, -0.99 * weights(s) / step(s));
  }
  return length * step;
}

}  // namespace

Vector mixture_weights(const std::vector<double>& features, int num_states) {
  OAS_REQUIRE(!features.empty() && features.size() % static_cast<std::size_t>(num_states) == 0,
              "{} features for {} states", features.size(), num_states);
  const MatrixView rows(features.data(), static_cast<Eigen::Index>(features.size()) / num_states,
                        num_states);
  Vector weights = Vector::Constant(num_states, 1.0 / num_states);
  MixtureFit fit(rows, weights);
  for (int i = 0; i < kMostIterations && fit.gradient.maxCoeff() - 1.0 > 1e-9; ++i) {
    Vector next = weights + newton_step(fit, weights);
    next = next.cwiseMax(0.0) / next.cwiseMax(0.0).sum();
    MixtureFit at_next(rows, next);
    if (!(at_next.value > fit.value)) {  // expectation-maximisation never goes down
      next = weights.cwiseProduct(fit.gradient);
      next /= next.sum();
      at_next = MixtureFit(rows, next);
    }
    weights = next;
    fit = std::move(at_next);
  }
  return weights;
}

}  // namespace oas
