#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/estimate_json.hpp"
#include "oas/estimation/transition_error.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

struct CompareArguments {
  Common common;
  std::string model;
  std::string estimate;
  int worst = 5;
};

// Share of the true entries that lie inside the estimate's intervals.
std::optional<double> coverage(const Pomdp& truth, const EstimateDocument& estimate) {
  if (estimate.confidence <= 0.0) return std::nullopt;
  const auto values = truth.transition().values();
  std::size_t inside = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // A written number may differ from the true one in the last digit.
    constexpr double kSlack = 1e-12;
    inside += values[i] >= estimate.lower[i] - kSlack && values[i] <= estimate.upper[i] + kSlack;
  }
  return static_cast<double>(inside) / static_cast<double>(values.size());
}

nlohmann::ordered_json to_json(const Pomdp& truth, const TransitionError& error,
                               std::optional<double> covered) {
  nlohmann::ordered_json document;
  document["frobenius"] = error.frobenius;
  document["largest_l1"] = error.largest_l1;
  if (covered) document["interval_coverage"] = *covered;
  for (int a = 0; a < truth.num_actions(); ++a) {
    document["actions"].push_back({{"action", truth.actions()[a]},
                                   {"frobenius", error.frobenius_by_action[a]},
                                   {"largest_l1", error.largest_l1_by_action[a]}});
  }
  for (const auto& row : error.rows) {
    document["rows"].push_back({{"action", truth.actions()[row.action]},
                                {"state", truth.states()[row.state]},
                                {"l1", row.l1}});
  }
  return document;
}

void check_comparable(const CompareArguments& options, const Pomdp& truth, const Pomdp& estimate) {
  OAS_REQUIRE(truth.has_transition(), "{}: has no transition model to compare with", options.model);
  OAS_REQUIRE(
      truth.num_states() == estimate.num_states() && truth.num_actions() == estimate.num_actions(),
      "{} has {} states and {} actions, {} has {} and {}", options.model, truth.num_states(),
      truth.num_actions(), options.estimate, estimate.num_states(), estimate.num_actions());
  OAS_REQUIRE(truth.timing() == estimate.timing(), "{} has timing {}, {} has timing {}",
              options.model, to_string(truth.timing()), options.estimate,
              to_string(estimate.timing()));
}

void run_compare(const CompareArguments& options) {
  const AnyModel loaded = load_any_model(options.model, options.common);
  const Pomdp& truth = chain_of(loaded);
  const EstimateDocument estimate = read_estimate(options.estimate);
  check_comparable(options, truth, estimate.model);
  if (!(truth.states() == estimate.model.states() && truth.actions() == estimate.model.actions())) {
    warn(options.common, "the two files name their states or actions differently");
  }
  const TransitionError error = transition_error(truth.transition(), estimate.model.transition());
  const auto covered = coverage(truth, estimate);
  if (options.common.json) print_json(options.common, to_json(truth, error, covered));
  Table actions({"action", "Frobenius", "worst row (L1)"});
  for (int a = 0; a < truth.num_actions(); ++a) {
    actions.add({truth.actions()[a], fmt::format("{:.4f}", error.frobenius_by_action[a]),
                 fmt::format("{:.4f}", error.largest_l1_by_action[a])});
  }
  actions.add(
      {"all", fmt::format("{:.4f}", error.frobenius), fmt::format("{:.4f}", error.largest_l1)});
  Table rows({"worst rows", "state", "L1 error"});
  const auto shown =
      std::min<std::size_t>(error.rows.size(), static_cast<std::size_t>(options.worst));
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& row = error.rows[i];
    rows.add(
        {truth.actions()[row.action], truth.states()[row.state], fmt::format("{:.4f}", row.l1)});
  }
  std::string text = actions.text() + "\n" + rows.text();
  if (covered) {
    text += fmt::format("\nthe {:.0f} % intervals hold {:.0f} % of the true entries\n",
                        100.0 * estimate.confidence, 100.0 * *covered);
  }
  print(options.common, text);
}

}  // namespace

void add_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareArguments>();
  CLI::App* verb = add_verb(app, "compare", "How far is an estimate from the true model",
                            options->common, [options] { run_compare(*options); });
  add_model_argument(*verb, "MODEL", options->model, "True model: file or problem name",
                     options->common);
  add_input(*verb, "ESTIMATE", options->estimate,
            "Estimate, or any model file with transition", options->common)
      ->required();
  add_whole_number(*verb, "--worst", options->worst, {0, 1'000'000},
                   "How many of the worst rows to show")
      ->capture_default_str();
}

}  // namespace oas::cli
