#include "oas/report/log_report.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr std::size_t kShownBeliefs = 5;  // of an action
constexpr int kMostStates = 300;

std::vector<UnitForecast> forecasts_of(const AnyModel& model,
                                       const std::optional<TransitionEstimate>& estimate,
                                       const OneLog& log, const ReportOptions& options,
                                       const LogOptions& rows, const RowsRead& progress) {
  ForecastOptions forecast;
  forecast.question = options.question;
  forecast.confidence = options.confidence;
  forecast.parallelism = options.parallelism;
  std::vector<TransitionModel> draws;
  if (estimate) draws = drawn_transitions(*estimate);
  if (!draws.empty()) forecast.within = without_unseen(*estimate);
  forecast.drawn_densities = estimate && estimate->labelled_rows.has_value();
  auto units = forecast_log(model, draws, log, forecast, rows, progress);
  if (!options.question.reach.empty()) {
    std::stable_sort(units.begin(), units.end(), more_urgent);
  }
  return units;
}

}  // namespace

ReportContents report_log(const AnyModel& model, const std::optional<TransitionEstimate>& estimate,
                          const OneLog& log, const ReportOptions& options, const LogOptions& rows,
                          const RowsRead& progress) {
  check_ranges(options);
  const Pomdp& chain = chain_of(model);
  OAS_REQUIRE(chain.has_transition(), "the model has no transition to report on");
  OAS_REQUIRE(chain.num_states() <= kMostStates,
              "{} states are more than the limit of {} of a page that draws every pair of them",
              chain.num_states(), kMostStates);
  OAS_REQUIRE(!options.plan || options.plan->model.num_states() == chain.num_states(),
              "the plan is for {}, the model is {}", options.plan->model.brief(), chain.brief());
  ReportContents contents{options.title,    log.title(),        model, estimate,     {},
                          options.question, options.confidence, {},    options.plan, {}};
  if (!options.question.schedule.empty()) {
    contents.forecasts = forecasts_of(model, estimate, log, options, rows, progress);
  }
  std::vector<std::string> shown;
  for (const UnitForecast& unit : contents.forecasts) {
    if (shown.size() < options.histories) shown.push_back(unit.unit);
  }
  contents.review = review_log(model, log, shown, options.histories, rows, progress);
  if (options.plan) {
    contents.policy = visited_beliefs(*options.plan, options.seed, kShownBeliefs);
  }
  return contents;
}

}  // namespace oas
