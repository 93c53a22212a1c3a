#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/index.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/run_start.hpp"

namespace oas {

/// Does a log fit the model at all? A wrong sensor model is the most likely mistake of a user, and
/// no transition model can make up for it.
struct SensorFit {
  /// How often an observation came, against how often the model expected it.
  struct Cell {
    std::optional<Action> previous_action;  ///< none: the row before is not known
    Observation previous_observation;
    Action action;
    Observation observation;
    double observed = 0.0;
    double expected = 0.0;
    double z = 0.0;  ///< (observed - expected) / standard deviation
  };
  double statistic = 0.0;
  double degrees = 0.0;  ///< of freedom
  /// P(chi-square >= statistic); NaN when nothing can be tested. With fitted transitions the
  /// statistic is smaller than that, so the test errs on the side of silence.
  double p_value = std::numeric_limits<double>::quiet_NaN();
  std::vector<Cell> worst;  ///< largest |z| first, at most five
  /// How much the statistic would rise on average, were all readings drawn evenly from all
  /// observations while the state is as it is; of a share ε of them ε² times that.
  double if_even = 0.0;

  /// One line for people.
  [[nodiscard]] std::string brief(const Pomdp& model) const;
};

/// Adds up the rows of a log against the predictions of a model with known transitions. For the
/// rows t with the same row before (a',o') and the same action a, the vector Σ_t (e_{o_t} -
/// P(·|rows before t, a)) has mean 0 and covariance Σ_t (diag p_t - p_t p_tᵀ), whatever the policy;
/// its quadratic form is chi-square with O-1 degrees of freedom, and groups add up. Observations
/// expected fewer than five times in a group are left out. Where (A O)² A O numbers would be too
/// many, rows are not told apart by the row before. O(S² + S O + O²) per row, no allocation.
class SensorFitTest {
 public:
  /// The test is made for transitions of largest likelihood: others fit worse than the sensors do.
  /// Throws InvalidArgument when the model has no transition.
  explicit SensorFitTest(const Pomdp& model);

  /// `start`: of the run, where the row starts one; else null. Indices are trusted.
  void add(Action action, Observation observation, const RunStart* start);

  [[nodiscard]] SensorFit finish() const;

  /// For tests in parts: the same as add(), but nothing is counted. A fresh test follows as if it
  /// were in any state before.
  void follow(Action action, Observation observation, const RunStart* start);
  /// What is known before the next row becomes what `other` knows.
  void continue_from(const SensorFitTest& other);
  /// How far what is known before the next row is from what `other` knows: total variation of the
  /// beliefs; 1 if the rows before differ.
  [[nodiscard]] double distance(const SensorFitTest& other) const;
  /// Adds what another test of the same model has counted.
  void merge(const SensorFitTest& other);

  /// What was counted as bytes; load() takes its place. The other two are about what is known
  /// before the next row.
  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  void save_place(ByteWriter& out) const;
  void load_place(ByteReader& in);

 private:
  struct Group {
    Vector observed;
    Vector expected;
    Matrix covariance;
  };
  [[nodiscard]] Group& group_at(std::size_t index);
  [[nodiscard]] Group& group_of(Action action);
  void step(Action action, Observation observation, const RunStart* start, bool counts);
  void add_cells(std::size_t index, SensorFit& fit) const;

  Pomdp model_;
  bool by_previous_;
  bool enabled_;
  std::vector<Group> groups_;  // [previous code, 0: none][action]; empty until met
  Vector belief_;
  Vector emitter_;  // distribution of the state that emits
  Vector predicted_;
  std::size_t previous_ = 0;  // 1 + action · O + observation of the row before; 0: none
};

}  // namespace oas
