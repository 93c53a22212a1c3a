#include "oas/model/continuous_json.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/model/detail/model_fields.hpp"
#include "oas/model/model_json.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 15> kContinuousKeys = {
    "format",        "timing", "rows",       "states",   "actions",
    "observations",  "start",  "transition", "density",  "first_density",
    "density_draws", "reward", "discount",   "estimate", "calibration"};

constexpr long kMaxDimension = 64;

// Wrong parameters are reported at the object that holds them.
template <class Make>
auto made_at(const JsonView& view, Make make) {
  try {
    return make();
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    view.fail(error.what());
  }
}

template <std::size_t N>
void only(const JsonView& view, std::array<std::string_view, N> keys) {
  view.require_keys(keys);
}

std::vector<double> numbers(const JsonView& view) {
  const std::array extents = {static_cast<int>(view.size())};
  return view.as_array(extents);
}

Density read_density(const JsonView& view) {
  const std::string kind = view.at("kind").as_string();
  const auto number = [&](const char* key) { return view.at(key).as_double(); };
  return made_at(view, [&] {
    if (kind == "gaussian") {
      only(view, std::array<std::string_view, 3>{"kind", "mean", "sd"});
      return Density::gaussian(number("mean"), number("sd"));
    }
    if (kind == "lognormal") {
      only(view, std::array<std::string_view, 3>{"kind", "log_mean", "log_sd"});
      return Density::lognormal(number("log_mean"), number("log_sd"));
    }
    if (kind == "beta") {
      only(view, std::array<std::string_view, 3>{"kind", "alpha", "beta"});
      return Density::beta(number("alpha"), number("beta"));
    }
    if (kind == "gamma") {
      only(view, std::array<std::string_view, 3>{"kind", "shape", "scale"});
      return Density::gamma(number("shape"), number("scale"));
    }
    if (kind == "poisson") {
      only(view, std::array<std::string_view, 2>{"kind", "mean"});
      return Density::poisson(number("mean"));
    }
    if (kind == "table") {
      only(view, std::array<std::string_view, 3>{"kind", "edges", "probability"});
      return Density::table(numbers(view.at("edges")), numbers(view.at("probability")));
    }
    if (kind == "kernel") {
      only(view, std::array<std::string_view, 4>{"kind", "points", "bandwidth", "weights"});
      return Density::kernel(
          numbers(view.at("points")), number("bandwidth"),
          view.has("weights") ? numbers(view.at("weights")) : std::vector<double>());
    }
    if (kind == "mixture") {
      only(view, std::array<std::string_view, 3>{"kind", "weights", "parts"});
      std::vector<Density> parts;
      const JsonView list = view.at("parts");
      for (std::size_t i = 0; i < list.size(); ++i) {
        const JsonView part = list.at(i);
        if (part.at("kind").json() == "mixture") part.fail("a mixture of mixtures");
        parts.push_back(read_density(part));
      }
      return Density::mixture(numbers(view.at("weights")), std::move(parts));
    }
    view.at("kind").fail(fmt::format(
        "gaussian, lognormal, beta, gamma, poisson, table, kernel or mixture is expected, found "
        "\"{}\"",
        kind));
  });
}

bool is_vector_gaussian(const JsonView& view) {
  return view.has("covariance") || (view.has("mean") && view.at("mean").is_array());
}

VectorDensity read_vector_gaussian(const JsonView& view) {
  only(view, std::array<std::string_view, 3>{"kind", "mean", "covariance"});
  const std::string kind = view.at("kind").as_string();
  if (kind != "gaussian") {
    view.at("kind").fail(
        fmt::format("\"gaussian\" is expected beside a covariance, found \"{}\"", kind));
  }
  std::vector<double> mean = numbers(view.at("mean"));
  const int d = static_cast<int>(mean.size());
  std::vector<double> covariance = detail::read_table(view.at("covariance"), {d, d});
  return made_at(view,
                 [&] { return VectorDensity::gaussian(std::move(mean), std::move(covariance)); });
}

VectorDensity read_vector_density(const JsonView& view, int dimension) {
  const auto check = [&](std::size_t found) {
    if (found != static_cast<std::size_t>(dimension)) {
      view.fail(
          fmt::format("{} components where \"observations\" has dimension {}", found, dimension));
    }
  };
  if (view.is_array()) {
    check(view.size());
    std::vector<Density> parts;
    for (std::size_t i = 0; i < view.size(); ++i) parts.push_back(read_density(view.at(i)));
    return VectorDensity(std::move(parts));
  }
  if (is_vector_gaussian(view)) {
    VectorDensity density = read_vector_gaussian(view);
    check(density.marginals().size());
    return density;
  }
  check(1);
  return VectorDensity({read_density(view)});
}

