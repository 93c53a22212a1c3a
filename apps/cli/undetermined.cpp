#include "undetermined.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "oas/core/files.hpp"
#include "oas/estimation/estimate_json.hpp"

namespace oas::cli {

namespace {

// The text of a file that may hold an estimate; a pipe cannot be read twice.
std::string text_of(const std::string& name) {
  if (names_model(name) || !std::filesystem::is_regular_file(name)) return "";
  return read_text_file(name);
}

// The first few.
std::string first_names(const std::vector<UndeterminedRow>& rows) {
  constexpr std::size_t kNamed = 5;
  std::string names;
  for (std::size_t i = 0; i < rows.size() && i < kNamed; ++i) {
    names += fmt::format("{}({}, {})", i == 0 ? "" : ", ", rows[i].action, rows[i].state);
  }
  return names + (rows.size() > kNamed ? ", …" : "");
}

}  // namespace

std::string warn_of_undetermined_rows(const std::string& name, const Pomdp& model,
                                      const std::string& result, const Common& common) {
  const std::string text = text_of(name);
  if (text.empty()) return "";
  const auto rows = parse_undetermined_rows(text, name);
  if (rows.empty()) return "";
  const std::string warning = fmt::format(
      "{}: its log did not determine {} of the {} rows (action, state) of the transition model: "
      "{}; {} may depend on them",
      name, rows.size(), model.num_actions() * model.num_states(), first_names(rows), result);
  warn(common, warning);
  return warning;
}

std::vector<std::string> warn_of_undetermined(const std::string& name, const Pomdp& model,
                                              const std::string& result, const Common& common) {
  std::vector<std::string> warnings;
  const std::string about_rows = warn_of_undetermined_rows(name, model, result, common);
  if (!about_rows.empty()) warnings.push_back(about_rows);
  const std::string text = text_of(name);
  if (text.empty()) return warnings;
  const auto rows = parse_undetermined_rewards(text, name, model);
  if (rows.empty()) return warnings;
  warnings.push_back(fmt::format(
      "{}: its log did not determine {} of the {} rewards (action, state): {}; "
      "the numbers there are cautious guesses, and {} may depend on them",
      name, rows.size(), model.num_actions() * model.num_states(), first_names(rows), result));
  warn(common, warnings.back());
  return warnings;
}

}  // namespace oas::cli
