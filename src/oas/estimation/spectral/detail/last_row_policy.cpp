#include "oas/estimation/spectral/detail/last_row_policy.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <vector>

namespace oas::detail {

namespace {

constexpr double kLeastExpected = 5.0;

// Calls use(x1, a2, o2, a3, n) for every count n = Σ_{o3} N that is not 0.
template <class Use>
void for_each_choice(const TripleFolder& log, const Use& use) {
  const auto [d1, d2, d3] = log.counts().sizes();
  for (int block = 0; block < log.counts().num_blocks(); ++block) {
    const std::int64_t* cell = log.counts().block(block).data();
    for (int x1 = 0; x1 < d1; ++x1) {
      for (int o2 = 0; o2 < d2; ++o2) {
        std::int64_t sum = 0;
        for (int o3 = 0; o3 < d3; ++o3) sum += *cell++;
        if (sum > 0) {
          use(x1, block / log.num_actions(), o2, block % log.num_actions(),
              static_cast<double>(sum));
        }
      }
    }
  }
}

// The statistic of one table x1 × a3 and its degrees of freedom, added to the totals. Rows and
// columns without a cell of sufficient expectation are left out.
void add_table(const Matrix& table, double& statistic, double& freedom) {
  const Vector rows = table.rowwise().sum();
  const Vector columns = table.colwise().sum();
  const double total = rows.sum();
  int used_columns = 0;
  double least = total;
  for (Eigen::Index c = 0; c < columns.size(); ++c) {
    if (columns(c) <= 0.0) continue;
    ++used_columns;
    least = std::min(least, columns(c));
  }
  if (used_columns < 2) return;
  // Rows large enough for every used column; the rest only through the totals of these rows.
  std::vector<Eigen::Index> kept;
  for (Eigen::Index r = 0; r < rows.size(); ++r) {
    if (rows(r) * least / total >= kLeastExpected) kept.push_back(r);
  }
  if (kept.size() < 2) return;
  const Matrix part = table(kept, Eigen::all);
  const Vector part_rows = part.rowwise().sum();
  const Vector part_columns = part.colwise().sum();
  for (Eigen::Index r = 0; r < part.rows(); ++r) {
    for (Eigen::Index c = 0; c < part.cols(); ++c) {
      const double expected = part_rows(r) * part_columns(c) / part_rows.sum();
      if (expected <= 0.0) continue;
      statistic += (part(r, c) - expected) * (part(r, c) - expected) / expected;
    }
  }
  const auto live_columns = (part_columns.array() > 0.0).count();
  freedom += static_cast<double>((part.rows() - 1) * (live_columns - 1));
}

}  // namespace

LastRowPolicy::LastRowPolicy(const TripleFolder& log)
    : num_actions_(log.num_actions()),
      num_observations_(log.num_observations()),
      counts_(Matrix::Zero(num_actions_ * num_observations_, num_actions_)) {
  for_each_choice(log, [&](int /*x1*/, int a2, int o2, int a3, double n) {
    counts_(a2 * num_observations_ + o2, a3) += n;
  });
}

Vector LastRowPolicy::seen(int second) const {
  return counts_.middleRows(second * num_observations_, num_observations_).rowwise().sum();
}

Vector LastRowPolicy::tilt(int second, int third) const {
  const auto counts = counts_.block(second * num_observations_, third, num_observations_, 1);
  const Vector all = seen(second);
  Vector share = Vector::Zero(num_observations_);
  for (Eigen::Index o = 0; o < share.size(); ++o) {
    if (all(o) > 0.0) share(o) = counts(o, 0) / all(o);
  }
  return share;
}

double longer_memory_p_value(const TripleFolder& log) {
  const int contexts = log.num_actions() * log.num_observations();
  std::vector<Matrix> tables(static_cast<std::size_t>(contexts),
                             Matrix::Zero(contexts, log.num_actions()));
  for_each_choice(log, [&](int x1, int a2, int o2, int a3, double n) {
    tables[static_cast<std::size_t>(a2 * log.num_observations() + o2)](x1, a3) += n;
  });
  double statistic = 0.0;
  double freedom = 0.0;
  for (const Matrix& table : tables) add_table(table, statistic, freedom);
  if (freedom <= 0.0) return 1.0;
  const boost::math::chi_squared law(freedom);
  return boost::math::cdf(boost::math::complement(law, statistic));
}

}  // namespace oas::detail
