#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// NumPy arrays in and out.
namespace oas::python {

namespace nb = nanobind;

using Shape = std::vector<std::size_t>;

/// Numbers that somebody gave, in C order, and their shape.
struct Table {
  std::vector<double> values;
  Shape shape;
  bool single = false;  ///< was given in single precision
};

/// An array, or whatever NumPy makes one of, as doubles. Throws InvalidArgument that begins with
/// `what` when it is none.
[[nodiscard]] Table table_of(nb::handle value, const std::string& what);
/// Makes rows of probabilities that were given in single precision, and sum to 1 within that, sum
/// to 1; any others are left as they are.
void complete_rows(Table& table);
/// "(2, 3, 3)".
[[nodiscard]] std::string shown(const Shape& shape);
/// Throws InvalidArgument "`what` has shape (2, 4); it must be [A][S][S] = (2, 3, 3)".
void require_shape(const Table& table, const Shape& shape, const std::string& what,
                   const char* meaning);

/// Throws InvalidArgument "`what`[0][1] is nan; it must be finite".
void require_finite(const Table& table, const std::string& what);

/// A read-only array that shows numbers which `owner` keeps.
template <class Number>
[[nodiscard]] nb::object view(std::span<const Number> values, const Shape& shape,
                              nb::handle owner) {
  return nb::cast(
      nb::ndarray<nb::numpy, const Number>(values.data(), shape.size(), shape.data(), owner));
}

/// An array of its own, made of a vector without copying it.
template <class Number>
[[nodiscard]] nb::object owned(std::vector<Number> values, Shape shape = {}) {
  if (shape.empty()) shape = {values.size()};
  auto kept = std::make_unique<std::vector<Number>>(std::move(values));
  Number* const data = kept->data();
  const nb::capsule owner(kept.get(), [](void* p) noexcept {
    delete static_cast<std::vector<Number>*>(p);  // NOLINT: a capsule owns by pointer
  });
  static_cast<void>(kept.release());
  return nb::cast(nb::ndarray<nb::numpy, Number>(data, shape.size(), shape.data(), owner));
}

}  // namespace oas::python
