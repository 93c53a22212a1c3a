#include "oas/estimation/error_bars/confidence_region.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"

namespace oas {

namespace {

constexpr std::uint64_t kDrawSeed = 20'190'301;
constexpr double kMostDraws = 10'000.0;
constexpr double kFewestDraws = 2000.0;
constexpr double kMostWork = 2e9;    // multiplications for all draws
constexpr double kMostStored = 4e6;  // numbers kept for quantiles
constexpr std::size_t kMostEntries = 2048;
constexpr Eigen::Index kChunk = 64;    // draws at a time
constexpr double kWholeSimplex = 2.0;  // the largest L1 distance of two distributions
constexpr double kFewestVisits = 2.0;  // of a row that is said to be known
constexpr double kNearBound = 0.1;     // in standard errors: the estimate is at the bound
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Two-sided critical value of one entry.
double critical_value(double confidence, double degrees) {
  const double p = 0.5 + 0.5 * confidence;
  if (std::isinf(degrees)) return boost::math::quantile(boost::math::normal(), p);
  return boost::math::quantile(boost::math::students_t(degrees), p);
}

// The level of one interval of ± `critical` normal standard errors.
double level_of(double critical) {
  return std::min(std::erf(critical / std::sqrt(2.0)), 1.0 - 1e-12);
}

// The least of `values` that a share `level` of them does not exceed.
double upper_quantile(std::vector<double>& values, double level) {
  const auto n = static_cast<double>(values.size());
  const auto rank = static_cast<std::ptrdiff_t>(std::clamp(std::ceil(level * n), 1.0, n)) - 1;
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

std::size_t row_length(const JointErrors& errors) {
  return static_cast<std::size_t>(errors.factor.rows()) / errors.determined.size();
}

void check_sizes(const JointErrors& errors, std::span<const double> values) {
  const auto entries = static_cast<std::size_t>(errors.factor.rows());
  OAS_REQUIRE(entries == values.size() && !errors.determined.empty() &&
                  entries % errors.determined.size() == 0 &&
                  (errors.evidence.empty() || errors.evidence.size() == entries),
              "errors of {} entries in {} rows with evidence of {} for {} values", entries,
              errors.determined.size(), errors.evidence.size(), values.size());
}

double variance_of(const JointErrors& errors, std::size_t entry) {
  return errors.factor.row(static_cast<Eigen::Index>(entry)).squaredNorm();
}

std::vector<EntryEvidence> evidence_for(const JointErrors& errors, std::span<const double> values) {
  if (!errors.evidence.empty()) return errors.evidence;
  std::vector<EntryEvidence> evidence;
  for (std::size_t i = 0; i < values.size(); ++i) {
    evidence.push_back(EntryEvidence::from_counts(values[i], variance_of(errors, i),
                                                  std::numeric_limits<double>::infinity()));
    evidence.back().set_degrees(errors.degrees);
  }
  return evidence;
}

// The standard error of which an interval is ± `critical`; at a bound it has one side only.
double error_of(const EntryEvidence& evidence, const Limits& limits, double critical) {
  const double error = std::sqrt(evidence.variance());
  const double distance = std::min(evidence.value(), 1.0 - evidence.value());
  if (!evidence.is_at_bound() && distance > kNearBound * error) {
    const double wide = 0.5 * (limits.upper - limits.lower) / critical;
    return evidence.has_opinions() ? std::max(error, wide) : error;
  }
  return std::max(limits.upper - evidence.value(), evidence.value() - limits.lower) / critical;
}

// The same covariance with as few columns as it needs.
Matrix narrow(const Matrix& factor) {
  if (factor.cols() <= factor.rows()) return factor;
  Eigen::MatrixXd square = Eigen::MatrixXd::Zero(factor.rows(), factor.rows());
  square.triangularView<Eigen::Lower>() = factor * factor.transpose();  // half the work
  const SymmetricEigen eigen = symmetric_eigen(Matrix(square));
  const Vector& values = eigen.values;
  const double least = 1e-14 * std::max(values(values.size() - 1), 0.0);
  const Eigen::Index null = (values.array() <= least).count();
  return eigen.vectors.rightCols(values.size() - null) *
         values.tail(values.size() - null).cwiseSqrt().asDiagonal();
}

std::size_t largest_of_row(std::span<const double> values, std::size_t first, std::size_t n) {
  const auto row = values.subspan(first, n);
  return first + static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

// Entries at a bound, which the factor does not know, with errors of their own; the largest entry
// of the row takes them up.
Matrix with_bounds(const JointErrors& errors, std::span<const double> values,
                   const std::vector<double>& standard_error) {
  const Matrix factor = narrow(errors.factor);
  const std::size_t n = row_length(errors);
  std::vector<std::size_t> lonely;
  for (std::size_t first = 0; first < values.size(); first += n) {
    const std::size_t largest = largest_of_row(values, first, n);
    const std::size_t before = lonely.size();
    const auto is_lonely = [&](std::size_t i) {
      const double square = standard_error[i] * standard_error[i];
      return errors.determined[i / n] != 0 && square > 0.0 &&
             variance_of(errors, i) < 0.01 * square;
    };
    for (std::size_t i = first; i < first + n; ++i) {
      if (i != largest && is_lonely(i)) lonely.push_back(i);
    }
    // What it loses the others gain: it has no error of its own beside theirs.
    if (lonely.size() == before && is_lonely(largest)) lonely.push_back(largest);
  }
  Matrix joined =
      Matrix::Zero(factor.rows(), factor.cols() + static_cast<Eigen::Index>(lonely.size()));
  joined.leftCols(factor.cols()) = factor;
  Eigen::Index column = factor.cols();
  for (const std::size_t i : lonely) {
    const std::size_t largest = largest_of_row(values, i / n * n, n);
    joined(static_cast<Eigen::Index>(i), column) = standard_error[i];
    if (largest != i) joined(static_cast<Eigen::Index>(largest), column) = -standard_error[i];
    ++column;
  }
  return joined;
}

// What the draws say of every row: [row][draw].
struct RowDraws {
  std::vector<std::vector<double>> largest;  // max |error / se|
  std::vector<std::vector<double>> l1;       // Σ |error|
  Vector errors;                             // [a][s][s']: standard errors drawn from
};

RowDraws draw_rows(const Matrix& factor, const std::vector<char>& determined) {
  const std::size_t num_rows = determined.size();
  const std::size_t n = static_cast<std::size_t>(factor.rows()) / num_rows;
  RowDraws result;
  result.errors = factor.rowwise().norm();
  const Vector& errors = result.errors;
  const double work = static_cast<double>(factor.size()) + 1.0;
  const auto draws = static_cast<std::size_t>(
      std::clamp(std::min(kMostWork / work, kMostStored / static_cast<double>(num_rows)),
                 kFewestDraws, kMostDraws));
  result.largest.assign(num_rows, std::vector<double>(draws, 0.0));
  result.l1 = result.largest;
  Rng rng({kDrawSeed, 0, Role::bootstrap});
  Matrix normal(factor.cols(), kChunk);
  for (std::size_t first = 0; first < draws; first += kChunk) {
    for (double& value : normal.reshaped()) value = sample_normal(rng);
    const Matrix drawn = factor * normal;
    const std::size_t count = std::min<std::size_t>(kChunk, draws - first);
    for (std::size_t row = 0; row < num_rows; ++row) {
      if (determined[row] == 0) continue;
      for (std::size_t i = row * n; i < (row + 1) * n; ++i) {
        const auto entry = static_cast<Eigen::Index>(i);
        const double scale = errors(entry) > 0.0 ? 1.0 / errors(entry) : 0.0;
        for (std::size_t k = 0; k < count; ++k) {
          const double size = std::abs(drawn(entry, static_cast<Eigen::Index>(k)));
          double& largest = result.largest[row][first + k];
          largest = std::max(largest, size * scale);
          result.l1[row][first + k] += size;
        }
      }
    }
  }
  return result;
}

// Bands at the level of the rows' critical values, which are of normal errors.
void fill_bands(const std::vector<EntryEvidence>& evidence, const std::vector<double>& critical,
                ConfidenceRegion& region) {
  const std::size_t n = evidence.size() / critical.size();
  for (std::size_t row = 0; row < critical.size(); ++row) {
    const bool known = std::isfinite(critical[row]);
    const double level = known ? level_of(critical[row]) : 0.0;
    for (std::size_t i = row * n; i < (row + 1) * n; ++i) {
      const Limits limits = known ? evidence[i].interval(level) : Limits{};
      region.lower.push_back(limits.lower);
      region.upper.push_back(limits.upper);
    }
    region.factor.push_back(known ? critical_value(level, evidence[row * n].degrees()) : kUnknown);
  }
  for (double& radius : region.l1) {
    radius = std::isfinite(radius) ? std::min(radius, kWholeSimplex) : kWholeSimplex;
  }
}

// Bonferroni's for every row, and for all rows at once.
void bonferroni(const std::vector<EntryEvidence>& evidence, const std::vector<char>& determined,
                TransitionEstimate& estimate) {
  const std::size_t n = evidence.size() / determined.size();
  // Two entries that sum to 1 have one error.
  const auto per_row = static_cast<double>(n == 2 ? 1 : n);
  const auto known = static_cast<double>(
      std::count_if(determined.begin(), determined.end(), [](char one) { return one != 0; }));
  const auto fill = [&](double entries, ConfidenceRegion& region) {
    const double normal = critical_value(1.0 - (1.0 - estimate.confidence) / std::max(entries, 1.0),
                                         std::numeric_limits<double>::infinity());
    std::vector<double> critical;
    for (const char one : determined) critical.push_back(one != 0 ? normal : kUnknown);
    region = {};
    fill_bands(evidence, critical, region);
    for (std::size_t row = 0; row < determined.size(); ++row) {
      double radius = determined[row] != 0 ? 0.0 : kWholeSimplex;
      for (std::size_t i = row * n; i < (row + 1) * n; ++i) {
        radius +=
            std::max(region.upper[i] - evidence[i].value(), evidence[i].value() - region.lower[i]);
      }
      region.l1.push_back(std::min(radius, kWholeSimplex));
    }
  };
  fill(per_row, estimate.row_region);
  fill(per_row * known, estimate.joint_region);
}

// Intervals reach farther than normal errors do where they are skewed, or wider than the curvature
// says: by how much, for the entries of a row together.
double reach_of_row(const RowDraws& draws, const std::vector<EntryEvidence>& evidence,
                    std::size_t row, const TransitionEstimate& estimate) {
  const std::size_t n = evidence.size() / draws.l1.size();
  const double normal =
      critical_value(estimate.confidence, std::numeric_limits<double>::infinity());
  double reach = 0.0;
  double expected = 0.0;
  for (std::size_t i = row * n; i < (row + 1) * n; ++i) {
    const double value = evidence[i].value();
    reach += std::max(estimate.upper[i] - value, value - estimate.lower[i]);
    expected += normal * draws.errors(static_cast<Eigen::Index>(i));
  }
  const double students = critical_value(estimate.confidence, evidence[row * n].degrees()) / normal;
  return expected > 0.0 ? std::max(students, reach / expected) : students;
}

// Critical values and radii of single rows and of all of them, from draws.
void draw_regions(const RowDraws& draws, const JointErrors& errors,
                  const std::vector<EntryEvidence>& evidence, TransitionEstimate& estimate) {
  const double single =
      critical_value(estimate.confidence, std::numeric_limits<double>::infinity());
  const std::size_t count = draws.largest.front().size();
  std::vector<double> largest(count, 0.0);
  std::vector<double> stretch(count, 0.0);
  std::vector<double> critical;
  for (std::size_t row = 0; row < errors.determined.size(); ++row) {
    const bool known = errors.determined[row] != 0;
    for (std::size_t k = 0; k < count; ++k) {
      largest[k] = std::max(largest[k], draws.largest[row][k]);
    }
    std::vector<double> sorted = draws.l1[row];
    const double radius = upper_quantile(sorted, estimate.confidence);
    for (std::size_t k = 0; k < count && radius > 0.0; ++k) {
      stretch[k] = std::max(stretch[k], draws.l1[row][k] / radius);
    }
    sorted = draws.largest[row];
    // A row with one free direction is a single entry, whatever the draws say.
    critical.push_back(known ? std::max(single, upper_quantile(sorted, estimate.confidence))
                             : kUnknown);
    estimate.row_region.l1.push_back(known ? reach_of_row(draws, evidence, row, estimate) * radius
                                           : kUnknown);
  }
  const double all = std::max(single, upper_quantile(largest, estimate.confidence));
  const double wider = std::max(1.0, upper_quantile(stretch, estimate.confidence));
  for (const double radius : estimate.row_region.l1) {
    estimate.joint_region.l1.push_back(wider * radius);
  }
  fill_bands(evidence, critical, estimate.row_region);
  for (double& one : critical) one = std::isfinite(one) ? all : kUnknown;
  fill_bands(evidence, critical, estimate.joint_region);
}

}  // namespace

std::vector<EntryEvidence> evidence_of_counts(const JointErrors& errors,
                                              std::span<const double> values,
                                              std::span<const double> visits) {
  check_sizes(errors, values);
  OAS_REQUIRE(visits.size() == errors.determined.size(), "visits of {} rows for {}", visits.size(),
              errors.determined.size());
  const std::size_t n = row_length(errors);
  std::vector<EntryEvidence> evidence;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double count = std::max(visits[i / n], 0.0);
    if (n == 1) {  // it is 1 and nothing else
      evidence.push_back(EntryEvidence::certain(values[i]));
      continue;
    }
    evidence.push_back(EntryEvidence::from_counts(values[i], variance_of(errors, i), count));
    evidence.back().scale_to_visits(count);
    evidence.back().set_degrees(errors.degrees);
  }
  return evidence;
}

void set_error_bars(const JointErrors& errors, std::span<const double> values,
                    TransitionEstimate& estimate) {
  check_sizes(errors, values);
  const std::vector<EntryEvidence> evidence = evidence_for(errors, values);
  const std::size_t n = row_length(errors);
  const double critical =
      critical_value(estimate.confidence, std::numeric_limits<double>::infinity());
  estimate.standard_error.assign(values.size(), kUnknown);
  estimate.lower.assign(values.size(), 0.0);
  estimate.upper.assign(values.size(), 1.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (errors.determined[i / n] == 0) continue;
    const Limits limits = evidence[i].interval(estimate.confidence);
    estimate.standard_error[i] = error_of(evidence[i], limits, critical);
    estimate.lower[i] = limits.lower;
    estimate.upper[i] = limits.upper;
  }
}

std::vector<std::size_t> drop_empty_rows(std::span<const double> visits, JointErrors& errors,
                                         TransitionEstimate& estimate) {
  OAS_REQUIRE(
      errors.evidence.size() == estimate.lower.size() && visits.size() == errors.determined.size(),
      "evidence of {} entries and visits of {} rows for {} entries in {} rows",
      errors.evidence.size(), visits.size(), estimate.lower.size(), errors.determined.size());
  std::vector<std::size_t> dropped;
  const std::size_t n = row_length(errors);
  for (std::size_t row = 0; row < errors.determined.size(); ++row) {
    const auto begin = errors.evidence.begin() + static_cast<std::ptrdiff_t>(row * n);
    const auto end = begin + static_cast<std::ptrdiff_t>(n);
    const bool certain =
        std::all_of(begin, end, [](const EntryEvidence& one) { return one.is_certain(); });
    const bool flat =
        std::any_of(begin, end, [](const EntryEvidence& one) { return one.is_flat(); });
    const bool rare = visits[row] < kFewestVisits && !certain;
    if (errors.determined[row] == 0 || !(flat || rare)) continue;
    errors.determined[row] = 0;
    const auto first = static_cast<std::ptrdiff_t>(row * n);
    const auto length = static_cast<std::ptrdiff_t>(n);
    std::fill_n(estimate.standard_error.begin() + first, length, kUnknown);
    std::fill_n(estimate.lower.begin() + first, length, 0.0);
    std::fill_n(estimate.upper.begin() + first, length, 1.0);
    dropped.push_back(row);
  }
  return dropped;
}

void add_regions(const JointErrors& errors, std::span<const double> values,
                 TransitionEstimate& estimate) {
  check_sizes(errors, values);
  OAS_REQUIRE(estimate.standard_error.size() == values.size(), "{} standard errors for {} values",
              estimate.standard_error.size(), values.size());
  const std::vector<EntryEvidence> evidence = evidence_for(errors, values);
  estimate.row_region = {};
  estimate.joint_region = {};
  if (errors.alone || values.size() > kMostEntries)
    return bonferroni(evidence, errors.determined, estimate);
  const Matrix factor = with_bounds(errors, values, estimate.standard_error);
  draw_regions(draw_rows(factor, errors.determined), errors, evidence, estimate);
}

namespace {

void add_bonferroni(std::span<const double> values, bool posterior, TransitionEstimate& estimate) {
  if (estimate.standard_error.empty()) return;
  OAS_REQUIRE(estimate.standard_error.size() == values.size() && !estimate.visits.empty(),
              "{} standard errors for {} values", estimate.standard_error.size(), values.size());
  const std::size_t n = values.size() / estimate.visits.size();
  std::vector<EntryEvidence> evidence;
  std::vector<char> determined(estimate.visits.size(), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool known = std::isfinite(estimate.standard_error[i]);
    const double error = known ? estimate.standard_error[i] : 0.0;
    if (!known) determined[i / n] = 0;
    const bool inside = values[i] > 0.0 && values[i] < 1.0 && error > 0.0;
    if (posterior && inside) {
      evidence.push_back(EntryEvidence::from_counts(values[i], error * error, 0.0, true));
      evidence.back().add_opinion(values[i], error);
    } else {
      evidence.push_back(EntryEvidence::from_counts(values[i], error * error,
                                                    std::numeric_limits<double>::infinity()));
    }
  }
  bonferroni(evidence, determined, estimate);
}

}  // namespace

void add_bonferroni_regions(std::span<const double> values, TransitionEstimate& estimate) {
  add_bonferroni(values, false, estimate);
}

void add_posterior_regions(std::span<const double> means, TransitionEstimate& estimate) {
  add_bonferroni(means, true, estimate);
  for (ConfidenceRegion* region : {&estimate.row_region, &estimate.joint_region}) {
    for (std::size_t i = 0; i < region->lower.size() && i < estimate.lower.size(); ++i) {
      region->lower[i] = std::min(region->lower[i], estimate.lower[i]);
      region->upper[i] = std::max(region->upper[i], estimate.upper[i]);
    }
  }
}

}  // namespace oas
