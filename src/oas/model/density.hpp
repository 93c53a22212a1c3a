#pragma once

#include <string_view>
#include <vector>

namespace oas {

/// A distribution over real numbers, as a sensor may have in one state: Gaussian, log-normal on
/// (0, ∞), beta on [0, 1], gamma on [0, ∞), Poisson (on 0, 1, 2, …), a table (a histogram: constant
/// between edges), kernels (a Gaussian of the same width around each of many points), or a mixture
/// of these. Checked at construction, then immutable; a value.
class Density {
 public:
  enum class Kind { gaussian, lognormal, beta, gamma, poisson, table, kernel, mixture };

  /// All throw InvalidArgument naming parameter and value.
  static Density gaussian(double mean, double sd);  ///< sd > 0
  /// exp of a Gaussian with this mean and sd > 0.
  static Density lognormal(double log_mean, double log_sd);
  static Density beta(double alpha, double beta);    ///< both > 0
  static Density gamma(double shape, double scale);  ///< both > 0
  static Density poisson(double mean);               ///< mean > 0
  /// probability[i] spread evenly over [edges[i], edges[i+1]); edges ascending, one more than
  /// probabilities, which sum to 1.
  static Density table(std::vector<double> edges, std::vector<double> probability);
  /// A Gaussian with sd `bandwidth` > 0 around each point. Weights sum to 1; none: all the same.
  static Density kernel(std::vector<double> points, double bandwidth,
                        std::vector<double> weights = {});
  /// Weights sum to 1; parts are no mixtures, and all Poisson or none.
  static Density mixture(std::vector<double> weights, std::vector<Density> parts);

  [[nodiscard]] Kind kind() const { return kind_; }
  /// Whether the values are counts; then operator() is a probability.
  [[nodiscard]] bool discrete() const;
  /// mean, sd; log_mean, log_sd; alpha, beta; shape, scale; mean; edges; points in ascending order;
  /// nothing for a mixture.
  [[nodiscard]] const std::vector<double>& parameters() const { return parameters_; }
  /// Of a table, of kernels, of a mixture.
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  [[nodiscard]] double bandwidth() const { return bandwidth_; }               ///< of kernels
  [[nodiscard]] const std::vector<Density>& parts() const { return parts_; }  ///< mixture

  /// The density at x, 0 outside the support; may be infinite at the ends of beta and gamma. The
  /// others throw InvalidArgument on NaN.
  [[nodiscard]] double operator()(double x) const;
  /// P(X <= x).
  [[nodiscard]] double cdf(double x) const;
  /// The least x with cdf(x) >= u; the ends of the support for u <= 0 and u >= 1.
  [[nodiscard]] double quantile(double u) const;
  /// Takes a number spread evenly over (0, 1) to a draw of this distribution: the quantile, only
  /// that for a mixture, and for kernels, u chooses the part and then the place in it.
  [[nodiscard]] double from_uniform(double u) const;

  friend bool operator==(const Density&, const Density&) = default;

 private:
  Density(Kind kind, std::vector<double> parameters);

  [[nodiscard]] double table_density(double x) const;
  [[nodiscard]] double table_cdf(double x) const;
  [[nodiscard]] double table_quantile(double u) const;
  [[nodiscard]] double kernel_density(double x) const;
  [[nodiscard]] double kernel_cdf(double x) const;
  // The quantile, known to lie between two numbers.
  [[nodiscard]] double quantile_between(double low, double high, double u) const;
  [[nodiscard]] double mixture_quantile(double u) const;
  // The part that u falls into; u becomes the place in it.
  [[nodiscard]] std::size_t part_at(double& u) const;

  Kind kind_;
  std::vector<double> parameters_;
  std::vector<double> weights_;
  std::vector<Density> parts_;
  double bandwidth_ = 0.0;
  double log_constant_ = 0.0;  // of the density
};

[[nodiscard]] std::string_view to_string(Density::Kind kind);

}  // namespace oas
