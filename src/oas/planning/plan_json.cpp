#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/model/model_json.hpp"
#include "oas/planning/plan.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "oas-plan/1";

constexpr std::array<std::string_view, 19> kKeys = {
    "format", "planner",  "iota",        "gain_lower", "gain_upper", "status", "message",
    "sweeps", "residual", "certificate", "optimism",   "resolution", "bias",   "alpha",
    "model",  "warnings", "discounted",  "limited",    "posterior"};
constexpr std::array<std::string_view, 5> kCertificateKeys = {"level", "seed", "steps", "mean",
                                                              "half_width"};
constexpr std::array<std::string_view, 2> kOptimismKeys = {"radius", "gain_bound"};

constexpr std::array<std::string_view, 3> kDiscountedKeys = {"discount", "lower", "upper"};
constexpr std::array<std::string_view, 7> kLimitedKeys = {
    "states", "most", "multiplier", "frequency", "frequency_upper", "gain_lower", "gain_upper"};
constexpr std::array<std::string_view, 5> kPosteriorKeys = {"confidence", "draws", "mean", "lower",
                                                            "upper"};

SolveStatus read_status(const JsonView& view) {
  const std::string name = view.as_string();
  for (const SolveStatus status : {SolveStatus::not_run, SolveStatus::converged,
                                   SolveStatus::stalled, SolveStatus::sweep_limit}) {
    if (name == to_string(status)) return status;
  }
  view.fail(fmt::format("a status is expected, found \"{}\"", name));
}

std::uint64_t read_count(const JsonView& view) {
  const Json& value = view.json();
  if (!value.is_number_unsigned()) view.fail("a whole number that is not negative is expected");
  return value.get<std::uint64_t>();
}

int read_int(const JsonView& view) {
  const long value = view.as_integer();
  if (value < 0 || value > std::numeric_limits<int>::max()) {
    view.fail(fmt::format("a whole number from 0 to {} is expected, found {}",
                          std::numeric_limits<int>::max(), value));
  }
  return static_cast<int>(value);
}

Certificate read_certificate(const JsonView& view) {
  view.require_keys(kCertificateKeys);
  return {view.at("level").as_double(), read_count(view.at("seed")), read_count(view.at("steps")),
          view.at("mean").as_double(), view.at("half_width").as_double()};
}

std::vector<double> read_numbers(const JsonView& view) {
  const std::array<int, 1> extents = {static_cast<int>(view.size())};
  return view.as_array(extents);
}

PlanBias read_bias(const JsonView& root, int num_states) {
  const std::string planner = root.at("planner").as_string();
  if (planner == GridBias::kName) {
    return GridBias{read_int(root.at("resolution")), read_numbers(root.at("bias"))};
  }
  if (planner == VectorBias::kName) {
    const JsonView alpha = root.at("alpha");
    const std::array<int, 2> extents = {static_cast<int>(alpha.size()), num_states};
    return VectorBias{alpha.as_array(extents)};
  }
  root.at("planner").fail(fmt::format("\"{}\" or \"{}\" is expected, found \"{}\"", GridBias::kName,
                                      VectorBias::kName, planner));
}

void write_bias(const GridBias& bias, int /*num_states*/, Json& document) {
  document["resolution"] = bias.resolution;
  document["bias"] = bias.values;
}

void write_bias(const VectorBias& bias, int num_states, Json& document) {
  Json rows = Json::array();
  const auto width = static_cast<std::ptrdiff_t>(num_states);
  for (auto row = bias.alpha.begin(); row != bias.alpha.end(); row += width) {
    rows.push_back(std::vector<double>(row, row + width));
  }
  document["alpha"] = std::move(rows);
}

// What a plan for another criterion, or of an estimate, adds.
void read_criteria(const JsonView& root, Plan& plan) {
  const auto number = [](const JsonView& view, const char* key) {
    return view.at(key).as_double();
  };
  if (root.has("discounted")) {
    const JsonView view = root.at("discounted");
    view.require_keys(kDiscountedKeys);
    plan.discounted =
        DiscountedValue{number(view, "discount"), number(view, "lower"), number(view, "upper")};
  }
  if (root.has("limited")) {
    const JsonView view = root.at("limited");
    view.require_keys(kLimitedKeys);
    plan.limited = LimitedStates{view.at("states").as_strings(),  number(view, "most"),
                                 number(view, "multiplier"),      number(view, "frequency"),
                                 number(view, "frequency_upper"), number(view, "gain_lower"),
                                 number(view, "gain_upper")};
  }
  if (root.has("posterior")) {
    const JsonView view = root.at("posterior");
    view.require_keys(kPosteriorKeys);
    plan.posterior =
        PosteriorGain{number(view, "confidence"), read_int(view.at("draws")), number(view, "mean"),
                      number(view, "lower"), number(view, "upper")};
  }
}

