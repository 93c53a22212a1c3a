#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "oas/core/settings.hpp"
#include "oas/counts/pair_counts.hpp"
#include "oas/model/any_model.hpp"

namespace oas {

struct EvidenceOptions;
namespace detail {
class EvidenceBody;
}

/// How an estimator goes over the rows.
enum class Reading {
  once,      ///< into sums that can be merged: parts may be read at the same time
  twice,     ///< for weights, then into sums
  again,     ///< as often as it likes: it keeps the rows, or reads their source again
  in_order,  ///< once, each row after the one before: nothing can be merged
};

/// What error bars are made of.
enum class ErrorSource { batches, information, posterior, none };

/// What becomes of real-valued observations.
enum class Readings {
  as_they_are,      ///< their likelihoods, or soft features of these
  cells,            ///< finite observations are made of them
  cells_in_memory,  ///< the same, but not of log files: there they are to be made beforehand
};

/// One row of the table of estimators, as `oas list` and docs/background/algorithms.md show it: all
/// that is to be known about an estimator outside of its own file.
struct EstimatorInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view reference;
  Reading reading;
  ErrorSource errors;
  Readings readings;
  Pairing pairing;          ///< of the moments; of those at which a likelihood estimator starts
  bool forgets = false;     ///< takes weights by age
  bool climbs = false;      ///< a likelihood: takes a prior and uncertain sensors
  bool structured = false;  ///< takes what is known of T beforehand
  bool bootstraps = false;  ///< can give error bars by resampling
  std::unique_ptr<detail::EvidenceBody> (*make)(const EstimatorInfo& info, const AnyModel& model,
                                                const EvidenceOptions& options);
  /// Shows the settings that it looks at.
  void (*settings)(EvidenceOptions& options, SettingFields& fields);
};

[[nodiscard]] std::span<const EstimatorInfo> estimators();

/// Throws InvalidArgument listing the names when there is none of that name.
[[nodiscard]] const EstimatorInfo& find_estimator(std::string_view name);

/// The settings of an estimator with their defaults.
[[nodiscard]] std::vector<SettingInfo> settings_of(const EstimatorInfo& info);

/// Options with these settings. Throws InvalidArgument on one that the estimator does not look at,
/// naming those that do.
[[nodiscard]] EvidenceOptions evidence_options(const EstimatorInfo& info,
                                               std::span<const Setting> settings);

}  // namespace oas
