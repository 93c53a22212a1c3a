// The loops of likelihood_kernel.hpp, compiled once per instruction set, each in a namespace of its
// own (OAS_KERNEL_NAMESPACE). Nothing of the standard library is used here: an inline function
// compiled for wide registers must never be linked into the portable code.

#include "oas/estimation/likelihood/detail/likelihood_kernel.hpp"

namespace oas::detail::OAS_KERNEL_NAMESPACE {

// Four doubles; GCC turns operations on it into what the instruction set has.
using Quad = double __attribute__((vector_size(32), aligned(32)));
using LooseQuad = double __attribute__((vector_size(32), aligned(8), may_alias));

constexpr double kSmallest = 1e-250;  // below, entries of a vector would lose digits
constexpr double kLargest = 1e250;

// A vector over N states in registers.
template <int N>
struct Registers {
  static constexpr int kQuads = (N + 3) / 4;
  static constexpr int kStride = 4 * kQuads;
  Quad quad[kQuads];

  void load(const double* from) {
    for (int q = 0; q < kQuads; ++q) quad[q] = *reinterpret_cast<const LooseQuad*>(from + 4 * q);
  }
  void store(double* to) const {
    for (int q = 0; q < kQuads; ++q) *reinterpret_cast<LooseQuad*>(to + 4 * q) = quad[q];
  }
  void scale(double factor) {
    for (int q = 0; q < kQuads; ++q) quad[q] *= factor;
  }
  void multiply(const double* factors) {
    for (int q = 0; q < kQuads; ++q) {
      quad[q] *= *reinterpret_cast<const LooseQuad*>(factors + 4 * q);
    }
  }
  // 0 where `other` is 0.
  void mask(const double* other) {
    for (int q = 0; q < kQuads; ++q) {
      const Quad zero = {0.0, 0.0, 0.0, 0.0};
      const Quad factors = *reinterpret_cast<const LooseQuad*>(other + 4 * q);
      quad[q] = factors > zero ? quad[q] : zero;
    }
  }
  // All four entries equal to entry s.
  template <int S>
  void spread(Quad& out) const {
    constexpr int kLane = S % 4;
    out = __builtin_shufflevector(quad[S / 4], quad[S / 4], kLane, kLane, kLane, kLane);
  }
  // Σ_s this(s) rows(s), rows of kStride doubles.
  template <int S = 0>
  void combine(const double* rows, Registers& out) const {
    Quad weight;
    spread<S>(weight);
    for (int q = 0; q < kQuads; ++q) {
      const Quad term = weight * *reinterpret_cast<const LooseQuad*>(rows + S * kStride + 4 * q);
      if constexpr (S == 0) {
        out.quad[q] = term;
      } else {
        out.quad[q] += term;
      }
    }
    if constexpr (S + 1 < N) combine<S + 1>(rows, out);
  }
  // sums(s) += x(s) · this, for all states s; x in memory.
  void add_outer(const double* x, double* sums) const {
    for (int s = 0; s < N; ++s) {
      const Quad weight = {x[s], x[s], x[s], x[s]};
      for (int q = 0; q < kQuads; ++q) {
        auto& target = *reinterpret_cast<LooseQuad*>(sums + s * kStride + 4 * q);
        target += weight * quad[q];
      }
    }
  }
  // sums += this ∘ x / (this · x); false when that is too small.
  bool add_shares(const double* x, double* sums) const {
    Registers product = *this;
    product.multiply(x);
    const double total = product.sum();
    if (!(total > kSmallest)) return false;
    const double factor = 1.0 / total;
    for (int q = 0; q < kQuads; ++q) {
      *reinterpret_cast<LooseQuad*>(sums + 4 * q) += product.quad[q] * factor;
    }
    return true;
  }
  [[nodiscard]] double sum() const {
    Quad total = quad[0];
    for (int q = 1; q < kQuads; ++q) total += quad[q];
    return (total[0] + total[1]) + (total[2] + total[3]);
  }
  [[nodiscard]] double dot(const double* other) const {
    Registers product = *this;
    product.multiply(other);
    return product.sum();
  }
};

inline void multiply_into(ScaledProduct& product, double factor) {
  // Both are normal and positive: keep the mantissa in [1, 2).
  const double value = product.mantissa * factor;
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  product.exponent += static_cast<std::int64_t>(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL;
  __builtin_memcpy(&product.mantissa, &bits, sizeof bits);
}

template <int N>
bool forward(const ChainTables& tables, const ChainSteps& steps, int group, double* states,
             ScaledProduct& product) {
  constexpr int kStride = Registers<N>::kStride;
  Registers<N> x;
  x.load(states);
  const auto length = static_cast<std::size_t>(group);
  for (std::size_t i = 0; i < steps.count;) {
    const std::size_t end = steps.count - i < length ? steps.count : i + length;
    for (; i < end; ++i) {
      Registers<N> next;
      x.combine(tables.transition + steps.transition[i], next);
      next.multiply(tables.emission + steps.emission[i]);
      next.store(states + (i + 1) * kStride);
      x = next;
    }
    const double sum = x.sum();
    if (!(sum > kSmallest)) return false;
    x.scale(1.0 / sum);
    x.store(states + i * kStride);
    multiply_into(product, sum);
  }
  return true;
}

template <int N, bool kEmissions>
bool backward_with(const ChainTables& tables, const ChainSteps& steps, int group,
                   const double* states, double* message, double* sums, double* emissions) {
  constexpr int kStride = Registers<N>::kStride;
  Registers<N> y;
  y.load(message);
  const auto length = static_cast<std::size_t>(group);
  for (std::size_t end = steps.count; end > 0;) {
    const std::size_t start = (end - 1) / length * length;
    bool scaled = false;  // x_i · y_i is 1; it then stays so within the group
    for (std::size_t i = end; i-- > start;) {
      Registers<N> next;
      // A state that cannot be is no part of the product x · y: its message may grow for ever.
      if (group == 1) y.mask(states + (i + 1) * kStride);
      if constexpr (kEmissions) {
        if (!y.add_shares(states + (i + 1) * kStride, emissions + steps.emission[i])) return false;
      }
      y.multiply(tables.emission + steps.emission[i]);
      y.combine(tables.transposed + steps.transition[i], next);
      if (!scaled) {
        const double dot = next.dot(states + i * kStride);
        if (!(dot > kSmallest)) return false;
        next.scale(1.0 / dot);
        y.scale(1.0 / dot);
        scaled = true;
      }
      y.add_outer(states + i * kStride, sums + steps.transition[i]);
      y = next;
    }
    if (group != 1 && !(y.sum() < kLargest)) return false;
    end = start;
  }
  y.store(message);
  return true;
}

template <int N>
bool backward(const ChainTables& tables, const ChainSteps& steps, int group, const double* states,
              double* message, double* sums) {
  return backward_with<N, false>(tables, steps, group, states, message, sums, nullptr);
}

template <int N>
bool retreat(const ChainTables& tables, const ChainSteps& steps, int group, double* message) {
  Registers<N> y;
  y.load(message);
  const auto length = static_cast<std::size_t>(group);
  for (std::size_t end = steps.count; end > 0;) {
    const std::size_t start = (end - 1) / length * length;
    for (std::size_t i = end; i-- > start;) {
      Registers<N> next;
      y.multiply(tables.emission + steps.emission[i]);
      y.combine(tables.transposed + steps.transition[i], next);
      y = next;
    }
    const double sum = y.sum();
    if (!(sum > kSmallest)) return false;
    y.scale(1.0 / sum);
    end = start;
  }
  y.store(message);
  return true;
}

// Any number of states, in memory; rows are combined four columns at a time.
inline void combine_any(int n, int stride, const double* weights, const double* rows, double* out) {
  for (int start = 0; start < stride; start += 4) {
    Quad sum = {0.0, 0.0, 0.0, 0.0};
    for (int s = 0; s < n; ++s) {
      sum += weights[s] * *reinterpret_cast<const LooseQuad*>(rows + s * stride + start);
    }
    *reinterpret_cast<LooseQuad*>(out + start) = sum;
  }
}

inline double scale_to_one(int n, double* x, const double* other) {
  double sum = 0.0;
  for (int s = 0; s < n; ++s) sum += other != nullptr ? x[s] * other[s] : x[s];
  if (!(sum > kSmallest)) return 0.0;
  for (int s = 0; s < n; ++s) x[s] *= 1.0 / sum;
  return sum;
}

inline bool forward_any(const ChainTables& tables, const ChainSteps& steps, int /*group*/,
                        double* states, ScaledProduct& product) {
  const int n = tables.num_states;
  const int stride = tables.stride;
  for (std::size_t i = 0; i < steps.count; ++i, states += stride) {
    double* next = states + stride;
    combine_any(n, stride, states, tables.transition + steps.transition[i], next);
    for (int s = 0; s < n; ++s) next[s] *= tables.emission[steps.emission[i] + s];
    const double sum = scale_to_one(n, next, nullptr);
    if (sum == 0.0) return false;
    multiply_into(product, sum);
  }
  return true;
}

// One step of the backward recursion; `states` (those of step i and of the next) null: no sums.
inline bool step_back(const ChainTables& tables, std::uint32_t transition, std::uint32_t emission,
                      const double* states, double* message, double* sums) {
  const int n = tables.num_states;
  const int stride = tables.stride;
  for (int s = 0; s < n; ++s) {
    const bool possible = states == nullptr || states[stride + s] > 0.0;
    message[s] = possible ? message[s] * tables.emission[emission + s] : 0.0;
  }
  double* next = message + stride;  // room for a second vector
  combine_any(n, stride, message, tables.transposed + transition, next);
  const double sum = scale_to_one(n, next, states);
  if (sum == 0.0) return false;
  if (states != nullptr) {
    for (int s = 0; s < n; ++s) {
      const double weight = states[s] / sum;
      double* row = sums + transition + static_cast<std::size_t>(s) * stride;
      for (int start = 0; start < stride; start += 4) {
        *reinterpret_cast<LooseQuad*>(row + start) +=
            weight * *reinterpret_cast<const LooseQuad*>(message + start);
      }
    }
  }
  for (int s = 0; s < stride; ++s) message[s] = next[s];
  return true;
}

inline bool backward_any(const ChainTables& tables, const ChainSteps& steps, int /*group*/,
                         const double* states, double* message, double* sums) {
  for (std::size_t i = steps.count; i-- > 0;) {
    if (!step_back(tables, steps.transition[i], steps.emission[i], states + i * tables.stride,
                   message, sums)) {
      return false;
    }
  }
  return true;
}

inline bool backward_emissions_any(const ChainTables& tables, const ChainSteps& steps,
                                   int /*group*/, const double* states, double* message,
                                   double* sums, double* emissions) {
  const int n = tables.num_states;
  const int stride = tables.stride;
  for (std::size_t i = steps.count; i-- > 0;) {
    const double* const next = states + (i + 1) * stride;
    double total = 0.0;
    for (int s = 0; s < n; ++s) total += next[s] > 0.0 ? next[s] * message[s] : 0.0;
    if (!(total > kSmallest)) return false;
    for (int s = 0; s < n; ++s) {
      if (next[s] > 0.0) emissions[steps.emission[i] + s] += next[s] * message[s] / total;
    }
    if (!step_back(tables, steps.transition[i], steps.emission[i], states + i * stride, message,
                   sums)) {
      return false;
    }
  }
  return true;
}

inline bool retreat_any(const ChainTables& tables, const ChainSteps& steps, int /*group*/,
                        double* message) {
  for (std::size_t i = steps.count; i-- > 0;) {
    if (!step_back(tables, steps.transition[i], steps.emission[i], nullptr, message, nullptr)) {
      return false;
    }
  }
  return true;
}

}  // namespace oas::detail::OAS_KERNEL_NAMESPACE

#include "oas/estimation/likelihood/detail/likelihood_kernel_large.hpp"

namespace oas::detail::OAS_KERNEL_NAMESPACE {

template <int N>
const LikelihoodKernels& fixed_kernels() {
  static constexpr LikelihoodKernels kKernels = {forward<N>, backward<N>, backward_with<N, true>,
                                                 retreat<N>};
  return kKernels;
}

inline const LikelihoodKernels& kernels(int num_states) {
  static constexpr LikelihoodKernels kAny = {forward_any, backward_any, backward_emissions_any,
                                             retreat_any};
  static constexpr LikelihoodKernels kLarge = {forward_large, backward_large,
                                               backward_emissions_large, retreat_large};
  if (reads_quads(num_states)) return kLarge;
  switch (num_states) {
    case 2:
      return fixed_kernels<2>();
    case 3:
      return fixed_kernels<3>();
    case 4:
      return fixed_kernels<4>();
    case 5:
      return fixed_kernels<5>();
    case 6:
      return fixed_kernels<6>();
    case 8:
      return fixed_kernels<8>();
    case 10:
      return fixed_kernels<10>();
    default:
      return kAny;
  }
}

}  // namespace oas::detail::OAS_KERNEL_NAMESPACE
