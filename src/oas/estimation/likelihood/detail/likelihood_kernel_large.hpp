// The loops of likelihood_kernel.hpp for many states: part of likelihood_kernel_impl.hpp, compiled
// as that is. Sums are taken in the order of the states, so that zeros may be left out or not: with
// the quads of T that are not 0 (QuadTables) the results are those without, to the bit.

namespace oas::detail::OAS_KERNEL_NAMESPACE {

// out = Σ_s weights(s) rows(s) over kQuads neighbouring quads of columns.
template <int kQuads>
inline void combine_quads(int n, int stride, const double* weights, const double* rows,
                          double* out) {
  Quad sums[kQuads];
  for (int q = 0; q < kQuads; ++q) sums[q] = Quad{0.0, 0.0, 0.0, 0.0};
  for (int s = 0; s < n; ++s, rows += stride) {
    const Quad weight = {weights[s], weights[s], weights[s], weights[s]};
    for (int q = 0; q < kQuads; ++q) {
      sums[q] += weight * *reinterpret_cast<const LooseQuad*>(rows + 4 * q);
    }
  }
  for (int q = 0; q < kQuads; ++q) *reinterpret_cast<LooseQuad*>(out + 4 * q) = sums[q];
}

inline void combine_all(int n, int stride, const double* weights, const double* rows, double* out) {
  int start = 0;
  for (; start + 24 <= stride; start += 24) {
    combine_quads<6>(n, stride, weights, rows + start, out + start);
  }
  const int left = (stride - start) / 4;
  if (left >= 4) {
    combine_quads<4>(n, stride, weights, rows + start, out + start);
    start += 16;
  }
  if ((left & 3) == 3) {
    combine_quads<3>(n, stride, weights, rows + start, out + start);
  } else if ((left & 3) == 2) {
    combine_quads<2>(n, stride, weights, rows + start, out + start);
  } else if ((left & 3) == 1) {
    combine_quads<1>(n, stride, weights, rows + start, out + start);
  }
}

// The same with the quads of some rows only, column by column.
inline void combine_listed(const QuadList& list, const double* weights, double* out) {
  const double* values = list.values;
  for (int q = 0; q < list.columns; ++q, out += 4) {
    Quad sum = {0.0, 0.0, 0.0, 0.0};
    for (std::uint32_t k = list.first[q]; k < list.first[q + 1]; ++k, values += 4) {
      const double weight = weights[list.row[k]];
      sum += weight * *reinterpret_cast<const LooseQuad*>(values);
    }
    *reinterpret_cast<LooseQuad*>(out) = sum;
  }
}

inline void combine_large(const ChainTables& tables, const double* rows, const QuadList* lists,
                          std::uint32_t offset, const double* weights, double* out) {
  const QuadList* const list =
      lists == nullptr ? nullptr : lists + offset / static_cast<std::uint32_t>(tables.matrix());
  if (list == nullptr || list->values == nullptr) {
    combine_all(tables.num_states, tables.stride, weights, rows + offset, out);
  } else {
    combine_listed(*list, weights, out);
  }
}

// Σ x(s) y(s), or Σ x(s) where y is null, of whole quads: two sums of four lanes each.
inline double sum_of(int stride, const double* x, const double* y) {
  Quad even = {0.0, 0.0, 0.0, 0.0};
  Quad odd = even;
  for (int start = 0; start < stride; start += 4) {
    Quad term = *reinterpret_cast<const LooseQuad*>(x + start);
    if (y != nullptr) term *= *reinterpret_cast<const LooseQuad*>(y + start);
    ((start & 4) == 0 ? even : odd) += term;
  }
  const Quad total = even + odd;
  return (total[0] + total[1]) + (total[2] + total[3]);
}

inline void scale_by(int stride, double factor, double* x) {
  for (int start = 0; start < stride; start += 4) {
    *reinterpret_cast<LooseQuad*>(x + start) *= factor;
  }
}

inline bool forward_large(const ChainTables& tables, const ChainSteps& steps, int /*group*/,
                          double* states, ScaledProduct& product) {
  const int stride = tables.stride;
  for (std::size_t i = 0; i < steps.count; ++i, states += stride) {
    double* next = states + stride;
    combine_large(tables, tables.transition, tables.forward_quads, steps.transition[i], states,
                  next);
    const double* const emission = tables.emission + steps.emission[i];
    for (int start = 0; start < stride; start += 4) {
      *reinterpret_cast<LooseQuad*>(next + start) *=
          *reinterpret_cast<const LooseQuad*>(emission + start);
    }
    const double sum = sum_of(stride, next, nullptr);
    if (!(sum > kSmallest)) return false;
    scale_by(stride, 1.0 / sum, next);
    multiply_into(product, sum);
  }
  return true;
}

// sums(s) += weights(s) · message, for all quads or those that are asked for.
inline void add_outer_large(const ChainTables& tables, std::uint32_t offset, double factor,
                            const double* states, const double* message, double* sums) {
  const int stride = tables.stride;
  sums += offset;
  const QuadList* const wanted =
      tables.score_quads == nullptr
          ? nullptr
          : tables.score_quads + offset / static_cast<std::uint32_t>(tables.matrix());
  if (wanted != nullptr && wanted->values != nullptr) {
    const QuadList& list = *wanted;
    for (int q = 0; q < list.columns; ++q) {
      const Quad quad = *reinterpret_cast<const LooseQuad*>(message + 4 * q);
      for (std::uint32_t k = list.first[q]; k < list.first[q + 1]; ++k) {
        const std::uint32_t s = list.row[k];
        *reinterpret_cast<LooseQuad*>(sums + s * static_cast<std::uint32_t>(stride) + 4 * q) +=
            (states[s] * factor) * quad;
      }
    }
    return;
  }
  for (int s = 0; s < tables.num_states; ++s, sums += stride) {
    const double weight = states[s] * factor;
    const Quad spread = {weight, weight, weight, weight};
    for (int start = 0; start < stride; start += 4) {
      *reinterpret_cast<LooseQuad*>(sums + start) +=
          spread * *reinterpret_cast<const LooseQuad*>(message + start);
    }
  }
}

// One step of the backward recursion; `states` (those of step i and of the next) null: no sums.
inline bool step_back_large(const ChainTables& tables, std::uint32_t transition,
                            std::uint32_t emission, const double* states, double* message,
                            double* sums) {
  const int stride = tables.stride;
  const double* const shown = tables.emission + emission;
  const Quad zero = {0.0, 0.0, 0.0, 0.0};
  for (int start = 0; start < stride; start += 4) {
    auto& quad = *reinterpret_cast<LooseQuad*>(message + start);
    const Quad product = quad * *reinterpret_cast<const LooseQuad*>(shown + start);
    if (states == nullptr) {
      quad = product;
    } else {
      // A state that cannot be is no part of the product x · y: its message may grow for ever.
      const Quad possible = *reinterpret_cast<const LooseQuad*>(states + stride + start);
      quad = possible > zero ? product : zero;
    }
  }
  double* next = message + stride;  // room for a second vector
  combine_large(tables, tables.transposed, tables.backward_quads, transition, message, next);
  const double sum = sum_of(stride, next, states);
  if (!(sum > kSmallest)) return false;
  if (states != nullptr) add_outer_large(tables, transition, 1.0 / sum, states, message, sums);
  const double factor = 1.0 / sum;
  for (int start = 0; start < stride; start += 4) {
    *reinterpret_cast<LooseQuad*>(message + start) =
        *reinterpret_cast<const LooseQuad*>(next + start) * factor;
  }
  return true;
}

inline bool backward_large(const ChainTables& tables, const ChainSteps& steps, int /*group*/,
                           const double* states, double* message, double* sums) {
  for (std::size_t i = steps.count; i-- > 0;) {
    if (!step_back_large(tables, steps.transition[i], steps.emission[i], states + i * tables.stride,
                         message, sums)) {
      return false;
    }
  }
  return true;
}

inline bool backward_emissions_large(const ChainTables& tables, const ChainSteps& steps,
                                     int /*group*/, const double* states, double* message,
                                     double* sums, double* emissions) {
  const int n = tables.num_states;
  for (std::size_t i = steps.count; i-- > 0;) {
    const double* const next = states + (i + 1) * tables.stride;
    double total = 0.0;
    for (int s = 0; s < n; ++s) total += next[s] > 0.0 ? next[s] * message[s] : 0.0;
    if (!(total > kSmallest)) return false;
    for (int s = 0; s < n; ++s) {
      if (next[s] > 0.0) emissions[steps.emission[i] + s] += next[s] * message[s] / total;
    }
    if (!step_back_large(tables, steps.transition[i], steps.emission[i], states + i * tables.stride,
                         message, sums)) {
      return false;
    }
  }
  return true;
}

inline bool retreat_large(const ChainTables& tables, const ChainSteps& steps, int /*group*/,
                          double* message) {
  for (std::size_t i = steps.count; i-- > 0;) {
    if (!step_back_large(tables, steps.transition[i], steps.emission[i], nullptr, message,
                         nullptr)) {
      return false;
    }
  }
  return true;
}

}  // namespace oas::detail::OAS_KERNEL_NAMESPACE
