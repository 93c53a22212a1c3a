#include "oas/sensors/cell_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/core/rng.hpp"
#include "oas/sensors/detail/cell_probabilities.hpp"
#include "oas/sensors/revealing.hpp"

namespace oas {

namespace {

constexpr int kQuantileSteps = 512;  // of the tabulated quantiles
constexpr double kOuter = 1e-3;      // probability beyond the outer quantiles
constexpr double kSmallestStep = 1e-4;
constexpr std::size_t kMostCells = 4096;

// Quantiles of a component of all densities taken together, tabulated: a position in (0,1) stands
// for a split point.
class Positions {
 public:
  Positions(const DensitySensors& sensors, int component) {
    std::vector<Density> parts;
    std::vector<double> weights;
    const int count = sensors.num_states() * sensors.num_actions();
    for (Action a{0}; a < sensors.num_actions(); ++a) {
      for (State s{0}; s < sensors.num_states(); ++s) {
        const Density& density = sensors(a, s).marginals()[static_cast<std::size_t>(component)];
        if (density.kind() == Density::Kind::mixture) {
          for (std::size_t i = 0; i < density.parts().size(); ++i) {
            parts.push_back(density.parts()[i]);
            weights.push_back(density.weights()[i] / count);
          }
        } else {
          parts.push_back(density);
          weights.push_back(1.0 / count);
        }
      }
    }
    const Density all = Density::mixture(std::move(weights), std::move(parts));
    counts_ = all.discrete();
    for (int i = 0; i <= kQuantileSteps; ++i) {
      points_.push_back(
          all.quantile(std::lerp(kOuter, 1.0 - kOuter, static_cast<double>(i) / kQuantileSteps)));
    }
  }

  [[nodiscard]] double at(double position) const {
    const double scaled = position * kQuantileSteps;
    const auto i = std::min<std::size_t>(static_cast<std::size_t>(scaled), kQuantileSteps - 1);
    return split(std::lerp(points_[i], points_[i + 1], scaled - static_cast<double>(i)));
  }
  // Between counts all split points are the same one.
  [[nodiscard]] double split(double x) const { return counts_ ? std::floor(x) + 0.5 : x; }
  [[nodiscard]] bool counts() const { return counts_; }
  [[nodiscard]] double low() const { return points_.front(); }
  [[nodiscard]] double high() const { return points_.back(); }
  // The position of a point.
  [[nodiscard]] double of(double x) const {
    const auto above = std::upper_bound(points_.begin() + 1, points_.end() - 1, x);
    const auto i = static_cast<std::size_t>(above - points_.begin());
    const double width = points_[i] - points_[i - 1];
    const double share = width > 0.0 ? (x - points_[i - 1]) / width : 0.5;
    return std::clamp((static_cast<double>(i - 1) + share) / kQuantileSteps, 0.0, 1.0);
  }

 private:
  std::vector<double> points_;
  bool counts_ = false;
};

using Splits = std::vector<std::vector<double>>;

// α of given split points; counts how often it was asked.
class Objective {
 public:
  Objective(const DensitySensors& sensors, const WorkDone& progress)
      : sensors_(sensors), progress_(progress) {
    for (int c = 0; c < sensors.dimension(); ++c) positions_.emplace_back(sensors, c);
    for (Action a{0}; a < sensors.num_actions(); ++a) {
      for (State s{0}; s < sensors.num_states(); ++s)
        probabilities_.emplace_back(sensors(a, s), true);
    }
  }

