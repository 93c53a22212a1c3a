#pragma once

#include <nanobind/nanobind.h>

#include "oas/study/guest_estimators.hpp"

/// Functions of Python as estimators of studies.
namespace oas::python {

namespace nb = nanobind;

/// From functions (model, rows) → T by name. One is called at a time, with the GIL; what it raises
/// becomes the message of a std::runtime_error.
[[nodiscard]] GuestEstimators guests_of(const nb::dict& functions);

}  // namespace oas::python
