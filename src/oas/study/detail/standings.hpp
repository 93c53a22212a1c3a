#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oas/study/kinds.hpp"
#include "oas/study/result_table.hpp"
#include "oas/study/statistics.hpp"

/// Which agent loses least: what the rows of kind `learning` say about each of them, instance by
/// instance.
namespace oas::detail {

/// One agent on the instances of one sweep, after all steps. Only instances that every agent of the
/// sweep has finished runs on are counted, and of these the mean over runs. An agent that failed in
/// some run has no place, and takes no instance from the others; unless all have failed runs.
struct Standing {
  std::string sweep;  ///< empty: all sweeps together, where they have the same agents
  std::string agent;
  std::int64_t instances = 0;
  std::int64_t runs = 0;
  MeanInterval regret;  ///< expected, against the best policy: mean over instances, 95 %
  double median = 0.0;  ///< over instances
  double worst_instance = 0.0;
  double worst_run = 0.0;
  double floor_regret = 0.0;  ///< against the best policy with floor: mean over instances
  /// The agent's minus that of the best one that has to learn, instance by instance.
  std::optional<MeanInterval> behind;
  double seconds = 0.0;     ///< of a run, mean
  std::int64_t failed = 0;  ///< runs
  std::string message;      ///< why the first of them failed

  [[nodiscard]] bool has_place() const { return instances > 0; }
};

/// By sweep, and within one from the least regret to the largest, then those without a place.
/// Intervals over instances are bootstrap-t where there are enough, from a fixed seed.
[[nodiscard]] std::vector<Standing> standings(const KindResults& results);

/// One row per standing; without times, which differ from run to run.
[[nodiscard]] std::string standings_csv(const std::vector<Standing>& standings);

/// A panel per sweep, a dot per agent with its interval, on one logarithmic axis; regret that is
/// not positive stands at its left end.
[[nodiscard]] std::string standings_svg(const std::vector<Standing>& standings);

/// Table and picture.
[[nodiscard]] KindReport standings_report(const KindResults& results);

}  // namespace oas::detail
