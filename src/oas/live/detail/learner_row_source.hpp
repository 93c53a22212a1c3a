#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "oas/core/scratch_file.hpp"
#include "oas/live/detail/learner_rows.hpp"
#include "oas/model/row_source.hpp"

namespace oas::detail {

/// The rows of a LearnerRows, one run after the other, in memory or in a file, and their weights.
/// Add none to these while it lives.
class LearnerRowSource final : public RowSource {
 public:
  /// Throws IoError where there is no room for the file.
  explicit LearnerRowSource(const LearnerRows& rows);

  bool next(RowBlock& block) override;
  void rewind() override;
  [[noreturn]] void fail(std::size_t row, const std::string& message) const override;
  [[noreturn]] void fail_at(std::int64_t index, const std::string& message) override;

  /// With a half-life: the mean of the weights to that power, of rows first … first+count-1 in the
  /// order of next(), all of one run. Each row weighs by its own age. Call it while this lives.
  [[nodiscard]] std::function<double(std::size_t first, std::size_t count)> mean_weight(
      double power) const;

 private:
  struct Place;
  class Weights;

  void read_again();
  void read_again(const LearnerRow& row, std::int64_t number, Place& place) const;
  [[nodiscard]] char* codes_in_file() const;
  void begin_run();
  void decode(std::size_t count);
  void decode_likelihoods(bool brings);

  const LearnerRows& rows_;
  std::unique_ptr<ScratchFile> file_;  // none: in memory
  LearnerRows::Runs::const_iterator run_;
  std::int64_t done_ = 0;  // rows of it
  const char* code_ = nullptr;
  const double* likelihood_ = nullptr;
  RunStart start_;
  std::vector<Action> actions_;
  std::vector<Observation> observations_;
  std::vector<double> likelihoods_;
};

}  // namespace oas::detail
