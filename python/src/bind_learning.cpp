#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "docs.hpp"
#include "labels.hpp"
#include "models.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/json_text.hpp"
#include "oas/learning/agents.hpp"
#include "settings.hpp"
#include "turn.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

using Json = nlohmann::ordered_json;

// How an agent was made.
struct Making {
  std::string name;
  std::vector<Setting> settings;
  std::uint64_t seed = 1;
  std::uint32_t replication = 0;
};

// An agent of the table with its random numbers, which insists on the order of calls: a first
// observe() where rows are reading-first, then act() and observe() in turn.
class NamedAgent {
 public:
  NamedAgent(const Pomdp& model, Making making)
      : model_(model),
        making_(std::move(making)),
        agent_(make_agent(making_.name, model, making_.settings)),
        rng_({making_.seed, making_.replication, Role::agent}),
        opens_(model.reading_first()) {
    OAS_REQUIRE(!agent_.needs_hidden_state(),
                "{} with these settings must be shown the hidden state, which no agent outside a "
                "simulation can be",
                making_.name);
  }

  nb::tuple act() {
    const Choice choice = changing([&] {
      OAS_REQUIRE(!opens_, "rows are reading-first: tell observe() the first reading, then act()");
      require_observed();
      const Choice made = agent_.act(rng_);  // an episode may begin, and be planned for
      acted_ = true;
      return made;
    });
    return nb::make_tuple(choice.action.value(), choice.propensity);
  }

  void observe(nb::handle value) {
    const Observation observation = observation_of(value, model_);
    turn_.take([&] {
      require_whole();
      OAS_REQUIRE(opens_ || acted_, "observe() was called before act() at step {}", steps_);
      if (opens_) {
        agent_.begin(observation);
      } else {
        agent_.observe(observation);
        ++steps_;
      }
      opens_ = acted_ = false;
    });
  }

  [[nodiscard]] nb::object probabilities() {
    return owned(changing([&] {
      OAS_REQUIRE(!opens_, "rows are reading-first: tell observe() the first observation before");
      require_observed();
      std::vector<double> out(static_cast<std::size_t>(model_.num_actions()));
      agent_.probabilities(out);
      return out;
    }));
  }

  [[nodiscard]] nb::object belief() const {
    std::vector<double> belief = turn_.take(
        [&] { return std::vector<double>(agent_.belief().begin(), agent_.belief().end()); });
    if (belief.empty()) return nb::none();
    return owned(std::move(belief));
  }

  [[nodiscard]] nb::list episodes() const {
    const std::vector<Episode> episodes = turn_.take(
        [&] { return std::vector<Episode>(agent_.episodes().begin(), agent_.episodes().end()); });
    nb::list all;
    for (const Episode& episode : episodes) all.append(episode_dict(episode));
    return all;
  }

  [[nodiscard]] std::string save() const {
    return turn_.take([&] {
      require_whole();
      return dump_json(document());
    });
  }

  static NamedAgent loaded(const Pomdp& model, const std::string& text) {
    try {
      return loaded(model, parse_json(text, "pickled agent"));
    } catch (const Json::exception& error) {
      throw InvalidArgument(fmt::format("pickled agent: {}", error.what()));
    }
  }

  [[nodiscard]] const Pomdp& model() const { return model_; }
  [[nodiscard]] const Making& making() const { return making_; }
  [[nodiscard]] std::int64_t steps() const {
    return turn_.take([&] { return steps_; });
  }

 private:
  // What may plan, one call after the other. Ctrl-C may leave the agent half changed.
  template <class Work>
  std::invoke_result_t<const Work&> changing(const Work& work) {
    std::optional<std::invoke_result_t<const Work&>> result;
    run_short_work([&] {
      turn_.take_without_gil([&] {
        require_whole();
        try {
          result = work();
        } catch (const Interrupted&) {
          interrupted_ = true;
          throw;
        }
      });
    });
    return std::move(*result);
  }

