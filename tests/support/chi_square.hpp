#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

/// Statistical tests with fixed seeds and no retries. A test passes while its p-value is above
/// kFailureProbability, so a correct sampler and an unlucky seed meet once in a million.
namespace oas::test {

inline constexpr double kFailureProbability = 1e-6;

/// p-value of Pearson's chi-square test of counts against probabilities (which are normalised).
/// Cells of expectation below 5 are pooled, the smallest first; any count in a cell of probability
/// 0 gives 0. Needs at least two cells after pooling, else NaN (which fails every comparison).
[[nodiscard]] double chi_square_p_value(std::span<const std::int64_t> counts,
                                        std::span<const double> probabilities);

/// Cuts [0, 1] into equal cells, counts cdf(x) of every sample and tests that they are uniform.
[[nodiscard]] double uniformity_p_value(std::span<const double> samples,
                                        const std::function<double(double)>& cdf, int cells);

/// Upper bound 2 exp(-2 n D²) (Dvoretzky, Kiefer, Wolfowitz, Massart) on the p-value of the
/// Kolmogorov-Smirnov distance D between samples and a continuous cdf.
[[nodiscard]] double kolmogorov_smirnov_p_value(std::vector<double> samples,
                                                const std::function<double(double)>& cdf);

}  // namespace oas::test
