#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "oas/core/settings.hpp"
#include "oas/logs/log_options.hpp"

/// Keyword arguments as the library's settings.
namespace oas::python {

namespace nb = nanobind;

/// Settings as text: True is a switch, False and None leave one out, a list repeats it.
[[nodiscard]] std::vector<Setting> settings_of(nb::handle keywords);

/// The seed of a stream: whatever Python takes for a whole number. Throws InvalidArgument when it
/// is none, or is not between 0 and 2^64 - 1.
[[nodiscard]] std::uint64_t seed_of(nb::handle value);

/// Takes those that say how rows are written out of `settings`. Throws InvalidArgument naming
/// the setting.
[[nodiscard]] LogOptions take_log_options(std::vector<Setting>& settings, bool known_states);

}  // namespace oas::python
