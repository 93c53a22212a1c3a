#include "oas/model/model_json.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/model/detail/model_fields.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "oas-model/1";

constexpr std::array<std::string_view, 20> kKeys = {"format",
                                                    "timing",
                                                    "rows",
                                                    "states",
                                                    "actions",
                                                    "observations",
                                                    "start",
                                                    "transition",
                                                    "transition_list",
                                                    "observation",
                                                    "first_observation",
                                                    "observation_counts",
                                                    "reward",
                                                    "observation_reward",
                                                    "transition_reward",
                                                    "reward_rules",
                                                    "discount",
                                                    "calibration",
                                                    "estimate",
                                                    "cells"};

// Tables of more numbers than this are refused: a typing error in a size must not eat the memory.
constexpr double kMaxTable = 2e8;

Labels read_labels(const JsonView& view, std::string_view kind) {
  try {
    if (view.is_array()) return {view.as_strings(), kind};
    const long size = view.as_integer();
    if (size < 1 || size > 1'000'000)
      view.fail(fmt::format("expected a size from 1 to 1000000, found {}", size));
    return {static_cast<int>(size), kind};
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    view.fail(error.what());
  }
}

Json write_labels(const Labels& labels) {
  return labels.has_names() ? Json(labels.names()) : Json(labels.size());
}

Timing read_timing(const JsonView& view) {
  const std::string name = view.as_string();
  if (name == to_string(Timing::before)) return Timing::before;
  if (name == to_string(Timing::after)) return Timing::after;
  view.fail(fmt::format("expected \"before\" or \"after\", found \"{}\"", name));
}

Rows read_rows(const JsonView& view) {
  try {
    return parse_rows(view.as_string());
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    view.fail(error.what());
  }
}

}  // namespace

namespace detail {

std::vector<double> read_table(const JsonView& view, std::initializer_list<int> extents) {
  double size = 1.0;
  for (const int extent : extents) size *= extent;
  if (size > kMaxTable)
    view.fail(fmt::format("{:.0f} numbers are more than the limit of {:.0f}", size, kMaxTable));
  return view.as_array(std::span(extents.begin(), extents.size()));
}

PomdpParts read_chain(const JsonView& root) {
  const std::string format = root.at("format").as_string();
  if (format != kFormat) {
    root.at("format").fail(fmt::format("expected \"{}\", found \"{}\"", kFormat, format));
  }
  PomdpParts parts;
  if (root.has("rows")) parts.rows = read_rows(root.at("rows"));
  // Rows that are reading-first have no other timing, which therefore need not be said.
  parts.timing = Timing::after;
  if (root.has("timing") || parts.rows == Rows::action_first) {
    parts.timing = read_timing(root.at("timing"));
  }
  if (parts.rows == Rows::reading_first && parts.timing == Timing::before) {
    root.at("rows").fail(
        "rows that are reading-first are a way to write timing \"after\"; this model has "
        "\"before\"");
  }
  parts.states = read_labels(root.at("states"), "state");
  parts.actions = read_labels(root.at("actions"), "action");
  if (root.has("start")) {
    parts.start = read_table(root.at("start"), {parts.states.size()});
    check_simplex(parts.start, "$.start");
  }
  return parts;
}

void read_dynamics(const JsonView& root, PomdpParts& parts) {
  const int s = parts.states.size();
  const int a = parts.actions.size();
  if (root.has("transition_list")) {
    if (root.has("transition")) {
      root.fail(R"(both "transition" and "transition_list" are given)");
    }
    parts.transition = read_transition_list(root.at("transition_list"), s, a);
  } else if (root.has("transition")) {
    parts.transition =
        TransitionModel(s, a, read_table(root.at("transition"), {a, s, s}), "$.transition");
  }
  if (root.has("discount")) {
    const JsonView view = root.at("discount");
    parts.discount = view.as_double();
    if (*parts.discount < 0.0 || *parts.discount > 1.0) {
      view.fail(fmt::format("expected a number from 0 to 1, found {}", *parts.discount));
    }
  }
}

}  // namespace detail

