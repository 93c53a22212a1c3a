#include "models.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/estimation/estimate_json.hpp"
#include "oas/formats/model_file.hpp"
#include "oas/model/continuous_json.hpp"
#include "oas/model/model_json.hpp"
#include "oas/problems/named.hpp"
#include "typed.hpp"

namespace oas::python {

AnyModel Estimate::estimated() const {
  if (const auto* const finite = std::get_if<Pomdp>(&model)) {
    return estimated_model(*finite, result);
  }
  return std::get<ContinuousPomdp>(model).with_transition(result.transition);
}

Timing parse_timing(const std::string& name) {
  OAS_REQUIRE(name == "before" || name == "after", "timing is '{}'; it must be 'before' or 'after'",
              name);
  return name == "before" ? Timing::before : Timing::after;
}

std::string model_text(const AnyModel& model) {
  return std::visit([](const auto& any) { return dump_json(model_to_json(any)); }, model);
}

AnyModel parse_model_text(const std::string& text, const std::string& file) {
  if (is_continuous_model(text)) return parse_continuous_model(text, file);
  ReadModel read = parse_any_model(text, file);
  warn(read.warnings);
  return std::move(read.model);
}

std::string estimate_text(const Estimate& estimate) {
  return std::visit(
      [&](const auto& any) { return dump_json(estimate_to_json(any, estimate.result)); },
      estimate.model);
}

Estimate parse_estimate_text(const std::string& text, const std::string& file) {
  EstimateDocument document = parse_estimate(text, file);
  OAS_REQUIRE(document.estimate, "{}: is a model without an estimate", file);
  return {parse_model_text(text, file), std::move(*document.estimate)};
}

namespace {
bool is_path(nb::handle value) {
  return nb::isinstance<nb::str>(value) || nb::hasattr(value, "__fspath__");
}

}  // namespace

std::string path_of(nb::handle value) {
  OAS_REQUIRE(is_path(value), "path is {}, {}; it must be a text or an os.PathLike",
              nb::repr(value).c_str(), typed(value));
  const nb::object path = nb::module_::import_("os").attr("fspath")(value);
  OAS_REQUIRE(nb::isinstance<nb::str>(path), "a path of bytes is not supported: {}",
              nb::repr(value).c_str());
  return nb::cast<std::string>(path);
}

namespace {

AnyModel named_model(nb::handle value) {
  const std::string name = path_of(value);
  if (!std::filesystem::exists(name)) {
    if (const ProblemInfo* const known = find_problem(name)) return known->make();
    std::string names;
    for (const ProblemInfo& info : problems()) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
    }
    throw InvalidArgument(
        fmt::format("{}: no such file, and no problem of that name (known: {})", name, names));
  }
  return parse_model_text(read_text_file(name), name);
}

}  // namespace

AnyModel any_model(nb::handle value) {
  if (nb::isinstance<Pomdp>(value)) return nb::cast<const Pomdp&>(value);
  if (nb::isinstance<ContinuousPomdp>(value)) return nb::cast<const ContinuousPomdp&>(value);
  if (nb::isinstance<Estimate>(value)) return nb::cast<const Estimate&>(value).estimated();
  OAS_REQUIRE(is_path(value),
              "model is {}; it must be an oas.Pomdp, an oas.ContinuousPomdp, an oas.Estimate, a "
              "path or the name of a problem",
              typed(value));
  return named_model(value);
}

Pomdp finite_model(nb::handle value) {
  AnyModel model = any_model(value);
  OAS_REQUIRE(std::holds_alternative<Pomdp>(model),
              "the model has real-valued observations; oas.discretise makes a finite one");
  return std::get<Pomdp>(std::move(model));
}

void warn(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  const nb::object tell = nb::module_::import_("oas._errors").attr("warn_user");
  for (const std::string& warning : warnings) tell(warning);
}

Estimate finished_estimate(AnyModel model, TransitionEstimate result) {
  warn(result.warnings);
  return {std::move(model), std::move(result)};
}

}  // namespace oas::python
