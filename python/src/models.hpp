#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "oas/estimation/transition_estimate.hpp"
#include "oas/model/any_model.hpp"

/// Models as Python has them.
namespace oas::python {

namespace nb = nanobind;

/// An estimate with the model that its rows were read with. The model has the estimated transition
/// where it is asked for, see any_model().
struct Estimate {
  AnyModel model;
  TransitionEstimate result;

  /// With the estimated dynamics, and sensors and rewards where these were estimated.
  [[nodiscard]] AnyModel estimated() const;
};

/// The document of an estimate: a model file.
[[nodiscard]] std::string estimate_text(const Estimate& estimate);
[[nodiscard]] Estimate parse_estimate_text(const std::string& text, const std::string& file);

/// A Pomdp, ContinuousPomdp or Estimate, a path (str or os.PathLike) of a model file, or the name
/// of a ready-made problem. Throws InvalidArgument naming what it is instead.
[[nodiscard]] AnyModel any_model(nb::handle value);
/// The same for what needs finite observations.
[[nodiscard]] Pomdp finite_model(nb::handle value);

/// warnings.warn(text, oas.OasWarning) for each.
void warn(const std::vector<std::string>& warnings);

/// A result and its model, after the user was warned of what it says.
[[nodiscard]] Estimate finished_estimate(AnyModel model, TransitionEstimate result);

/// str or os.PathLike.
[[nodiscard]] std::string path_of(nb::handle value);

/// Throws InvalidArgument on a name that is none.
[[nodiscard]] Timing parse_timing(const std::string& name);

[[nodiscard]] std::string model_text(const AnyModel& model);
[[nodiscard]] AnyModel parse_model_text(const std::string& text, const std::string& file);

}  // namespace oas::python
