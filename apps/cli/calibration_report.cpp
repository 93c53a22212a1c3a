#include "calibration_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "cli.hpp"

namespace oas::cli {

namespace {

// Sensors of more numbers than this in a row are left to the file.
constexpr int kMostColumns = 8;

// The sensor of first readings, where it was found by itself.
std::string first_text(const Pomdp& model, const Calibration& calibration) {
  const auto width = static_cast<std::size_t>(model.num_observations());
  std::vector<std::string> header = {"state", "rows"};
  for (int o = 0; o < model.num_observations(); ++o) header.push_back(model.observations()[o]);
  Table table(std::move(header));
  for (State s{0}; s < model.num_states(); ++s) {
    const auto counts =
        std::span(calibration.counts.first).subspan(static_cast<std::size_t>(s) * width, width);
    const std::int64_t rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    std::vector<std::string> row = {model.states()[s], big_number(static_cast<double>(rows))};
    for (const double p : calibration.first_observation->distribution(Action{0}, s)) {
      row.push_back(fmt::format("{:.3f}", p));
    }
    table.add(std::move(row));
  }
  return "\nfirst readings of runs\n" + table.text();
}

std::string sensors_text(const Pomdp& model, const Calibration& calibration) {
  std::string text;
  std::size_t index = 0;
  for (Action a{0}; a < model.num_actions(); ++a) {
    const AlphaInterval& alpha = calibration.alpha[static_cast<std::size_t>(a)];
    text += fmt::format("\n{} (alpha {:.3g}, between {:.3g} and {:.3g})\n", model.actions()[a],
                        alpha.value, alpha.lower, alpha.upper);
    std::vector<std::string> header = {"state", "rows"};
    for (int o = 0; o < model.num_observations(); ++o) header.push_back(model.observations()[o]);
    Table table(std::move(header));
    for (State s{0}; s < model.num_states(); ++s) {
      std::vector<std::string> row = {
          model.states()[s], big_number(static_cast<double>(calibration.counts.total(a, s)))};
      for (int o = 0; o < model.num_observations(); ++o, ++index) {
        row.push_back(fmt::format("{:.3f} [{:.3f}, {:.3f}]", calibration.sensors.values()[index],
                                  calibration.lower[index], calibration.upper[index]));
      }
      table.add(std::move(row));
    }
    text += table.text();
  }
  if (calibration.first_observation) text += first_text(model, calibration);
  return text + fmt::format("\n[lower, upper] hold for a whole row at once, at {:.0f} %\n",
                            100.0 * calibration.confidence);
}

std::string unused_text(const LabelledTally& tally, const Pomdp& model) {
  if (tally.unused == 0) return {};
  return fmt::format("{} could not be used ({})\n", counted(tally.unused, "row"),
                     unused_rows_text(tally, model.timing(), model.rows()));
}

std::string score_text(const FamilyScore& score) {
  if (!score.left_out.empty()) return fmt::format("left out: {}", score.left_out);
  const std::string held = std::isfinite(score.score) ? fmt::format("{:.4f}", score.score) : "?";
  if (!(score.behind > 0.0)) return held;
  return fmt::format("{} (behind the best by {:.4f} ± {:.4f})", held, score.behind, score.error);
}

// Which family was chosen for each component, and why.
std::string scores_text(const DensityCalibration& calibration) {
  std::string text;
  const std::vector<std::string>& columns = calibration.readings.columns;
  for (std::size_t i = 0; i < calibration.scores.size(); ++i) {
    const bool whole =
        calibration.scores.size() != columns.size() && i + 1 == calibration.scores.size();
    text += fmt::format("\n{}: mean log-density of held-out readings\n",
                        whole ? fmt::format("{} together", fmt::join(columns, ", ")) : columns[i]);
    for (const FamilyScore& score : calibration.scores[i]) {
      text += fmt::format("  {} {:<22}  {}\n", score.chosen ? "*" : " ", score.family,
                          score_text(score));
    }
  }
  return text + "* is taken\n";
}

// Mean and standard deviation by the middle of the density, whatever its family.
std::string densities_text(const Pomdp& model, const DensityCalibration& calibration) {
  std::string text;
  const LabelledReadings& readings = calibration.readings;
  const auto add = [&](const std::string& title, const DensitySensors& sensors, Action a,
                       std::span<const ReadingGroup> groups) {
    std::vector<std::string> header = {"state", "rows"};
    for (const std::string& column : readings.columns) {
      header.push_back(fmt::format("{}: 5 %, median, 95 %", column));
    }
    Table table(std::move(header));
    for (State s{0}; s < readings.num_states; ++s) {
      const std::size_t rows = groups[static_cast<std::size_t>(s)].size();
      std::vector<std::string> row = {model.states()[s], big_number(static_cast<double>(rows))};
      for (const Density& density : sensors(a, s).marginals()) {
        row.push_back(fmt::format("{:.4g}  {:.4g}  {:.4g}", density.quantile(0.05),
                                  density.quantile(0.5), density.quantile(0.95)));
      }
      table.add(std::move(row));
    }
    text += fmt::format("\n{}\n{}", title, table.text());
  };
  const auto states = static_cast<std::size_t>(readings.num_states);
  for (Action a{0}; a < readings.num_actions; ++a) {
    add(calibration.by_action ? model.actions()[a] : "all actions", calibration.sensors, a,
        std::span(readings.groups).subspan(static_cast<std::size_t>(a) * states, states));
  }
  if (calibration.first_density) {
    add("first readings of runs", *calibration.first_density, Action{0}, readings.first);
  }
  return text;
}

// The test whether sensors differ by action, where there was something to test.
std::string dependence_text(const char* what, const ActionDependence& dependence) {
  if (!(dependence.degrees > 0.0)) return {};
  return fmt::format("{} against actions, in the same state: p = {:.2g}\n", what,
                     dependence.p_value);
}

}  // namespace

std::string calibration_text(const Pomdp& model, const SensorCounts& counts,
                             const Calibration& calibration) {
  std::string text = calibration.brief() + "\n" + unused_text(counts.tally, model) +
                     dependence_text("observations", calibration.dependence);
  if (model.num_observations() <= kMostColumns) text += sensors_text(model, calibration);
  return text;
}

std::string calibration_text(const Pomdp& model, const DensityCalibration& calibration) {
  return calibration.brief() + "\n" + unused_text(calibration.readings.tally, model) +
         dependence_text("readings", calibration.dependence) + scores_text(calibration) +
         densities_text(model, calibration);
}

}  // namespace oas::cli
