#include "oas/estimation/particles/detail/dirichlet_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "oas/core/sampling.hpp"

namespace oas::detail {

namespace {

constexpr double kSmallestDraw = 1e-100;  // products of two still count
constexpr double kLeastConcentration = 0.5;
constexpr double kLeastShape = 1e-3;

std::size_t num_entries(const ParticleFilter& shape) {
  return shape.entry(shape.num_actions(), 0, 0) / shape.stride();
}

}  // namespace

RowMoments::RowMoments(const ParticleFilter& shape)
    : stride_(shape.stride()), first_(num_entries(shape), 0.0), second_(first_) {}

void RowMoments::add(const Population& population, std::span<const double> weights) {
  for (std::size_t i = 0; i < weights.size(); ++i) weight_ += weights[i];
  for (std::size_t e = 0; e < first_.size(); ++e) {
    const double* values = population.transition.data() + e * stride_;
    double first = 0.0;
    double second = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      first += weights[i] * values[i];
      second += weights[i] * values[i] * values[i];
    }
    first_[e] += first;
    second_[e] += second;
  }
}

double RowMoments::variance(std::size_t entry) const {
  return std::max(second_[entry] / weight_ - mean(entry) * mean(entry), 0.0);
}

DirichletRows::DirichletRows(const ParticleFilter& shape, double concentration)
    : states_(static_cast<std::size_t>(shape.num_states())),
      stride_(shape.stride()),
      concentration_(num_entries(shape), concentration) {}

DirichletRows DirichletRows::matched(const RowMoments& moments, double widening,
                                     const DirichletRows& past, double rows) {
  DirichletRows fitted = past;
  for (std::size_t start = 0; start < moments.size(); start += past.states_) {
    double spread = 0.0;
    double variance = 0.0;
    double most = rows;
    for (std::size_t e = start; e < start + past.states_; ++e) {
      spread += moments.mean(e) * (1.0 - moments.mean(e));
      variance += moments.variance(e);
      most += past.concentration_[e];
    }
    const double kappa =
        std::clamp(variance > 0.0 ? spread / variance - 1.0 : most, kLeastConcentration, most);
    for (std::size_t e = start; e < start + past.states_; ++e) {
      fitted.concentration_[e] = std::max(kappa / widening * moments.mean(e), kLeastShape);
    }
  }
  return fitted;
}

void DirichletRows::sample(Population& population, int action, std::size_t particle,
                           Rng& rng) const {
  const std::size_t block = states_ * states_;
  std::array<double, 64> small;
  std::vector<double> large(states_ > small.size() ? states_ : 0);
  const std::span<double> values =
      large.empty() ? std::span(small).first(states_) : std::span<double>(large);
  for (std::size_t start = static_cast<std::size_t>(action) * block, end = start + block;
       start < end; start += states_) {
    sample_row(std::span(concentration_).subspan(start, states_), values,
               population.transition.data() + start * stride_ + particle, stride_, rng);
  }
}

double DirichletRows::log_density(const Population& population, int action,
                                  std::size_t particle) const {
  const std::size_t block = states_ * states_;
  double sum = 0.0;
  for (std::size_t e = static_cast<std::size_t>(action) * block, end = e + block; e < end; ++e) {
    sum += (concentration_[e] - 1.0) *
           std::log(std::max(population.transition[e * stride_ + particle], kSmallestDraw));
  }
  return sum;
}

void sample_row(std::span<const double> concentration, std::span<double> values, double* entries,
                std::size_t stride, Rng& rng) {
  sample_dirichlet(concentration, values, rng);
  for (std::size_t j = 0; j < values.size(); ++j) {
    entries[j * stride] = std::max(values[j], kSmallestDraw);
  }
}

}  // namespace oas::detail
