#include "labels.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "oas/core/contracts.hpp"
#include "oas/model/label_lookup.hpp"
#include "typed.hpp"

namespace oas::python {

namespace {

// The index that a Python or NumPy integer holds; nothing where it is none. True is no index.
std::optional<long long> index_of(nb::handle value) {
  if (nb::isinstance<nb::bool_>(value) || PyIndex_Check(value.ptr()) == 0) return std::nullopt;
  const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole.is_valid()) {
    PyErr_Clear();
    return std::nullopt;
  }
  int overflow = 0;
  const long long index = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  return overflow == 0 ? index : -2;
}

int element_of(nb::handle value, const Labels& labels, const char* kind, const std::string& whose) {
  if (nb::isinstance<nb::str>(value)) {
    return element_named(nb::cast<std::string>(value), labels, kind, whose);
  }
  const auto index = index_of(value);
  OAS_REQUIRE(index.has_value(), "{} is {}, {}; it must be a name or an index", whose,
              nb::repr(value).c_str(), typed(value));
  OAS_REQUIRE(*index >= 0 && *index < labels.size(), "{} is {}; there are {} {}s", whose,
              nb::repr(value).c_str(), labels.size(), kind);
  return static_cast<int>(*index);
}

// What rows have where nothing was seen: None, NaN, NA and NaT of pandas.
bool is_missing(nb::handle value) {
  if (value.is_none()) return true;
  if (nb::isinstance<nb::str>(value) || PyIndex_Check(value.ptr()) != 0) return false;
  return nb::cast<bool>(nb::module_::import_("oas._columns").attr("is_missing")(value));
}

}  // namespace

Observation observation_of(nb::handle value, const Pomdp& model) {
  if (is_missing(value)) return kMissing;
  return Observation{element_of(value, model.observations(), "observation", "observation")};
}

Action action_of(nb::handle value, const Pomdp& model, const std::string& whose) {
  return Action{element_of(value, model.actions(), "action", whose)};
}

}  // namespace oas::python
