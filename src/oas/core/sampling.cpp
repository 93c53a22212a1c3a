#include "oas/core/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

double checked_sum(std::span<const double> weights) {
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    OAS_REQUIRE(weights[i] >= 0.0 && std::isfinite(weights[i]),
                "categorical weight {} is {}; weights must be finite and not negative", i,
                weights[i]);
    sum += weights[i];
  }
  OAS_REQUIRE(sum > 0.0 && std::isfinite(sum), "categorical weights sum to {}", sum);
  return sum;
}

// log of a Gamma(shape) draw; exact also where the draw itself would underflow.
double sample_log_gamma(double shape, Rng& rng) {
  if (shape >= 1.0) return std::log(sample_gamma(shape, rng));
  const double log_boosted = std::log(sample_gamma(shape + 1.0, rng));
  // log1p(-u): u may be 0, never 1. The smallest shapes would give minus infinity.
  constexpr double kSmallestShape = 1e-306;
  return log_boosted + std::log1p(-rng.uniform()) / std::max(shape, kSmallestShape);
}

}  // namespace

int sample_categorical(std::span<const double> weights, Rng& rng) {
  return sample_categorical(weights, rng.bits());
}

int sample_categorical(std::span<const double> weights, std::uint64_t bits) {
  double remaining = uniform_of(bits) * checked_sum(weights);
  int last_positive = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    last_positive = static_cast<int>(i);
    remaining -= weights[i];
    if (remaining < 0.0) return last_positive;
  }
  return last_positive;  // rounding left a sliver at the end
}

void sample_systematic(std::span<const double> weights, std::span<int> out, Rng& rng) {
  const double step = checked_sum(weights) / static_cast<double>(out.size());
  const double first = rng.uniform();
  std::size_t i = 0;
  std::size_t last_positive = 0;
  double cumulated = 0.0;  // of weights 0 … i-1
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double position = (static_cast<double>(k) + first) * step;
    while (i < weights.size() && cumulated <= position) {
      if (weights[i] > 0.0) last_positive = i;
      cumulated += weights[i++];
    }
    out[k] = static_cast<int>(last_positive);
  }
}

double sample_normal(Rng& rng) {
  while (true) {
    const double x = 2.0 * rng.uniform() - 1.0;
    const double y = 2.0 * rng.uniform() - 1.0;
    const double square = x * x + y * y;
    if (square > 0.0 && square < 1.0) return x * std::sqrt(-2.0 * std::log(square) / square);
  }
}

double sample_gamma(double shape, Rng& rng) {
  OAS_REQUIRE(shape > 0.0 && std::isfinite(shape), "gamma shape is {}; it must be positive", shape);
  if (shape < 1.0) return std::exp(sample_log_gamma(shape, rng));
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = sample_normal(rng);
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const double u = 1.0 - rng.uniform();  // in (0, 1]
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

void sample_dirichlet(std::span<const double> concentration, std::span<double> out, Rng& rng) {
  OAS_REQUIRE(concentration.size() == out.size() && !out.empty(),
              "Dirichlet: {} concentrations for {} values", concentration.size(), out.size());
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < out.size(); ++i) {
    OAS_REQUIRE(concentration[i] > 0.0, "Dirichlet concentration {} is {}; it must be positive", i,
                concentration[i]);
    out[i] = sample_log_gamma(concentration[i], rng);
    largest = std::max(largest, out[i]);
  }
  double sum = 0.0;
  for (double& value : out) sum += value = std::exp(value - largest);
  for (double& value : out) value /= sum;
}

AliasTables::AliasTables(std::span<const double> weights, int width)
    : width_(static_cast<std::size_t>(width)), cells_(weights.size()) {
  OAS_REQUIRE(width > 0 && weights.size() % width_ == 0, "{} weights are not rows of {}",
              weights.size(), width);
  std::vector<double> share(width_);
  std::vector<int> small;
  std::vector<int> large;
  for (std::size_t start = 0; start < weights.size(); start += width_) {
    build_row(weights.subspan(start, width_), cells_.data() + start, share, small, large);
  }
}

AliasTables::AliasTables(std::span<const double> weights, std::span<const int> outcomes,
                         std::vector<std::size_t> row_starts)
    : row_starts_(std::move(row_starts)), cells_(weights.size()) {
  OAS_REQUIRE(outcomes.size() == weights.size() && !row_starts_.empty() &&
                  row_starts_.front() == 0 && row_starts_.back() == weights.size(),
              "{} outcomes and {} row starts for {} weights", outcomes.size(), row_starts_.size(),
              weights.size());
  std::vector<double> share;
  std::vector<int> small;
  std::vector<int> large;
  for (std::size_t row = 0; row + 1 < row_starts_.size(); ++row) {
    const std::size_t start = row_starts_[row];
    OAS_REQUIRE(row_starts_[row + 1] > start, "row {} has no outcome", row);
    const std::size_t width = row_starts_[row + 1] - start;
    share.resize(std::max(share.size(), width));
    build_row(weights.subspan(start, width), cells_.data() + start, share, small, large);
    for (std::size_t i = start; i < start + width; ++i) {
      for (auto& outcome : cells_[i].outcome) {
        outcome = outcomes[start + static_cast<std::size_t>(outcome)];
      }
    }
  }
}

int AliasTables::sample_listed(int row, std::uint64_t bits) const {
  const std::size_t start = row_starts_[static_cast<std::size_t>(row)];
  return sample_cells(cells_.data() + start, row_starts_[static_cast<std::size_t>(row) + 1] - start,
                      bits);
}

void AliasTables::build_row(std::span<const double> weights, Cell* cells,
                            std::vector<double>& share, std::vector<int>& small,
                            std::vector<int>& large) {
  // Vose (1991): every column holds mass 1, filled up by one richer column.
  const double sum = checked_sum(weights);
  small.clear();
  large.clear();
  const std::size_t width = weights.size();
  for (std::size_t i = 0; i < width; ++i) {
    share[i] = weights[i] / sum * static_cast<double>(width);  // in this order: no overflow
    (share[i] < 1.0 ? small : large).push_back(static_cast<int>(i));
  }
  const auto set = [&](int column, double keep, int alias) {
    constexpr double kUnit = 0x1.0p64;
    const bool always = keep >= 1.0;
    cells[column].keep = always ? ~std::uint64_t{0} : static_cast<std::uint64_t>(keep * kUnit);
    cells[column].outcome[0] = always ? column : alias;
    cells[column].outcome[1] = column;
  };
  while (!small.empty() && !large.empty()) {
    const int poor = small.back();
    const int rich = large.back();
    small.pop_back();
    set(poor, share[poor], rich);
    share[rich] -= 1.0 - share[poor];
    if (share[rich] < 1.0) {
      large.pop_back();
      small.push_back(rich);
    }
  }
  // What rounding leaves over is full, except that a weight of zero must never be drawn.
  const auto heaviest =
      static_cast<int>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  for (const int i : large) set(i, 1.0, i);
  for (const int i : small) set(i, weights[i] > 0.0 ? 1.0 : 0.0, heaviest);
}

}  // namespace oas
