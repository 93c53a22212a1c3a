#include <fmt/format.h>

#include <algorithm>

#include "oas/core/markup.hpp"
#include "oas/core/version.hpp"
#include "oas/figures/html_page.hpp"
#include "oas/figures/page_cells.hpp"
#include "oas/study/caption.hpp"
#include "oas/study/chart.hpp"
#include "oas/study/report.hpp"

namespace oas {

namespace {

std::string cells_of(const std::optional<MeanInterval>& interval) {
  return interval ? mean_cells(interval->mean, interval->lower, interval->upper)
                  : unknown_mean_cells();
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
      text += number_cell(last.y.count) + number_cell(last.x) + cells_of(last.y) +
              cells_of(series.slope);
      if (paired) text += cells_of(series.difference);
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
  std::string text = fmt::format("<header><p class=\"soft\">oas study · {}{}</p>\n<h1>{}</h1>\n",
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
  return html_page(study.title, text + "</main>\n");
}

}  // namespace oas
