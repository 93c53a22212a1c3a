#pragma once

#include <cstddef>
#include <span>

#include "oas/core/linear_algebra.hpp"
#include "oas/core/rng.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/likelihood/maximum_likelihood.hpp"
#include "oas/model/transition_model.hpp"

namespace oas {

/// What the observed information at the mode of a penalised likelihood (LikelihoodOptions::prior)
/// says of the posterior of T, at the price of A S (S-1) passes over the rows where these can be
/// afforded, else of a few, and none for profiles: for an agent that asks again and again. In
/// directions about which the sensors tell little it is wide, whatever the expected numbers of
/// transitions; no direction is wider than a standard deviation of 1. Where rows are too few for an
/// information it is that of the expected transitions.
class LaplacePosterior {
 public:
  /// `mode`, with a pass of the likelihood there that is possible; prior > 0. Throws
  /// InvalidArgument.
  LaplacePosterior(const LikelihoodFunction& likelihood, const TransitionModel& mode,
                   const LikelihoodPass& at_mode, double prior);

  [[nodiscard]] const TransitionModel& mode() const { return mode_; }
  /// d: numbers that make a model, A S (S-1) but for entries that are exactly 0.
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(errors_.factor.cols()); }
  /// mode + F z with F Fᵀ the covariance; entries below 10⁻⁶ raised to that, rows normalised.
  [[nodiscard]] TransitionModel at(std::span<const double> z) const;
  /// A model by draws_at_maximum(). Rows that were left less than twice, going by expected
  /// transitions, are drawn from Dirichlet(1/S, …, 1/S).
  [[nodiscard]] TransitionModel draw(Rng rng) const;

 private:
  TransitionModel mode_;
  JointErrors errors_;
};

}  // namespace oas