namespace {

using detail::read_table;

// [action, state, next, observation, value]; null stands for all.
RewardRule read_rule(const JsonView& view, std::array<int, 4> sizes) {
  if (view.size() != 5) view.fail(fmt::format("{} entries where 5 are needed", view.size()));
  std::array<int, 4> index{};
  for (std::size_t i = 0; i < index.size(); ++i) {
    const JsonView item = view.at(i);
    index[i] = RewardRule::kAny;
    if (item.json().is_null()) continue;
    const long value = item.as_integer();
    if (value < 0 || value >= sizes[i]) {
      item.fail(fmt::format("expected an index from 0 to {}, found {}", sizes[i] - 1, value));
    }
    index[i] = static_cast<int>(value);
  }
  return {index[0], index[1], index[2], index[3], view.at(4).as_double()};
}

Reward read_rules(const JsonView& view, int num_states, int num_actions, int num_observations) {
  std::vector<RewardRule> rules(view.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules[i] = read_rule(view.at(i), {num_actions, num_states, num_states, num_observations});
  }
  try {
    return Reward::by_table(RewardTable(num_states, num_actions, num_observations, rules));
  } catch (const InvalidArgument& error) {
    view.fail(error.what());
  }
}

Json write_rules(const RewardTable& table) {
  Json array = Json::array();
  const auto index = [](int i) { return i == RewardRule::kAny ? Json(nullptr) : Json(i); };
  for (const RewardRule& rule : table.rules()) {
    array.push_back({index(rule.action), index(rule.state), index(rule.next),
                     index(rule.observation), rule.value});
  }
  return array;
}

Reward read_reward(const JsonView& root, int num_states, int num_actions, int num_observations) {
  Reward reward;
  const char* given = nullptr;
  const auto take = [&](const char* key) {
    if (!root.has(key)) return false;
    if (given != nullptr) root.fail(fmt::format("both \"{}\" and \"{}\" are given", given, key));
    given = key;
    return true;
  };
  if (take("observation_reward")) {
    reward = Reward::by_observation(read_table(root.at("observation_reward"), {num_observations}));
  }
  if (take("reward")) {
    reward = Reward::by_action_state(read_table(root.at("reward"), {num_actions, num_states}));
  }
  if (take("transition_reward")) {
    reward = Reward::by_transition(read_table(
        root.at("transition_reward"), {num_actions, num_states, num_states, num_observations}));
  }
  if (take("reward_rules")) {
    reward = read_rules(root.at("reward_rules"), num_states, num_actions, num_observations);
  }
  return reward;
}

// Splits a flat table back into nested arrays of the given extents.
Json nested(std::span<const double>& values, std::span<const int> extents) {
  Json array = Json::array();
  for (int i = 0; i < extents.front(); ++i) {
    if (extents.size() == 1) {
      array.push_back(values[static_cast<std::size_t>(i)]);
    } else {
      array.push_back(nested(values, extents.subspan(1)));
    }
  }
  if (extents.size() == 1) values = values.subspan(static_cast<std::size_t>(extents.front()));
  return array;
}

Json write_table(std::span<const double> values, std::initializer_list<int> extents) {
  return nested(values, std::span(extents.begin(), extents.size()));
}

void write_reward(const Pomdp& model, Json& document) {
  const auto values = model.reward().values();
  const int s = model.num_states();
  const int a = model.num_actions();
  const int o = model.num_observations();
  switch (model.reward().kind()) {
    case Reward::Kind::none:
      break;
    case Reward::Kind::by_observation:
      document["observation_reward"] = write_table(values, {o});
      break;
    case Reward::Kind::by_action_state:
      document["reward"] = write_table(values, {a, s});
      break;
    case Reward::Kind::by_transition:
      if (const auto& table = model.reward().table()) {
        document["reward_rules"] = write_rules(*table);
        break;
      }
      document["transition_reward"] = write_table(values, {a, s, s, o});
      break;
  }
}

// Whether a table is [S][O], once for all actions, and not [A][S][O].
bool is_shared(const JsonView& view) {
  return view.is_array() && view.size() > 0 && view.at(0).is_array() && view.at(0).size() > 0 &&
         view.at(0).at(0).is_number();
}

ObservationModel read_observation(const JsonView& view, int s, int a, int o) {
  if (!is_shared(view)) return {s, a, o, read_table(view, {a, s, o}), "$.observation"};
  const std::vector<double> one = read_table(view, {s, o});
  check_row_stochastic(one, o, "$.observation");
  std::vector<double> all;
  for (int action = 0; action < a; ++action) all.insert(all.end(), one.begin(), one.end());
  return {s, a, o, std::move(all), "$.observation"};
}

ObservationModel read_first(const JsonView& view, int s, int o) {
  std::vector<double> values = read_table(view, {s, o});
  check_row_stochastic(values, o, "$.first_observation");
  return {s, 1, o, std::move(values)};
}

// [A][S][O], or [S][O] for all actions together.
ObservationCounts read_counts(const JsonView& view, int s, int a, int o) {
  const bool shared = is_shared(view);
  return {s, a, o, shared ? read_table(view, {s, o}) : read_table(view, {a, s, o}),
          "$.observation_counts"};
}

Json write_counts(const ObservationCounts& counts) {
  const int s = counts.num_states();
  const int o = counts.num_observations();
  return counts.shared() ? write_table(counts.values(), {s, o})
                         : write_table(counts.values(), {counts.num_actions(), s, o});
}

PomdpParts read_parts(const JsonView& root) {
  if (root.has("density")) {
    root.at("density").fail(
        "the observations of this model are real numbers; this command needs finite ones: oas "
        "discretise makes such a model");
  }
  if (root.has("format") && root.at("format").json() == "oas-plan/1") {
    root.at("format").fail(
        "this is a plan, not a model; oas evaluate and oas simulate --policy take "
        "plans, oas convert writes them as .alpha, .policy or .pg");
  }
  root.require_keys(kKeys);
  PomdpParts parts = detail::read_chain(root);
  parts.observations = read_labels(root.at("observations"), "observation");
  const int s = parts.states.size();
  const int a = parts.actions.size();
  const int o = parts.observations.size();
  parts.sensors = read_observation(root.at("observation"), s, a, o);
  if (root.has("first_observation")) {
    parts.first_observation = read_first(root.at("first_observation"), s, o);
  }
  if (root.has("observation_counts")) {
    parts.observation_counts = read_counts(root.at("observation_counts"), s, a, o);
  }
  detail::read_dynamics(root, parts);
  parts.reward = read_reward(root, s, a, o);
  return parts;
}

}  // namespace

