#include "oas/study/report.hpp"

#include <filesystem>
#include <map>
#include <set>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/figures/figure_file.hpp"
#include "oas/study/chart.hpp"

namespace oas {

namespace {

namespace fs = std::filesystem;

std::set<std::string> kinds_in(const Study& study) {
  std::set<std::string> kinds;
  for (const Task& task : study.tasks) kinds.insert(task.kind);
  return kinds;
}

}  // namespace

std::vector<std::string> write_csv(const ResultStore& store) {
  std::vector<std::string> paths;
  for (const std::string& kind : kinds_in(store.study())) {
    paths.push_back((fs::path(store.folder()) / (kind + ".csv")).string());
    write_text_file(paths.back(), store.table(kind).csv());
  }
  return paths;
}

std::int64_t missing_tasks(const ResultStore& store) {
  return store.study().num_units() - static_cast<std::int64_t>(store.finished().size());
}

std::string answer_so_far(const ResultStore& store, const std::vector<FigureData>& figures) {
  const Study& study = store.study();
  if (missing_tasks(store) > 0 && !answer_has_data(study, figures)) return {};
  return answer_text(study, figures);
}

namespace {

// A figure without data (its sweep is left out of the quick version, say) is not drawn.
std::vector<FigureData> figures_of(const Study& study,
                                   const std::map<std::string, ResultTable>& tables) {
  std::vector<FigureData> figures;
  for (const FigureSpec& spec : study.figures) {
    if (!tables.contains(spec.kind)) continue;
    FigureData figure = summarise(spec, tables.at(spec.kind), study.seed);
    if (!figure.panels.empty()) figures.push_back(std::move(figure));
  }
  return figures;
}

std::vector<FailedUnit> failed_units(const ResultStore& store, const std::string& kind) {
  std::vector<FailedUnit> failed;
  for (const UnitResult& unit : store.failures()) {
    const Task& task = store.study().tasks[store.study().unit(unit.number).task];
    if (task.kind != kind) continue;
    failed.push_back({task.sweep, task.settings.text("agent", ""), unit.message});
  }
  return failed;
}

std::vector<KindReport> kind_reports(const ResultStore& store,
                                     const std::map<std::string, ResultTable>& tables) {
  std::vector<KindReport> parts;
  const UnitSeconds seconds = store.seconds();
  for (const auto& [kind, table] : tables) {
    const auto report = find_task_kind(kind).report;
    if (report == nullptr || table.rows.empty()) continue;
    parts.push_back(report({table, seconds, failed_units(store, kind)}));
  }
  return parts;
}

void write(const fs::path& path, const std::string& text, Report& report) {
  write_text_file(path.string(), text);
  report.files.push_back(path.string());
}

// As SVG, PNG and PDF.
void write_picture(const fs::path& svg, const std::string& text, Report& report) {
  write(svg, text, report);
  for (const char* format : {"png", "pdf"}) {
    const std::string path = fs::path(svg).replace_extension(format).string();
    const int zoom = std::string_view(format) == "png" ? 2 : 1;
    if (convert_figure(path, text, format, zoom)) {
      report.files.push_back(path);
    } else {
      report.pictures_missing = "PNG and PDF figures need rsvg-convert (package librsvg2-bin)";
    }
  }
}

}  // namespace

Report write_report(const ResultStore& store) {
  const Study& study = store.study();
  std::map<std::string, ResultTable> tables;
  for (const std::string& kind : kinds_in(study)) tables[kind] = store.table(kind);
  const std::vector<FigureData> figures = figures_of(study, tables);
  const std::vector<KindReport> parts = kind_reports(store, tables);
  Report report;
  report.files = write_csv(store);
  const fs::path folder(store.folder());
  write(folder / "points.csv", points_csv(figures), report);
  write(folder / "curves.csv", curves_csv(figures), report);
  std::error_code error;
  fs::create_directories(folder / "figures", error);
  for (const FigureData& figure : figures) {
    write_picture(folder / "figures" / (figure.spec.name + ".svg"), chart_svg(figure), report);
  }
  for (const KindReport& part : parts) {
    write(folder / part.csv_name, part.csv, report);
    write_picture(folder / "figures" / (part.figure_name + ".svg"), part.svg, report);
  }
  report.answer = answer_so_far(store, figures);
  report.tasks = study.num_units();
  report.missing = missing_tasks(store);
  report.page = (folder / "report.html").string();
  write(report.page, report_html(store, figures, parts), report);
  return report;
}

}  // namespace oas