  // There may be fewer counts than cells were asked for.
  void drop_repeated_counts(Splits& splits) const {
    for (std::size_t c = 0; c < splits.size(); ++c) {
      auto& list = splits[c];
      if (positions_[c].counts()) list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  // Split points that counts left over, from the smallest count on: more cells tell more.
  void add_unused_counts(Splits& splits, int cells) const {
    drop_repeated_counts(splits);
    for (std::size_t c = 0; c < splits.size(); ++c) {
      auto& list = splits[c];
      if (!positions_[c].counts()) continue;
      for (double split = positions_[c].split(positions_[c].low());
           split < positions_[c].high() && list.size() + 1 < static_cast<std::size_t>(cells);
           split += 1.0) {
        const auto place = std::lower_bound(list.begin(), list.end(), split);
        if (place == list.end() || *place != split) list.insert(place, split);
      }
    }
  }

  // 0 where split points of measures coincide, or any are out of order.
  double operator()(Splits splits) {
    check_interrupted();
    ++evaluations_;
    if (progress_) progress_();
    drop_repeated_counts(splits);
    for (const auto& list : splits) {
      for (std::size_t i = 1; i < list.size(); ++i) {
        if (!(list[i] > list[i - 1])) return 0.0;
      }
    }
    std::size_t cells = 1;
    for (const auto& list : splits) cells *= list.size() + 1;
    values_.resize(probabilities_.size() * cells);
    for (std::size_t i = 0; i < probabilities_.size(); ++i) {
      probabilities_[i](splits, std::span(values_).subspan(i * cells, cells));
    }
    double alpha = std::numeric_limits<double>::infinity();
    const int n = sensors_.num_states();
    for (int a = 0; a < sensors_.num_actions(); ++a) {
      const MatrixView transposed(values_.data() + static_cast<std::size_t>(a * n) * cells, n,
                                  static_cast<Eigen::Index>(cells));
      const Conditioning found = analyse_conditioning(Matrix(transposed.transpose()));
      alpha = std::min(alpha, found.rank < n ? 0.0 : found.smallest);
    }
    return alpha;
  }

  [[nodiscard]] Splits points(const Splits& positions) const {
    Splits splits = positions;
    for (std::size_t c = 0; c < splits.size(); ++c) {
      for (double& x : splits[c]) x = positions_[c].at(x);
    }
    return splits;
  }
  [[nodiscard]] Splits positions(const Splits& points) const {
    Splits splits = points;
    for (std::size_t c = 0; c < splits.size(); ++c) {
      for (double& x : splits[c]) x = positions_[c].of(x);
    }
    return splits;
  }
  [[nodiscard]] const Positions& component(std::size_t c) const { return positions_[c]; }
  [[nodiscard]] int evaluations() const { return evaluations_; }

 private:
  const DensitySensors& sensors_;
  const WorkDone& progress_;
  std::vector<Positions> positions_;
  std::vector<detail::CellProbabilities> probabilities_;  // [action][state]
  std::vector<double> values_;                            // [action][state][cell]
  int evaluations_ = 0;
};

struct Candidate {
  Splits splits;  // points
  double alpha = -1.0;
};

Candidate random_search(Objective& objective, std::size_t components, int cells, int trials,
                        Rng& rng) {
  Candidate best;
  for (int trial = 0; trial < trials; ++trial) {
    Splits splits(components);
    for (std::size_t c = 0; c < components; ++c) {
      const Positions& range = objective.component(c);
      for (int i = 1; i < cells; ++i) {
        splits[c].push_back(range.split(std::lerp(range.low(), range.high(), rng.uniform())));
      }
      std::sort(splits[c].begin(), splits[c].end());
    }
    const double alpha = objective(splits);
    if (alpha > best.alpha) best = {std::move(splits), alpha};
  }
  return best;
}

// Moves one split point at a time, by steps that are halved when no move helps.
Candidate climb(Objective& objective, Splits positions) {
  Candidate best = {objective.points(positions), 0.0};
  best.alpha = objective(best.splits);
  for (double step = 0.1; step > kSmallestStep;) {
    bool moved = false;
    for (auto& list : positions) {
      for (double& position : list) {
        const double before = position;
        for (const double side : {step, -step}) {
          position = std::clamp(before + side, 0.0, 1.0);
          Splits points = objective.points(positions);
          const double alpha = objective(points);
          if (alpha > best.alpha * (1.0 + 1e-9)) {
            best = {std::move(points), alpha};
            moved = true;
            break;
          }
          position = before;
        }
      }
    }
    if (!moved) step *= 0.5;
  }
  return best;
}

int default_cells(const DensitySensors& sensors) {
  if (sensors.dimension() == 1) return 2 * sensors.num_states();
  const double root = std::pow(2.0 * sensors.num_states(), 1.0 / sensors.dimension());
  return std::max(2, static_cast<int>(std::ceil(root)));
}

}  // namespace

void CellSearchOptions::validate() const { check_ranges(*this); }

CellSearch find_cells(const DensitySensors& sensors, const CellSearchOptions& options,
                      const WorkDone& progress) {
  options.validate();
  const int cells = options.cells > 0 ? options.cells : default_cells(sensors);
  const double total = std::pow(cells, sensors.dimension());
  OAS_REQUIRE(total >= sensors.num_states(), "{} cells cannot tell {} states apart", total,
              sensors.num_states());
  OAS_REQUIRE(total <= kMostCells, "{} cells per component are {:.0f} boxes; up to {} are possible",
              cells, total, kMostCells);
  Objective objective(sensors, progress);
  Rng rng({options.seed, 0, Role::problem});
  const auto components = static_cast<std::size_t>(sensors.dimension());
  Splits even(components);
  for (auto& list : even) {
    for (int i = 1; i < cells; ++i) list.push_back(static_cast<double>(i) / cells);
  }
  Candidate best;
  if (options.method == "even") {
    best.splits = objective.points(even);
  } else {
    best = random_search(objective, components, cells, options.trials, rng);
  }
  if (options.method == "refined") {
    for (const Splits& start : {objective.positions(best.splits), even}) {
      Candidate next = climb(objective, start);
      if (next.alpha > best.alpha) best = std::move(next);
    }
  }
  objective.add_unused_counts(best.splits, cells);
  const Cells found(std::move(best.splits));
  return {found, analyse_sensors(cell_sensors(sensors, found, progress)).alpha,
          objective.evaluations()};
}

}  // namespace oas
