#include "evaluate_horizon.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "horizon_report.hpp"
#include "oas/planning/horizon/horizon_evaluation.hpp"
#include "oas/planning/horizon/horizon_plan.hpp"
#include "posterior.hpp"

namespace oas::cli {

using Json = nlohmann::ordered_json;

void evaluate_horizon(const HorizonQuestion& question, const Pomdp& truth, const Plan& plan,
                      const Common& common) {
  const HorizonValue& value = *plan.horizon;
  const double weight = horizon_weight(value.steps, value.discount);
  Plan judged = plan;
  judged.posterior.reset();
  const DrawnModels draws = draws_in(question.model, truth);
  double exact = 0.0;
  PlanLimits limits;
  const GainInterval simulated = while_shown(common, "evaluating " + question.plan, [&] {
    exact = horizon_value(truth, plan);
    constexpr double kConfidence = 0.95;
    limits = set_limits_over_draws(judged, draws, kConfidence, common.parallelism());
    return simulate_horizon(truth, plan, question.simulation, common.parallelism());
  });
  if (common.json) {
    Json document = {{"model", question.model},
                     {"plan", question.plan},
                     {"horizon", value.steps},
                     {"discount", value.discount},
                     {"exact", exact},
                     {"exact_per_step", exact / weight},
                     {"simulated", simulated.mean},
                     {"half_width", simulated.half_width},
                     {"level", simulated.level},
                     {"lower_limit", simulated.lower_limit},
                     {"runs", simulated.num_batches},
                     {"steps", simulated.steps},
                     {"seed", simulated.seed}};
    if (const auto& sum = judged.posterior) {
      document["posterior"] = {{"confidence", sum->confidence},
                               {"draws", sum->draws},
                               {"mean", sum->mean},
                               {"lower", sum->lower},
                               {"upper", sum->upper}};
    }
    if (!question.warnings.empty()) document["warnings"] = question.warnings;
    print_json(common, document);
  }
  print(common, fmt::format("{} in {}: the sum over {}\n"
                            "  exact      {:.10g}, {:.6g} a step\n"
                            "  simulated  {:.6g} ± {:.2g} ({:g} % over {})\n{}",
                            question.plan, question.model, over_steps(value), exact, exact / weight,
                            simulated.mean, simulated.half_width, 100.0 * simulated.level,
                            counted(simulated.num_batches, "run"),
                            posterior_text(judged, limits, draws.what())));
}

}  // namespace oas::cli
