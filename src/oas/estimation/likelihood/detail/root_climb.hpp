#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "oas/estimation/likelihood/detail/root_coordinates.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"

namespace oas::detail {

/// The climb behind maximize_likelihood() where there are too many coordinates for an information
/// matrix. In RootCoordinates, where expectation-maximisation is the slope itself, a step is that
/// of a limited-memory quasi-Newton method (L-BFGS; Nocedal 1980) whose first guess is the diagonal
/// of the information, by batches: accelerated expectation-maximisation in the sense of Jamshidian
/// and Jennrich (1997, QN2), one pass and O(A S² memory) a step. Bounds need no care, since a root
/// that is pushed to 0 ends there; entries that are as good as 0 are then left out of the passes,
/// which costs sparse models next to nothing for their zeros, and are looked at once more at the
/// end: those that want to leave 0 are let go. Only steps that do not lower the objective are
/// taken; expectation-maximisation is the last resort.
///
/// What is left to be won is judged by the largest of: what expectation-maximisation is sure to
/// bring, half the slope along the step, and the rest of a geometric series through the last gains.
/// The tolerance is meant for 100 coordinates: of so many more, as many times as much may be left.
class RootClimb {
 public:
  RootClimb(const LikelihoodFunction& likelihood, const LikelihoodOptions& options)
      : likelihood_(likelihood), options_(options), began_(std::chrono::steady_clock::now()) {}

  [[nodiscard]] LikelihoodEstimate run(const TransitionModel& start);

 private:
  struct Point {
    Vector roots;
    TransitionModel transition;
    LikelihoodPass pass;
    double objective = 0.0;
    std::vector<double> slopes;  // by the entries, prior included
    std::vector<double> counts;
    Vector slope;
  };
  struct Pair {
    Vector step;
    Vector fall;  // of the slope
    double product;
  };

  [[nodiscard]] LikelihoodStatus climb(Point& best, int& steps);
  [[nodiscard]] std::vector<double> visits_of(const std::vector<double>& counts) const;
  [[nodiscard]] Point visit(const Vector& roots, int batches);
  void start_over(Point& point);
  [[nodiscard]] Vector direction(const Point& point) const;
  [[nodiscard]] bool step(Point& point);
  [[nodiscard]] bool expect(Point& point);
  void remember(const Point& from, const Point& to);
  [[nodiscard]] double sure_gain(const Point& point) const;
  [[nodiscard]] double left_to_gain(const Point& point) const;
  void drop_zeros(Point& point);
  [[nodiscard]] bool let_go(Point& point);
  [[nodiscard]] bool is_spent() const;

  const LikelihoodFunction& likelihood_;
  const LikelihoodOptions& options_;
  std::chrono::steady_clock::time_point began_;
  std::unique_ptr<RootCoordinates> coordinates_;
  Vector spread_;           // of the batches' scores, at the last start_over()
  std::deque<Pair> pairs_;  // oldest first
  std::vector<double> gains_;
  std::vector<char> known_;                            // [a][s][s']: 0 in the start, which is known
  std::vector<char> dropped_;                          // and those as good as 0
  std::shared_ptr<const std::vector<char>> left_out_;  // of the passes
  std::ptrdiff_t num_rows_ = 0;                        // of T
  double tolerance_ = 0.0;
  double promised_ = 0.0;  // by the last direction
  double left_ = 0.0;      // to be won
  int passes_ = 0;
};

/// Whether this is the climb to take: more than 10 states, and more than 600 free coordinates.
[[nodiscard]] bool has_many_coordinates(const TransitionModel& at);

}  // namespace oas::detail
