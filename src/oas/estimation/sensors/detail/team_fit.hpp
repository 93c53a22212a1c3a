#pragma once

#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/estimation/likelihood/detail/team_rows.hpp"
#include "oas/estimation/sensors/sensor_fit.hpp"
#include "oas/model/pomdp.hpp"

namespace oas::detail {

/// FitInParts of the rows that the ranks of a team keep, up to kMostTestedRows, to the bit. As in
/// the passes over them (TeamRows) each rank begins with the belief that a burn-in at the end of
/// the rank before tells, all at the same time; then the belief that was really come to goes from
/// rank to rank, and with it what was counted. A rank where the two differ tests its rows again.
///
/// `model` has its transitions; `unknown_start` is the law of runs that start in an unknown state,
/// empty: all states alike. On rank 0; the others help_fit().
[[nodiscard]] SensorFit lead_fit(const TeamRows& rows, const Pomdp& model,
                                 const std::vector<double>& unknown_start, Parallelism parallelism);

/// Whether rank 0 asks for that.
[[nodiscard]] bool is_fit_order(const std::string& order);
/// `model`: without its transitions.
void help_fit(const TeamRows& rows, const Pomdp& model, const std::string& order,
              Parallelism parallelism);

}  // namespace oas::detail
