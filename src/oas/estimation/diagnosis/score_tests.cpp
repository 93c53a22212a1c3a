#include "oas/estimation/diagnosis/score_tests.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numeric>

#include "oas/estimation/diagnosis/noncentrality.hpp"

namespace oas {

namespace {

// Of a direction, where a departure of 1 is all there is: a standard error of 1/5. With less, even
// that could not be shown, and scores are far from linear over what may be true.
constexpr double kLeastInformation = 25.0;
constexpr double kLeastFitted = 4.0;    // of a direction in which the dynamics were fitted
constexpr double kLeastVariance = 4.0;  // of a sum that nothing was fitted to
constexpr double kTrim = 0.15;          // share of the information beside a split, at least
constexpr double kMostTrim = 0.25;
constexpr double kRowsBeside = 3.0;    // rows beside a split for each direction, at least
constexpr double kSmallestCell = 0.1;  // of the mean one, in the weight of a cell

// Λ^(-1/2) Qᵀ of the directions with enough information.
Matrix whitening(const Matrix& information, double least = kLeastInformation) {
  if (information.size() == 0) return {0, information.cols()};
  const SymmetricEigen eigen = symmetric_eigen(information);
  std::vector<Eigen::Index> kept;
  const double most = eigen.values.size() > 0 ? eigen.values(eigen.values.size() - 1) : 0.0;
  for (Eigen::Index i = 0; i < eigen.values.size(); ++i) {
    if (eigen.values(i) >= std::max(least, 1e-10 * most)) kept.push_back(i);
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
  const Matrix basis =
      whitening(total.block(other_first, other_first, other_count, other_count), kLeastFitted);
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

Matrix rows_of(const Matrix& matrix, const std::vector<Eigen::Index>& rows) {
  Matrix out(static_cast<Eigen::Index>(rows.size()), matrix.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.row(static_cast<Eigen::Index>(i)) = matrix.row(rows[i]);
  }
  return out;
}

// All coordinates of a part, then each row of T or each sensor direction.
std::vector<ScoreBlock> blocks_of(ScorePart part, const ScoreLayout& layout, Eigen::Index count) {
  std::vector<ScoreBlock> blocks(1);
  std::vector<int> keys;
  for (Eigen::Index i = 0; i < count; ++i) {
    blocks.front().coordinates.push_back(i);
    const int key = part == ScorePart::sensors ? static_cast<int>(i)
                                               : layout.row_of[static_cast<std::size_t>(i)];
    const auto found = std::find(keys.begin(), keys.end(), key);
    const auto place = static_cast<std::size_t>(found - keys.begin());
    if (found == keys.end()) {
      keys.push_back(key);
      blocks.emplace_back();
    }
    blocks[place + 1].coordinates.push_back(i);
  }
  if (blocks.size() == 2) blocks.pop_back();  // it is all
  return blocks;
}

// Sums of scores by cell, whitened block by block; made the same way of the log and of replicates.
class WhitenedCells {
 public:
  WhitenedCells(const ScoreTally& tally, std::size_t cut, ScorePart part, const ScoreLayout& layout)
      : dynamics_(layout.dynamics), recentred_(part != ScorePart::dynamics) {
    const Matrix total = tally.information();
    const Efficient scores = part_of(total, part, dynamics_);
    fitted_ = whitening(total.topLeftCorner(dynamics_, dynamics_), kLeastFitted);
    for (ScoreBlock& block : blocks_of(part, layout, scores.map.rows())) {
      const Matrix own =
          rows_of(rows_of(scores.information, block.coordinates).transpose(), block.coordinates);
      const Matrix basis = whitening(own) * rows_of(scores.map, block.coordinates);
      block.dimensions = static_cast<int>(basis.rows());
      if (block.dimensions > 0) add(tally, cut, basis, std::move(block));
    }
  }

  [[nodiscard]] const std::vector<ScoreBlock>& blocks() const { return blocks_; }
  // By cell: of the information of a block.
  [[nodiscard]] const std::vector<double>& share(std::size_t block) const { return share_[block]; }

  // [cell][direction]
  template <class Sums>
  [[nodiscard]] Matrix operator()(std::size_t block, const Sums& sums) const {
    const Vector all = sums.colwise().sum().transpose();
    const Vector fit = fitted_ * all.head(dynamics_);
    Matrix cells = sums * basis_[block].transpose();
    for (std::size_t c = 0; c < own_[block].size(); ++c) {
      cells.row(static_cast<Eigen::Index>(c)) -= (by_fit_[block][c] * fit).transpose();
    }
    if (!recentred_) return cells;
    const Vector mean = cells.colwise().sum().transpose();  // a constant departure
    for (std::size_t c = 0; c < own_[block].size(); ++c) {
      cells.row(static_cast<Eigen::Index>(c)) -= (own_[block][c] * mean).transpose();
    }
    return cells;
  }

 private:
  void add(const ScoreTally& tally, std::size_t cut, const Matrix& basis, ScoreBlock block) {
    blocks_.push_back(std::move(block));
    basis_.push_back(basis);
    own_.emplace_back();
    by_fit_.emplace_back();
    share_.emplace_back();
    for (int c = 0; c < tally.cells(cut); ++c) {
      const Matrix half = basis * tally.information(cut, c);
      own_.back().push_back(half * basis.transpose());
      by_fit_.back().push_back(half.leftCols(dynamics_) * fitted_.transpose());
      share_.back().push_back(own_.back().back().trace() / static_cast<double>(basis.rows()));
    }
  }

  Eigen::Index dynamics_;
  bool recentred_;
  Matrix fitted_;
  std::vector<ScoreBlock> blocks_;
  std::vector<Matrix> basis_;                // [block]
  std::vector<std::vector<Matrix>> own_;     // [block][cell]: its information, whitened
  std::vector<std::vector<Matrix>> by_fit_;  // what a change of the fitted dynamics does to it
  std::vector<std::vector<double>> share_;
};

std::vector<double> split_path(const Matrix& cells, const std::vector<double>& share, double trim) {
  std::vector<double> path(share.size(), 0.0);
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(cells.cols());
  double before = 0.0;
  for (std::size_t c = 0; c < share.size(); ++c) {
    sum += cells.row(static_cast<Eigen::Index>(c));
    before += share[c];
    if (before < trim || before > 1.0 - trim) continue;
    path[c] = sum.squaredNorm() / (before * (1.0 - before));
  }
  return path;
}

// Weighted alike: what a cell knows depends on what happened in it (a unit that fails early tells
// little), so dividing by it would not leave the mean where it is.
std::vector<double> cell_parts(const Matrix& cells, const std::vector<double>& share) {
  std::vector<double> parts(share.size(), 0.0);
  for (std::size_t c = 0; c < share.size(); ++c) {
    parts[c] =
        cells.row(static_cast<Eigen::Index>(c)).squaredNorm() * static_cast<double>(share.size());
  }
  return parts;
}

double largest_of(const std::vector<double>& path) {
  return *std::max_element(path.begin(), path.end());
}
double sum_of(const std::vector<double>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

// -log10 P(chi-square >= value); beyond the range of doubles by the leading term.
double evidence(double value, double degrees) {
  if (!(value > 0.0)) return 0.0;
  const double tail = boost::math::gamma_q(0.5 * degrees, 0.5 * value);
  if (tail > 1e-280) return -std::log10(tail);
  const double half = 0.5 * value;
  return (half - (0.5 * degrees - 1.0) * std::log(half) + std::lgamma(0.5 * degrees)) /
         std::log(10.0);
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
                   double degrees_per_dimension, const Parts& parts, const Reduce& reduce) {
  ScoreTest test;
  test.path.assign(static_cast<std::size_t>(tally.cells(cut)), 0.0);
  test.blocks = whitened.blocks();
  if (test.blocks.empty() || tally.cells(cut) < 2) return test;
  test.dimensions = test.blocks.front().dimensions;
  for (ScoreBlock& block : test.blocks) block.degrees = degrees_per_dimension * block.dimensions;
  const auto of_block = [&](std::size_t b, const auto& sums) {
    return evidence(reduce(parts(whitened(b, sums), whitened.share(b))), test.blocks[b].degrees);
  };
  const auto of_all = [&](const auto& sums, std::size_t* best) {
    double most = 0.0;
    for (std::size_t b = 0; b < test.blocks.size(); ++b) {
      const double one = of_block(b, sums);
      if (one <= most) continue;
      most = one;
      if (best != nullptr) *best = b;
    }
    return most;
  };
  test.statistic = of_all(tally.sums(cut), &test.block);
  set_null(
      tally.replicates(), [&](int b) { return of_all(tally.replicate(cut, b), nullptr); }, test);
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
  return noncentrality_at_level(degrees, std::pow(10.0, -std::min(critical(level), 250.0)), power);
}

double ScoreTest::noncentrality_of(Eigen::Index coordinate, double level, double power) const {
  double needed = std::numeric_limits<double>::infinity();
  for (const ScoreBlock& one : blocks) {
    const auto& own = one.coordinates;
    if (std::find(own.begin(), own.end(), coordinate) == own.end()) continue;
    needed = std::min(needed, noncentrality(one.degrees, level, power));
  }
  return needed;
}

ScoreTest test_change(const ScoreTally& tally, std::size_t cut, ScorePart part,
                      const ScoreLayout& layout) {
  const WhitenedCells whitened(tally, cut, part, layout);
  const double size = whitened.blocks().empty() ? 0.0 : whitened.blocks().front().dimensions;
  const double trim =
      std::clamp(kRowsBeside * size / static_cast<double>(std::max<std::int64_t>(tally.rows(), 1)),
                 kTrim, kMostTrim);
  const auto path_of = [trim](const Matrix& cells, const std::vector<double>& share) {
    return split_path(cells, share, trim);
  };
  ScoreTest test = run_test(tally, cut, whitened, 1.0, path_of, largest_of);
  if (!test.tested()) return test;
  for (std::size_t b = 0; b < test.blocks.size(); ++b) {
    const std::vector<double> path = path_of(whitened(b, tally.sums(cut)), whitened.share(b));
    if (b == 0) test.gain = path;
    for (std::size_t c = 0; c < path.size(); ++c) {
      test.path[c] = std::max(test.path[c], evidence(path[c], test.blocks[b].degrees));
    }
  }
  test.split = 1 + static_cast<int>(std::max_element(test.path.begin(), test.path.end()) -
                                    test.path.begin());
  return test;
}

ScoreTest test_cells(const ScoreTally& tally, std::size_t cut, ScorePart part,
                     const ScoreLayout& layout) {
  const WhitenedCells whitened(tally, cut, part, layout);
  ScoreTest test = run_test(tally, cut, whitened, tally.cells(cut) - 1.0, cell_parts, sum_of);
  if (test.tested()) test.path = cell_parts(whitened(0, tally.sums(cut)), whitened.share(0));
  return test;
}

ScoreTest test_sum(const ScoreTally& tally) {
  const Matrix basis = whitening(tally.information(), kLeastVariance);
  ScoreTest test;
  test.dimensions = static_cast<int>(basis.rows());
  if (test.dimensions == 0) return test;
  const auto length = [&](const auto& sums) {
    const Vector all = sums.colwise().sum().transpose();
    return evidence((basis * all).squaredNorm(), test.dimensions);
  };
  test.statistic = length(tally.sums(0));
  set_null(
      tally.replicates(), [&](int b) { return length(tally.replicate(0, b)); }, test);
  return test;
}

Matrix standardised_cells(const ScoreTally& tally, std::size_t cut, ScorePart part,
                          const ScoreLayout& layout) {
  const WhitenedCells whitened(tally, cut, part, layout);
  if (whitened.blocks().empty()) return Matrix::Zero(tally.cells(cut), 1);
  Matrix cells = whitened(0, tally.sums(cut));
  const std::vector<double>& share = whitened.share(0);
  const double least = kSmallestCell / static_cast<double>(share.size());
  for (std::size_t c = 0; c < share.size(); ++c) {
    cells.row(static_cast<Eigen::Index>(c)) /= std::sqrt(std::max(share[c], least));
  }
  return cells;
}

Vector information_of(const ScoreTally& tally, ScorePart part, const ScoreLayout& layout) {
  const Efficient scores = part_of(tally.information(), part, layout.dynamics);
  // Of what lies in directions that the log knows nothing of, no test looks at anything.
  const Matrix basis = whitening(scores.information);
  return (basis * scores.information).colwise().squaredNorm().transpose();
}

}  // namespace oas
