#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "oas/belief/forecast.hpp"
#include "oas/core/parallel.hpp"
#include "oas/core/settings.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/logs/one_log.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/row_source.hpp"
#include "oas/planning/plan.hpp"
#include "oas/report/report_page.hpp"

namespace oas {

struct ReportOptions {
  std::string title;
  ForecastQuestion question;  ///< without a schedule nothing is forecast
  double confidence = 0.95;
  std::optional<Plan> plan;
  std::size_t histories = 6;  ///< units drawn along time: those at risk, or the first ones
  std::uint64_t seed = 1;     ///< of the plan's play
  Parallelism parallelism;

  template <class Fields>
  void visit(Fields& fields) {
    fields.text("title", title, "heading of the page (default: the log's name)");
    fields("steps", question.steps, {1, 100'000}, "how many steps to look ahead");
    fields("units", histories, {0, 1000},
           "number of units to draw along time, those at risk first");
    fields("confidence", confidence, {kAboveZero, kBelowOne}, "level of the limits over draws");
    fields("seed", seed, "of the plan's play");
  }
};

/// Forecasts and reviews a log with a model and, where there is one, the estimate it comes from.
/// The log is read twice. Throws InvalidArgument when the model has no transition or the plan is
/// for another model.
[[nodiscard]] ReportContents report_log(const AnyModel& model,
                                        const std::optional<TransitionEstimate>& estimate,
                                        const OneLog& log, const ReportOptions& options,
                                        const LogOptions& rows = {}, const RowsRead& progress = {});

}  // namespace oas
