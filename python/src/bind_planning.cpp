#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "bindings.hpp"
#include "docs.hpp"
#include "labels.hpp"
#include "models.hpp"
#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/planning/plan_policy.hpp"
#include "settings.hpp"

namespace oas::python {

namespace {

// A plan that acts: it draws from a stream of its own.
class ActingPlan {
 public:
  ActingPlan(const Plan& plan, std::uint64_t seed)
      : model_(plan.model), policy_(plan), rng_({seed, 0, Role::agent}) {
    plan.require_endless("acting step by step has no end");
  }

  nb::tuple act() {
    OAS_REQUIRE(!acted_, "act() was called twice without observe() in between");
    const Choice choice = policy_.act(rng_);
    acted_ = true;
    return nb::make_tuple(choice.action.value(), choice.propensity);
  }
  void observe(nb::handle observation) {
    OAS_REQUIRE(acted_, "observe() was called without act() before");
    policy_.observe(seen(observation));
    acted_ = false;
  }
  void restart(nb::handle first) {
    policy_.restart();
    if (!first.is_none()) policy_.begin(seen(first));
    acted_ = false;
  }
  [[nodiscard]] std::vector<double> belief() const {
    return {policy_.belief().begin(), policy_.belief().end()};
  }
  [[nodiscard]] std::string brief() const {
    return fmt::format("PlanPolicy(seed={}, belief=[{:.4f}])", rng_.key().seed,
                       fmt::join(belief(), ", "));
  }

 private:
  // -1, too, is missing, as in the arrays of logs.
  [[nodiscard]] Observation seen(nb::handle value) const {
    if (!nb::isinstance<nb::str>(value) && nb::str(value).c_str() == std::string("-1")) {
      return kMissing;
    }
    return observation_of(value, model_);
  }

  Pomdp model_;
  PlanPolicy policy_;
  Rng rng_;
  bool acted_ = false;
};

std::string plan_text(const Plan& plan) { return dump_json(plan_to_json(plan)); }

void define_plan(nb::class_<Plan>& plan) {
  plan.def_prop_ro(
          "model", [](const Plan& self) { return self.model; }, docs::Plan::model)
      .def_prop_ro(
          "gain_lower", [](const Plan& self) { return self.gain_lower; }, docs::Plan::gain_lower)
      .def_prop_ro(
          "gain_upper", [](const Plan& self) { return self.gain_upper; }, docs::Plan::gain_upper)
      .def_prop_ro(
          "iota", [](const Plan& self) { return self.iota; }, docs::Plan::iota)
      .def_prop_ro(
          "iterations", [](const Plan& self) { return self.iterations; }, docs::Plan::iterations)
      .def_prop_ro(
          "message", [](const Plan& self) { return self.message; }, docs::Plan::message)
      .def_prop_ro(
          "warnings", [](const Plan& self) { return self.warnings; }, docs::Plan::warnings)
      .def_prop_ro("grid_resolution", &Plan::grid_resolution, docs::Plan::grid_resolution)
      .def_prop_ro(
          "alpha",
          [](nb::handle self) -> nb::object {
            const Plan& of = nb::cast<const Plan&>(self);
            const auto* const vectors = std::get_if<VectorBias>(&of.bias);
            if (vectors == nullptr) return nb::none();
            const auto s = static_cast<std::size_t>(of.model.num_states());
            return view(std::span(vectors->alpha), {vectors->alpha.size() / s, s}, self);
          },
          "[K][S]: vectors of a point-based plan, or None.")
      .def_prop_ro(
          "bias",
          [](nb::handle self) -> nb::object {
            const auto* const grid = std::get_if<GridBias>(&nb::cast<const Plan&>(self).bias);
            if (grid == nullptr) return nb::none();
            return view(std::span(grid->values), {grid->values.size()}, self);
          },
          "Values at the points of the belief grid, or None.")
      .def(
          "greedy",
          [](const Plan& self, nb::handle belief) {
            const Table table = table_of(belief, "belief");
            require_shape(table, {static_cast<std::size_t>(self.model.num_states())}, "belief",
                          "[S]");
            check_simplex(table.values, "belief");
            return LookAhead(self).greedy(table.values);
          },
          nb::arg("belief").none(), "The best action at a belief.")
      .def(
          "policy",
          [](const Plan& self, nb::handle seed) { return ActingPlan(self, seed_of(seed)); },
          nb::arg("seed").none() = 1, "The plan as an agent with `act` and `observe`.")
      .def(
          "save", [](const Plan& self, nb::handle path) { write_plan(path_of(path), self); },
          nb::arg("path").none(), "Writes a plan file (.json).")
      .def(
          "plot",
          [](nb::handle self, nb::handle ax) {
            return nb::module_::import_("oas.plot").attr("plan")(self, ax);
          },
          nb::arg("ax") = nb::none(),
          "Draws which action is best at which belief; returns the axes.")
      .def(
          "to_dataframe",
          [](nb::handle self) {
            return nb::module_::import_("oas._frames").attr("plan_frame")(self);
          },
          "A pandas.DataFrame: what the plan does in beliefs that it met in a simulation.")
      .def(
          "_repr_html_",
          [](nb::handle self) { return nb::module_::import_("oas._html").attr("plan_html")(self); })
      .def("to_json", plan_text)
      .def("__repr__", [](const Plan& self) { return "Plan(" + self.brief() + ")"; })
      .def(
          "__eq__",
          [](const Plan& self, nb::handle other) {
            return nb::isinstance<Plan>(other) && self == nb::cast<const Plan&>(other);
          },
          nb::arg("other").none())
      .def("__copy__", [](const Plan& self) { return self; })
      .def(
          "__deepcopy__", [](const Plan& self, nb::handle) { return self; }, nb::arg("memo"))
      .def("__getstate__", plan_text)
      .def(
          "__setstate__",
          [](Plan& self, const std::string& text) {
            new (&self) Plan(parse_plan(text, "pickled plan"));
          },
          nb::arg("state"));
  plan.attr("__hash__") = nb::none();
}

nb::object load(nb::handle given) {
  const std::string path = path_of(given);
  const std::string text = read_text_file(path);
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_object()) {
    if (document.value("format", "") == "oas-plan/1") return nb::cast(parse_plan(text, path));
    if (document.contains("estimate")) return nb::cast(parse_estimate_text(text, path));
  }
  return nb::cast(parse_model_text(text, path));
}

}  // namespace

void bind_planning(nb::module_& m) {
  auto plan = nb::class_<Plan>(m, "Plan", docs::Plan::self);
  define_plan(plan);
  nb::class_<ActingPlan>(m, "PlanPolicy", "A plan that acts; made by `Plan.policy`.")
      .def("act", &ActingPlan::act, "(action, propensity): what to do now, and how likely it was.")
      .def("observe", &ActingPlan::observe, nb::arg("observation").none(),
           "What came of it: a name, an index, or None (or NaN) where nothing was seen.")
      .def("restart", &ActingPlan::restart, nb::arg("first") = nb::none(),
           "Back to the start of a run; `first` is its first reading where rows are reading-first.")
      .def("__repr__", &ActingPlan::brief)
      .def("__copy__", [](const ActingPlan& self) { return self; })
      .def(
          "__deepcopy__", [](const ActingPlan& self, nb::handle) { return self; }, nb::arg("memo"))
      .def_prop_ro(
          "belief", [](const ActingPlan& self) { return owned(self.belief()); }, "[S]");
  m.def("_load", load, nb::arg("path").none());
}

}  // namespace oas::python
