#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "check_report.hpp"
#include "cli.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 12;
constexpr std::size_t kMostReasons = 4;

std::string row_name(const Pomdp& model, const RowIdentifiability& row) {
  return fmt::format("({}, {})", model.actions()[row.action], model.states()[row.state]);
}

// The row with the largest standard error.
const RowIdentifiability& weakest(const Identifiability& found) {
  return *std::max_element(found.rows.begin(), found.rows.end(), [](const auto& a, const auto& b) {
    return a.standard_error < b.standard_error;
  });
}

std::string undetermined_rows(const Pomdp& model, const Identifiability& found) {
  Table table({"row", "visits", "by moments", "by likelihood", "± after 10^6 steps"});
  std::vector<std::string> reasons;
  std::size_t shown = 0;
  for (const RowIdentifiability& row : found.rows) {
    if (row.moments.empty() && row.likelihood.empty()) continue;
    if (++shown > kMostRows) continue;
    table.add(
        {row_name(model, row), fmt::format("{:.2g} %", 100.0 * row.visits),
         row.moments.empty() ? "yes" : "no", row.likelihood.empty() ? "yes" : "no",
         std::isfinite(row.standard_error) ? fmt::format("{:.2g}", row.standard_error) : "-"});
    for (const std::string* reason : {&row.moments, &row.likelihood}) {
      if (!reason->empty() && std::find(reasons.begin(), reasons.end(), *reason) == reasons.end()) {
        reasons.push_back(*reason);
      }
    }
  }
  std::string text = table.text();
  if (shown > kMostRows) text += fmt::format("  and {} rows more\n", shown - kMostRows);
  if (reasons.size() > kMostReasons) {
    reasons.resize(kMostReasons);
    reasons.emplace_back("…");
  }
  text += fmt::format("  because: {}\n", fmt::join(reasons, "; "));
  return text;
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

void report_identifiability(const Pomdp& model, const SurveyOptions& options,
                            const Identifiability& found, Report& report) {
  report.text += fmt::format(
      "\nwhich rows do logs determine (policy {}, {} x {} steps simulated)?\n", options.policy.name,
      options.logs, big_number(static_cast<double>(options.steps)));
  if (model.num_states() == 1) {
    report.text += "  one state: its row is 1, there is nothing to learn\n";
  } else if (found.by_moments() && found.by_likelihood()) {
    const RowIdentifiability& row = weakest(found);
    report.text += fmt::format(
        "  all, by moments and by likelihood; least known is {}: ± {:.2g} after 10^6 steps\n",
        row_name(model, row), row.standard_error);
  } else {
    report.text += undetermined_rows(model, found);
  }
  if (!found.alike.empty()) {
    const auto& [one, other] = found.alike.front();
    report.text += fmt::format(
        "  {} look the same under every action, such as '{}' and '{}': which is which is not "
        "determined\n",
        found.alike.size() == 1 ? "two states"
                                : fmt::format("{} pairs of states", found.alike.size()),
        model.states()[one], model.states()[other]);
  }
  Json rows = Json::array();
  for (const RowIdentifiability& row : found.rows) {
    Json json = {{"action", model.actions()[row.action]},
                 {"state", model.states()[row.state]},
                 {"visits", row.visits},
                 {"by_moments", row.moments.empty()},
                 {"by_likelihood", row.likelihood.empty()}};
    if (!row.moments.empty()) json["moments_reason"] = row.moments;
    if (!row.likelihood.empty()) json["likelihood_reason"] = row.likelihood;
    json["standard_error_per_million"] = number_or_null(row.standard_error);
    rows.push_back(std::move(json));
  }
  report.json["identifiability"] = {{"policy", options.policy.name},
                                    {"unknown_directions", found.unknown_directions},
                                    {"rows", std::move(rows)}};
}

}  // namespace oas::cli
