#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "oas/core/parallel.hpp"
#include "oas/jobs/learning_run.hpp"

namespace oas {

/// Oracles that were planned before, in files of one folder: the same one is not planned twice. An
/// entry is taken for the same model to the last digit, the same floor and gap, and the very build
/// of the program that made it (its version, its file's size and time, the mathematical functions
/// below it), so that results with and without a cache are the same bytes. Several processes may
/// share a folder: entries appear complete or not at all. Nothing that is wrong with the folder or
/// an entry is an error: then the oracle is planned. Beyond kMostBytes the entries that were not
/// used for longest are removed.
class OracleCache {
 public:
  static constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 29;

  /// Keeps nothing.
  OracleCache() = default;
  explicit OracleCache(std::string folder) : folder_(std::move(folder)) {}

  /// The folder of this user: $OAS_CACHE (empty: keeps nothing), else oas in $XDG_CACHE_HOME, else
  /// .cache/oas in $HOME.
  [[nodiscard]] static OracleCache of_user();

  /// The oracle of the model, from the folder or planned and kept there.
  [[nodiscard]] RegretOracle get(const Pomdp& model, const RegretOracleOptions& options,
                                 Parallelism parallelism = {}) const;

  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace oas
