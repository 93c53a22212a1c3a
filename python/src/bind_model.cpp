#include <fmt/format.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "docs.hpp"
#include "models.hpp"
#include "oas/core/contracts.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/model/continuous_json.hpp"
#include "oas/model/convert_timing.hpp"
#include "oas/model/model_json.hpp"
#include "settings.hpp"
#include "typed.hpp"

namespace oas::python {

namespace {

using Names = std::vector<std::string>;

// What a model is made of as Python gives it; None where it is left out.
struct GivenParts {
  nb::object observation;
  nb::object transition;
  nb::object reward;
  nb::object observation_reward;
  nb::object transition_reward;
  nb::object first_observation;
  nb::object start;
  nb::object states;
  nb::object actions;
  nb::object observations;
};

struct Sizes {
  std::size_t states = 0;
  std::size_t actions = 0;
  std::size_t observations = 0;
};

nb::list listed(nb::handle given, const char* kind) {
  try {
    return nb::list(given);
  } catch (const nb::python_error&) {  // an array without dimensions
    throw InvalidArgument(
        fmt::format("{}s is {}; it must be a list of names", kind, nb::repr(given).c_str()));
  }
}

// Labels from names, a number of them, or nothing.
Labels labels_of(nb::handle given, std::size_t size, const char* kind) {
  const int count = static_cast<int>(size);
  if (given.is_none()) return {count, kind};
  if (nb::isinstance<nb::int_>(given)) {
    long named = 0;
    OAS_REQUIRE(nb::try_cast(given, named) && named == count,
                "{}s is {}, but the tables are for {}", kind, nb::repr(given).c_str(), count);
    return {count, kind};
  }
  const bool names_in_order = PySequence_Check(given.ptr()) != 0 && PyBytes_Check(given.ptr()) == 0;
  OAS_REQUIRE(!nb::isinstance<nb::str>(given) && names_in_order && !nb::isinstance<nb::dict>(given),
              "{}s is {}, {}; it must be a list of names", kind, nb::repr(given).c_str(),
              typed(given));
  Names names;
  for (nb::handle name : listed(given, kind)) {
    OAS_REQUIRE(nb::isinstance<nb::str>(name), "{}s[{}] is {}; a name must be a str", kind,
                names.size(), nb::repr(name).c_str());
    names.push_back(nb::cast<std::string>(name));
  }
  OAS_REQUIRE(names.size() == size, "{}s has {} names, but the tables are for {}", kind,
              names.size(), size);
  return {std::move(names), kind};
}

// How many actions there are, where sensors are given once for all of them.
std::size_t number_of_actions(const GivenParts& given) {
  const auto first_size = [](nb::handle value, const char* what) {
    const Shape shape = table_of(value, what).shape;
    OAS_REQUIRE(!shape.empty(), "{} is a number; it must be a table of all actions", what);
    return shape.front();
  };
  if (!given.transition.is_none()) return first_size(given.transition, "transition");
  if (!given.reward.is_none()) return first_size(given.reward, "reward");
  OAS_REQUIRE(!given.actions.is_none(),
              "observation is one table for all actions, and nothing says how many there are: "
              "give transition, reward or actions");
  if (!nb::isinstance<nb::int_>(given.actions)) return nb::len(listed(given.actions, "action"));
  int actions = 0;
  constexpr int kMostActions = 1'000'000;
  OAS_REQUIRE(nb::try_cast(given.actions, actions) && actions > 0 && actions <= kMostActions,
              "actions is {}; there may be 1 to {}", nb::repr(given.actions).c_str(), kMostActions);
  return static_cast<std::size_t>(actions);
}

ObservationModel sensors_of(const GivenParts& given, Sizes& sizes) {
  Table table = table_of(given.observation, "observation");
  complete_rows(table);
  OAS_REQUIRE(table.shape.size() == 2 || table.shape.size() == 3,
              "observation has shape {}; it must be [A][S][O], or [S][O] for all actions",
              shown(table.shape));
  if (table.shape.size() == 2) {
    const std::size_t actions = number_of_actions(given);
    const std::vector<double> one = table.values;
    for (std::size_t a = 1; a < actions; ++a) {
      table.values.insert(table.values.end(), one.begin(), one.end());
    }
    table.shape.insert(table.shape.begin(), actions);
  }
  sizes = {table.shape[1], table.shape[0], table.shape[2]};
  OAS_REQUIRE(!table.values.empty(), "observation has shape {}; no size may be 0",
              shown(table.shape));
  return {static_cast<int>(sizes.states), static_cast<int>(sizes.actions),
          static_cast<int>(sizes.observations), std::move(table.values)};
}

std::vector<double> checked(nb::handle given, const Shape& shape, const char* what,
                            const char* meaning) {
  Table table = table_of(given, what);
  require_shape(table, shape, what, meaning);
  require_finite(table, what);
  return std::move(table.values);
}

std::vector<double> probabilities(nb::handle given, const Shape& shape, const char* what,
                                  const char* meaning) {
  Table table = table_of(given, what);
  require_shape(table, shape, what, meaning);
  complete_rows(table);
  return std::move(table.values);
}

Reward reward_of(const GivenParts& given, const Sizes& n) {
  const int count = !given.reward.is_none() + !given.observation_reward.is_none() +
                    !given.transition_reward.is_none();
  OAS_REQUIRE(count <= 1,
              "only one of reward, observation_reward and transition_reward can be given");
  if (!given.reward.is_none()) {
    return Reward::by_action_state(
        checked(given.reward, {n.actions, n.states}, "reward", "[A][S]"));
  }
  if (!given.observation_reward.is_none()) {
    return Reward::by_observation(
        checked(given.observation_reward, {n.observations}, "observation_reward", "[O]"));
  }
  if (given.transition_reward.is_none()) return {};
  return Reward::by_transition(checked(given.transition_reward,
                                       {n.actions, n.states, n.states, n.observations},
                                       "transition_reward", "[A][S][S][O]"));
}

PomdpParts parts_of(const GivenParts& given) {
  Sizes n;
  PomdpParts parts;
  parts.sensors = sensors_of(given, n);
  const int states = static_cast<int>(n.states);
  if (!given.transition.is_none()) {
    parts.transition =
        TransitionModel(states, static_cast<int>(n.actions),
                        probabilities(given.transition, {n.actions, n.states, n.states},
                                      "transition", "[A][S][S]"));
  }
  parts.reward = reward_of(given, n);
  if (!given.start.is_none()) parts.start = probabilities(given.start, {n.states}, "start", "[S]");
  if (!given.first_observation.is_none()) {
    parts.first_observation =
        ObservationModel(states, 1, static_cast<int>(n.observations),
                         probabilities(given.first_observation, {n.states, n.observations},
                                       "first_observation", "[S][O]"),
                         "first_observation");
  }
  parts.states = labels_of(given.states, n.states, "state");
  parts.actions = labels_of(given.actions, n.actions, "action");
  parts.observations = labels_of(given.observations, n.observations, "observation");
  return parts;
}

Names names_of(const Labels& labels) {
  Names names;
  for (int i = 0; i < labels.size(); ++i) names.push_back(labels[i]);
  return names;
}

std::size_t size(int value) { return static_cast<std::size_t>(value); }

nb::object transition_view(nb::handle self, const Pomdp& model) {
  if (!model.has_transition()) return nb::none();
  const std::size_t s = size(model.num_states());
  return view(model.transition().values(), {size(model.num_actions()), s, s}, self);
}

// The table of one kind of reward; None where the model has another.
nb::object reward_view(nb::handle self, Reward::Kind kind, const Shape& shape) {
  const Reward& reward = nb::cast<const Pomdp&>(self).reward();
  if (reward.kind() != kind || reward.values().empty()) return nb::none();
  return view(reward.values(), shape, self);
}

void save_model(const AnyModel& model, nb::handle file) {
  const std::string path = path_of(file);
  if (const auto* const continuous = std::get_if<ContinuousPomdp>(&model)) {
    OAS_REQUIRE(format_of_ending(path) == ModelFormat::json,
                "{}: only .json files hold models with real-valued observations", path);
    return write_model(path, *continuous);
  }
  const Pomdp& finite = std::get<Pomdp>(model);
  if (format_of_ending(path) == ModelFormat::json) return write_model(path, finite);
  const Timing timing = finite.has_transition() ? Timing::after : finite.timing();
  const TimingConversion converted = convert_timing(finite, timing);
  OAS_REQUIRE(converted.model.has_value(),
              "{}: only .json files hold models of timing before, and in timing after it is not "
              "the same on these states: {}",
              path, converted.reason);
  warn(write_any_model(path, *converted.model));
}

// What both kinds of models have.
template <class Model, class Class>
void define_common(Class& model) {
  const auto chain = [](const Model& self) -> const Pomdp& {
    if constexpr (std::is_same_v<Model, Pomdp>) {
      return self;
    } else {
      return self.chain();
    }
  };
  model.def_prop_ro("num_states", [](const Model& self) { return self.num_states(); })
      .def_prop_ro("num_actions", [](const Model& self) { return self.num_actions(); })
      .def_prop_ro(
          "timing", [](const Model& self) { return std::string(to_string(self.timing())); },
          "`before`: the state in which the action is taken emits; `after`: the next one.")
      .def_prop_ro(
          "rows", [=](const Model& m) { return std::string(to_string(chain(m).rows())); },
          "How rows of logs are written: `action-first` or `reading-first`.")
      .def_prop_ro(
          "states", [=](const Model& m) { return names_of(chain(m).states()); },
          "Names, or indices in digits where there are none.")
      .def_prop_ro("actions", [=](const Model& m) { return names_of(chain(m).actions()); })
      .def_prop_ro(
          "start",
          [=](nb::handle self) {
            const Pomdp& of = chain(nb::cast<const Model&>(self));
            return view(std::span(of.start()), {size(of.num_states())}, self);
          },
          "[S]: the law of the first state.")
      .def_prop_ro(
          "transition",
          [=](nb::handle self) {
            return transition_view(self, chain(nb::cast<const Model&>(self)));
          },
          "[A][S][S], or None where it is unknown.")
      .def(
          "with_transition",
          [](const Model& self, nb::handle transition) {
            const std::size_t s = size(self.num_states());
            return self.with_transition(
                TransitionModel(self.num_states(), self.num_actions(),
                                probabilities(transition, {size(self.num_actions()), s, s},
                                              "transition", "[A][S][S]")));
          },
          nb::arg("transition").none(), docs::Pomdp::with_transition)
      .def(
          "with_rows",
          [](const Model& self, nb::handle rows) {
            return self.with_rows(parse_rows(text_of(rows, "rows")));
          },
          nb::arg("rows").none(),
          nb::sig(std::is_same_v<Model, Pomdp>
                      ? "def with_rows(self, rows: str) -> Pomdp"
                      : "def with_rows(self, rows: str) -> ContinuousPomdp"),
          docs::Pomdp::with_rows)
      .def(
          "save", [](const Model& self, nb::handle path) { save_model(self, path); },
          nb::arg("path").none(),
          "Writes a model file: .json, or .pomdp and .pomdpx where they can say it.")
      .def(
          "to_json", [](const Model& self) { return model_text(self); },
          "The text of the model file.")
      .def(
          "__eq__",
          [](const Model& self, nb::handle other) {
            return nb::isinstance<Model>(other) && self == nb::cast<const Model&>(other);
          },
          nb::arg("other").none())
      .def("__copy__", [](const Model& self) { return self; })
      .def(
          "__deepcopy__", [](const Model& self, nb::handle) { return self; }, nb::arg("memo"))
      .def("__getstate__", [](const Model& self) { return model_text(self); })
      .def(
          "__setstate__",
          [](Model& self, const std::string& text) {
            new (&self) Model(std::get<Model>(parse_model_text(text, "pickled model")));
          },
          nb::arg("state"));
  model.attr("__hash__") = nb::none();
}

void define_tables(nb::class_<Pomdp>& model) {
  model.def_prop_ro("num_observations", &Pomdp::num_observations)
      .def_prop_ro("observations", [](const Pomdp& m) { return names_of(m.observations()); })
      .def_prop_ro(
          "observation",
          [](nb::handle self) {
            const Pomdp& m = nb::cast<const Pomdp&>(self);
            return view(m.sensors().values(),
                        {size(m.num_actions()), size(m.num_states()), size(m.num_observations())},
                        self);
          },
          "[A][S][O]: P(observation | state, action).")
      .def_prop_ro(
          "first_observation",
          [](nb::handle self) -> nb::object {
            const Pomdp& m = nb::cast<const Pomdp&>(self);
            if (!m.first_observation()) return nb::none();
            return view(m.first_observation()->values(),
                        {size(m.num_states()), size(m.num_observations())}, self);
          },
          "[S][O]: the sensor of a run's first reading, where rows are reading-first.")
      .def_prop_ro(
          "reward",
          [](nb::handle self) {
            const Pomdp& m = nb::cast<const Pomdp&>(self);
            return reward_view(self, Reward::Kind::by_action_state,
                               {size(m.num_actions()), size(m.num_states())});
          },
          "[A][S], or None where the reward is given otherwise.")
      .def_prop_ro(
          "observation_reward",
          [](nb::handle self) {
            const Pomdp& m = nb::cast<const Pomdp&>(self);
            return reward_view(self, Reward::Kind::by_observation, {size(m.num_observations())});
          },
          "[O], or None.")
      .def_prop_ro(
          "transition_reward",
          [](nb::handle self) {
            const Pomdp& m = nb::cast<const Pomdp&>(self);
            const std::size_t s = size(m.num_states());
            return reward_view(self, Reward::Kind::by_transition,
                               {size(m.num_actions()), s, s, size(m.num_observations())});
          },
          "[A][S][S][O], or None.")
      .def_prop_ro("_has_reward",
                   [](const Pomdp& m) { return m.reward().kind() != Reward::Kind::none; })
      .def_prop_ro("discount", &Pomdp::discount, docs::PomdpParts::discount)
      .def(
          "expected_reward",
          [](const Pomdp& m) {
            const Matrix table = m.expected_reward();
            return owned(std::vector<double>(table.data(), table.data() + table.size()),
                         {size(m.num_actions()), size(m.num_states())});
          },
          "[A][S]: expected rewards under the model's own transition.")
      .def("without_transition", &Pomdp::without_transition, "What a learner may see.")
      .def("__repr__", [](const Pomdp& m) { return "Pomdp(" + m.brief() + ")"; })
      .def("_repr_html_", [](nb::handle self) {
        return nb::module_::import_("oas._html").attr("model_html")(self);
      });
}

Pomdp model_of(const Keywords& given) {
  OAS_REQUIRE(!given["observation"].is_none(),
              "observation is missing: the sensors, [A][S][O], or [S][O] for all actions");
  PomdpParts parts =
      parts_of({given["observation"], given["transition"], given["reward"],
                given["observation_reward"], given["transition_reward"], given["first_observation"],
                given["start"], given["states"], given["actions"], given["observations"]});
  const auto text = [&](const char* name, const char* otherwise) {
    const nb::object value = given[name];
    return value.is_none() ? std::string(otherwise) : text_of(value, name);
  };
  parts.timing = parse_timing(text("timing", "before"));
  parts.rows = parse_rows(text("rows", "action-first"));
  const nb::object discount = given["discount"];
  if (!discount.is_none()) parts.discount = number_of(discount, "discount");
  return Pomdp(std::move(parts));
}

void define_constructor(nb::class_<Pomdp>& model) {
  model.def(
      "__init__",
      [](Pomdp* self, const nb::args& positional, const nb::kwargs& given) {
        new (self)
            Pomdp(model_of(Keywords("Pomdp", positional, given,
                                    {"observation", "transition", "reward", "observation_reward",
                                     "transition_reward", "timing", "rows", "states", "actions",
                                     "observations", "start", "first_observation", "discount"})));
      },
      nb::sig("def __init__(self, *, observation: object, transition: object | None = None, "
              "reward: object | None = None, observation_reward: object | None = None, "
              "transition_reward: object | None = None, timing: str = 'before', "
              "rows: str = 'action-first', states: object | None = None, "
              "actions: object | None = None, observations: object | None = None, "
              "start: object | None = None, first_observation: object | None = None, "
              "discount: float | None = None) -> None"));
}

}  // namespace

void bind_model(nb::module_& m) {
  auto pomdp = nb::class_<Pomdp>(
      m, "Pomdp",
      "A partially observed Markov decision process with known sensors and dynamics that may be\n"
      "known. Tables have the shapes of model files: transition [A][S][S], observation [A][S][O]\n"
      "(or [S][O] where all actions have one sensor), reward [A][S]. Checked once, then "
      "immutable.");
  define_constructor(pomdp);
  define_common<Pomdp>(pomdp);
  define_tables(pomdp);

  auto continuous = nb::class_<ContinuousPomdp>(m, "ContinuousPomdp",
                                                "A model whose observations are real numbers or "
                                                "vectors; made by `oas.load`, `oas.calibrate`\n"
                                                "or `oas.model_from_json`.");
  define_common<ContinuousPomdp>(continuous);
  continuous
      .def_prop_ro(
          "dimension",
          [](const ContinuousPomdp& model) -> std::optional<int> {
            if (!model.has_sensors()) return std::nullopt;
            return model.sensors().dimension();
          },
          "Components of a reading; None where the log brings likelihoods.")
      .def("__repr__",
           [](const ContinuousPomdp& model) { return "ContinuousPomdp(" + model.brief() + ")"; })
      .def("_repr_html_", [](nb::handle self) {
        return nb::module_::import_("oas._html").attr("model_html")(self);
      });
  m.def(
      "model_from_json",
      [](const std::string& text) {
        const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
        OAS_REQUIRE(first < text.size() && text[first] == '{',
                    "model: no text of a .json model file: it does not begin with {{");
        return parse_model_text(text, "model");
      },
      nb::arg("text"), "A model from the text of a .json model file.");
  m.def("_any_model", any_model, nb::arg("model").none());
}

}  // namespace oas::python
