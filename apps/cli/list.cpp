#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "oas/estimation/estimators.hpp"
#include "oas/learning/agents.hpp"
#include "oas/planning/planners.hpp"
#include "oas/problems/corner_models.hpp"
#include "oas/problems/named.hpp"
#include "oas/simulation/closed_loop.hpp"
#include "oas/study/known_studies.hpp"

namespace oas::cli {

namespace {

using Json = nlohmann::ordered_json;

template <class Rows>
Json to_json(const Rows& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back({{"name", row.name}, {"summary", row.summary}});
  return list;
}

template <class Rows>
std::string to_text(const char* title, const char* use, const Rows& rows) {
  std::string text = fmt::format("{} ({})\n", title, use);
  for (const auto& row : rows) text += fmt::format("  {:<26}{}\n", row.name, row.summary);
  return text + "\n";
}

}  // namespace

void add_list(CLI::App& app) {
  const auto common = std::make_shared<Common>();
  add_verb(app, "list", "List problems, policies, estimators, planners, agents and studies",
           *common, [common] {
             if (common->json) {
               print_json(*common, {{"problems", to_json(problems())},
                                    {"corner_models", to_json(corner_models())},
                                    {"policies", to_json(policies())},
                                    {"estimators", to_json(estimators())},
                                    {"planners", to_json(planners())},
                                    {"agents", to_json(agents())},
                                    {"studies", to_json(known_studies())}});
               return;
             }
             print(*common,
                   to_text("problems", "use the name as MODEL, or oas problem NAME -o FILE",
                           problems()) +
                       to_text("corner models", "small models for hard cases; used in the same way",
                               corner_models()) +
                       to_text("policies", "oas simulate --policy NAME", policies()) +
                       to_text("estimators", "oas estimate --estimator NAME", estimators()) +
                       to_text("planners", "oas plan --planner NAME", planners()) +
                       to_text("agents", "oas learn MODEL --agent NAME,NAME", agents()) +
                       to_text("studies", "oas study run NAME [--quick]", known_studies()));
           });
}

}  // namespace oas::cli
