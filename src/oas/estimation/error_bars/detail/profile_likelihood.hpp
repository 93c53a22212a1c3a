#pragma once

#include <cstddef>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/model/transition_model.hpp"

namespace oas::detail {

/// A log-likelihood (with a prior: its sum with the prior's part) around its maximum.
struct Summit {
  LikelihoodFunction objective;  ///< log_likelihood and score are used
  TransitionModel at;
  double value = 0.0;
  std::vector<double> slopes;  ///< [a][s][s']: derivatives by the entries
  Matrix information;          ///< -∂²; coordinates: FreeCoordinates(at)
  /// [a][s][s']: the entry is at 0 and the slope pushes it there.
  std::vector<char> at_zero;
  std::vector<std::size_t> references;  ///< [row]: of FreeCoordinates(at)
};

/// The profile likelihood of single entries: the maximum over all other entries when one is held at
/// a value, other rows included. The others are moved by quadratic programs with the information at
/// the summit, corrected on the way by the slopes that are met (bounds 0 <= T kept), or, where that
/// is of no use, by expectation-maximisation, and there from a second start off the bounds too: the
/// likelihood has local maxima. One or two passes mostly do; long logs make at most a dozen.
class ProfileLikelihood {
 public:
  /// `rows` of the log: what a pass costs, hence how many are made.
  ProfileLikelihood(const Summit& summit, double rows);

  /// value at the summit - max over T with T_entry = t; +∞ when the rows are impossible there, NaN
  /// when the passes did not suffice to tell.
  [[nodiscard]] double fall(std::size_t entry, double t);
  [[nodiscard]] int passes() const { return passes_; }
  /// Multiplications so far, about.
  [[nodiscard]] double work() const { return work_; }

 private:
  // Coordinates of all entries but one, each against a reference in its row.
  struct Others {
    std::size_t entry = 0;
    std::vector<std::size_t> entries;
    std::vector<std::size_t> references;
    Matrix information;
  };
  struct Step {
    Vector change;  // of the coordinates
    double gain = 0.0;
  };
  struct Evaluation {
    double value = 0.0;
    std::vector<double> slopes;
    std::vector<double> counts;
  };

  void choose(std::size_t entry);
  [[nodiscard]] std::vector<double> moved_to(double t) const;
  [[nodiscard]] std::vector<double> off_bounds(std::vector<double> at) const;
  // `release`: entries at 0 may leave it.
  [[nodiscard]] Step solve(const std::vector<double>& at, const std::vector<double>& slopes,
                           bool release);
  void add(const Vector& change, double share, std::vector<double>& at) const;
  double expect(const Evaluation& here, std::vector<double>& at) const;
  void learn(const std::vector<double>& from, const std::vector<double>& slopes,
             const std::vector<double>& to, const std::vector<double>& new_slopes);
  [[nodiscard]] double climb(std::vector<double> at);
  [[nodiscard]] double climb_afresh(const std::vector<double>& at, double reached);
  [[nodiscard]] LikelihoodPass others_pass(const TransitionModel& others, double t,
                                           const PassOptions& options);
  [[nodiscard]] Evaluation evaluate(const std::vector<double>& at);
  [[nodiscard]] std::vector<double> predicted_slopes(const std::vector<double>& at) const;

  const Summit& summit_;
  std::size_t num_states_;
  std::vector<std::size_t> place_;  // of an entry among the summit's coordinates; size(): none
  std::vector<std::size_t> coordinates_;
  Others others_;
  Matrix unlearnt_;  // information of `others_` before any step
  double work_of_pass_ = 0.0;
  double work_ = 0.0;
  int most_passes_ = 0;
  int passes_ = 0;
};

}  // namespace oas::detail
