#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oas {

/// How a curve is drawn.
struct Style {
  std::string color;
  std::string_view dash;
};

/// One style per label: algorithms have a fixed colour each, the same in all figures; the others
/// get what is left of the palette.
[[nodiscard]] std::map<std::string, Style> styles_of(const std::vector<std::string>& labels);

}  // namespace oas
