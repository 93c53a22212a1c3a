#pragma once

#include <cstddef>
#include <cstdint>

/// The three loops of a likelihood pass over one stretch of a run, the same for both timings. A run
/// is a chain of hidden states 0 … m; step i moves from state i to state i+1 by T of an action, and
/// state i+1 shows an emission:
///   forward    x_{i+1} = z ∘ (Tᵀ x_i)        backward   y_i = T (z ∘ y_{i+1})
/// `before` timing: T of row i, z of row i+1; `after` timing: both of row i. Vectors are padded to
/// `stride` doubles, a multiple of 4, and the padding stays 0.
namespace oas::detail {

/// Quads (four neighbours from a column that is a multiple of 4) of the rows of a matrix, by
/// columns: those of column quad q are k = first[q] … first[q+1]-1, of rows row[k] in ascending
/// order, with the four values[4k …].
struct QuadList {
  int columns = 0;  ///< quads of a row
  const std::uint32_t* first = nullptr;
  const std::uint32_t* row = nullptr;
  const double* values = nullptr;  ///< null: the list is not worth while, or has none
};

/// What the loops read: rows of T_a and of its transpose [a][s][stride], emissions [code][stride],
/// each divided by its largest entry.
struct ChainTables {
  int num_states = 0;
  int stride = 0;
  const double* transition = nullptr;
  const double* transposed = nullptr;
  const double* emission = nullptr;
  /// [a]: the quads of T_a and of its transpose that are not 0, and those whose scores are wanted.
  /// Null: all. For kernels of many states; see reads_quads().
  const QuadList* forward_quads = nullptr;
  const QuadList* backward_quads = nullptr;
  const QuadList* score_quads = nullptr;

  [[nodiscard]] int matrix() const { return num_states * stride; }
};

/// Whether the kernels for so many states look at the lists of quads.
[[nodiscard]] constexpr bool reads_quads(int num_states) { return num_states > 16; }

/// Consecutive steps. Offsets are in doubles: into T (and into sums over steps of one action) and
/// into the emissions.
struct ChainSteps {
  const std::uint32_t* transition = nullptr;
  const std::uint32_t* emission = nullptr;
  std::size_t count = 0;
};

/// A positive product of many factors, without overflow: mantissa · 2^exponent.
struct ScaledProduct {
  double mantissa = 1.0;
  std::int64_t exponent = 0;
};

/// `group` is the number of steps between two normalisations. A loop returns false when vectors
/// became too small or too large in between (then message and sums are spoilt); with group 1 this
/// means that the steps are impossible.
struct LikelihoodKernels {
  /// From states[0 … stride) fills states 1 … count; those at whole groups and the last are
  /// normalised to sum 1 and their factors multiplied into `product`.
  bool (*forward)(const ChainTables&, const ChainSteps&, int group, double* states,
                  ScaledProduct& product);
  /// Takes y_count in `message` to y_0, of no particular scale, and adds to sums[a][s][stride]
  /// x_i(s) z(s') y_{i+1}(s') / (x_i · y_i), the derivative of the log-likelihood by T_a(s,s').
  /// `states` and `group` as forward() left them.
  bool (*backward)(const ChainTables&, const ChainSteps&, int group, const double* states,
                   double* message, double* sums);
  /// backward() that also adds x_{i+1}(s) y_{i+1}(s) / (x_{i+1} · y_{i+1}), the probability that
  /// state s showed emission i, to emissions[offset of emission i + s].
  bool (*backward_emissions)(const ChainTables&, const ChainSteps&, int group, const double* states,
                             double* message, double* sums, double* emissions);
  /// backward() without sums; the message ends with sum 1.
  bool (*retreat)(const ChainTables&, const ChainSteps&, int group, double* message);
};

/// Kernels of a fixed number of states where there are some, else those for any number; with the
/// widest instructions of this machine. The same bits on every machine.
[[nodiscard]] const LikelihoodKernels& likelihood_kernels(int num_states);

/// Those of the portable code: what the others must agree with.
[[nodiscard]] const LikelihoodKernels& portable_likelihood_kernels(int num_states);

}  // namespace oas::detail
