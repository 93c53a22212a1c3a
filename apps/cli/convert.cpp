#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli.hpp"
#include "command_files.hpp"
#include "convert_policy.hpp"
#include "oas/core/contracts.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/model/convert_timing.hpp"
#include "oas/planning/policies/policy_file.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

struct ConvertArguments {
  Common common;
  std::string input;
  std::string output;
  std::string timing;
  bool expand = false;
  std::optional<double> discount;
  std::string rows;

  template <class Fields>
  void visit(Fields& fields) {
    fields("expand", expand,
           "allow more states where the timing cannot be changed on the same states");
    fields("discount", discount, {0.0, 1.0}, "discount to write");
  }
};

// What --timing says, else what the output can hold, else as it is.
Timing wanted_timing(const ConvertArguments& options, const Pomdp& model) {
  const bool only_after = format_of_ending(options.output) != ModelFormat::json;
  if (options.timing.empty()) return only_after ? Timing::after : model.timing();
  const Timing timing = options.timing == "before" ? Timing::before : Timing::after;
  OAS_REQUIRE(timing == Timing::after || !only_after,
              "{}: only .json files hold models of timing before", options.output);
  return timing;
}

// Rows that are action-first need no word about first readings.
Pomdp with_rows(const Pomdp& model, const std::string& rows) {
  if (rows.empty()) return model;
  PomdpParts parts = model.parts();
  parts.rows = parse_rows(rows);
  if (parts.rows == Rows::action_first) parts.first_observation.reset();
  return Pomdp(std::move(parts));
}

Pomdp with_discount(const Pomdp& model, std::optional<double> discount) {
  if (!discount) return model;
  PomdpParts parts = model.parts();
  parts.discount = discount;
  return Pomdp(std::move(parts));
}

void run_convert(const ConvertArguments& options) {
  if (is_foreign_policy(options.input) || is_foreign_policy(options.output)) {
    OAS_REQUIRE(
        options.timing.empty() && !options.expand && !options.discount && options.rows.empty(),
        "{}: --timing, --rows, --expand and --discount are for models, not for policies",
        options.output);
    convert_policy(options.input, options.output, options.common);
    return;
  }
  static_cast<void>(format_of_ending(options.output));  // an unknown ending is the first fault
  const Pomdp loaded = load_model(options.input, options.common);
  const Pomdp model = about_file(options.input, [&] {
    return with_rows(with_discount(loaded, options.discount), options.rows);
  });
  const Timing timing = wanted_timing(options, model);
  if (timing == model.timing()) {
    refuse_options(options.common, {"--expand"},
                   fmt::format("the timing stays {}, so no states are added", to_string(timing)));
  }
  const TimingConversion converted = convert_timing(model, timing, {.expand = options.expand});
  OAS_REQUIRE(converted.model.has_value(), "{}: not the same on these states in timing {}: {}{}",
              options.input, to_string(timing), converted.reason,
              options.expand ? "" : "; --expand makes an exact model with more states");
  auto warnings =
      about_file(options.input, [&] { return write_any_model(options.output, *converted.model); });
  if (model.observation_counts() && !converted.model->observation_counts()) {
    warnings.emplace_back(
        "the numbers of labelled rows behind the sensors are left out: they belong to the other "
        "timing");
  }
  for (const std::string& warning : warnings) {
    warn(options.common, fmt::format("{}: {}", options.output, warning));
  }
  if (options.common.json) {
    print_json(options.common, {{"output", options.output},
                                {"timing", to_string(timing)},
                                {"states", converted.model->num_states()},
                                {"actions", converted.model->num_actions()},
                                {"observations", converted.model->num_observations()},
                                {"expanded", converted.expanded},
                                {"warnings", warnings}});
  }
  print(options.common, fmt::format("{}: {}{}\n", options.output, converted.model->brief(),
                                    converted.expanded ? ", states expanded" : ""));
}

}  // namespace

void add_convert(CLI::App& app) {
  const auto options = std::make_shared<ConvertArguments>();
  CLI::App* verb = add_verb(
      app, "convert", "Convert models between formats and timings, and plans to other formats",
      options->common, [options] { run_convert(*options); });
  add_model_argument(*verb, "IN", options->input, "Model file, problem name, plan or policy file",
                     options->common);
  add_output(*verb, "OUT", options->output,
             "File to write: .json, .pomdp, .pomdpx; for a policy .alpha, .policy, .pg",
             options->common)
      ->required();
  verb->add_option("--timing", options->timing,
                   "Timing to convert to (default: after for .pomdp and .pomdpx, else unchanged)")
      ->check(CLI::IsMember({"before", "after"}));
  add_fields(*verb, *options);
  verb->add_option("--rows", options->rows,
                   "Order within a row: action-first, or reading-first (default: as the "
                   "model says)")
      ->check(CLI::IsMember({"action-first", "reading-first"}));
}

}  // namespace oas::cli
