#include "oas/estimation/particles/detail/particle_filter.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "oas/belief/filter_kernel.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kLanes = 4;  // particles in a wide register
// A product below this is turned into a logarithm; one more factor may be as small and still count.
constexpr double kSmallProduct = 1e-150;
constexpr double kSmallestProbability = 1e-290;  // below, there is no reciprocal to speak of

// before: p = Σ_s b(s) z(s), b'(s') = Σ_s b(s) z(s) T(s,s') / p. T is [s][s'][n], beliefs [s][n].
template <int S>
[[gnu::always_inline]] inline void filter_before(const double* __restrict transition,
                                                 const double* __restrict belief,
                                                 const double* __restrict z,
                                                 double* __restrict next,
                                                 double* __restrict probability, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    double weighted[S];
    double p = 0.0;
    for (std::size_t s = 0; s < S; ++s) p += weighted[s] = belief[s * n + i] * z[s];
    const double scale = 1.0 / p;
    for (std::size_t j = 0; j < S; ++j) {
      double sum = weighted[0] * transition[j * n + i];
      for (std::size_t s = 1; s < S; ++s) sum += weighted[s] * transition[(s * S + j) * n + i];
      next[j * n + i] = sum * scale;
    }
    probability[i] = p;
  }
}

// after: m(s') = z(s') Σ_s b(s) T(s,s'), p = Σ_s' m(s'), b' = m / p.
template <int S>
[[gnu::always_inline]] inline void filter_after(const double* __restrict transition,
                                                const double* __restrict belief,
                                                const double* __restrict z, double* __restrict next,
                                                double* __restrict probability, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    double moved[S];
    double p = 0.0;
    for (std::size_t j = 0; j < S; ++j) {
      double sum = belief[i] * transition[j * n + i];
      for (std::size_t s = 1; s < S; ++s) {
        sum += belief[s * n + i] * transition[(s * S + j) * n + i];
      }
      p += moved[j] = sum * z[j];
    }
    const double scale = 1.0 / p;
    for (std::size_t j = 0; j < S; ++j) next[j * n + i] = moved[j] * scale;
    probability[i] = p;
  }
}

using FilterRow = void (*)(const double* transition, const double* belief, const double* z,
                           double* next, double* probability, std::size_t n);

template <int S, bool before>
void filter_portable(const double* transition, const double* belief, const double* z, double* next,
                     double* probability, std::size_t n) {
  if constexpr (before) {
    filter_before<S>(transition, belief, z, next, probability, n);
  } else {
    filter_after<S>(transition, belief, z, next, probability, n);
  }
}

#if defined(__x86_64__)
// The same loop, four particles at a time; the same bits, since nothing is contracted.
template <int S, bool before>
__attribute__((target("avx2"))) void filter_avx2(const double* transition, const double* belief,
                                                 const double* z, double* next, double* probability,
                                                 std::size_t n) {
  if constexpr (before) {
    filter_before<S>(transition, belief, z, next, probability, n);
  } else {
    filter_after<S>(transition, belief, z, next, probability, n);
  }
}
#endif

template <int S, bool before>
FilterRow choose_filter() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  if (wide) return filter_avx2<S, before>;
#endif
  return filter_portable<S, before>;
}

// out(j) = Σ_s in(s) T(s,j), loops over particles inside.
void mix_rows(const double* transition, const double* in, double* out, std::size_t states,
              std::size_t n) {
  std::fill_n(out, states * n, 0.0);
  for (std::size_t s = 0; s < states; ++s) {
    for (std::size_t j = 0; j < states; ++j) {
      const double* row = transition + (s * states + j) * n;
      const double* weight = in + s * n;
      double* sum = out + j * n;
      for (std::size_t i = 0; i < n; ++i) sum[i] += weight[i] * row[i];
    }
  }
}

void scale_states(const double* in, const double* z, double* out, double* sum, std::size_t states,
                  std::size_t n) {
  std::fill_n(sum, n, 0.0);
  for (std::size_t s = 0; s < states; ++s) {
    for (std::size_t i = 0; i < n; ++i) sum[i] += out[s * n + i] = in[s * n + i] * z[s];
  }
}

void divide_states(double* belief, const double* sum, std::size_t states, std::size_t n) {
  for (std::size_t s = 0; s < states; ++s) {
    for (std::size_t i = 0; i < n; ++i) belief[s * n + i] /= sum[i];
  }
}

}  // namespace

