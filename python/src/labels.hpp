#pragma once

#include <nanobind/nanobind.h>

#include "oas/model/pomdp.hpp"

/// Elements of a model as Python gives them: names or indices.
namespace oas::python {

namespace nb = nanobind;

/// A name or an index; None, NaN and NA are kMissing. Throws InvalidArgument naming what it is
/// instead.
[[nodiscard]] Observation observation_of(nb::handle value, const Pomdp& model);
/// A name or an index. `whose` begins the message.
[[nodiscard]] Action action_of(nb::handle value, const Pomdp& model, const std::string& whose);

}  // namespace oas::python