Pomdp parse_model(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  const JsonView root(document, file);
  try {
    return Pomdp(read_parts(root));
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw ParseError(file, 0, 0, error.what());
  }
}

Pomdp read_model(const std::string& path) { return parse_model(read_text_file(path), path); }

Json model_to_json(const Pomdp& model) {
  const int s = model.num_states();
  const int a = model.num_actions();
  const int o = model.num_observations();
  Json document;
  document["format"] = kFormat;
  document["timing"] = to_string(model.timing());
  if (model.reading_first()) document["rows"] = to_string(model.rows());
  document["states"] = write_labels(model.states());
  document["actions"] = write_labels(model.actions());
  document["observations"] = write_labels(model.observations());
  document["start"] = write_table(model.start(), {s});
  if (model.has_transition() && model.transition().is_listed()) {
    document["transition_list"] = detail::write_transition_list(model.transition());
  } else if (model.has_transition()) {
    document["transition"] = write_table(model.transition().values(), {a, s, s});
  }
  document["observation"] = write_table(model.sensors().values(), {a, s, o});
  if (model.first_observation()) {
    document["first_observation"] = write_table(model.first_observation()->values(), {s, o});
  }
  if (model.observation_counts()) {
    document["observation_counts"] = write_counts(*model.observation_counts());
  }
  write_reward(model, document);
  if (model.discount()) document["discount"] = *model.discount();
  return document;
}

void write_model(const std::string& path, const Pomdp& model) {
  write_text_file(path, dump_json(model_to_json(model)));
}

}  // namespace oas
