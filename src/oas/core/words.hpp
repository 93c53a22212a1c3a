#pragma once

#include <string>
#include <string_view>

namespace oas {

/// The noun for so many things: "row" for 1, else "rows"; "pass" and "passes", "entry" and
/// "entries".
template <class Count>
[[nodiscard]] std::string plural(Count count, std::string_view noun) {
  if (count == Count{1}) return std::string(noun);
  const std::string text(noun);
  if (noun.ends_with("ry")) return text.substr(0, text.size() - 1) + "ies";
  const bool hisses = noun.ends_with('s') || noun.ends_with("ch") || noun.ends_with('x');
  return text + (hisses ? "es" : "s");
}

}  // namespace oas
