#include "oas/estimation/diagnosis/score_tests.hpp"

#include <algorithm>
#include <boost/math/distributions/non_central_chi_squared.hpp>
#include <cmath>

namespace oas {

namespace {

constexpr double kLeastInformation = 4.0;  // a standard error of 1/2, where 1 is all there is
constexpr double kTrim = 0.05;             // share of the information beside a split
constexpr double kSmallestCell = 0.1;      // of the mean one, in the weight of a cell

// Λ^(-1/2) Qᵀ of the directions with enough information.
Matrix whitening(const Matrix& information) {
  if (information.size() == 0) return {0, information.cols()};
  const SymmetricEigen eigen = symmetric_eigen(information);
  std::vector<Eigen::Index> kept;
  const double most = eigen.values.size() > 0 ? eigen.values(eigen.values.size() - 1) : 0.0;
  for (Eigen::Index i = 0; i < eigen.values.size(); ++i) {
    if (eigen.values(i) >= std::max(kLeastInformation, 1e-10 * most)) kept.push_back(i);
  }
  Matrix basis(static_cast<Eigen::Index>(kept.size()), information.cols());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    basis.row(static_cast<Eigen::Index>(k)) =
        eigen.vectors.col(kept[k]).transpose() / std::sqrt(eigen.values(kept[k]));
  }
  return basis;
}

// Scores of `part` less what those of `other` explain, as a matrix to apply to all scores, and
// their information.
struct Efficient {
  Matrix map;
  Matrix information;
};

Efficient efficient(const Matrix& total, Eigen::Index first, Eigen::Index count,
                    Eigen::Index other_first, Eigen::Index other_count) {
  const Eigen::Index size = total.rows();
  Efficient out{Matrix::Zero(count, size), total.block(first, first, count, count)};
  out.map.middleCols(first, count).setIdentity();
  if (other_count == 0 || count == 0) return out;
  const Matrix basis = whitening(total.block(other_first, other_first, other_count, other_count));
  const Matrix across = total.block(first, other_first, count, other_count);
  const Matrix regression = across * basis.transpose() * basis;
  out.map.middleCols(other_first, other_count) = -regression;
  out.information -= regression * across.transpose();
  return out;
}

Efficient part_of(const Matrix& total, ScorePart part, Eigen::Index dynamics) {
  const Eigen::Index sensors = total.rows() - dynamics;
  switch (part) {
    case ScorePart::sensors:
      return efficient(total, dynamics, sensors, 0, dynamics);
    case ScorePart::dynamics_beside_drift:
      return efficient(total, 0, dynamics, dynamics, sensors);
    case ScorePart::dynamics:
      break;
  }
  return efficient(total, 0, dynamics, 0, 0);
}

// Sums of scores by cell, whitened; made the same way of the log and of replicates.
class WhitenedCells {
 public:
  WhitenedCells(const ScoreTally& tally, std::size_t cut, ScorePart part, Eigen::Index dynamics)
      : dynamics_(dynamics), recentred_(part != ScorePart::dynamics) {
    const Matrix total = tally.information();
    const Efficient scores = part_of(total, part, dynamics);
    basis_ = whitening(scores.information) * scores.map;
    fitted_ = whitening(total.topLeftCorner(dynamics, dynamics));
    for (int c = 0; c < tally.cells(cut); ++c) {
      const Matrix half = basis_ * tally.information(cut, c);
      own_.push_back(half * basis_.transpose());
      by_fit_.push_back(half.leftCols(dynamics) * fitted_.transpose());
      share_.push_back(own_.back().trace() /
                       static_cast<double>(std::max<Eigen::Index>(1, size())));
    }
  }

  [[nodiscard]] Eigen::Index size() const { return basis_.rows(); }
  [[nodiscard]] const std::vector<double>& share() const { return share_; }

  // [cell][direction]
  template <class Sums>
  [[nodiscard]] Matrix operator()(const Sums& sums) const {
    const Vector all = sums.colwise().sum().transpose();
    const Vector fit = fitted_ * all.head(dynamics_);
    Matrix cells = sums * basis_.transpose();
    for (std::size_t c = 0; c < own_.size(); ++c) {
      cells.row(static_cast<Eigen::Index>(c)) -= (by_fit_[c] * fit).transpose();
    }
    if (!recentred_) return cells;
    const Vector mean = cells.colwise().sum().transpose();  // a constant departure
    for (std::size_t c = 0; c < own_.size(); ++c) {
      cells.row(static_cast<Eigen::Index>(c)) -= (own_[c] * mean).transpose();
    }
    return cells;
  }

