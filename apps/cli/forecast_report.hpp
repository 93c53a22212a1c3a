#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli.hpp"
#include "oas/core/settings.hpp"
#include "oas/jobs/log_forecast.hpp"
#include "oas/model/pomdp.hpp"

/// What `oas forecast` was asked and what it prints.
namespace oas::cli {

struct ForecastArguments {
  Common common;
  std::string model;
  std::vector<std::string> logs;
  std::vector<Setting> rows;
  std::vector<std::string> schedule;
  std::string policy;
  std::vector<std::string> reach;
  ForecastOptions forecast;
  std::string output;
};

/// What came of it.
struct Forecasts {
  const std::vector<UnitForecast>& units;
  std::size_t draws = 0;       ///< of the dynamics; 0: they are taken as exact
  const std::string& warning;  ///< about rows that the log did not determine; empty: none

  [[nodiscard]] std::int64_t impossible_rows() const;
  /// To within how much beliefs of the policy were rounded, at worst.
  [[nodiscard]] double tolerance() const;
};

[[nodiscard]] std::string forecast_text(const ForecastArguments& options, const Pomdp& model,
                                        const Forecasts& forecasts);
[[nodiscard]] nlohmann::ordered_json forecast_json(const ForecastArguments& options,
                                                   const Pomdp& model, const Forecasts& forecasts);

}  // namespace oas::cli
