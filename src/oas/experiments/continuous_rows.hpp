#pragma once

#include <memory>
#include <string>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/io/log_reader.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/theory/cell_search.hpp"

namespace oas {

/// RowEstimator for real-valued observations: is fed the rows of one run block by block and can be
/// asked at any time what it makes of them.
class ContinuousRowEstimator {
 public:
  virtual ~ContinuousRowEstimator() = default;

  /// The next rows, with readings and likelihoods.
  virtual void add(const LogBlock& block) = 0;
  /// From all rows so far; more may follow.
  [[nodiscard]] virtual TransitionEstimate estimate() = 0;
};

/// The estimator of that name for the densities of `model`, which must outlive it; its transition
/// is not looked at. `reacts`: whether actions depend on observations; in `after` timing rows then
/// need propensities. Likelihood and soft moments take the readings as they are, all others work on
/// `cells`. No error bars where they cost more than the estimate. Throws InvalidArgument on an
/// unknown name.
[[nodiscard]] std::unique_ptr<ContinuousRowEstimator> make_continuous_row_estimator(
    const std::string& name, const ContinuousPomdp& model, bool reacts,
    const CellSearchOptions& cells = {});

}  // namespace oas
