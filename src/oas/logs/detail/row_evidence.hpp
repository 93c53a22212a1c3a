#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/logs/detail/log_header.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/reading_likelihood.hpp"

namespace oas::detail {

/// What the row being read says about the state: the cells of one real-valued observation, or of
/// one vector of likelihoods. Messages name column and value; the caller adds file and line.
class RowEvidence {
 public:
  /// Keeps a copy of what it needs.
  RowEvidence(const ContinuousPomdp& model, Outliers outliers);
  /// Readings of so many components, of which nothing is known: likelihoods are 1.
  RowEvidence(const Pomdp& model, int dimension);

  /// What the header may name; valid as long as this object stays where it is.
  [[nodiscard]] ContinuousColumns columns() const;
  /// Once the header is known: likelihoods, or readings.
  void set_kind(bool likelihoods);
  /// Whether readings are taken without a sensor to judge them.
  [[nodiscard]] bool only_collects() const { return !sensors_ && dimension_ > 0; }
  [[nodiscard]] bool brings_likelihoods() const { return likelihoods_; }

  /// One cell. Throws InvalidArgument on what is no finite number and on a negative likelihood.
  void read_cell(HeaderColumn column, const char*& position);

  /// Readings bring no likelihoods yet, since the action that counts is not known; judge_last()
  /// gives them. So it is from the beginning where rows are reading-first.
  void judge_later() { later_ = true; }
  /// Whether readings say the same under both actions; those of likelihoods always do.
  [[nodiscard]] bool same_sensor(Action one, Action other) const;

  /// Forgets the cells of a row that is read again.
  void forget_row();

  /// The row is complete, its action is the last one of the block: appends observation, reading and
  /// likelihoods, unless readings are judged later. Throws InvalidArgument when some likelihoods
  /// are empty and some are not, when all of them are 0, and as judge() does.
  void finish_row(LogBlock& block);

  /// Sets `out` to p(reading | s, action) of all states, of the first reading of a run where there
  /// is no action (-1). False: the reading is not to be believed, and all are 1. Components that
  /// cannot be by themselves become NaN where outliers are allowed for; where they are not, it
  /// throws InvalidArgument on a density that is 0 in every state, or infinite.
  [[nodiscard]] bool judge(Action action, std::span<double> reading, std::span<double> out) const;
  /// Appends the likelihoods of the last reading of a block, which this action led to; one that is
  /// not to be believed becomes missing. Throws as judge() does.
  void judge_last(LogBlock& block, Action action) const;

 private:
  [[nodiscard]] std::string fault_of(std::span<const double> reading,
                                     std::span<const double> likelihoods, Action action) const;

  Labels actions_;
  Labels states_;
  std::optional<ReadingLikelihood> sensors_;
  std::optional<ReadingLikelihood> first_;
  int dimension_ = 0;
  Outliers outliers_;
  bool later_ = false;
  bool likelihoods_ = false;
  std::vector<double> values_;  // of the cells, by index; NaN where one is empty
  std::size_t filled_ = 0;      // cells of this row that are not empty
  std::string scratch_;
};

}  // namespace oas::detail
