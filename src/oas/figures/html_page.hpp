#pragma once

#include <string>
#include <string_view>

namespace oas {

/// A page that stands alone: nothing is fetched, light and dark, for screens and for paper. Tables
/// of the class `sortable` sort by the column whose head is clicked; drawings of the class `chart`
/// take on the colours of the page where their parts have the classes ink, paper, grid and axis.
/// `body` is markup.
[[nodiscard]] std::string html_page(std::string_view title, std::string_view body);

}  // namespace oas
