#include "python_agent.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "labels.hpp"
#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"

namespace oas::python {

void AgentFailure::keep(const std::string& where, const nb::python_error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (!happened_) {
      where_ = where;
      raised_ = nb::borrow(error.value());
      happened_ = true;
    }
  }
  throw Interrupted();
}

void AgentFailure::keep(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (!happened_) {
      thrown_ = std::move(error);
      happened_ = true;
    }
  }
  throw Interrupted();
}

nb::object AgentFailure::told() const {
  if (thrown_) std::rethrow_exception(thrown_);
  return nb::make_tuple(where_, raised_);
}

struct PythonAgent::Held {
  PlayerInfo info;
  nb::object object;
  nb::object act;
  nb::object observe;
  nb::object probabilities;
  bool says_probabilities = false;
  std::optional<Choice> chosen;  // asked for its probabilities, and has none but what it did
  std::int64_t step = 0;

  [[nodiscard]] std::string where(const char* call) const {
    return fmt::format("{}: {}() at step {} of run {}", info.label, call, step, info.run);
  }

  // Does something with the object; what goes wrong is kept.
  template <class Call>
  auto guarded(const char* call, const Call& make) {
    const nb::gil_scoped_acquire acquired;
    if (info.failure->happened()) throw Interrupted();
    try {
      return make();
    } catch (const nb::python_error& error) {
      info.failure->keep(where(call), error);
    } catch (const InvalidArgument&) {
      info.failure->keep(std::current_exception());
    }
  }

  [[nodiscard]] Choice choose() {
    const nb::object answer = act();
    const bool pair = nb::isinstance<nb::tuple>(answer) || nb::isinstance<nb::list>(answer);
    if (!pair) return {action_of(answer, *info.model, where("act")), 1.0};
    OAS_REQUIRE(nb::len(answer) == 2,
                "{} returned {}; it must be an action or (action, propensity)", where("act"),
                nb::repr(answer).c_str());
    const Action action = action_of(answer[0], *info.model, where("act"));
    double propensity = 0.0;
    const bool number = nb::try_cast(nb::float_(answer[1]), propensity);
    OAS_REQUIRE(number && propensity > 0.0 && propensity <= 1.0,
                "{} returned the propensity {}; it must be above 0 and at most 1", where("act"),
                nb::repr(answer[1]).c_str());
    return {action, propensity};
  }
};

PythonAgent::PythonAgent(PlayerInfo info, const std::function<nb::object()>& make)
    : held_(new Held{std::move(info), {}, {}, {}, {}, false, {}, 0}, [](Held* held) {
        const nb::gil_scoped_acquire acquired;
        delete held;  // NOLINT: the deleter of a shared pointer
      }) {
  held_->guarded("__init__", [&] {
    held_->object = make();
    for (const char* needed : {"act", "observe"}) {
      OAS_REQUIRE(nb::hasattr(held_->object, needed), "{}: a {} has no {}()", held_->info.label,
                  nb::type_name(held_->object.type()).c_str(), needed);
    }
    held_->act = held_->object.attr("act");
    held_->observe = held_->object.attr("observe");
    held_->probabilities = nb::getattr(held_->object, "probabilities", nb::none());
    held_->says_probabilities = !held_->probabilities.is_none();
  });
}

Choice PythonAgent::act(Rng& /*rng*/) {
  if (held_->chosen) {
    const Choice chosen = *held_->chosen;
    held_->chosen.reset();
    return chosen;
  }
  return held_->guarded("act", [&] { return held_->choose(); });
}

void PythonAgent::observe(Observation observation) {
  held_->guarded("observe", [&] { held_->observe(observation.value()); });
  ++held_->step;
}

void PythonAgent::probabilities(std::span<double> out) {
  if (!held_->says_probabilities) {
    if (!held_->chosen) held_->chosen = held_->guarded("act", [&] { return held_->choose(); });
    std::fill(out.begin(), out.end(), 0.0);
    out[static_cast<std::size_t>(held_->chosen->action)] = 1.0;
    return;
  }
  held_->guarded("probabilities", [&] {
    const std::string where = held_->where("probabilities");
    const Table table = table_of(held_->probabilities(), where);
    require_shape(table, {out.size()}, where, "[A]");
    check_simplex(table.values, where);
    std::copy(table.values.begin(), table.values.end(), out.begin());
  });
}

nlohmann::ordered_json PythonAgent::save() const {
  throw InvalidArgument(held_->info.label + ": an agent written in Python cannot be saved");
}

void PythonAgent::load(const JsonView& /*state*/) {
  throw InvalidArgument(held_->info.label + ": an agent written in Python cannot be loaded");
}

}  // namespace oas::python
