#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/journal/journal_record.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/reading_likelihood.hpp"
#include "oas/sensors/cells.hpp"

namespace oas::detail {

/// One row as beliefs and learners take it.
struct SeenRow {
  Action action{-1};  ///< -1: this is a first reading
  /// What plans and tests see of it; of a reading its cell. kMissing: nothing.
  Observation observation = kMissing;
  /// [s]: p(what was seen | s, action) up to a factor, in place of the observation; empty: that.
  std::vector<double> likelihoods;

  [[nodiscard]] bool missing() const { return observation == kMissing && likelihoods.empty(); }
};

/// The model of a live agent. Observations are finite, or real-valued readings: then plans are made
/// on cells of them, while beliefs take their exact densities. In place of either a row may bring
/// likelihoods, of somebody else's sensor. A value, cheap to copy.
class LiveModel {
 public:
  /// Throws InvalidArgument on real-valued observations without densities.
  explicit LiveModel(AnyModel model);

  /// With finite observations: the model itself, or its readings in cells.
  [[nodiscard]] const Pomdp& finite() const { return *finite_; }
  [[nodiscard]] const AnyModel& given() const { return *given_; }
  /// Of a reading; 0: observations are finite.
  [[nodiscard]] int dimension() const { return dimension_; }

  /// Throws InvalidArgument on a row that cannot be: other sizes, or probability 0 in every state.
  [[nodiscard]] SeenRow seen(const JournalRow& row) const;

 private:
  void see_observation(const JournalRow& row, SeenRow& seen) const;
  void see_reading(const JournalRow& row, SeenRow& seen) const;
  void see_likelihoods(const JournalRow& row, SeenRow& seen) const;

  std::shared_ptr<const AnyModel> given_;
  std::shared_ptr<const Pomdp> finite_;
  int dimension_ = 0;
  std::optional<Cells> cells_;
  std::shared_ptr<const ReadingLikelihood> density_;
  std::shared_ptr<const ReadingLikelihood> first_density_;
};

}  // namespace oas::detail
