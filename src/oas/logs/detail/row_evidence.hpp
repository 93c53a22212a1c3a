#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/logs/detail/log_header.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/model/continuous_pomdp.hpp"

namespace oas::detail {

/// What the row being read says about the state: the cells of one real-valued observation, or of
/// one vector of likelihoods. Messages name column and value; the caller adds file and line.
class RowEvidence {
 public:
  /// Keeps a copy of what it needs.
  explicit RowEvidence(const ContinuousPomdp& model);

  /// What the header may name; valid as long as this object stays where it is.
  [[nodiscard]] ContinuousColumns columns() const;
  /// Once the header is known: likelihoods, or readings.
  void set_kind(bool likelihoods);
  [[nodiscard]] bool brings_likelihoods() const { return likelihoods_; }

  /// One cell. Throws InvalidArgument on what is no finite number and on a negative likelihood.
  void read_cell(HeaderColumn column, const char*& position);

  /// Forgets the cells of a row that is read again.
  void forget_row() { filled_ = 0; }

  /// The row is complete, its action is the last one of the block: appends observation, reading and
  /// likelihoods. Where rows are reading-first readings bring none; append_likelihoods() gives
  /// them. Throws InvalidArgument when some cells are empty and some are not, when all
  /// likelihoods are 0, and when the density of a reading is 0 in every state.
  void finish_row(LogBlock& block);

  /// p(reading | s, action) of all states, of the first reading of a run where there is no action
  /// (-1). Throws InvalidArgument when it is 0 in every state, or infinite.
  void append_likelihoods(Action action, std::span<const double> reading,
                          std::vector<double>& out) const;

 private:
  Labels actions_;
  Labels states_;
  std::optional<DensitySensors> sensors_;
  std::optional<DensitySensors> first_;
  bool reading_first_;
  bool likelihoods_ = false;
  std::vector<double> values_;  // of the cells, by index
  std::size_t filled_ = 0;      // cells of this row that are not empty
  std::string scratch_;
};

}  // namespace oas::detail
