#include "what_if_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oas/jobs/plan_limits.hpp"

namespace oas::cli {

namespace {

constexpr int kShownStates = 8;

std::string share_text(const PosteriorValue& value, const PosteriorValue& other) {
  const std::optional<double> share = share_better(value, other);
  return share ? fmt::format("{:.3g} %", 100.0 * *share) : "the same";
}

// What the numbers of the table are.
std::string heading_of(const WhatIf& question) {
  return question.discount
             ? fmt::format(
                   "{}: sum of the rewards from the start, discounted by {:g}, and "
                   "discounted share of the steps in each state",
                   question.name, *question.discount)
             : fmt::format("{}: average reward and share of steps in each state, in the long run",
                           question.name);
}

std::string table_of(const WhatIf& question, const std::vector<Answer>& answers,
                     const Pomdp& model) {
  const bool limits = !answers.front().found.drawn.gains.empty();
  const int states = std::min(model.num_states(), kShownStates);
  std::vector<std::string> header = {"policy", question.discount ? "worth" : "gain"};
  if (limits && answers.size() > 1) header.emplace_back("above the first");
  for (int s = 0; s < states; ++s) header.push_back("in " + model.states()[s]);
  Table table(header);
  for (const Answer& answer : answers) {
    std::vector<std::string> row = {answer.policy.name,
                                    fmt::format("{:.5f}", answer.found.value.gain)};
    if (limits) {
      const DrawnRange range = answer.gains(question.confidence);
      row.back() += fmt::format(" [{:.5f}, {:.5f}]", range.lower, range.upper);
      if (answers.size() > 1) {
        row.push_back(&answer == &answers.front()
                          ? ""
                          : share_text(answer.found.drawn, answers.front().found.drawn));
      }
    }
    for (int s = 0; s < states; ++s) {
      row.push_back(
          fmt::format("{:.4f}", answer.found.value.frequencies[static_cast<std::size_t>(s)]));
    }
    table.add(std::move(row));
  }
  std::string text = table.text();
  if (states < model.num_states()) {
    text += fmt::format("  and {} more states; --json has all\n", model.num_states() - states);
  }
  return text;
}

std::string remarks_on(const std::vector<Answer>& answers) {
  std::string text;
  for (const Answer& answer : answers) {
    std::string remark = answer.policy.note;
    if (const auto& simulated = answer.found.simulated) {
      remark += fmt::format(
          "{}simulated, {:.5g} ± {:.2g}, each draw in {} steps: {} beliefs are too "
          "few for it",
          remark.empty() ? "" : "; ", simulated->mean, simulated->half_width,
          kSimulatedStepsPerDraw, kMostBeliefNodes);
    } else if (answer.found.tolerance > 0.0) {
      remark += fmt::format("{}evaluated with beliefs rounded to within {:g}",
                            remark.empty() ? "" : "; ", answer.found.tolerance);
    }
    if (answer.found.value.num_classes > 1) {
      remark += fmt::format("{}its runs end in one of {} ways; this is their mean",
                            remark.empty() ? "" : "; ", answer.found.value.num_classes);
    }
    if (!remark.empty()) text += fmt::format("{}: {}\n", answer.policy.name, remark);
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

void print_answers(const WhatIf& question, const Pomdp& model, const DrawnModels& drawn,
                   const std::vector<Answer>& answers, const std::vector<std::string>& warnings,
                   const Common& common) {
  std::string end = question.discount ? "" : about_the_end(model);
  if (!end.empty()) end += ": --discount compares the time before";
  if (common.json) {
    nlohmann::ordered_json document = answers_json(question, model, drawn, answers, end);
    if (!warnings.empty()) document["warnings"] = warnings;
    print_json(common, document);
  }
  std::string text =
      heading_of(question) + "\n\n" + table_of(question, answers, model) + remarks_on(answers);
  if (!end.empty()) text += fmt::format("\n{}\n", end);
  if (!drawn.models.empty()) {
    text += fmt::format("\n[ ]: {:g} % of {} {} drawn from the posterior\n",
                        100.0 * question.confidence, drawn.models.size(),
                        drawn.drawn_rewards || drawn.drawn_sensors
                            ? fmt::format("models, {},", drawn.what())
                            : "transition models");
  }
  print(common, text);
}

}  // namespace oas::cli
