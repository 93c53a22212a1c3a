#include "oas/estimation/error_bars/detail/moderated_variances.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>

namespace oas::detail {

namespace {

constexpr int kRounds = 20;
constexpr double kMostDegrees = 1000.0;
constexpr double kFewestDegrees = 0.1;

// Row and column effects of the logarithms of some entries.
struct Effects {
  Effects(const MeasuredVariances& measured, const Vector& logarithms) {
    const auto n = static_cast<Eigen::Index>(measured.row_length);
    rows = Vector::Zero(logarithms.size() / n);
    columns = Vector::Zero(n);
    for (Eigen::Index i = 0; i < logarithms.size(); ++i) {
      if (measured.is_used[static_cast<std::size_t>(i)] == 0) continue;
      mean += logarithms(i);
      count += 1.0;
    }
    mean /= std::max(count, 1.0);
    for (int round = 0; round < kRounds; ++round) {
      Vector row_counts = Vector::Ones(rows.size());  // one of no effect beside them
      Vector column_counts = Vector::Ones(n);
      Vector row_sums = Vector::Zero(rows.size());
      Vector column_sums = Vector::Zero(n);
      for (Eigen::Index i = 0; i < logarithms.size(); ++i) {
        if (measured.is_used[static_cast<std::size_t>(i)] == 0) continue;
        row_sums(i / n) += logarithms(i) - mean - columns(i % n);
        row_counts(i / n) += 1.0;
      }
      rows = row_sums.cwiseQuotient(row_counts);
      for (Eigen::Index i = 0; i < logarithms.size(); ++i) {
        if (measured.is_used[static_cast<std::size_t>(i)] == 0) continue;
        column_sums(i % n) += logarithms(i) - mean - rows(i / n);
        column_counts(i % n) += 1.0;
      }
      columns = column_sums.cwiseQuotient(column_counts);
    }
  }
  [[nodiscard]] double at(Eigen::Index i) const {
    return mean + rows(i / columns.size()) + columns(i % columns.size());
  }

  Vector rows;
  Vector columns;
  double mean = 0.0;
  double count = 0.0;
};

// The x with ψ'(x) = `value`, within the degrees allowed; ψ' falls.
double inverse_trigamma(double value) {
  double low = 0.5 * kFewestDegrees;
  double high = 0.5 * kMostDegrees;
  if (!(value > boost::math::trigamma(high))) return high;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (boost::math::trigamma(middle) > value ? low : high) = middle;
  }
  return low;
}

}  // namespace

ModeratedVariances moderate(const MeasuredVariances& measured) {
  const double half = 0.5 * measured.degrees;
  const double bias = boost::math::digamma(half) - std::log(half);
  Vector logarithms = Vector::Zero(measured.squares.size());
  for (Eigen::Index i = 0; i < logarithms.size(); ++i) {
    if (measured.is_used[static_cast<std::size_t>(i)] == 0) continue;
    logarithms(i) = std::log(measured.squares(i) / measured.guess(i)) - bias;
  }
  const Effects effects(measured, logarithms);
  ModeratedVariances result;
  result.factors.resize(logarithms.size());
  double squares = 0.0;
  for (Eigen::Index i = 0; i < logarithms.size(); ++i) {
    result.factors(i) = std::exp(effects.at(i));
    if (measured.is_used[static_cast<std::size_t>(i)] == 0) continue;
    squares += (logarithms(i) - effects.at(i)) * (logarithms(i) - effects.at(i));
  }
  // Var log = ψ'(degrees / 2) + ψ'(d / 2), of the entries that effects were not spent on.
  const double left =
      effects.count - static_cast<double>(effects.rows.size() + effects.columns.size());
  const double beyond = left > 1.0 ? squares / left - boost::math::trigamma(half) : 1.0;
  const double smooth = 2.0 * inverse_trigamma(beyond);
  result.degrees = smooth + measured.degrees;
  result.variances = measured.guess.cwiseProduct(result.factors);
  for (Eigen::Index i = 0; i < logarithms.size(); ++i) {
    if (measured.is_used[static_cast<std::size_t>(i)] == 0) continue;
    result.variances(i) =
        (smooth * result.variances(i) + measured.degrees * measured.squares(i)) / result.degrees;
  }
  return result;
}

}  // namespace oas::detail
