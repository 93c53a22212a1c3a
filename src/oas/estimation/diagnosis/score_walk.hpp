#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "oas/estimation/diagnosis/diagnosed_rows.hpp"
#include "oas/estimation/diagnosis/sensor_directions.hpp"
#include "oas/estimation/error_bars/score_filter.hpp"

namespace oas {

/// Dynamics that differ between strata of the rows: groups of units, before and after a change.
struct StratifiedFit {
  std::vector<FittedDynamics> strata;
  std::vector<int> stratum_of_row;  ///< empty: all of stratum 0

  [[nodiscard]] int stratum(std::size_t row) const {
    return stratum_of_row.empty() ? 0 : stratum_of_row[row];
  }
};

/// One coordinate of the dynamics.
struct DynamicsCoordinate {
  int stratum;
  std::size_t entry;  ///< [a][s][s']
};

/// A row's prediction score and those of readings that might have come in its place. At the true
/// model the score is drawn from these, given the rows before.
struct ScoredRow {
  std::size_t row;
  const Vector& score;
  const Matrix& others;  ///< [reading][coordinate], of mean 0
  const Vector& weights;
  const OtherReadings& readings;         ///< empty where none can be drawn
  const Eigen::RowVectorXd& emitter;     ///< P(state that emits | rows before)
  const Eigen::RowVectorXd& likelihood;  ///< what the row says of it
};

/// Takes the mean from drawn rows, which makes them a little too alike, and that back.
void center_draws(const Vector& weights, Matrix& draws);

/// Prediction scores along all rows. Coordinates: those of the dynamics, stratum by stratum, then
/// the sensor directions. Of a row of T entries take part that the rows hold at least one expected
/// transition of, at most kMostCoordinates over all strata, those with the most first.
///
/// Where readings cannot be drawn, the row's own score and its opposite stand for the others, which
/// gives their spread, not their law.
class ScoreWalk {
 public:
  static constexpr std::size_t kMostCoordinates = 64;

  /// All must outlive it.
  ScoreWalk(const AnyModel& model, const DiagnosedRows& rows, const StratifiedFit& fit,
            const SensorDirections& sensors);
  ScoreWalk(AnyModel&& model, const DiagnosedRows& rows, const StratifiedFit& fit,
            const SensorDirections& sensors) = delete;

  [[nodiscard]] const std::vector<DynamicsCoordinate>& dynamics() const { return coordinates_; }
  [[nodiscard]] Eigen::Index size() const { return filter_.size(); }
  /// [coordinate of the dynamics]: number of its row of T, over all strata.
  [[nodiscard]] std::vector<int> rows_of_dynamics() const;

  /// Calls `receive` for each row with a reading that can happen, in the order of the log.
  void run(std::uint64_t seed, const std::function<void(const ScoredRow&)>& receive);

 private:
  void score_others(std::size_t row, Rng& rng);

  const Pomdp& chain_;
  const DiagnosedRows& rows_;
  const StratifiedFit& fit_;
  const SensorDirections& sensors_;
  std::vector<DynamicsCoordinate> coordinates_;
  ScoreFilter filter_;
  OtherReadings readings_;
  Vector score_;
  Matrix others_;
  Vector weights_;
  Vector scratch_;
};

}  // namespace oas
