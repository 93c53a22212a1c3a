#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <initializer_list>
#include <optional>
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

/// Arguments as they are wanted; all throw InvalidArgument naming `what` and the value.
[[nodiscard]] std::string text_of(nb::handle value, const std::string& what);
[[nodiscard]] double number_of(nb::handle value, const std::string& what);
[[nodiscard]] std::uint32_t small_number_of(nb::handle value, const std::string& what);

/// The arguments of a call that takes keywords only.
class Keywords {
 public:
  /// Throws InvalidArgument on an argument without keyword, and on a keyword that is not in
  /// `known`; both list these.
  Keywords(const char* callee, const nb::args& positional, nb::kwargs given,
           std::initializer_list<const char*> known);

  /// None where it was left out.
  [[nodiscard]] nb::object operator[](const char* name) const;

 private:
  nb::kwargs given_;
};

/// Takes those that say how rows are written out of `settings`. Throws InvalidArgument naming
/// the setting.
[[nodiscard]] LogOptions take_log_options(std::vector<Setting>& settings, bool known_states);

}  // namespace oas::python