  void require_whole() const {
    OAS_REQUIRE(
        !interrupted_,
        "{} was interrupted at step {} while it planned, and cannot go on; make another, or "
        "go on from one that was pickled before",
        making_.name, steps_);
  }
  void require_observed() const {
    OAS_REQUIRE(!acted_, "act() was called for step {}: tell observe() what came of it first",
                steps_);
  }

  [[nodiscard]] Json document() const {
    Json settings = Json::array();
    for (const Setting& setting : making_.settings) {
      settings.push_back(Json::array({setting.name, setting.value}));
    }
    return {{"name", making_.name},
            {"settings", std::move(settings)},
            {"seed", making_.seed},
            {"replication", making_.replication},
            {"position", rng_.position()},
            {"opens", opens_},
            {"acted", acted_},
            {"steps", steps_},
            {"agent", agent_.save()}};
  }

  static NamedAgent loaded(const Pomdp& model, const Json& document) {
    Making making{document.at("name"), {}, document.at("seed"), document.at("replication")};
    for (const Json& setting : document.at("settings")) {
      making.settings.push_back({setting.at(0), setting.at(1)});
    }
    NamedAgent agent(model, std::move(making));
    agent.rng_ = Rng(agent.rng_.key(), document.at("position").get<std::uint64_t>());
    agent.opens_ = document.at("opens");
    agent.acted_ = document.at("acted");
    agent.steps_ = document.at("steps");
    agent.agent_.load(JsonView(document, "pickled agent").at("agent"));
    return agent;
  }

  static nb::dict episode_dict(const Episode& episode) {
    nb::dict entry;
    entry["start"] = episode.start;
    entry["length"] = episode.length;
    entry["status"] = episode.status;
    entry["pairs"] = episode.pairs;
    entry["floor"] = episode.floor;
    entry["radius"] = episode.radius;
    entry["planned_gain"] = episode.planned_gain;
    entry["optimistic_gain"] = episode.optimistic_gain;
    entry["planning_seconds"] = episode.planning_seconds;
    if (episode.failure) entry["failure"] = episode.failure->message;
    if (episode.transition) {
      const auto values = episode.transition->values();
      const auto s = static_cast<std::size_t>(episode.transition->num_states());
      entry["transition"] =
          owned(std::vector<double>(values.begin(), values.end()), {values.size() / (s * s), s, s});
    }
    return entry;
  }

  Pomdp model_;
  Making making_;
  AnyAgent agent_;
  Rng rng_;
  bool opens_;
  bool acted_ = false;
  bool interrupted_ = false;
  std::int64_t steps_ = 0;
  Turn turn_;
};

// "name=value" of settings as a command line has them, each of them checked.
std::vector<std::string> setting_words(const std::string& name, const nb::dict& given) {
  const std::vector<SettingInfo> known = find_agent(name).settings();
  std::vector<std::string> words;
  for (const Setting& setting : settings_of(given)) {
    const auto found = std::ranges::find(known, setting.name, &SettingInfo::name);
    OAS_REQUIRE(found != known.end(), "{} has no setting '{}'; oas.agent_settings('{}') lists them",
                name, setting.name, name);
    const bool one_word = setting.value.find_first_of(" \t\n\v\f\r") == std::string::npos;
    OAS_REQUIRE(one_word && (!found->accepts || found->accepts(setting.value)),
                "{}: {} is '{}'; it must be {}", name, setting.name, setting.value,
                found->expected);
    words.push_back(setting.name + "=" + setting.value);
  }
  return words;
}

