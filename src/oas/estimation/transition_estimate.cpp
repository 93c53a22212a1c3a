#include "oas/estimation/transition_estimate.hpp"

#include <fmt/format.h>

#include <numeric>

namespace oas {

std::string TransitionEstimate::brief() const {
  if (status == EstimateStatus::not_run) return "not run";
  const auto total = std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0});
  std::string text = fmt::format("{}: {} pairs from {} rows", estimator, total, rows);
  if (log_likelihood) {
    text = effective_rows
               ? fmt::format("{}: weighted log-likelihood {:.6g}, {} rows, {} passes", estimator,
                             *log_likelihood, rows, passes)
               : fmt::format("{}: log-likelihood {:.6f} per row, {} rows, {} passes", estimator,
                             *log_likelihood / static_cast<double>(rows), rows, passes);
  }
  if (!flagged.empty()) text += fmt::format(", {} rows of T not determined", flagged.size());
  return text;
}

}  // namespace oas
