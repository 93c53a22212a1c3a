#pragma once

#include <span>
#include <string>

#include "oas/core/parallel.hpp"
#include "oas/estimation/transition_structure.hpp"
#include "oas/experiments/log_likelihood.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// Throws ParseError naming file, line and observation of the first row that cannot happen under
/// any transition model of the structure; of rows that came through a pipe, their number. `log` was
/// read from `paths`. One pass over the rows.
void require_possible(const LogLikelihood& log, std::span<const std::string> paths,
                      const Pomdp& model, const TransitionStructure& structure,
                      Parallelism parallelism);

}  // namespace oas