 private:
  Eigen::Index dynamics_;
  bool recentred_;
  Matrix basis_;
  Matrix fitted_;
  std::vector<Matrix> own_;     // information of the cell, whitened
  std::vector<Matrix> by_fit_;  // what a change of the fitted dynamics does to it
  std::vector<double> share_;
};

std::vector<double> split_path(const Matrix& cells, const std::vector<double>& share) {
  std::vector<double> path(share.size(), 0.0);
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(cells.cols());
  double before = 0.0;
  for (std::size_t c = 0; c < share.size(); ++c) {
    sum += cells.row(static_cast<Eigen::Index>(c));
    before += share[c];
    if (before < kTrim || before > 1.0 - kTrim) continue;
    path[c] = sum.squaredNorm() / (before * (1.0 - before));
  }
  return path;
}

std::vector<double> cell_parts(const Matrix& cells, const std::vector<double>& share) {
  std::vector<double> parts(share.size(), 0.0);
  const double least = kSmallestCell / static_cast<double>(share.size());
  for (std::size_t c = 0; c < share.size(); ++c) {
    parts[c] = cells.row(static_cast<Eigen::Index>(c)).squaredNorm() / std::max(share[c], least);
  }
  return parts;
}

template <class Statistic>
void set_null(int replicates, const Statistic& statistic, ScoreTest& test) {
  int larger = 0;
  for (int b = 0; b < replicates; ++b) {
    test.null.push_back(statistic(b));
    larger += test.null.back() >= test.statistic;
  }
  std::sort(test.null.begin(), test.null.end());
  test.p_value = (1.0 + larger) / (1.0 + replicates);
}

template <class Parts, class Reduce>
ScoreTest run_test(const ScoreTally& tally, std::size_t cut, const WhitenedCells& whitened,
                   const Parts& parts, const Reduce& reduce) {
  ScoreTest test;
  test.dimensions = static_cast<int>(whitened.size());
  test.share = whitened.share();
  test.path.assign(test.share.size(), 0.0);
  if (test.dimensions == 0 || tally.cells(cut) < 2) return test;
  test.path = parts(whitened(tally.sums(cut)), test.share);
  test.statistic = reduce(test.path);
  set_null(
      tally.replicates(),
      [&](int b) { return reduce(parts(whitened(tally.replicate(cut, b)), test.share)); }, test);
  return test;
}

}  // namespace

double ScoreTest::critical(double level) const {
  if (null.empty()) return 0.0;
  const double place = (1.0 - level) * (static_cast<double>(null.size()) + 1.0) - 1.0;
  const auto index = static_cast<std::size_t>(
      std::clamp(std::ceil(place), 0.0, static_cast<double>(null.size() - 1)));
  return null[index];
}

double ScoreTest::noncentrality(double degrees, double level, double power) const {
  using Law = boost::math::non_central_chi_squared;
  return Law::find_non_centrality(degrees, critical(level), 1.0 - power);
}

ScoreTest test_change(const ScoreTally& tally, std::size_t cut, ScorePart part,
                      Eigen::Index dynamics) {
  const WhitenedCells whitened(tally, cut, part, dynamics);
  ScoreTest test = run_test(tally, cut, whitened, split_path, [](const std::vector<double>& path) {
    return *std::max_element(path.begin(), path.end());
  });
  test.split = 1 + static_cast<int>(std::max_element(test.path.begin(), test.path.end()) -
                                    test.path.begin());
  return test;
}

ScoreTest test_cells(const ScoreTally& tally, std::size_t cut, ScorePart part,
                     Eigen::Index dynamics) {
  const WhitenedCells whitened(tally, cut, part, dynamics);
  return run_test(tally, cut, whitened, cell_parts, [](const std::vector<double>& parts) {
    double sum = 0.0;
    for (const double part_of_sum : parts) sum += part_of_sum;
    return sum;
  });
}

ScoreTest test_sum(const ScoreTally& tally) {
  const Matrix basis = whitening(tally.information());
  ScoreTest test;
  test.dimensions = static_cast<int>(basis.rows());
  if (test.dimensions == 0) return test;
  const auto length = [&](const auto& sums) {
    return (basis * sums.colwise().sum().transpose()).squaredNorm();
  };
  test.statistic = length(tally.sums(0));
  set_null(
      tally.replicates(), [&](int b) { return length(tally.replicate(0, b)); }, test);
  return test;
}

Matrix standardised_cells(const ScoreTally& tally, std::size_t cut, ScorePart part,
                          Eigen::Index dynamics) {
  const WhitenedCells whitened(tally, cut, part, dynamics);
  Matrix cells = whitened(tally.sums(cut));
  const double least = kSmallestCell / static_cast<double>(whitened.share().size());
  for (std::size_t c = 0; c < whitened.share().size(); ++c) {
    cells.row(static_cast<Eigen::Index>(c)) /= std::sqrt(std::max(whitened.share()[c], least));
  }
  return cells;
}

Vector information_of(const ScoreTally& tally, ScorePart part, Eigen::Index dynamics) {
  const Efficient scores = part_of(tally.information(), part, dynamics);
  // Of what lies in directions that the log knows nothing of, no test looks at anything.
  const Matrix basis = whitening(scores.information);
  return (basis * scores.information).colwise().squaredNorm().transpose();
}

}  // namespace oas
