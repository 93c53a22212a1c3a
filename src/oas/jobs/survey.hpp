#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/estimation/error_bars/fisher_information.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {

/// Logs simulated on a model whose transition is known, from which is read what can be learned of
/// it.
struct SurveyOptions {
  PolicyOptions policy;
  std::size_t steps = 100'000;  ///< of each log
  int logs = 10;
  std::uint64_t seed = 1;

  template <class Fields>
  void visit(Fields& fields) {
    fields.text("policy", policy.name, "policy that writes the logs");
    fields("steps", steps, {128, 1'000'000'000}, "number of steps of each simulated log");
    fields("runs", logs, {1, 1'000'000}, "number of simulated logs");
    fields("seed", seed, "same seed, same logs");
  }

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// Log r uses the streams (seed, r, ·). 28 bytes a step.
[[nodiscard]] std::vector<Trajectory> simulate_logs(const Pomdp& model,
                                                    const SurveyOptions& options,
                                                    Parallelism parallelism = {});

/// [a][s]: how often a was taken in s.
[[nodiscard]] std::vector<double> count_visits(const Pomdp& model,
                                               const std::vector<Trajectory>& logs);

/// [a][s][s']: 1 in rows that were never visited.
[[nodiscard]] std::vector<char> unvisited_entries(const Pomdp& model,
                                                  const std::vector<double>& visits);

/// The model moved off the bounds by 1e-6 of uniform: zeros of T are entries like others to an
/// estimator that does not know them.
[[nodiscard]] TransitionModel just_inside(const TransitionModel& transition);

/// fisher_information() summed over the logs, of as many steps of each as about 2e9 operations
/// allow; at least 4096. Coordinates at 0 that a step off their bound would show at once are left
/// out: they are known.
[[nodiscard]] FisherInformation survey_information(const Pomdp& model, const TransitionModel& at,
                                                   const std::vector<char>& held,
                                                   const std::vector<Trajectory>& logs,
                                                   Parallelism parallelism = {});

}  // namespace oas
