#include "oas/estimation/diagnosis/score_tally.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kMostDrawn = 64e6;  // doubles

}  // namespace

ScoreTally::ScoreTally(std::vector<RowCells> cuts, Eigen::Index size, int replicates,
                       std::uint64_t seed, Parallelism parallelism)
    : cuts_(std::move(cuts)),
      size_(size),
      replicates_(replicates),
      seed_(seed),
      parallelism_(parallelism) {
  double cells = 0.0;
  for (const RowCells& cut : cuts_) cells += cut.count;
  const double each = cells * static_cast<double>(std::max<Eigen::Index>(size, 1));
  replicates_ = std::min(replicates_, static_cast<int>(kMostDrawn / each));
  OAS_REQUIRE(replicates_ >= std::min(replicates, kFewest),
              "{:.0f} units or stretches of {} coordinates are too many to compare", cells, size);
  for (const RowCells& cut : cuts_) {
    sums_.emplace_back(Matrix::Zero(cut.count, size));
    information_.emplace_back(static_cast<std::size_t>(cut.count), Matrix::Zero(size, size));
    drawn_.emplace_back(static_cast<std::size_t>(replicates_) *
                            static_cast<std::size_t>(cut.count) * static_cast<std::size_t>(size),
                        0.0);
  }
}

void ScoreTally::add(const ScoredRow& row) {
  square_.noalias() = row.others.transpose() * row.weights.asDiagonal() * row.others;
  for (std::size_t c = 0; c < cuts_.size(); ++c) {
    const int cell = cuts_[c].of_row[row.row];
    sums_[c].row(cell) += row.score.transpose();
    information_[c][static_cast<std::size_t>(cell)] += square_;
  }
  ++count_;
  rows_.push_back(row.row);
  double sum = 0.0;
  for (Eigen::Index j = 0; j < row.others.rows(); ++j) {
    sum += row.weights(j);
    cumulated_.push_back(sum);
  }
  others_.insert(others_.end(), row.others.data(), row.others.data() + row.others.size());
  ends_.push_back(cumulated_.size());
  if (rows_.size() == kChunkRows) flush();
}

void ScoreTally::flush() {
  if (rows_.empty()) return;
  const auto tasks = static_cast<std::size_t>((replicates_ + kTask - 1) / kTask);
  parallel_for(tasks, parallelism_, [this](std::size_t task) {
    const int first = static_cast<int>(task) * kTask;
    for (int b = first; b < std::min(first + kTask, replicates_); ++b) draw(b);
  });
  rows_.clear();
  ends_.clear();
  others_.clear();
  cumulated_.clear();
}

void ScoreTally::draw(int replicate) {
  const auto size = static_cast<std::size_t>(size_);
  Rng rng({seed_, static_cast<std::uint32_t>(replicate), Role::bootstrap}, rows_.front());
  std::size_t first = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double at = rng.uniform() * cumulated_[ends_[i] - 1];
    std::size_t j = first;
    while (j + 1 < ends_[i] && cumulated_[j] <= at) ++j;
    first = ends_[i];
    const double* const score = others_.data() + j * size;
    for (std::size_t c = 0; c < cuts_.size(); ++c) {
      const auto cell = static_cast<std::size_t>(cuts_[c].of_row[rows_[i]]);
      const auto cells = static_cast<std::size_t>(cuts_[c].count);
      double* const sum =
          drawn_[c].data() + (static_cast<std::size_t>(replicate) * cells + cell) * size;
      for (std::size_t k = 0; k < size; ++k) sum[k] += score[k];
    }
  }
}

Matrix ScoreTally::information() const {
  Matrix total = Matrix::Zero(size_, size_);
  for (const Matrix& one : information_.front()) total += one;
  return total;
}

MatrixView ScoreTally::replicate(std::size_t cut, int index) const {
  const auto cells = static_cast<std::size_t>(cuts_[cut].count);
  return {drawn_[cut].data() +
              static_cast<std::size_t>(index) * cells * static_cast<std::size_t>(size_),
          cuts_[cut].count, size_};
}

}  // namespace oas
