#pragma once

#include <string>
#include <vector>

#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/error_bars/detail/profile_likelihood.hpp"

namespace oas::detail {

/// The summit of `objective` at `at`, where its pass is `pass`, with the information there. An
/// entry is at 0 when it can go there at next to no loss: value · |slope| and value² · information
/// are below 0.02.
[[nodiscard]] Summit make_summit(LikelihoodFunction objective, const TransitionModel& at,
                                 const LikelihoodPass& pass, Matrix information);
/// Where the information is too large to be had: nor is it said which entries are at 0.
[[nodiscard]] Summit make_summit(LikelihoodFunction objective, const TransitionModel& at,
                                 const LikelihoodPass& pass);

/// Another maximum of the same objective.
struct OtherMaximum {
  TransitionModel at;
  double fall = 0.0;        ///< by how much it is lower
  std::vector<int> states;  ///< [s]: the state whose errors are those of s there
};

/// What is known beside the summit.
struct ErrorContext {
  /// Of the score, in the coordinates of the information, where that is not the information
  /// (weights by age); else empty.
  Matrix spread;
  std::vector<double> visits;  ///< [a][s]: expected, imaginary ones of a prior included
  double rows = 0.0;           ///< of the log: what a pass costs
  std::vector<char> made_up;   ///< [a][s]: rows that may never have been left; empty: none
  bool revealing = true;       ///< every action's sensor tells all states apart
  bool penalised = false;      ///< the objective has a prior: it lies inside already
  double prior = 0.0;          ///< then: imaginary transitions of every entry
  std::string not_identified;  ///< why no row can be told; empty: rows can
  std::vector<OtherMaximum> others;
};

/// Errors of all entries at a maximum that may lie on the boundary of 0 <= T.
///
/// *Which rows are determined.* A row is not when its visits may be made up, or when some direction
/// of it has less information than a standard error of 2. Where an entry is at 0 with slope -λ,
/// moving it by δ costs λδ + hδ²/2; at δ = 1/2 that is what an information of h + 4λ costs, so 4λ
/// is added on the diagonal; with λ >= 1 the bound closes the direction.
///
/// *Covariance.* (information)⁻¹ over the coordinates that are not at 0, in the directions that
/// have some; with a spread V it is J⁻¹VJ⁻¹.
///
/// *Evidence* of each entry of a determined row: slope and curvature where it is at a bound, else
/// counts of the row's visits seen through noise (EntryEvidence); and the falls of the profile
/// likelihood at two points on each side of all entries within five standard errors of a bound, or
/// known to 0.05 only, as long as the passes can be afforded. D is multiplied by (n-1)/n for n
/// visits, so that a single visit says nothing, and by the ratio of variances with and without V.
/// Where sensors do not tell all states apart, T is known by what follows later only: the
/// likelihood then has ridges and several maxima, and twice its fall is well above χ² with one
/// degree of freedom. D of rows that are known worse than ± 0.05 is multiplied by 0.58, which makes
/// 95 % intervals of what would be 99 % ones. The same happens where entries at 0 lean on others:
/// in rows that are known to ± 0.05 or worse D is multiplied by cone_ratios() if that is less.
///
/// *A second opinion* (EntryEvidence::add_opinion) for rows that are known to ± 0.05 or worse,
/// where some interval is longer than 0.1: where a log says little, the maximum lies in a corner
/// that its noise has chosen, and falls steeply around it. The fit with half an imaginary
/// transition of every entry (PenalisedFit) lies inside, and its errors are those of what is known
/// there. Not where the objective has a prior already, nor with weights by age.
///
/// *Other maxima*, as where two states look so much alike that a log can hardly tell which is
/// which: what is not much less likely than the summit belongs to an interval, wherever it lies. So
/// the values at another maximum are opinions too, with the errors that the summit has for the
/// states in that place, worth less by what it is lower. `passes` is raised by the passes made.
[[nodiscard]] JointErrors likelihood_errors(const Summit& summit, const ErrorContext& context,
                                            int& passes);

}  // namespace oas::detail
