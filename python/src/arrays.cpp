#include "arrays.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas::python {

Table table_of(nb::handle value, const std::string& what) {
  nb::object array;
  Table table;
  try {
    const nb::module_ numpy = nb::module_::import_("numpy");
    OAS_REQUIRE(!nb::cast<bool>(numpy.attr("iscomplexobj")(value)),
                "{} is complex; real numbers are needed", what);
    OAS_REQUIRE(
        !nb::hasattr(value, "mask") || !nb::cast<bool>(numpy.attr("ma").attr("is_masked")(value)),
        "{} has masked entries; all must be there", what);
    const nb::object type = numpy.attr("asarray")(value).attr("dtype");
    table.single = nb::cast<std::string>(type.attr("kind")) == "f" &&
                   nb::cast<int>(type.attr("itemsize")) == static_cast<int>(sizeof(float));
    array = numpy.attr("asarray")(value, nb::arg("dtype") = numpy.attr("float64"),
                                  nb::arg("order") = "C");
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    throw InvalidArgument(
        fmt::format("{} is not an array of numbers: {}", what, nb::str(error.value()).c_str()));
  }
  const auto numbers = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
  table.values.assign(numbers.data(), numbers.data() + numbers.size());
  for (std::size_t i = 0; i < numbers.ndim(); ++i) table.shape.push_back(numbers.shape(i));
  return table;
}

void complete_rows(Table& table) {
  constexpr double kSinglePrecision = 1e-5;
  if (!table.single || table.values.empty()) return;
  const std::size_t width = table.shape.back();
  for (auto row = table.values.begin(); row != table.values.end();) {
    const auto end = row + static_cast<std::ptrdiff_t>(width);
    const double sum = std::accumulate(row, end, 0.0);
    const double scale = std::abs(sum - 1.0) < kSinglePrecision ? sum : 1.0;
    for (; row != end; ++row) *row /= scale;
  }
}

std::string shown(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

void require_shape(const Table& table, const Shape& shape, const std::string& what,
                   const char* meaning) {
  OAS_REQUIRE(table.shape == shape, "{} has shape {}; it must be {} = {}", what, shown(table.shape),
              meaning, shown(shape));
}

void require_finite(const Table& table, const std::string& what) {
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (std::isfinite(table.values[i])) continue;
    std::string place;
    std::size_t rest = i;
    for (std::size_t k = table.shape.size(); k > 0; --k) {
      place = fmt::format("[{}]{}", rest % table.shape[k - 1], place);
      rest /= table.shape[k - 1];
    }
    throw InvalidArgument(
        fmt::format("{}{} is {}; it must be finite", what, place, table.values[i]));
  }
}

}  // namespace oas::python
