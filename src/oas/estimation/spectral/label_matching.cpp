#include "oas/estimation/spectral/label_matching.hpp"

#include <algorithm>
#include <limits>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kNoMatch = std::numeric_limits<double>::infinity();

// The Hungarian method with potentials: rows enter one by one, each by a shortest augmenting path.
// Arrays start at 1; 0 is the free row or column.
class Assignment {
 public:
  explicit Assignment(const Matrix& cost)
      : cost_(cost),
        n_(static_cast<int>(cost.rows())),
        row_potential_(size()),
        column_potential_(size()),
        row_of_(size()),
        previous_(size()) {
    for (int row = 1; row <= n_; ++row) enter(row);
  }

  [[nodiscard]] std::vector<int> column_of_rows() const {
    std::vector<int> columns(static_cast<std::size_t>(n_));
    for (int column = 1; column <= n_; ++column) columns[row_of_[column] - 1] = column - 1;
    return columns;
  }

 private:
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(n_) + 1; }

  void enter(int row) {
    row_of_[0] = row;
    std::vector<double> distance(size(), kNoMatch);
    std::vector<bool> done(size(), false);
    int column = 0;
    do {
      column = settle(column, distance, done);
    } while (row_of_[column] != 0);
    while (column != 0) {
      row_of_[column] = row_of_[previous_[column]];
      column = previous_[column];
    }
  }

  // Marks `column` as reached, relaxes the others and returns the nearest one that is left.
  int settle(int column, std::vector<double>& distance, std::vector<bool>& done) {
    done[column] = true;
    const int row = row_of_[column];
    int nearest = 0;
    double step = kNoMatch;
    for (int next = 1; next <= n_; ++next) {
      if (done[next]) continue;
      const double reduced =
          cost_(row - 1, next - 1) - row_potential_[row] - column_potential_[next];
      if (reduced < distance[next]) {
        distance[next] = reduced;
        previous_[next] = column;
      }
      if (distance[next] < step) {
        step = distance[next];
        nearest = next;
      }
    }
    for (int other = 0; other <= n_; ++other) {
      if (done[other]) {
        row_potential_[row_of_[other]] += step;
        column_potential_[other] -= step;
      } else {
        distance[other] -= step;
      }
    }
    return nearest;
  }

  const Matrix& cost_;
  int n_;
  std::vector<double> row_potential_;
  std::vector<double> column_potential_;
  std::vector<int> row_of_;  // [column]
  std::vector<int> previous_;
};

}  // namespace

LabelMatch match_labels(const Matrix& estimated, const Matrix& known) {
  OAS_REQUIRE(estimated.rows() == known.rows() && estimated.cols() == known.cols(),
              "columns of a {}x{} matrix cannot be matched to those of a {}x{} one",
              estimated.rows(), estimated.cols(), known.rows(), known.cols());
  OAS_REQUIRE(estimated.allFinite() && known.allFinite(), "columns to be matched are not finite");
  const Eigen::Index n = known.cols();
  Matrix distance(n, n);
  for (Eigen::Index s = 0; s < n; ++s) {
    for (Eigen::Index e = 0; e < n; ++e) {
      distance(s, e) = (estimated.col(e) - known.col(s)).lpNorm<1>();
    }
  }
  LabelMatch match;
  match.column = Assignment(distance).column_of_rows();
  for (Eigen::Index s = 0; s < n; ++s) {
    const int own = match.column[static_cast<std::size_t>(s)];
    match.largest_distance = std::max(match.largest_distance, distance(s, own));
    for (Eigen::Index other = 0; other < n; ++other) {
      if (other == s) continue;
      match.margin = std::min(match.margin, distance(other, own) - distance(s, own));
    }
  }
  return match;
}

Matrix relabelled(const Matrix& matrix, const LabelMatch& match) {
  return matrix(match.column, match.column);
}

}  // namespace oas
