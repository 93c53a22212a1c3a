#pragma once

#include <utility>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/estimation/sensors/sensor_fit.hpp"

namespace oas::detail {

/// SensorFitTest of a long log on several threads. Rows are cut into parts of 2^15 by position
/// alone. A part takes its first belief from a burn-in over the rows before; where that differs
/// from the end of the part before by more than 1e-13 (total variation), the part is done again
/// from there. The same bits for any number of threads; those of SensorFitTest up to one part.
class FitInParts {
 public:
  FitInParts(const Pomdp& model, Parallelism parallelism);

  /// As SensorFitTest.
  void add(Action action, Observation observation, const RunStart* start);
  [[nodiscard]] SensorFit finish();

 private:
  struct Rows {
    std::vector<Action> actions;
    std::vector<Observation> observations;
    std::vector<std::pair<std::size_t, RunStart>> starts;  // ascending rows
  };
  void test_all();
  // Rows first … end-1 of the parts that are there; `counts`: not for the belief alone.
  void show(std::size_t first, std::size_t end, bool counts, SensorFitTest& test) const;

  Parallelism parallelism_;
  SensorFitTest total_;  // of the rows before those that are there, and its belief after them
  SensorFitTest fresh_;
  std::size_t most_parts_;  // at a time
  Rows rows_;
};

}  // namespace oas::detail
