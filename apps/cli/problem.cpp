#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/contracts.hpp"
#include "oas/model/model_json.hpp"
#include "oas/problems/named.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "setting_options.hpp"
#include "whole_number.hpp"

namespace oas::cli {

namespace {

struct ProblemArguments {
  Common common;
  std::string name;
  RandomPomdpOptions random;
  std::uint64_t seed = 1;
  bool spread_peaks = false;
  bool after = false;
  bool hide_transition = false;
  std::string output;
  std::vector<const CLI::Option*> for_random;  // options that a problem with a name does not take
};

void write(const ProblemArguments& options, const Pomdp& model, const std::string& brief) {
  const Pomdp shown = options.hide_transition ? model.without_transition() : model;
  write_model_file(options.output, shown, "FILE.json", options.common);
  if (options.common.json) print_json(options.common, model_to_json(shown));
  print(options.common,
        fmt::format("{}: {}\n", options.output, options.hide_transition ? shown.brief() : brief));
}

// What depends on several options, in their names; the library would give those of its fields.
void check_random(const ProblemArguments& options) {
  const RandomPomdpOptions& wanted = options.random;
  const double epsilon = wanted.min_transition.value_or(0.0);
  OAS_REQUIRE(epsilon >= 0.0 && epsilon * wanted.num_states <= 1.0,
              "--epsilon is {}; it must lie between 0 and 1/{}", epsilon, wanted.num_states);
  OAS_REQUIRE(
      wanted.num_observations >= wanted.num_states ||
          (options.spread_peaks && wanted.min_alpha == 0.0),
      "--observations is {}, fewer than the {} states; --spread-peaks --alpha 0 allows that",
      wanted.num_observations, wanted.num_states);
}

void run_problem(const ProblemArguments& options) {
  if (options.name != "random") {
    const Pomdp model = make_problem(options.name);
    for (const CLI::Option* option : options.for_random) {
      OAS_REQUIRE(option->count() == 0, "{} is for random problems only; {} is fixed",
                  option->get_name(), options.name);
    }
    write(options, model, model.brief());
    return;
  }
  check_random(options);
  Rng rng({options.seed, 0, Role::problem});
  RandomPomdpOptions wanted = options.random;
  if (options.spread_peaks) wanted.peaks = PeakRule::spread_over_pairs;
  if (options.after) wanted.timing = Timing::after;
  const RandomPomdp random = random_pomdp(wanted, rng);
  write(options, random.model, random.brief());
}

}  // namespace

void add_problem(CLI::App& app) {
  const auto options = std::make_shared<ProblemArguments>();
  CLI::App* verb = add_verb(app, "problem", "Write a ready-made or random problem as a model file",
                            options->common, [options] { run_problem(*options); });
  verb->add_option("NAME", options->name, "A problem of oas list, or: random")->required();
  const char* group = "For NAME = random";
  for (CLI::Option* option : add_fields(*verb, options->random,
                                        {{"num_states", "states"},
                                         {"num_actions", "actions"},
                                         {"num_observations", "observations"},
                                         {"min_transition", "epsilon"},
                                         "peak",
                                         {"min_alpha", "alpha"}})) {
    option->group(group);
  }
  verb->add_flag("--spread-peaks", options->spread_peaks,
                 "The authors' sensors: likely observations spread over (state, action) pairs")
      ->group(group);
  verb->add_flag("--after", options->after, "Timing after instead of before")->group(group);
  add_seed(*verb, options->seed, "Same seed, same problem")->group(group);
  const auto in_group = [&](const CLI::Option* option) { return option->get_group() == group; };
  options->for_random = std::as_const(*verb).get_options(in_group);
  verb->add_flag("--hide-transition", options->hide_transition,
                 "Leave out the transition model, as for a learner");
  add_output(*verb, "-o,--output", options->output, "Model file to write: .json, .pomdp or .pomdpx",
             options->common)
      ->required();
}

}  // namespace oas::cli