void write_criteria(const Plan& plan, Json& document) {
  if (const auto& value = plan.discounted) {
    document["discounted"] = {
        {"discount", value->discount}, {"lower", value->lower}, {"upper", value->upper}};
  }
  if (const auto& limit = plan.limited) {
    document["limited"] = {{"states", limit->states},
                           {"most", limit->most},
                           {"multiplier", limit->multiplier},
                           {"frequency", limit->frequency},
                           {"frequency_upper", limit->frequency_upper},
                           {"gain_lower", limit->gain_lower},
                           {"gain_upper", limit->gain_upper}};
  }
  if (const auto& gain = plan.posterior) {
    document["posterior"] = {{"confidence", gain->confidence},
                             {"draws", gain->draws},
                             {"mean", gain->mean},
                             {"lower", gain->lower},
                             {"upper", gain->upper}};
  }
}

Plan read_parts(const JsonView& root) {
  if (root.has("format") && root.at("format").json() == "oas-model/1") {
    root.at("format").fail("this is a model, a plan is expected; oas plan makes one of it");
  }
  root.require_keys(kKeys);
  const std::string format = root.at("format").as_string();
  if (format != kFormat) {
    root.at("format").fail(fmt::format("\"{}\" is expected, found \"{}\"", kFormat, format));
  }
  const JsonView model = root.at("model");
  Plan plan(parse_model(model.json().dump(), fmt::format("{}: {}", root.file(), model.path())));
  plan.bias = read_bias(root, plan.model.num_states());
  plan.iota = root.at("iota").as_double();
  plan.gain_lower = root.at("gain_lower").as_double();
  plan.gain_upper = root.at("gain_upper").as_double();
  plan.status = read_status(root.at("status"));
  plan.message = root.at("message").as_string();
  plan.iterations = read_int(root.at("sweeps"));
  plan.residual = root.at("residual").as_double();
  if (root.has("certificate")) plan.certificate = read_certificate(root.at("certificate"));
  if (root.has("optimism")) {
    const JsonView optimism = root.at("optimism");
    optimism.require_keys(kOptimismKeys);
    plan.optimism =
        Optimism{optimism.at("radius").as_double(), optimism.at("gain_bound").as_double()};
  }
  read_criteria(root, plan);
  if (root.has("warnings")) plan.warnings = root.at("warnings").as_strings();
  return plan;
}

}  // namespace

Json plan_to_json(const Plan& plan) {
  Json document;
  document["format"] = kFormat;
  document["planner"] = std::visit([](const auto& bias) { return bias.kName; }, plan.bias);
  document["iota"] = plan.iota;
  document["gain_lower"] = plan.gain_lower;
  document["gain_upper"] = plan.gain_upper;
  document["status"] = to_string(plan.status);
  document["message"] = plan.message;
  document["sweeps"] = plan.iterations;
  document["residual"] = plan.residual;
  document["certificate"] = {{"level", plan.certificate.level},
                             {"seed", plan.certificate.seed},
                             {"steps", plan.certificate.steps},
                             {"mean", plan.certificate.mean},
                             {"half_width", plan.certificate.half_width}};
  if (plan.optimism) {
    document["optimism"] = {{"radius", plan.optimism->radius},
                            {"gain_bound", plan.optimism->gain_bound}};
  }
  write_criteria(plan, document);
  if (!plan.warnings.empty()) document["warnings"] = plan.warnings;
  std::visit([&](const auto& bias) { write_bias(bias, plan.model.num_states(), document); },
             plan.bias);
  document["model"] = model_to_json(plan.model);
  return document;
}

Plan parse_plan(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  try {
    Plan plan = read_parts(JsonView(document, file));
    plan.validate();
    return plan;
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw ParseError(file, 0, 0, error.what());
  }
}

Plan read_plan(const std::string& path) { return parse_plan(read_text_file(path), path); }

void write_plan(const std::string& path, const Plan& plan) {
  write_text_file(path, dump_json(plan_to_json(plan)));
}

}  // namespace oas
