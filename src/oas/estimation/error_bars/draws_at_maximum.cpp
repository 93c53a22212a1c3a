#include "oas/estimation/error_bars/draws_at_maximum.hpp"

#include <algorithm>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"

namespace oas {

namespace {

constexpr double kLevel = 0.95;           // of a limit, whatever error bars are shown
constexpr double kFallAtLimit = 3.0;      // -log 5 %
constexpr double kLeastLimit = 1e-12;     // of an entry at 0
constexpr double kManyCounts = 2000.0;    // a gamma law that is a normal one
constexpr double kFarthestError = 8.0;    // standard deviations
constexpr double kLeastOfLargest = 1e-3;  // what the others leave

// One entry of a row.
struct DrawLaw {
  double shape = 0.0;  // of a gamma law; 0: the entry is 0 for certain
  double scale = 0.0;
  double deviation = 0.0;  // of its error; 0: at a bound, by itself

  [[nodiscard]] double at(double z) const {
    if (shape > kManyCounts) return std::max(scale * (shape + z * std::sqrt(shape)), 0.0);
    z = std::clamp(z, -kFarthestError, kFarthestError);
    const boost::math::normal normal;
    return boost::math::quantile(boost::math::gamma_distribution<>(shape, scale),
                                 boost::math::cdf(normal, z));
  }
};

class RowDrawer {
 public:
  RowDrawer(const JointErrors& errors, std::span<const double> values, std::size_t num_states)
      : errors_(errors), values_(values), n_(num_states) {
    double prior = 0.0;
    for (std::size_t e = 0; e < values.size(); ++e) {
      if (e % n_ == 0) prior = 1.0 / static_cast<double>(open_entries(e).size());
      DrawLaw& law = laws_.emplace_back();
      if (errors.determined[e / n_] == 0) continue;
      const double variance = errors.factor.row(static_cast<Eigen::Index>(e)).squaredNorm();
      const double upper = errors.evidence[e].interval(kLevel).upper;
      if (variance > 0.0 && values[e] > 0.0) {
        // Within an error of 0 noise is no count of few large ones: as at 0, where it goes over.
        law.shape = values[e] * values[e] / variance + prior;
        law.scale = std::min(variance / values[e], upper / kFallAtLimit);
        law.deviation = std::sqrt(variance);
      } else if (upper > std::max(values[e], kLeastLimit)) {
        law.shape = prior;
        law.scale = upper / kFallAtLimit;
      }
    }
  }

  void draw(std::span<double> out, Rng& rng) const {
    Vector normal(errors_.factor.cols());
    for (double& g : normal) g = sample_normal(rng);
    Vector error;
    if (!errors_.alone) error = errors_.factor * normal;
    for (std::size_t first = 0; first < out.size(); first += n_) {
      if (errors_.determined[first / n_] == 0) {
        draw_unknown(first, out.subspan(first, n_), rng);
      } else {
        draw_row(first, error, out.subspan(first, n_), rng);
      }
    }
  }

 private:
  // Those of a row that are not known to be 0.
  [[nodiscard]] std::vector<std::size_t> open_entries(std::size_t first) const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < n_; ++i) {
      if (values_[first + i] > 0.0) open.push_back(i);
    }
    return open;
  }

  void draw_unknown(std::size_t first, std::span<double> out, Rng& rng) const {
    const std::vector<std::size_t> open = open_entries(first);
    const std::vector<double> prior(open.size(), 1.0 / static_cast<double>(open.size()));
    std::vector<double> shares(open.size());
    sample_dirichlet(prior, shares, rng);
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t i = 0; i < open.size(); ++i) out[open[i]] = shares[i];
  }

  void draw_row(std::size_t first, const Vector& error, std::span<double> out, Rng& rng) const {
    const auto row = values_.subspan(first, n_);
    const auto largest =
        static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    double sum = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const DrawLaw& law = laws_[first + i];
      out[i] = 0.0;
      if (i == largest) continue;
      if (law.shape == 0.0) {
        out[i] = row[i];
      } else if (law.deviation == 0.0) {
        out[i] = std::min(law.scale * sample_gamma(law.shape, rng), 1.0);
      } else {
        const double z = errors_.alone
                             ? sample_normal(rng)
                             : error(static_cast<Eigen::Index>(first + i)) / law.deviation;
        out[i] = law.at(z);
      }
      sum += out[i];
    }
    out[largest] = std::max(1.0 - sum, kLeastOfLargest);
    const double all = sum + out[largest];
    for (double& value : out) value /= all;
  }

  const JointErrors& errors_;
  std::span<const double> values_;
  std::size_t n_;
  std::vector<DrawLaw> laws_;
};

}  // namespace

std::vector<double> draws_at_maximum(const JointErrors& errors, std::span<const double> values,
                                     std::size_t num_states, std::size_t count, Rng rng) {
  OAS_REQUIRE(values.size() == errors.evidence.size() &&
                  static_cast<std::size_t>(errors.factor.rows()) == values.size() &&
                  errors.determined.size() * num_states == values.size(),
              "errors of {} entries and evidence of {} for {} values", errors.factor.rows(),
              errors.evidence.size(), values.size());
  const RowDrawer drawer(errors, values, num_states);
  std::vector<double> draws(count * values.size());
  for (std::size_t d = 0; d < count; ++d) {
    drawer.draw(std::span(draws).subspan(d * values.size(), values.size()), rng);
  }
  return draws;
}

}  // namespace oas
