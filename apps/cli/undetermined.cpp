#include "undetermined.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "oas/core/files.hpp"
#include "oas/estimation/estimate_json.hpp"

namespace oas::cli {

std::string warn_of_undetermined_rows(const std::string& name, const Pomdp& model,
                                      const std::string& result, const Common& common) {
  constexpr std::size_t kNamed = 5;
  // A pipe cannot be read twice.
  if (names_model(name) || !std::filesystem::is_regular_file(name)) return "";
  const auto rows = parse_undetermined_rows(read_text_file(name), name);
  if (rows.empty()) return "";
  std::string names;
  for (std::size_t i = 0; i < rows.size() && i < kNamed; ++i) {
    names += fmt::format("{}({}, {})", i == 0 ? "" : ", ", rows[i].action, rows[i].state);
  }
  const std::string text = fmt::format(
      "{}: its log did not determine {} of the {} rows (action, state) of the transition model: "
      "{}{}; {} may depend on them",
      name, rows.size(), model.num_actions() * model.num_states(), names,
      rows.size() > kNamed ? ", …" : "", result);
  warn(common, text);
  return text;
}

}  // namespace oas::cli
