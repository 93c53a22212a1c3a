#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/estimation/estimate_json.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/estimation/structure_json.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/jobs/log_rewards.hpp"
#include "oas/logs/log_reader.hpp"
#include "setting_options.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

struct EstimateArguments {
  Common common;
  std::string model;
  std::vector<std::string> logs;
  std::string estimator = Estimation().estimator;
  std::vector<Setting> settings;
  std::vector<Setting> rows;
  std::string simultaneous;  // row, all or empty
  std::string output;
};

// The region that is to be shown; null: single entries are.
const ConfidenceRegion* shown_region(const TransitionEstimate& estimate, const std::string& which) {
  if (estimate.row_region.factor.empty() || which.empty()) return nullptr;
  return which == "row" ? &estimate.row_region : &estimate.joint_region;
}

constexpr double kAtBound = 5e-5;  // shown as 0.0000 or 1.0000

std::string entry(const TransitionEstimate& estimate, const ConfidenceRegion* region,
                  std::size_t index, double value) {
  if (estimate.standard_error.empty()) return fmt::format("{:.4f}", value);
  if (region != nullptr) {
    return fmt::format("{:.4f} [{:.4f}, {:.4f}]", value, region->lower[index],
                       region->upper[index]);
  }
  const double error = estimate.standard_error[index];
  if (!std::isfinite(error)) return fmt::format("{:.4f} ± ?", value);
  // At a bound there is one side only, and its limit says more than a standard error.
  const bool fixed = estimate.lower[index] == estimate.upper[index];
  if (value < kAtBound && !fixed) return fmt::format("0.0000 ≤ {:.4f}", estimate.upper[index]);
  if (value > 1.0 - kAtBound && !fixed) {
    return fmt::format("1.0000 ≥ {:.4f}", estimate.lower[index]);
  }
  return fmt::format("{:.4f} ± {:.4f}", value, error);
}

// Whether some entry is shown with a limit instead of a standard error.
bool has_entries_at_bounds(const TransitionEstimate& estimate) {
  for (std::size_t i = 0; i < estimate.lower.size(); ++i) {
    const double value = estimate.transition.values()[i];
    const bool known = std::isfinite(estimate.standard_error[i]);
    const bool fixed = estimate.lower[i] == estimate.upper[i];
    if (known && !fixed && (value < kAtBound || value > 1.0 - kAtBound)) return true;
  }
  return false;
}

// Matrices of more states than this are left to the file.
constexpr int kLargestPrinted = 8;

std::string matrices(const Pomdp& model, const TransitionEstimate& estimate,
                     const ConfidenceRegion* region) {
  std::string text;
  std::size_t index = 0;
  for (int a = 0; a < model.num_actions(); ++a) {
    text += fmt::format("\n{} ({}, alpha {:.3g})\n", model.actions()[a],
                        counted(estimate.pairs[a], estimate.log_likelihood ? "transition" : "pair"),
                        estimate.alpha[a]);
    std::vector<std::string> header = {"from \\ to"};
    for (int s = 0; s < model.num_states(); ++s) header.push_back(model.states()[s]);
    if (region != nullptr) header.emplace_back("L1");
    Table table(std::move(header));
    for (int s = 0; s < model.num_states(); ++s) {
      std::vector<std::string> row = {model.states()[s]};
      for (int next = 0; next < model.num_states(); ++next, ++index) {
        row.push_back(
            entry(estimate, region, index, estimate.transition(Action{a}, State{s}, State{next})));
      }
      if (region != nullptr) {
        const double radius = region->l1[index / static_cast<std::size_t>(model.num_states()) - 1];
        row.push_back(radius < 2.0 ? fmt::format("{:.4f}", radius) : "?");
      }
      table.add(std::move(row));
    }
    text += table.text();
  }
  return text;
}

// What the brackets are, or how much wider than single intervals they would be.
std::string about_regions(const TransitionEstimate& estimate, const std::string& which) {
  if (estimate.row_region.factor.empty()) return {};
  double largest = 0.0;  // of NaN too
  double all = 0.0;
  for (std::size_t row = 0; row < estimate.row_region.factor.size(); ++row) {
    largest = std::fmax(largest, estimate.row_region.factor[row]);
    all = std::fmax(all, estimate.joint_region.factor[row]);
  }
  if (!(largest > 0.0)) return {};  // no row is determined
  const double percent = 100.0 * estimate.confidence;
  if (which.empty()) {
    return fmt::format(
        "{:g} % regions: ± {:.2f} standard errors hold any one row, ± {:.2f} all rows "
        "(--simultaneous row|all)\n",
        percent, largest, all);
  }
  return fmt::format(
      "[ ] holds {} at once with {:g} % (± up to {:.2f} standard errors); L1: radius of the row\n",
      which == "row" ? "a row" : "all rows", percent, which == "row" ? largest : all);
}

std::string error_bars(const std::string& estimator, const TransitionEstimate& estimate) {
  if (estimate.resamples > 0) {
    return fmt::format("\n± is the standard error ({}, {} resamples)\n", estimate.error_bars,
                       estimate.resamples);
  }
  switch (find_estimator(estimator).errors) {
    case ErrorSource::batches:
      return fmt::format("\n± is the standard error ({} batches)\n", estimate.num_batches);
    case ErrorSource::information:
      return "\n± is the standard error (observed information); intervals are in the file\n";
    case ErrorSource::posterior:
      return fmt::format("\n± is the posterior standard deviation ({} draws)\n",
                         estimate.num_batches);
    case ErrorSource::none:
      break;
  }
  return {};
}

