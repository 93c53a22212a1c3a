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

constexpr std::array<std::string_view, 23> kKeys = {
    "format",    "planner", "iota",     "gain_lower",  "gain_upper", "status",
    "message",   "sweeps",  "residual", "certificate", "optimism",   "resolution",
    "bias",      "alpha",   "model",    "warnings",    "discounted", "limited",
    "posterior", "horizon", "stages",   "start",       "first"};
constexpr std::array<std::string_view, 5> kCertificateKeys = {"level", "seed", "steps", "mean",
                                                              "half_width"};
constexpr std::array<std::string_view, 2> kOptimismKeys = {"radius", "gain_bound"};

constexpr std::array<std::string_view, 3> kDiscountedKeys = {"discount", "lower", "upper"};
constexpr std::array<std::string_view, 4> kHorizonKeys = {"steps", "discount", "lower", "upper"};
constexpr std::array<std::string_view, 3> kStageKeys = {"actions", "next", "alpha"};
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
  view.fail(fmt::format("expected a status, found \"{}\"", name));
}

std::uint64_t read_count(const JsonView& view) {
  const Json& value = view.json();
  if (!value.is_number_unsigned()) view.fail("expected a whole number that is not negative");
  return value.get<std::uint64_t>();
}

int read_int(const JsonView& view) {
  const long value = view.as_integer();
  if (value < 0 || value > std::numeric_limits<int>::max()) {
    view.fail(fmt::format("expected a whole number from 0 to {}, found {}",
                          std::numeric_limits<int>::max(), value));
  }
  return static_cast<int>(value);
}

Certificate read_certificate(const JsonView& view) {
  view.require_keys(kCertificateKeys);
  return {view.at("level").as_double(), read_count(view.at("seed")), read_count(view.at("steps")),
          view.at("mean").as_double(), view.at("half_width").as_double()};
}

Json certificate_json(const Certificate& certificate) {
  return {{"level", certificate.level},
          {"seed", certificate.seed},
          {"steps", certificate.steps},
          {"mean", certificate.mean},
          {"half_width", certificate.half_width}};
}

std::vector<double> read_numbers(const JsonView& view) {
  const std::array<int, 1> extents = {static_cast<int>(view.size())};
  return view.as_array(extents);
}

std::vector<int> read_nodes(const JsonView& view) {
  std::vector<int> nodes;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const long node = view.at(i).as_integer();
    if (node < HorizonPolicy::kNone || node > std::numeric_limits<int>::max()) {
      view.at(i).fail(fmt::format("expected a number of nodes or actions, found {}", node));
    }
    nodes.push_back(static_cast<int>(node));
  }
  return nodes;
}

std::vector<double> read_vectors(const JsonView& view, int num_states) {
  const std::array<int, 2> extents = {static_cast<int>(view.size()), num_states};
  return view.as_array(extents);
}

HorizonPolicy read_stages(const JsonView& root, const Pomdp& model) {
  HorizonPolicy policy;
  const JsonView stages = root.at("stages");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const JsonView view = stages.at(i);
    view.require_keys(kStageKeys);
    HorizonStage stage{
        read_nodes(view.at("actions")), {}, read_vectors(view.at("alpha"), model.num_states())};
    if (view.has("next")) {
      const JsonView next = view.at("next");
      for (std::size_t k = 0; k < next.size(); ++k) {
        const std::vector<int> nodes = read_nodes(next.at(k));
        if (nodes.size() != static_cast<std::size_t>(model.num_observations())) {
          next.at(k).fail(fmt::format("expected a node for each of {} observations, found {}",
                                      model.num_observations(), nodes.size()));
        }
        stage.next.insert(stage.next.end(), nodes.begin(), nodes.end());
      }
    }
    policy.stages.push_back(std::move(stage));
  }
  policy.start = read_int(root.at("start"));
  if (root.has("first")) policy.first = read_nodes(root.at("first"));
  return policy;
}

PlanBias read_bias(const JsonView& root, const Pomdp& model) {
  const std::string planner = root.at("planner").as_string();
  if (planner == HorizonPolicy::kName && root.has("stages")) return read_stages(root, model);
  if (planner == GridBias::kName) {
    return GridBias{read_int(root.at("resolution")), read_numbers(root.at("bias"))};
  }
  if (planner == VectorBias::kName) {
    return VectorBias{read_vectors(root.at("alpha"), model.num_states())};
  }
  root.at("planner").fail(fmt::format("expected \"{}\" or \"{}\", found \"{}\"", GridBias::kName,
                                      VectorBias::kName, planner));
}

void write_bias(const GridBias& bias, int /*num_states*/, Json& document) {
  document["resolution"] = bias.resolution;
  document["bias"] = bias.values;
}

template <class Number>
Json rows_of_width(const std::vector<Number>& values, int width) {
  Json rows = Json::array();
  for (auto row = values.begin(); row != values.end(); row += width) {
    rows.push_back(std::vector<Number>(row, row + width));
  }
  return rows;
}

void write_bias(const VectorBias& bias, int num_states, Json& document) {
  document["alpha"] = rows_of_width(bias.alpha, num_states);
}

void write_bias(const HorizonPolicy& policy, int num_states, Json& document) {
  Json stages = Json::array();
  for (const HorizonStage& stage : policy.stages) {
    Json written = {{"actions", stage.actions}};
    if (!stage.next.empty()) {
      written["next"] =
          rows_of_width(stage.next, static_cast<int>(stage.next.size() / stage.actions.size()));
    }
    written["alpha"] = rows_of_width(stage.alpha, num_states);
    stages.push_back(std::move(written));
  }
  document["start"] = policy.start;
  if (!policy.first.empty()) document["first"] = policy.first;
  document["stages"] = std::move(stages);
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
  if (root.has("horizon")) {
    const JsonView view = root.at("horizon");
    view.require_keys(kHorizonKeys);
    plan.horizon = HorizonValue{read_int(view.at("steps")), number(view, "discount"),
                                number(view, "lower"), number(view, "upper")};
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
  if (const auto& value = plan.horizon) {
    document["horizon"] = {{"steps", value->steps},
                           {"discount", value->discount},
                           {"lower", value->lower},
                           {"upper", value->upper}};
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
    root.at("format").fail("this is a model, not a plan; oas plan makes a plan of it");
  }
  root.require_keys(kKeys);
  const std::string format = root.at("format").as_string();
  if (format != kFormat) {
    root.at("format").fail(fmt::format("expected \"{}\", found \"{}\"", kFormat, format));
  }
  const JsonView model = root.at("model");
  Plan plan(parse_model(model.json().dump(), fmt::format("{}: {}", root.file(), model.path())));
  plan.bias = read_bias(root, plan.model);
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
  plan.validate();
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
  if (!plan.horizon) document["certificate"] = certificate_json(plan.certificate);
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
