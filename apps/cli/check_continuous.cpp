#include <fmt/format.h>

#include "check_report.hpp"
#include "cli.hpp"
#include "oas/sensors/cell_search.hpp"
#include "oas/sensors/soft_features.hpp"

namespace oas::cli {

namespace {

// What soft features and cells make of the densities.
bool report_densities(const ContinuousPomdp& model, Report& report) {
  const SensorReport soft = analyse_sensors(soft_sensors(model.sensors()));
  const CellSearchOptions search;
  const CellSearch found = find_cells(model.sensors(), search);
  const SensorReport cells = analyse_sensors(cell_sensors(model.sensors(), found.cells));
  Table table({"action", "soft features", fmt::format("{} cells", found.cells.num_cells())});
  for (int a = 0; a < model.num_actions(); ++a) {
    const auto i = static_cast<std::size_t>(a);
    table.add({model.chain().actions()[a], fmt::format("{:.4f}", soft.actions[i].alpha),
               fmt::format("{:.4f}", cells.actions[i].alpha)});
    report.json["sensors"].push_back({{"action", model.chain().actions()[a]},
                                      {"soft_alpha", soft.actions[i].alpha},
                                      {"cells_alpha", cells.actions[i].alpha}});
  }
  report.json["alpha"] = cells.alpha;
  report.json["soft_alpha"] = soft.alpha;
  report.json["cells"] = cells_to_json(found.cells);
  report.text += "\nsensors: smallest singular values\n" + table.text();
  report.text +=
      fmt::format("  alpha {:.4f} with {} cells: the least revealing action is {}\n", cells.alpha,
                  found.cells.num_cells(), model.chain().actions()[cells.weakest]);
  return soft.revealing();
}

}  // namespace

Report report_continuous(const ContinuousPomdp& model) {
  Report report;
  report.text = model.brief() + "\n";
  bool learnable = model.has_sensors() && report_densities(model, report);
  if (!model.has_sensors()) report.text += "\nno densities: logs must contain likelihoods\n";
  if (model.chain().has_transition()) {
    const CommunicationReport communication =
        analyse_communication(model.chain().transition(), model.chain().start());
    report_dynamics(model.chain(), analyse_ergodicity(model.chain().transition()), communication,
                    report);
    learnable = learnable && communication.strongly_connected();
    report.text +=
        "\nreal-valued observations: no logs are simulated to see which rows they "
        "determine\n";
  }
  if (model.has_sensors()) {
    report.json["learnable"] = learnable;
    report.text += learnable ? "\nverdict: every row of the transition model can be learned\n"
                             : "\nverdict: not every row can be learned from pairs of observations "
                               "of one long run\n";
  }
  return report;
}

}  // namespace oas::cli
