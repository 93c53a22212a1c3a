#include "settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "typed.hpp"

namespace oas::python {

namespace {

void add(const std::string& name, nb::handle value, std::vector<Setting>& settings) {
  if (value.is_none() || value.is(Py_False)) return;
  if (value.is(Py_True)) {
    settings.push_back({name, "true"});
  } else if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    for (nb::handle part : nb::list(value)) add(name, part, settings);
  } else if (nb::isinstance<nb::float_>(value)) {
    settings.push_back({name, fmt::format("{}", nb::cast<double>(value))});
  } else {
    settings.push_back({name, nb::str(value).c_str()});
  }
}

}  // namespace

std::vector<Setting> settings_of(nb::handle keywords) {
  std::vector<Setting> settings;
  for (const auto [name, value] : nb::cast<nb::dict>(keywords)) {
    add(nb::cast<std::string>(name), value, settings);
  }
  return settings;
}

std::string text_of(nb::handle value, const std::string& what) {
  OAS_REQUIRE(nb::isinstance<nb::str>(value), "{} is {}, {}; it must be a text", what,
              nb::repr(value).c_str(), typed(value));
  return nb::cast<std::string>(value);
}

double number_of(nb::handle value, const std::string& what) {
  double number = 0.0;
  const bool fine = !nb::isinstance<nb::bool_>(value) && nb::try_cast(value, number);
  OAS_REQUIRE(fine, "{} is {}, {}; it must be a number", what, nb::repr(value).c_str(),
              typed(value));
  return number;
}

std::uint32_t small_number_of(nb::handle value, const std::string& what) {
  std::uint32_t number = 0;
  const bool fine = !nb::isinstance<nb::bool_>(value) && nb::try_cast(value, number);
  OAS_REQUIRE(fine, "{} is {}; it must be a whole number from 0 to 2^32 - 1", what,
              nb::repr(value).c_str());
  return number;
}

Keywords::Keywords(const char* callee, const nb::args& positional, nb::kwargs given,
                   std::initializer_list<const char*> known)
    : given_(std::move(given)) {
  OAS_REQUIRE(positional.size() == 0, "{} takes keywords only: {}=…, …; they are {}", callee,
              *known.begin(), fmt::join(known, ", "));
  for (const auto [name, value] : given_) {
    const auto text = nb::cast<std::string>(name);
    OAS_REQUIRE(std::ranges::find(known, text) != known.end(), "{} has no argument '{}'; it has {}",
                callee, text, fmt::join(known, ", "));
  }
}

nb::object Keywords::operator[](const char* name) const {
  return given_.contains(name) ? nb::object(given_[name]) : nb::none();
}

std::uint64_t seed_of(nb::handle value) {
  const bool whole = !nb::isinstance<nb::bool_>(value) && PyIndex_Check(value.ptr()) != 0;
  OAS_REQUIRE(whole, "seed is {}, {}; it must be a whole number", nb::repr(value).c_str(),
              typed(value));
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {  // as of an array of many
    PyErr_Clear();
    throw InvalidArgument(
        fmt::format("seed is {}; it must be a whole number", nb::repr(value).c_str()));
  }
  const unsigned long long seed = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    OAS_REQUIRE(false, "seed is {}; it must be between 0 and 2^64 - 1", nb::repr(value).c_str());
  }
  return seed;
}

LogOptions take_log_options(std::vector<Setting>& settings, bool known_states) {
  LogOptions options;
  SettingFields fields;
  options.visit(fields);
  if (known_states) options.visit_known_states(fields);
  const auto ours = [&](const Setting& setting) { return fields.knows(setting.name); };
  for (const Setting& setting : settings) static_cast<void>(ours(setting) && fields.set(setting));
  std::erase_if(settings, ours);
  options.validate();
  return options;
}

}  // namespace oas::python
