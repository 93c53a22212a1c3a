#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/estimate_json.hpp"
#include "oas/estimation/transition_error.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

struct CompareArguments {
  Common common;
  std::string model;
  std::string estimate;
  int worst = 5;

  template <class Fields>
  void visit(Fields& fields) {
    fields("worst", worst, {0, 1'000'000}, "how many of the worst rows to show");
  }
};

// Share of the true entries that lie inside the estimate's intervals.
std::optional<double> coverage(const Pomdp& truth, const EstimateDocument& document) {
  if (!document.has_intervals()) return std::nullopt;
  const TransitionEstimate& estimate = *document.estimate;
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

// A .json file, which may have intervals beside its model; others have none.
std::optional<EstimateDocument> read_document(const std::string& name) {
  if (!std::filesystem::exists(name) || names_model(name)) return std::nullopt;
  return read_estimate(name);
}

void check_comparable(const CompareArguments& options, const Pomdp& truth, const Pomdp& estimate) {
  OAS_REQUIRE(truth.has_transition(), "{}: has no transition model to compare with", options.model);
  OAS_REQUIRE(estimate.has_transition(), "{}: has no transition model to compare",
              options.estimate);
  OAS_REQUIRE(
      truth.num_states() == estimate.num_states() && truth.num_actions() == estimate.num_actions(),
      "{} has {} states and {} actions, {} has {} and {}", options.model, truth.num_states(),
      truth.num_actions(), options.estimate, estimate.num_states(), estimate.num_actions());
  OAS_REQUIRE(truth.timing() == estimate.timing(),
              "{} has timing {}, {} has timing {}; oas convert can change it", options.model,
              to_string(truth.timing()), options.estimate, to_string(estimate.timing()));
}

void run_compare(const CompareArguments& options) {
  if (options.common.json) refuse_options(options.common, {"--worst"}, "JSON has all rows");
  const AnyModel loaded = load_any_model(options.model, options.common);
  const Pomdp& truth = chain_of(loaded);
  const std::optional<EstimateDocument> document = read_document(options.estimate);
  const Pomdp estimate = document ? document->model : load_model(options.estimate, options.common);
  check_comparable(options, truth, estimate);
  if (!(truth.states() == estimate.states() && truth.actions() == estimate.actions())) {
    warn(options.common, "the two models name their states or actions differently");
  }
  const TransitionError error = transition_error(truth.transition(), estimate.transition());
  const auto covered = document ? coverage(truth, *document) : std::nullopt;
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
                        100.0 * document->estimate->confidence, 100.0 * *covered);
  }
  print(options.common, text);
}

}  // namespace

void add_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareArguments>();
  CLI::App* verb = add_verb(app, "compare", "Measure how far an estimate is from the true model",
                            options->common, [options] { run_compare(*options); });
  add_model_argument(*verb, "MODEL", options->model, "True model: file or problem name",
                     options->common);
  add_input(*verb, "ESTIMATE", options->estimate,
            "Estimate, or any model with transition: file or problem name", options->common)
      ->required();
  add_fields(*verb, *options);
}

}  // namespace oas::cli
