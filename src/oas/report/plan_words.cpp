#include "oas/report/plan_words.hpp"

#include <fmt/format.h>

#include "oas/figures/page_cells.hpp"

namespace oas {

namespace {

std::string range(double lower, double upper) {
  return fmt::format("between {} and {}", short_number(lower), short_number(upper));
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100.0 * share); }

std::string certified(const Plan& plan) {
  return fmt::format("certified by simulation at level {:g}", plan.certificate.level);
}

// A plan of --radius was made for a model better than the given one.
std::string where(const Plan& plan) {
  return plan.optimism ? "in the most favourable model that was thought possible"
                       : "in the model that the plan was made for";
}

void tell_of_limit(const Plan& plan, const LimitedStates& limit, PlanWords& words) {
  const std::string states = fmt::format("{}", fmt::join(limit.states, " or "));
  words.answer.push_back(
      fmt::format("The plan earns {} a step in the long run, while {} of the steps are spent in {} "
                  "(the limit is {}).",
                  range(limit.gain_lower, limit.gain_upper), percent(limit.frequency), states,
                  percent(limit.most)));
  words.details.push_back(
      fmt::format("Long-run average reward between {} ({}) and {} (proved: no policy that keeps "
                  "the limit earns "
                  "more), {}.",
                  short_number(limit.gain_lower), certified(plan), short_number(limit.gain_upper),
                  where(plan)));
  words.details.push_back(
      fmt::format("{} of the steps in {}, at most {} ({}); the limit is {}. The plan keeps it by "
                  "counting each such step as a loss of {}.",
                  percent(limit.frequency), states, percent(limit.frequency_upper), certified(plan),
                  percent(limit.most), short_number(limit.multiplier)));
  words.fact =
      fmt::format("with the loss of {} for each step in {}: ", short_number(limit.multiplier),
                  states) +
      plan.brief();
}

void tell_of_discount(const Plan& plan, const DiscountedValue& value, PlanWords& words) {
  const std::string counted = fmt::format(
      "where a reward counts {:g} times as much for each step that it comes later", value.discount);
  words.answer.push_back(fmt::format("From the start the plan earns {} in all, {}.",
                                     range(value.lower, value.upper), counted));
  words.details.push_back(fmt::format(
      "Discounted sum of rewards from the start between {} ({}) and {} (proved: no "
      "policy earns more), {}, {}.",
      short_number(value.lower), certified(plan), short_number(value.upper), counted, where(plan)));
  words.details.push_back(
      fmt::format("In the long run it earns at least {} a step ({}); no policy earns more than {} "
                  "there (proved).",
                  short_number(plan.gain_lower), certified(plan), short_number(plan.gain_upper)));
}

void tell_of_gain(const Plan& plan, PlanWords& words) {
  words.answer.push_back(fmt::format("The plan earns {} a step in the long run{}.",
                                     range(plan.gain_lower, plan.gain_upper),
                                     plan.optimism ? ", " + where(plan) : ""));
  words.details.push_back(fmt::format(
      "Long-run average reward between {} ({}) and {} (proved), {}.", short_number(plan.gain_lower),
      certified(plan), short_number(plan.gain_upper), where(plan)));
}

}  // namespace

PlanWords words_of(const Plan& plan) {
  PlanWords words{{}, {}, plan.brief()};
  if (plan.limited) {
    tell_of_limit(plan, *plan.limited, words);
  } else if (plan.discounted) {
    tell_of_discount(plan, *plan.discounted, words);
  } else {
    tell_of_gain(plan, words);
  }
  if (const auto& gain = plan.posterior) {
    words.answer.push_back(fmt::format(
        "The log leaves open how the system really is. Over all that it leaves "
        "possible, the plan {} on average, and {} with a probability of {:g} %.",
        plan.discounted ? fmt::format("is worth {} from the start", short_number(gain->mean))
                        : fmt::format("earns {} a step", short_number(gain->mean)),
        range(gain->lower, gain->upper), 100.0 * gain->confidence));
    words.details.push_back(fmt::format(
        "In {} models drawn from what the log leaves possible the plan, which knows "
        "none of them, has {} of {} on average; {:g} % of them lie {}.",
        gain->draws, plan.discounted ? "a discounted sum of rewards" : "a long-run average reward",
        short_number(gain->mean), 100.0 * gain->confidence, range(gain->lower, gain->upper)));
  }
  return words;
}

}  // namespace oas
