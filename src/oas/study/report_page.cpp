#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oas/core/markup.hpp"
#include "oas/core/version.hpp"
#include "oas/study/caption.hpp"
#include "oas/study/chart.hpp"
#include "oas/study/detail/page_cells.hpp"
#include "oas/study/report.hpp"

namespace oas {

namespace {

using detail::head_cell;
using detail::number_cell;
using detail::short_number;
using detail::text_cell;

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c1c1c; --soft: #5a5a5a;
  --line: #dddddd; --box: #f2f6fa; --accent: #0072B2; --shade: #00000040; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e8e8e8; --soft: #a8a8a8;
  --line: #3a3d41; --box: #20262d; --accent: #6cb8e6; --shade: #ffffff50; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1.2rem 3rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 .6rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; }
p { margin: .5rem 0; }
.soft { color: var(--soft); }
.answer { background: var(--box); border-left: 4px solid var(--accent); padding: .8rem 1rem;
  font-size: 1.08rem; margin: 1rem 0; }
.warning { border-left-color: #D55E00; }
figure { margin: 1rem 0; }
/* A shadow at the side where there is more to see. */
.scroll { overflow-x: auto; background:
  linear-gradient(90deg, var(--paper) 40%, transparent) left / 3rem 100% no-repeat local,
  linear-gradient(270deg, var(--paper) 40%, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(90deg, var(--shade), transparent) left / 1rem 100% no-repeat scroll,
  linear-gradient(270deg, var(--shade), transparent) right / 1rem 100% no-repeat scroll; }
svg.chart { width: 100%; min-width: 40rem; height: auto; display: block; }
svg.chart .paper { fill: var(--paper); }
svg.chart .ink { fill: var(--ink); }
svg.chart .grid { stroke: var(--line); }
svg.chart .axis { stroke: var(--soft); }
figcaption { color: var(--soft); font-size: .93rem; }
table { border-collapse: collapse; font-size: .9rem; margin: .6rem 0; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
th.text, td.text { text-align: left; }
table.facts td { white-space: normal; text-align: left; vertical-align: top; }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0;
  padding: 0; cursor: pointer; }
th button::after { content: " ↕"; color: var(--soft); }
th[aria-sort=ascending] button::after { content: " ↑"; }
th[aria-sort=descending] button::after { content: " ↓"; }
pre { overflow-x: auto; background: var(--box); padding: .8rem; font-size: .82rem; }
summary { cursor: pointer; }
@media print { body { max-width: none; font-size: 11pt; }
  .scroll { overflow: visible; background: none; } svg.chart { min-width: 0; }
  th button::after { content: ""; } figure, tr { break-inside: avoid; }
  details:not([open]) { display: none; } }
)css";

constexpr const char* kScript = R"js(
document.querySelectorAll("table.sortable").forEach(function (table) {
  table.querySelectorAll("th button").forEach(function (button) {
    button.addEventListener("click", function () {
      var head = button.parentElement, body = table.tBodies[0];
      var column = Array.prototype.indexOf.call(head.parentElement.children, head);
      var down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach(function (th) { th.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      var key = function (row) {
        var cell = row.cells[column], value = cell.dataset.value;
        return value === undefined ? cell.textContent : value === "" ? Infinity : Number(value);
      };
      Array.from(body.rows).sort(function (a, b) {
        var x = key(a), y = key(b);
        var order = typeof x === "number" ? x - y || 0 : x.localeCompare(y, "en", {numeric: true});
        return down ? -order : order;
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
});
)js";

std::string interval_cells(const MeanInterval& interval) {
  return number_cell(interval.mean) +
         fmt::format("<td data-value=\"{}\">{} … {}</td>",
                     std::isfinite(interval.lower) ? fmt::format("{}", interval.lower) : "",
                     short_number(interval.lower), short_number(interval.upper));
}

std::string optional_interval(const std::optional<MeanInterval>& interval) {
  return interval ? interval_cells(*interval)
                  : "<td data-value=\"\">–</td><td data-value=\"\">–</td>";
}

// The words that stand before a panel's value in its title ("policy: belief"), alone.
std::string panel_head(const FigureSpec& spec) {
  const std::size_t last = spec.panel_label.find_last_not_of(" :=");
  return last == std::string::npos ? spec.panel : spec.panel_label.substr(0, last + 1);
}

// One row per curve.
std::string curves_table(const FigureData& figure) {
  const FigureSpec& spec = figure.spec;
  const bool panels = !spec.panel.empty();
  const bool paired = !spec.paired.empty();
  std::string text = "<div class=\"scroll\"><table class=\"sortable\"><thead><tr>";
  if (panels) text += head_cell(panel_head(spec), true);
  text += head_cell(spec.series, true) + head_cell("runs") + head_cell(spec.x_label) +
          head_cell(spec.y_label) + head_cell("95 % interval") + head_cell("exponent") +
          head_cell("95 % interval");
  if (paired)
    text += head_cell("minus " + spec.words_for(spec.paired)) + head_cell("95 % interval, paired");
  text += "</tr></thead>\n<tbody>\n";
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      const SeriesPoint& last = series.points.back();
      text += "<tr>";
      if (panels) text += text_cell(panel.label);
      text += text_cell(spec.words_for(series.label));
      text += number_cell(last.y.count) + number_cell(last.x) + interval_cells(last.y) +
              optional_interval(series.slope);
      if (paired) text += optional_interval(series.difference);
      text += "</tr>\n";
    }
  }
  return text + "</tbody></table></div>\n";
}

std::string figure_section(const Study& study, const FigureData& figure) {
  const FigureSpec& spec = figure.spec;
  const std::string caption =
      escape_markup(fmt::format("{} {}", caption_text(study, spec), drawing_text(study, figure)));
  return fmt::format(
      "<section id=\"{}\"><h2>{}</h2>\n<figure><div class=\"scroll\">{}</div>\n"
      "<figcaption>{}</figcaption></figure>\n{}</section>\n",
      spec.name, escape_markup(spec.title), chart_svg(figure), caption, curves_table(figure));
}

std::string fact_row(std::string_view name, std::string_view value) {
  return fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escape_markup(name),
                     escape_markup(value));
}

std::string facts_section(const ResultStore& store) {
  const Study& study = store.study();
  std::string text = "<section id=\"facts\"><h2>How it was made</h2>\n<table class=\"facts\">\n";
  text += fact_row("command",
                   fmt::format("oas study run {}{}", study.file, study.quick ? " --quick" : ""));
  text += fact_row(
      "tasks", fmt::format("{} tasks × {} replications", study.tasks.size(), study.replications));
  text += fact_row("seed", fmt::format("{} (replication r uses the streams ({}, r, ·))", study.seed,
                                       study.seed));
  text += fact_row("study", study.hash());
  text += fact_row("version", fmt::format("results {}, report {}", store.version(), version()));
  text += fact_row("processor time", fmt::format("{:.1f} s", store.total_seconds()));
  for (const Session& session : store.sessions()) {
    text += fact_row("run",
                     fmt::format("{} UTC, {:.1f} s, {} tasks, {} threads, {}", session.started,
                                 session.seconds, session.units, session.threads, session.machine));
  }
  return text + fmt::format(
                    "</table>\n<details><summary>The study file</summary><pre>{}</pre></details>\n"
                    "</section>\n",
                    escape_markup(study.source));
}

std::string state_notice(const ResultStore& store) {
  const Study& study = store.study();
  std::string text;
  const std::int64_t missing = missing_tasks(store);
  if (missing > 0) {
    text += fmt::format("<p class=\"answer warning\">{} of {} tasks are not finished.</p>\n",
                        missing, study.num_units());
  }
  for (const UnitResult& failed : store.failures()) {
    const Unit unit = study.unit(failed.number);
    text += fmt::format("<p class=\"answer warning\">Task {} ({}, replication {}) failed: {}</p>\n",
                        failed.number, escape_markup(study.tasks[unit.task].name), unit.replication,
                        escape_markup(failed.message));
  }
  return text;
}

}  // namespace

std::string report_html(const ResultStore& store, const std::vector<FigureData>& figures,
                        const std::vector<KindReport>& parts) {
  const Study& study = store.study();
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{}</style></head>\n<body>\n",
      escape_markup(study.title), kStyle);
  text += fmt::format("<header><p class=\"soft\">oas study · {}{}</p>\n<h1>{}</h1>\n",
                      escape_markup(study.name), study.quick ? " · quick version" : "",
                      escape_markup(study.title));
  text += fmt::format("<p>{}</p>\n", escape_markup(study.question));
  if (!study.claim.empty()) {
    text += fmt::format("<p class=\"soft\">The paper: {}</p>\n", escape_markup(study.claim));
  }
  if (!study.expectation.empty()) {
    text += fmt::format("<p class=\"soft\">Expected: {}</p>\n", escape_markup(study.expectation));
  }
  if (study.quick) {
    text += fmt::format(
        "<p class=\"soft\">Quick version: {} tasks × {} replications, smaller and shorter than the "
        "study itself. All numbers on this page are those of the quick version.</p>\n",
        study.tasks.size(), study.replications);
  }
  const std::string answer = answer_so_far(store, figures);
  if (!answer.empty()) text += fmt::format("<p class=\"answer\">{}</p>\n", escape_markup(answer));
  text += state_notice(store) + "</header>\n<main>\n";
  for (const KindReport& part : parts) text += part.section;
  for (const FigureData& figure : figures) text += figure_section(study, figure);
  text += facts_section(store);
  return text + fmt::format("</main>\n<script>{}</script>\n</body></html>\n", kScript);
}

}  // namespace oas
