#pragma once

#include <string>
#include <string_view>

/// Cells of the sortable tables on report pages.
namespace oas {

/// A number as people read it in a table: four digits, thousands in full.
[[nodiscard]] std::string short_number(double value);
/// Sorted by its value; a dash where it is not finite.
[[nodiscard]] std::string number_cell(double value);
/// A mean and its interval, "lower … upper", which is sorted by its lower end.
[[nodiscard]] std::string mean_cells(double mean, double lower, double upper);
/// The same two cells where nothing is known.
[[nodiscard]] std::string unknown_mean_cells();
[[nodiscard]] std::string text_cell(std::string_view words);
/// The head of a column, with the button that sorts by it.
[[nodiscard]] std::string head_cell(std::string_view words, bool is_text = false);

}  // namespace oas
