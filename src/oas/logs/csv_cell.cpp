#include "oas/logs/csv_cell.hpp"

namespace oas {

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string(2, c) : std::string(1, c);
  return cell + '"';
}

}  // namespace oas
