#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "oas/core/bytes.hpp"
#include "oas/counts/pair_folder.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/row_block.hpp"

namespace oas::detail {

/// The moments at which a climb starts, and the model it is judged by. Weighted where rows have
/// propensities, and good enough where they have none.
class StartMoments {
 public:
  virtual ~StartMoments() = default;
  [[nodiscard]] virtual std::unique_ptr<StartMoments> clone() const = 0;
  /// As for EvidenceBody; only of finite observations.
  virtual void go_on(std::int64_t rows, const RowBlock& before) = 0;
  virtual void start_run(const RunStart& start) = 0;
  virtual void add(const RowBlock& rows) = 0;
  virtual void merge(const StartMoments& other) = 0;
  virtual void save(ByteWriter& out) const = 0;
  virtual void load(ByteReader& in) = 0;
  [[nodiscard]] virtual Pomdp judge() const = 0;
  [[nodiscard]] virtual std::optional<TransitionModel> estimate(const Pomdp& judge) const = 0;
};

/// Of finite observations; without moments where some sensor is blind.
[[nodiscard]] std::unique_ptr<StartMoments> finite_start(const Pomdp& model,
                                                         const FoldOptions& fold,
                                                         std::int64_t first_run);
/// Of soft features, learned from at most `memory` bytes of rows where the model has no densities;
/// without moments where there are too many symbols.
[[nodiscard]] std::unique_ptr<StartMoments> soft_start(const ContinuousPomdp& model,
                                                       const FoldOptions& fold, std::size_t memory,
                                                       std::int64_t first_run);

}  // namespace oas::detail