ParticleFilter::ParticleFilter(const Pomdp& sensors, int num_particles)
    : num_states_(sensors.num_states()),
      num_actions_(sensors.num_actions()),
      num_observations_(sensors.num_observations()),
      num_particles_(num_particles),
      stride_((static_cast<std::size_t>(num_particles) + kLanes - 1) / kLanes * kLanes),
      timing_(sensors.timing()),
      next_(states() * stride_),
      work_(states() * stride_) {
  likelihood_.reserve(static_cast<std::size_t>(num_actions_) *
                      static_cast<std::size_t>(num_observations_) * states());
  for (Action a{0}; a < num_actions_; ++a) {
    for (Observation o{0}; o < num_observations_; ++o) {
      for (State s{0}; s < num_states_; ++s) likelihood_.push_back(sensors.sensors()(a, s, o));
    }
  }
}

const double* ParticleFilter::likelihood(Action action, Observation observation) const {
  return likelihood_.data() +
         static_cast<std::size_t>(action * num_observations_ + observation) * states();
}

Population ParticleFilter::make_population() const {
  const double even = 1.0 / num_states_;
  return {std::vector<double>(entry(num_actions_, 0, 0), even),
          std::vector<double>(states() * stride_, even)};
}

void ParticleFilter::set_beliefs(std::span<const double> belief, Population& population) const {
  for (std::size_t s = 0; s < states(); ++s) {
    std::fill_n(population.belief.begin() + static_cast<std::ptrdiff_t>(s * stride_), stride_,
                belief[s]);
  }
}

void ParticleFilter::predict(const Population& population, Action action, std::size_t particle) {
  double total = 0.0;
  for (int j = 0; j < num_states_; ++j) {
    double sum = 0.0;
    for (int s = 0; s < num_states_; ++s) {
      sum += population.belief[static_cast<std::size_t>(s) * stride_ + particle] *
             population.transition[entry(action, s, j) + particle];
    }
    total += next_[static_cast<std::size_t>(j) * stride_ + particle] = sum;
  }
  for (std::size_t j = 0; j < states(); ++j) next_[j * stride_ + particle] /= total;
}

void ParticleFilter::update(Population& population, Action action, Observation observation,
                            std::span<double> probabilities) {
  if (observation == kMissing) {
    for (std::size_t i = 0; i < stride_; ++i) predict(population, action, i);
    std::fill(probabilities.begin(), probabilities.end(), 1.0);
    std::swap(population.belief, next_);
    return;
  }
  const double* transition = population.transition.data() + entry(action, 0, 0);
  const double* z = likelihood(action, observation);
  const bool before = timing_ == Timing::before;
  with_fixed_size(num_states_, [&]<int S>(std::integral_constant<int, S> /*size*/) {
    if constexpr (S > 0 && S <= 5) {
      const FilterRow filter = before ? choose_filter<S, true>() : choose_filter<S, false>();
      filter(transition, population.belief.data(), z, next_.data(), probabilities.data(), stride_);
    } else if (before) {
      scale_states(population.belief.data(), z, work_.data(), probabilities.data(), states(),
                   stride_);
      mix_rows(transition, work_.data(), next_.data(), states(), stride_);
      divide_states(next_.data(), probabilities.data(), states(), stride_);
    } else {
      mix_rows(transition, population.belief.data(), work_.data(), states(), stride_);
      scale_states(work_.data(), z, next_.data(), probabilities.data(), states(), stride_);
      divide_states(next_.data(), probabilities.data(), states(), stride_);
    }
  });
  for (std::size_t i = 0; i < stride_; ++i) {
    if (!(probabilities[i] > kSmallestProbability)) [[unlikely]] {
      probabilities[i] = 0.0;
      predict(population, action, i);
    }
  }
  std::swap(population.belief, next_);
}

void LogProducts::reset() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  std::fill(products_.begin(), products_.end(), 1.0);
}

void LogProducts::multiply(std::span<const double> factors) {
  double smallest[kLanes] = {1.0, 1.0, 1.0, 1.0};
  for (std::size_t i = 0; i < products_.size(); i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double product = products_[i + k] * factors[i + k];
      products_[i + k] = product;
      smallest[k] = product < smallest[k] ? product : smallest[k];
    }
  }
  if (*std::min_element(smallest, smallest + kLanes) < kSmallProduct) fold();
}

void LogProducts::fold() {
  for (std::size_t i = 0; i < products_.size(); ++i) {
    const double log = products_[i] > 0.0 ? std::log(products_[i]) : kLogZero;
    sums_[i] = std::max(sums_[i] + log, kLogZero);
    products_[i] = 1.0;
  }
}

}  // namespace oas::detail