// A line for each action.
std::string reward_table(const Pomdp& model, const TransitionEstimate& estimate) {
  std::vector<std::string> header = {"reward"};
  for (int s = 0; s < model.num_states(); ++s) header.push_back(model.states()[s]);
  Table table(std::move(header));
  std::size_t index = 0;
  for (int a = 0; a < model.num_actions(); ++a) {
    std::vector<std::string> row = {model.actions()[a]};
    for (int s = 0; s < model.num_states(); ++s, ++index) {
      const double error = estimate.reward_standard_error[index];
      row.push_back(std::isfinite(error)
                        ? fmt::format("{:.4g} ± {:.2g}", estimate.reward[index], error)
                        : fmt::format("{:.4g} ± ?", estimate.reward[index]));
    }
    table.add(std::move(row));
  }
  return "\nmean rewards, from the column of the log\n" + table.text();
}

void write_output(const EstimateArguments& options, const AnyModel& model,
                  const TransitionEstimate& estimate) {
  const bool as_json = options.output.empty() || is_json_output(options.output);
  if (!as_json) {
    write_model_file(options.output, estimated_model(std::get<Pomdp>(model), estimate), "FILE.json",
                     options.common);
    warn(options.common,
         fmt::format("{}: contains the model only; error bars need a .json file", options.output));
  } else if (!options.output.empty()) {
    std::visit([&](const auto& value) { write_estimate(options.output, value, estimate); }, model);
  }
}

void run_estimate(const EstimateArguments& options) {
  check_different(options.logs);
  const bool as_json = options.output.empty() || is_json_output(options.output);
  const AnyModel loaded = load_row_model(options.model, options.rows, options.common);
  const Pomdp& model = chain_of(loaded);
  OAS_REQUIRE(std::holds_alternative<Pomdp>(loaded) || as_json,
              "{}: only .json files hold models with real-valued observations", options.output);
  OAS_REQUIRE(
      options.simultaneous.empty() || find_estimator(options.estimator).errors != ErrorSource::none,
      "--simultaneous: {} gives no error bars", options.estimator);
  const LogOptions reading = log_options(options.rows);
  const AnyModel rows = row_model(loaded, options.logs.front(), reading);
  Estimation how = estimation_from(options.estimator, rows, options.settings, reading);
  Progress progress(options.common, "rows", 0);
  how.estimate.parallelism = options.common.parallelism();
  how.estimate.progress = [&](std::int64_t done) { progress.add(done); };
  const TransitionEstimate estimate = estimate_dynamics_and_rewards(rows, options.logs, how);
  write_output(options, loaded, estimate);
  for (const std::string& text : for_people(estimate.warnings)) warn(options.common, text);
  if (options.common.json)
    print_json(options.common, estimate_to_json(model, estimate)["estimate"]);
  std::string text = estimate.brief() + "\n";
  if (estimate.effective_rows) {
    text += fmt::format("weights by age: worth {} rows of equal weight\n",
                        big_number(std::round(*estimate.effective_rows)));
  }
  if (estimate.labelled_rows) {
    text += fmt::format(
        "sensors are uncertain: calibrated from {}\n",
        counted(static_cast<std::int64_t>(std::round(*estimate.labelled_rows)), "labelled row"));
  }
  if (!estimate.structure.empty()) text += fmt::format("structure: {}\n", estimate.structure);
  if (estimate.missing > 0) {
    text += fmt::format("{} without observation\n", counted(estimate.missing, "row"));
  }
  const ConfidenceRegion* region = shown_region(estimate, options.simultaneous);
  if (model.num_states() <= kLargestPrinted) text += matrices(model, estimate, region);
  if (!estimate.reward.empty() && model.num_states() <= kLargestPrinted) {
    text += reward_table(model, estimate);
  }
  if (!estimate.standard_error.empty()) {
    text += region == nullptr ? error_bars(options.estimator, estimate) : "\n";
    if (region == nullptr && has_entries_at_bounds(estimate)) {
      text += fmt::format("≤ and ≥ are {:g} % limits of entries that were found at 0 or 1\n",
                          100.0 * estimate.confidence);
    }
    text += about_regions(estimate, options.simultaneous);
  }
  if (estimate.fit_p_value && std::isfinite(*estimate.fit_p_value)) {
    text += fmt::format("fit of the sensors: p = {:.2g}\n", *estimate.fit_p_value);
  }
  if (!options.output.empty()) text += fmt::format("{}: written\n", options.output);
  print(options.common, text);
}

}  // namespace

void add_estimate(CLI::App& app) {
  const auto options = std::make_shared<EstimateArguments>();
  CLI::App* verb =
      add_verb(app, "estimate", "Estimate the transition model from logs and known sensors",
               options->common, [options] { run_estimate(*options); });
  add_model_argument(*verb, "MODEL", options->model,
                     "Model file or problem name; its transition is not used "
                     "(except by --structure zeros-of-model)",
                     options->common);
  add_logs(*verb, "LOG", options->logs,
           "Log files, folders of such, patterns (CSV, plain, gzip or zstd); - is standard input",
           options->common)
      ->required();
  verb->add_option("--estimator", options->estimator, "Estimator (see oas list)")
      ->capture_default_str();
  verb->add_option("--simultaneous", options->simultaneous,
                   "Print intervals that hold for a whole row, or for all rows, at once: row, all")
      ->check(CLI::IsMember({"row", "all"}));
  std::vector<std::string> names;
  for (const EstimatorInfo& info : estimators()) names.emplace_back(info.name);
  add_log_options(*verb, false, options->rows, options->common, &options->settings);
  add_settings(*verb, estimation_settings(), names, options->settings);
  options->common.inputs.push_back(verb->get_option("--structure"));
  add_output(*verb, "-o,--output", options->output,
             "Estimate to write, a model file: .json (with error bars), .pomdp, .pomdpx",
             options->common);
}

}  // namespace oas::cli