int read_dimension(const JsonView& view) {
  if (!view.json().is_object()) {
    view.fail("{\"dimension\": d} is expected beside \"density\"");
  }
  only(view, std::array<std::string_view, 1>{"dimension"});
  const JsonView dimension = view.at("dimension");
  const long value = dimension.as_integer();
  if (value < 1 || value > kMaxDimension) {
    dimension.fail(
        fmt::format("expected a dimension from 1 to {}, found {}", kMaxDimension, value));
  }
  return static_cast<int>(value);
}

void require_size(const JsonView& list, int size, const char* what) {
  if (!list.is_array() || list.size() != static_cast<std::size_t>(size)) {
    list.fail(fmt::format("expected a list of {} entries, one for each {}", size, what));
  }
}

// Whether a list of densities is [state], once for all actions, and not [action][state]: its
// entries are densities, of vectors perhaps as lists of those of the components.
bool is_one_for_all_actions(const JsonView& view, int dimension) {
  if (!view.is_array() || view.size() == 0) return false;
  const JsonView first = view.at(0);
  if (!first.is_array()) return first.json().is_object();
  return dimension > 1 && first.size() == static_cast<std::size_t>(dimension) &&
         first.at(0).json().is_object() && !is_vector_gaussian(first.at(0));
}

void read_row(const JsonView& row, int num_states, int dimension,
              std::vector<VectorDensity>& densities) {
  require_size(row, num_states, "state");
  for (int s = 0; s < num_states; ++s) {
    densities.push_back(read_vector_density(row.at(static_cast<std::size_t>(s)), dimension));
  }
}

// [S] or [A][S]; where it `may_be_shared` also [1][S], for all actions.
DensitySensors read_sensors(const JsonView& view, int num_states, int num_actions, int dimension,
                            bool may_be_shared) {
  const bool once = is_one_for_all_actions(view, dimension);
  const bool shared = once || (may_be_shared && view.is_array() && view.size() == 1);
  if (!shared) require_size(view, num_actions, "action");
  std::vector<VectorDensity> densities;
  for (int a = 0; a < num_actions; ++a) {
    read_row(once ? view : view.at(static_cast<std::size_t>(shared ? 0 : a)), num_states, dimension,
             densities);
  }
  return {num_states, num_actions, std::move(densities), view.path()};
}

DensityDraws read_draws(const JsonView& view, const DensitySensors& sensors) {
  only(view, std::array<std::string_view, 2>{"labelled_rows", "draws"});
  DensityDraws result;
  const JsonView rows = view.at("labelled_rows");
  result.labelled_rows = rows.as_double();
  if (!(result.labelled_rows > 0.0)) rows.fail("expected a positive number");
  const JsonView list = view.at("draws");
  if (!list.is_array() || list.size() < 2) list.fail("expected a list of two draws or more");
  for (std::size_t k = 0; k < list.size(); ++k) {
    result.draws.push_back(read_sensors(list.at(k), sensors.num_states(), sensors.num_actions(),
                                        sensors.dimension(), true));
  }
  return result;
}

DensitySensors read_first_density(const JsonView& root, int num_states) {
  std::vector<VectorDensity> densities;
  read_row(root.at("first_density"), num_states, read_dimension(root.at("observations")),
           densities);
  return {num_states, 1, std::move(densities), "$.first_density"};
}

ContinuousPomdp read_continuous(const JsonView& root) {
  root.require_keys(kContinuousKeys);
  PomdpParts parts = detail::read_chain(root);
  const int s = parts.states.size();
  const int a = parts.actions.size();
  std::optional<DensitySensors> sensors;
  if (root.has("density")) {
    sensors =
        read_sensors(root.at("density"), s, a, read_dimension(root.at("observations")), false);
  } else if (root.has("observations")) {
    root.at("observations").fail("neither \"observation\" nor \"density\" says what is observed");
  }
  std::optional<DensitySensors> first;
  if (root.has("first_density")) {
    if (!sensors) root.at("first_density").fail("a model without \"density\" has no first one");
    first = read_first_density(root, s);
  }
  detail::read_dynamics(root, parts);
  if (root.has("reward")) {
    parts.reward = Reward::by_action_state(detail::read_table(root.at("reward"), {a, s}));
  }
  const auto size = static_cast<std::size_t>(a) * static_cast<std::size_t>(s);
  parts.observations = Labels(1, "observation");
  parts.sensors = ObservationModel(s, a, 1, std::vector<double>(size, 1.0));
  DensityDraws draws;
  if (root.has("density_draws")) {
    if (!sensors) root.at("density_draws").fail("\"density\" is missing beside it");
    draws = read_draws(root.at("density_draws"), *sensors);
  }
  return ContinuousPomdp(Pomdp(std::move(parts)), std::move(sensors), std::move(first),
                         std::move(draws));
}

