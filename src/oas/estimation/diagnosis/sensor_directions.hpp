#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/core/rng.hpp"
#include "oas/estimation/diagnosis/diagnosed_rows.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/reading_likelihood.hpp"

namespace oas {

/// Readings that might have been seen in place of a row's own, given the rows before.
struct OtherReadings {
  Matrix likelihoods;    ///< [reading][state]
  Matrix sensor_slopes;  ///< [reading][direction]: Σ_s p(s) ∂ likelihood(s)
  Vector weights;        ///< [reading]; they sum to 1
  Matrix readings;       ///< [reading][component], where they are real-valued; NaN: not seen
  bool all = false;      ///< these are all that there are; else they were drawn, and weigh the same
  Eigen::Index count = 0;
};

/// What the sensors say of the rows of a log, in which directions they may be otherwise, and what
/// else might have been read. Directions, with a length in which a change can be told to people:
///   finite:       probability moves from the likeliest observation of a state to another one,
///                 length 1 = all of it; shared over actions where all have the same sensors. Where
///                 these are more than kMost, for each state: its readings become those of any.
///   real-valued:  the mean of a component moves in all states by the same amount, length 1 = its
///                 mean standard deviation; and its standard deviation changes by a factor, length
///                 1 = e. To first order, by tilting the densities (Esscher 1932). Outliers, where
///                 the rows allow for them, stay as they are.
///   likelihoods in the log: none, and no other readings can be drawn.
/// Where a row says which state was seen, that is a part of its reading, and so is that none was of
/// those that are never missed.
class SensorDirections {
 public:
  static constexpr int kMost = 48;
  static constexpr Eigen::Index kDraws = 16;

  /// Both must outlive it.
  SensorDirections(const AnyModel& model, const DiagnosedRows& rows);
  SensorDirections(AnyModel&& model, const DiagnosedRows& rows) = delete;
  ~SensorDirections();
  SensorDirections(const SensorDirections&) = delete;
  SensorDirections& operator=(const SensorDirections&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(names_.size()); }
  /// "P(high | worn)", "mean of reading 2"; with `unit()` the length 1 in words.
  [[nodiscard]] const std::string& name(int direction) const {
    return names_[static_cast<std::size_t>(direction)];
  }
  /// What a change of length 1 is in the unit of the readings; 1 for probabilities.
  [[nodiscard]] double scale(int direction) const {
    return scales_[static_cast<std::size_t>(direction)];
  }
  /// Whether other readings can be drawn.
  [[nodiscard]] bool can_draw() const { return finite_ || real_; }
  /// Of real-valued readings that can be drawn, all with the same weight; else null.
  [[nodiscard]] const ReadingLikelihood* reading_likelihood() const;

  /// The likelihoods of a row and their derivatives, [direction][state]. False: nothing was seen.
  [[nodiscard]] bool seen(std::size_t row, Eigen::RowVectorXd& likelihood, Matrix& slopes) const;
  /// Other readings of a row whose state has the distribution `emitter`; components that the row
  /// lacks they lack too (NaN). Only with can_draw().
  void others(std::size_t row, const Eigen::RowVectorXd& emitter, Rng& rng,
              OtherReadings& out) const;

 private:
  struct Finite;
  struct Real;
  using Groups = std::vector<std::vector<Eigen::Index>>;

  void add_finite(const Pomdp& model);
  void add_real(const DensitySensors& sensors);
  void others_finite(Action action, const Eigen::RowVectorXd& emitter, Rng& rng,
                     OtherReadings& out) const;
  /// The states that a note of this row would tell apart.
  [[nodiscard]] Groups groups_of(std::size_t row) const;
  /// Whether the note of a row allows a state.
  [[nodiscard]] bool allows(std::size_t row, Eigen::Index state) const;
  void others_with_notes(std::size_t row, const Eigen::RowVectorXd& emitter, Rng& rng,
                         OtherReadings& out) const;
  void draw_within(std::span<const Eigen::Index> group, std::size_t row,
                   const Eigen::RowVectorXd& emitter, Rng& rng, Eigen::Index j,
                   OtherReadings& out) const;
  void others_real(std::size_t row, const Eigen::RowVectorXd& emitter, Rng& rng,
                   OtherReadings& out) const;
  [[nodiscard]] std::span<const double> reading_of(std::size_t row) const;

  const DiagnosedRows& rows_;
  Eigen::Index num_states_;
  std::unique_ptr<Finite> finite_;
  std::unique_ptr<Real> real_;
  std::vector<std::string> names_;
  std::vector<double> scales_;
};

}  // namespace oas
