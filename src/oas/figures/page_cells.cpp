#include "oas/figures/page_cells.hpp"

#include <fmt/format.h>

#include <cmath>

#include "oas/core/markup.hpp"

namespace oas {

std::string short_number(double value) {
  if (!std::isfinite(value)) return "–";
  const double size = std::abs(value);
  return with_minus(size >= 1e3 && size < 1e9 ? fmt::format("{:.0f}", value)
                                              : fmt::format("{:.4g}", value));
}

std::string number_cell(double value) {
  const std::string key = std::isfinite(value) ? fmt::format("{}", value) : "";
  return fmt::format("<td data-value=\"{}\">{}</td>", key, short_number(value));
}

std::string text_cell(std::string_view words) {
  return fmt::format("<td class=\"text\">{}</td>", escape_markup(words));
}

std::string head_cell(std::string_view words, bool is_text) {
  return fmt::format("<th{}><button type=\"button\">{}</button></th>",
                     is_text ? " class=\"text\"" : "", escape_markup(words));
}

}  // namespace oas
