#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "oas/core/markup.hpp"
#include "oas/figures/axis.hpp"
#include "oas/figures/line_styles.hpp"
#include "oas/figures/page_cells.hpp"
#include "oas/figures/svg.hpp"
#include "oas/study/detail/standings.hpp"

namespace oas::detail {

namespace {

constexpr double kWidth = 960.0;
constexpr double kLeft = 190.0;
constexpr double kRight = 930.0;
constexpr double kLine = 22.0;  // from agent to agent
constexpr double kHead = 34.0;  // of a panel
constexpr double kFoot = 40.0;

std::string name_of(const std::string& sweep) { return sweep.empty() ? "all sweeps" : sweep; }

// From the least positive mean to the largest end of an interval.
Axis regret_axis(const std::vector<Standing>& standings) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  for (const Standing& one : standings) {
    if (one.regret.mean > 0.0) low = std::min(low, one.regret.mean);
    high =
        std::max({high, one.regret.mean, std::isfinite(one.regret.upper) ? one.regret.upper : 0.0});
  }
  if (high <= 0.0) return {1.0, 10.0, true};
  constexpr double kDecades = 1e5;  // what is smaller stands at the end
  return {std::clamp(low, high / kDecades, high), high, true};
}

void draw_standing(Svg& svg, const Axis& axis, const Standing& one, double y,
                   const std::string& color) {
  const auto at = [&](double regret) {
    const double share = regret > 0.0 ? std::clamp(axis.at(regret), 0.0, 1.0) : 0.0;
    return kLeft + (kRight - kLeft) * share;
  };
  svg.label({kLeft - 10.0, y + 4.0}, one.agent, "end", 13);
  if (std::isfinite(one.regret.lower)) {
    svg.line({{at(one.regret.lower), y}, {at(one.regret.upper), y}}, color, 2.0);
  }
  if (one.regret.mean > 0.0) {
    svg.dot({at(one.regret.mean), y}, 4.5, color, 1.0);
  } else {
    svg.ring({at(one.regret.mean), y}, 4.5, color, 1.5);
  }
}

// Who has no place, and why.
std::string failures_of(const std::vector<Standing>& standings) {
  std::string text;
  for (const Standing& one : standings) {
    if (one.failed == 0 || (one.sweep.empty() && one.has_place())) continue;
    text += fmt::format(
        "<p class=\"answer warning\">{}, {}: {} of {} runs failed{}; the first: {}"
        "</p>\n",
        escape_markup(name_of(one.sweep)), escape_markup(one.agent), one.failed,
        one.failed + one.runs, one.has_place() ? "" : ", so it has no place",
        escape_markup(one.message));
  }
  return text;
}

std::vector<Standing> those_with_place(std::vector<Standing> standings) {
  std::erase_if(standings, [](const Standing& one) { return !one.has_place(); });
  return standings;
}

std::string table_of(const std::vector<Standing>& standings) {
  std::string text = "<div class=\"scroll\"><table class=\"sortable\"><thead><tr>";
  text += head_cell("sweep", true) + head_cell("agent", true);
  for (const char* head :
       {"regret", "95 %", "behind the best", "95 %, paired", "median", "worst instance",
        "worst run", "against floor", "instances", "runs", "seconds a run"}) {
    text += head_cell(head);
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const Standing& one : standings) {
    text += "<tr>" + text_cell(name_of(one.sweep)) + text_cell(one.agent) +
            mean_cells(one.regret.mean, one.regret.lower, one.regret.upper);
    text += one.behind ? mean_cells(one.behind->mean, one.behind->lower, one.behind->upper)
                       : unknown_mean_cells();
    for (const double value :
         {one.median, one.worst_instance, one.worst_run, one.floor_regret,
          static_cast<double>(one.instances), static_cast<double>(one.runs), one.seconds}) {
      text += number_cell(value);
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace

std::string standings_svg(const std::vector<Standing>& all) {
  const std::vector<Standing> standings = those_with_place(all);
  std::vector<std::string> agents;
  std::set<std::string> sweeps;
  for (const Standing& one : standings) {
    sweeps.insert(one.sweep);
    if (std::count(agents.begin(), agents.end(), one.agent) == 0) agents.push_back(one.agent);
  }
  const auto styles = styles_of(agents);
  const double height = kLine * static_cast<double>(standings.size()) +
                        kHead * static_cast<double>(sweeps.size()) + kFoot;
  Svg svg(kWidth, height, "Regret by agent");
  const Axis axis = regret_axis(standings);
  for (const Tick& tick : axis.ticks(1.0)) {
    const double x = kLeft + (kRight - kLeft) * axis.at(tick.value);
    svg.rule({x, kHead - 8.0}, {x, height - kFoot}, false);
    svg.label({x, height - kFoot + 16.0}, tick.label, "middle", 12);
  }
  double y = 0.0;
  for (std::size_t i = 0; i < standings.size(); ++i) {
    const Standing& one = standings[i];
    if (i == 0 || one.sweep != standings[i - 1].sweep) {
      y += kHead;
      svg.label({kLeft, y - 12.0}, name_of(one.sweep), "start", 13, "bold");
    }
    draw_standing(svg, axis, one, y + 4.0, styles.at(one.agent).color);
    y += kLine;
  }
  svg.label({(kLeft + kRight) / 2.0, height - 8.0},
            "expected regret after all steps, mean over instances", "middle", 13);
  return svg.finish();
}

KindReport standings_report(const KindResults& results) {
  const std::vector<Standing> found = standings(results);
  KindReport report;
  report.csv_name = "standings.csv";
  report.csv = standings_csv(found);
  report.figure_name = "standings";
  report.svg = standings_svg(found);
  report.section = fmt::format(
      "<section id=\"standings\"><h2>Who loses least?</h2>\n"
      "<figure><div class=\"scroll\">{}</div>\n<figcaption>Expected regret against the best policy "
      "after all steps: the mean over instances of the mean over runs, with its 95 % interval over "
      "instances. Only instances that all agents of a sweep have played. A ring at the left end: "
      "no regret.</figcaption></figure>\n{}{}"
      "<p class=\"soft\">Behind the best: minus the regret of the best agent that has to learn, "
      "instance by instance. Intervals take in how instances differ, so they do not fall to 0 with "
      "more runs on the same ones. Against floor: minus what the best policy with floor earns; an "
      "agent without floor can be better than that.</p>\n</section>\n",
      report.svg, failures_of(found), table_of(those_with_place(found)));
  return report;
}

}  // namespace oas::detail
