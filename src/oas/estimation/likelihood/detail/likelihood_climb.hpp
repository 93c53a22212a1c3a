#pragma once

#include <optional>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/error_bars/detail/free_coordinates.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"

namespace oas::detail {

/// The climb behind maximize_likelihood(). Where the rows give enough batches for an information
/// matrix (twice as many as free coordinates), a step solves (H + μ D) d = g with the score g, the
/// information H from the spread of the batches' scores (Berndt, Hall, Hall and Hausman 1974) and
/// the complete-data information D as the measure of caution μ (Levenberg-Marquardt; large μ is
/// expectation-maximisation). Entries that would become negative go close to 0 and the others are
/// solved again. H is corrected by the changes of the score along the last moves (BFGS), which
/// makes up for batches that say little, or wrong things as in a sorted log. Elsewhere SQUAREM
/// (Varadhan and Roland 2008, scheme S3). Only steps that do not lower the objective are taken;
/// plain expectation-maximisation is the last resort.
class LikelihoodClimb {
 public:
  LikelihoodClimb(const LikelihoodFunction& likelihood, const LikelihoodOptions& options)
      : likelihood_(likelihood), options_(options) {}

  [[nodiscard]] LikelihoodEstimate run(const TransitionModel& start);

 private:
  // A point met on the way: model, pass, and what expectation-maximisation makes of it.
  struct Point {
    TransitionModel transition;
    LikelihoodPass pass;
    double objective = 0.0;
    TransitionModel next;
    double next_gain = 0.0;      // what `next` is sure to bring
    std::vector<double> counts;  // expected counts, prior included
    std::vector<double> slopes;  // derivatives of the objective by the entries
    double to_gain = 0.0;
    // Free coordinates, score and the two informations in them, where there are enough batches.
    std::optional<FreeCoordinates> free;
    Vector score;
    Matrix batches;      // information from batches alone
    Matrix information;  // corrected
    Matrix complete;
  };
  struct Move {
    TransitionModel transition;
    double predicted = 0.0;  // gain
  };

  // `from`: where the move came from, whose change of score is to be remembered; may be null.
  Point visit(const TransitionModel& transition, const Point* from);
  void maximize_expectation(Point& point) const;
  void add_information(Point& point) const;
  void correct_information(Point& point) const;
  void remember(const Point& from, const Point& to);
  [[nodiscard]] Move solve(const Point& from, double caution) const;

  Point plain_step(Point from);
  Point squared_step(Point from);
  Point newton_step(Point from);

  const LikelihoodFunction& likelihood_;
  const LikelihoodOptions& options_;
  int passes_ = 0;
  double caution_ = 0.0;  // μ
  double stretch_ = 1.0;  // of SQUAREM: 1/(1 - rate of convergence)
  struct Change {
    std::vector<double> entries;
    std::vector<double> slopes;
  };
  std::vector<Change> changes_;  // of the last moves, oldest first
  bool stalled_ = false;         // no step is better than rounding
};

}  // namespace oas::detail
