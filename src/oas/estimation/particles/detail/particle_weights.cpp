#include "oas/estimation/particles/detail/particle_weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/estimation/particles/detail/particle_filter.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kWeightLanes = 4;  // sums run in lanes of fixed order
constexpr double kSmallWeightProduct = 1e-100;
constexpr double kLogZero = LogProducts::kLogZero;
constexpr double kWeightRounding = 1e-6;

double lane_sum(const double* lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

}  // namespace

ParticleWeights::ParticleWeights(std::size_t size, std::size_t stride)
    : size_(size),
      logs_(stride, kLogZero),
      bases_(stride),
      products_(stride),
      trial_(stride),
      values_(stride) {
  OAS_REQUIRE(size > 0 && size <= stride && stride % kWeightLanes == 0, "{} weights in {} places",
              size, stride);
  set_equal();
}

void ParticleWeights::set_equal() {
  std::fill_n(logs_.begin(), size_, 0.0);
  std::fill(products_.begin(), products_.end(), 1.0);
  refresh();
}

void ParticleWeights::set(std::span<const double> weights) {
  OAS_REQUIRE(weights.size() == size_, "{} weights for {} particles", weights.size(), size_);
  const double largest = *std::max_element(weights.begin(), weights.end());
  OAS_REQUIRE(largest > 0.0 && std::isfinite(largest), "the largest weight is {}", largest);
  for (std::size_t i = 0; i < size_; ++i) {
    OAS_REQUIRE(weights[i] >= 0.0, "weight {} is {}; it must not be negative", i, weights[i]);
    logs_[i] = weights[i] > 0.0 ? std::log(weights[i]) - std::log(largest) : kLogZero;
  }
  std::fill(products_.begin(), products_.end(), 1.0);
  refresh();
}

double ParticleWeights::multiply(std::span<const double> factors) {
  double sum[kWeightLanes] = {};
  double squares[kWeightLanes] = {};
  double smallest[kWeightLanes] = {1.0, 1.0, 1.0, 1.0};
  for (std::size_t i = 0; i < products_.size(); i += kWeightLanes) {
    for (std::size_t k = 0; k < kWeightLanes; ++k) {
      const double product = products_[i + k] * factors[i + k];
      const double value = bases_[i + k] * product;
      trial_[i + k] = product;
      sum[k] += value;
      squares[k] += value * value;
      smallest[k] = product < smallest[k] ? product : smallest[k];
    }
  }
  const double total = lane_sum(sum);
  if (!(total > 0.0)) return 0.0;
  const double mean = total / sum_;
  std::swap(products_, trial_);
  // What pads the lanes is not saved, and must not decide when to fold.
  std::fill(products_.begin() + static_cast<std::ptrdiff_t>(size_), products_.end(), 1.0);
  for (std::size_t i = 0; i < products_.size(); ++i) values_[i] = bases_[i] * products_[i];
  sum_ = total;
  sum_of_squares_ = lane_sum(squares);
  if (*std::min_element(smallest, smallest + kWeightLanes) < kSmallWeightProduct) fold();
  return mean;
}

void ParticleWeights::fold() {
  double largest = 2.0 * kLogZero;
  for (std::size_t i = 0; i < size_; ++i) {
    logs_[i] =
        products_[i] > 0.0 ? std::max(logs_[i] + std::log(products_[i]), kLogZero) : kLogZero;
    largest = std::max(largest, logs_[i]);
  }
  for (std::size_t i = 0; i < size_; ++i) logs_[i] = std::max(logs_[i] - largest, kLogZero);
  std::fill(products_.begin(), products_.end(), 1.0);
  refresh();
}

void ParticleWeights::refresh() {
  sum_ = sum_of_squares_ = 0.0;
  for (std::size_t i = 0; i < bases_.size(); ++i) {
    bases_[i] = std::exp(logs_[i]);
    values_[i] = bases_[i] * products_[i];
    sum_ += values_[i];
    sum_of_squares_ += values_[i] * values_[i];
  }
}

nlohmann::ordered_json ParticleWeights::save() const {
  const auto first = [&](const std::vector<double>& values) {
    return std::vector<double>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size_));
  };
  return {{"logs", first(logs_)},
          {"products", first(products_)},
          {"sum", sum_},
          {"sum_of_squares", sum_of_squares_}};
}

void ParticleWeights::load(const JsonView& state) {
  const std::array<int, 1> extents = {static_cast<int>(size_)};
  const std::vector<double> logs = state.at("logs").as_array(extents);
  const std::vector<double> products = state.at("products").as_array(extents);
  constexpr std::array<std::string_view, 4> kKeys = {"logs", "products", "sum", "sum_of_squares"};
  state.require_keys(kKeys);
  for (std::size_t i = 0; i < size_; ++i) {
    if (logs[i] > kWeightRounding || logs[i] < kLogZero)
      state.at("logs").at(i).fail("no log of a weight");
    if (products[i] < 0.0 || products[i] > 1.0 + kWeightRounding) {
      state.at("products").at(i).fail("no product of probabilities");
    }
  }
  std::copy(logs.begin(), logs.end(), logs_.begin());
  std::copy(products.begin(), products.end(), products_.begin());
  refresh();
  if (!(sum_ > 0.0 && sum_of_squares_ > 0.0)) state.fail("all weights are 0");
  // The order of summation differs from that of a step.
  const auto take_over = [&](const char* key, double& value) {
    const double saved = state.at(key).as_double();
    if (!(std::abs(saved - value) <= kWeightRounding * value)) {
      state.at(key).fail(fmt::format("{} is not the {} of the weights, {}", saved, key, value));
    }
    value = saved;
  };
  take_over("sum", sum_);
  take_over("sum_of_squares", sum_of_squares_);
}

}  // namespace oas::detail