void define_agents(nb::module_& m) {
  m.def(
      "agents",
      [] {
        nb::dict all;
        for (const AgentInfo& info : agents()) {
          all[nb::str(info.name.data(), info.name.size())] =
              nb::str(info.summary.data(), info.summary.size());
        }
        return all;
      },
      "The agents of the library: name and summary.");
  m.def("_setting_words", setting_words);
  m.def(
      "agent_settings",
      [](const std::string& name) {
        nb::dict all;
        for (const SettingInfo& setting : find_agent(name).settings()) {
          all[nb::str(setting.name.c_str())] = nb::make_tuple(setting.value, setting.help());
        }
        return all;
      },
      nb::arg("name"), "The settings of an agent: name, and its default and meaning as text.");
}

}  // namespace

void bind_learning(nb::module_& m) {
  define_agents(m);
  // What Python makes of it stands before what both languages say.
  static const std::string probabilities = std::string("[A].\n") + docs::AnyAgent::probabilities;
  static const std::string belief = std::string("[S], or None.\n") + docs::AnyAgent::belief;
  static const std::string episodes = std::string("A dict for each.\n") + docs::Episode::self;
  static const std::string about =
      std::string(docs::AnyAgent::self) +
      "\n\nWhere rows are reading-first, `observe()` comes first. Learners get the model without\n"
      "its transition. Same seed, same actions; pickled in the middle of a run it goes on to the\n"
      "bit (`episodes` begin anew).";
  nb::class_<NamedAgent>(m, "Agent", about.c_str())
      .def(
          "__init__",
          [](NamedAgent* self, nb::handle name, nb::handle model, nb::handle seed,
             nb::handle replication, nb::kwargs settings) {
            const Pomdp known = finite_model(model);
            const Making making{text_of(name, "name"), settings_of(settings), seed_of(seed),
                                small_number_of(replication, "replication")};
            new (self) NamedAgent(  // one that knows the dynamics plans now
                run_for({"plans"}, [&](const RowsRead&) { return NamedAgent(known, making); }));
          },
          nb::arg("name").none(), nb::arg("model").none(), nb::arg("seed").none() = 1,
          nb::arg("replication").none() = 0, nb::arg("settings"),
          nb::sig("def __init__(self, name: str, model: object, seed: int = 1, "
                  "replication: int = 0, **settings: object) -> None"))
      .def("act", &NamedAgent::act, docs::AnyAgent::act)
      .def("observe", &NamedAgent::observe, nb::arg("observation").none(),
           "What was read: a name, an index, or None where nothing was.")
      .def("probabilities", &NamedAgent::probabilities, probabilities.c_str())
      .def_prop_ro("belief", &NamedAgent::belief, belief.c_str())
      .def_prop_ro("episodes", &NamedAgent::episodes, episodes.c_str())
      .def_prop_ro("model", &NamedAgent::model, nb::rv_policy::copy)
      .def_prop_ro("name", [](const NamedAgent& self) { return self.making().name; })
      .def_prop_ro("seed", [](const NamedAgent& self) { return self.making().seed; })
      .def_prop_ro("steps", &NamedAgent::steps, "Steps so far.")
      .def("__repr__",
           [](const NamedAgent& self) {
             return fmt::format("Agent('{}', seed={}, steps={})", self.making().name,
                                self.making().seed, self.steps());
           })
      .def("__copy__",
           [](const NamedAgent& self) { return NamedAgent::loaded(self.model(), self.save()); })
      .def(
          "__deepcopy__",
          [](const NamedAgent& self, nb::handle) {
            return NamedAgent::loaded(self.model(), self.save());
          },
          nb::arg("memo"))
      .def("__getstate__",
           [](const NamedAgent& self) {
             return nb::make_tuple(model_text(self.model()), self.save());
           })
      .def(
          "__setstate__",
          [](NamedAgent& self, const nb::tuple& state) {
            const AnyModel model =
                parse_model_text(nb::cast<std::string>(state[0]), "pickled agent");
            new (&self) NamedAgent(
                NamedAgent::loaded(std::get<Pomdp>(model), nb::cast<std::string>(state[1])));
          },
          nb::arg("state"));
}

}  // namespace oas::python
