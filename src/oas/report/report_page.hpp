#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oas/belief/forecast.hpp"
#include "oas/estimation/transition_estimate.hpp"
#include "oas/jobs/log_forecast.hpp"
#include "oas/model/any_model.hpp"
#include "oas/planning/plan.hpp"
#include "oas/report/log_review.hpp"
#include "oas/report/policy_figure.hpp"

namespace oas {

/// All that a page about a log says; whoever makes it has done the work.
struct ReportContents {
  std::string title;
  std::string log;                             ///< its name
  AnyModel model;                              ///< with transition
  std::optional<TransitionEstimate> estimate;  ///< none: the model's dynamics are taken as known
  LogReview review;
  ForecastQuestion question;
  double confidence = 0.95;
  std::vector<UnitForecast> forecasts;  ///< those at risk first; empty: not asked for
  std::optional<Plan> plan;
  std::vector<VisitedBelief> policy;  ///< of the plan
};

/// One HTML page that stands alone.
[[nodiscard]] std::string report_page(const ReportContents& contents);

}  // namespace oas
