#pragma once

#include <functional>
#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/run_start.hpp"

namespace oas {

/// Receives, for t = 0 … n, what is known about s_t: the belief P(s_t | rows before t) and the
/// smoothed P(s_t | all rows of the run). At t = n (the state after the last row) both are equal.
/// `probability` is P(o_t | rows before t, a_t), 1 for a missing observation and at t = n, 0 for an
/// observation that is impossible under the model (it is then skipped in both directions).
using SmoothedRow = std::function<void(std::size_t t, std::span<const double> belief,
                                       std::span<const double> smoothed, double probability)>;

/// Exact forward-backward over one run, both timings, missing observations allowed. Two passes over
/// the rows; backward messages are kept every √n rows and rebuilt in between, so memory is
/// O(S √n) beside the rows. Time O(n S²). Throws InvalidArgument on a model without transition
/// model or columns of different lengths.
void smooth(const Pomdp& model, std::span<const Action> actions,
            std::span<const Observation> observations, const SmoothedRow& receive,
            RunStart start = {});

/// The same for rows that bring likelihoods p(o | s, a) [row][state], all 1 where nothing was seen;
/// `probability` is then the density of the observation. The sensors of `chain` are not looked at.
void smooth_likelihoods(const Pomdp& chain, std::span<const Action> actions,
                        std::span<const double> likelihoods, const SmoothedRow& receive,
                        RunStart start = {});

}  // namespace oas
