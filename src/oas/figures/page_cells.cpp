#include "oas/figures/page_cells.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "oas/core/markup.hpp"

namespace oas {

std::string short_number(double value) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  return with_minus(size >= 1e3 && size < 1e9 ? fmt::format("{:.0f}", value)
                                              : fmt::format("{:.4g}", value));
}

namespace {

// What a column is sorted by.
std::string key_of(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

}  // namespace

std::string number_cell(double value) {
  return fmt::format("<td data-value=\"{}\">{}</td>", key_of(value), short_number(value));
}

std::string mean_cells(double mean, double lower, double upper) {
  return number_cell(mean) + fmt::format("<td data-value=\"{}\">{} … {}</td>", key_of(lower),
                                         short_number(lower), short_number(upper));
}

std::string unknown_mean_cells() {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  return number_cell(kUnknown) + number_cell(kUnknown);
}

std::string text_cell(std::string_view words) {
  return fmt::format("<td class=\"text\">{}</td>", escape_markup(words));
}

std::string head_cell(std::string_view words, bool is_text) {
  return fmt::format("<th{}><button type=\"button\">{}</button></th>",
                     is_text ? " class=\"text\"" : "", escape_markup(words));
}

}  // namespace oas