bool all_equal(const std::vector<double>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

Json write_density(const Density& density) {
  const std::vector<double>& p = density.parameters();
  Json json = {{"kind", to_string(density.kind())}};
  switch (density.kind()) {
    case Density::Kind::gaussian:
      json["mean"] = p[0];
      json["sd"] = p[1];
      break;
    case Density::Kind::lognormal:
      json["log_mean"] = p[0];
      json["log_sd"] = p[1];
      break;
    case Density::Kind::beta:
      json["alpha"] = p[0];
      json["beta"] = p[1];
      break;
    case Density::Kind::gamma:
      json["shape"] = p[0];
      json["scale"] = p[1];
      break;
    case Density::Kind::poisson:
      json["mean"] = p[0];
      break;
    case Density::Kind::table:
      json["edges"] = p;
      json["probability"] = density.weights();
      break;
    case Density::Kind::kernel:
      json["points"] = p;
      json["bandwidth"] = density.bandwidth();
      if (!all_equal(density.weights())) json["weights"] = density.weights();
      break;
    case Density::Kind::mixture:
      json["weights"] = density.weights();
      json["parts"] = Json::array();
      for (const Density& part : density.parts()) json["parts"].push_back(write_density(part));
      break;
  }
  return json;
}

Json write_vector_density(const VectorDensity& density) {
  const auto d = static_cast<std::size_t>(density.dimension());
  if (density.dependent()) {
    Json json = {{"kind", "gaussian"}, {"mean", Json::array()}, {"covariance", Json::array()}};
    for (std::size_t i = 0; i < d; ++i) {
      json["mean"].push_back(density.marginals()[i].parameters()[0]);
      const auto row = density.covariance().begin() + static_cast<std::ptrdiff_t>(i * d);
      json["covariance"].push_back(std::vector<double>(row, row + static_cast<std::ptrdiff_t>(d)));
    }
    return json;
  }
  if (d == 1) return write_density(density.marginals().front());
  Json list = Json::array();
  for (const Density& part : density.marginals()) list.push_back(write_density(part));
  return list;
}

Json write_sensors(const DensitySensors& sensors, int actions) {
  Json json = Json::array();
  for (Action a{0}; a < actions; ++a) {
    Json row = Json::array();
    for (State s{0}; s < sensors.num_states(); ++s) {
      row.push_back(write_vector_density(sensors(a, s)));
    }
    json.push_back(std::move(row));
  }
  return json;
}

}  // namespace

bool is_continuous_model(std::string_view text) {
  // Large finite models are told by their text alone: they are not parsed twice.
  const auto names = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  if (names("\"observation\"") && !names("\"density\"")) return false;
  try {
    const Json document = parse_json(text, "");
    return document.is_object() && document.contains("format") && !document.contains("observation");
  } catch (const ParseError&) {
    return false;  // what is wrong is said where it is read as a model
  }
}

ContinuousPomdp parse_continuous_model(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  try {
    return read_continuous(JsonView(document, file));
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw ParseError(file, 0, 0, error.what());
  }
}

Json model_to_json(const ContinuousPomdp& model) {
  Json document = model_to_json(model.chain());
  document.erase("observation");
  document.erase("first_observation");
  document.erase("observations");
  if (!model.has_sensors()) return document;
  const DensitySensors& sensors = model.sensors();
  document["observations"] = {{"dimension", sensors.dimension()}};
  document["density"] = write_sensors(sensors, sensors.num_actions());
  if (model.first_density()) {
    for (State s{0}; s < model.num_states(); ++s) {
      document["first_density"].push_back(
          write_vector_density((*model.first_density())(Action{0}, s)));
    }
  }
  const DensityDraws& uncertain = model.density_draws();
  if (uncertain.draws.empty()) return document;
  const bool shared = std::none_of(
      uncertain.draws.begin(), uncertain.draws.end(),
      [](const DensitySensors& draw) { return draw.action_that_differs().has_value(); });
  Json& json = document["density_draws"];
  json["labelled_rows"] = uncertain.labelled_rows;
  for (const DensitySensors& draw : uncertain.draws) {
    json["draws"].push_back(write_sensors(draw, shared ? 1 : draw.num_actions()));
  }
  return document;
}

void write_model(const std::string& path, const ContinuousPomdp& model) {
  write_text_file(path, dump_json(model_to_json(model)));
}

}  // namespace oas
