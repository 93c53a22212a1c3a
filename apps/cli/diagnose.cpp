#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli.hpp"
#include "command_files.hpp"
#include "oas/core/files.hpp"
#include "oas/core/json_text.hpp"
#include "oas/jobs/log_diagnosis.hpp"
#include "setting_options.hpp"

namespace oas::cli {

namespace {

struct DiagnoseArguments {
  Common common;
  std::string model;
  std::vector<std::string> logs;
  std::vector<Setting> rows;
  std::vector<Setting> settings;
  std::string output;
  std::string figure;
};

std::string shown_p(const DiagnosisAnswer& answer, int replicates) {
  if (!answer.tested()) return "";
  const double least = 1.0 / (replicates + 1.0);
  return answer.p_value <= least ? fmt::format("< {:.2g}", 1.0001 * least)
                                 : fmt::format("{:.2g}", answer.p_value);
}

std::string verdict_on(const DiagnosisAnswer& answer, double level) {
  if (!answer.tested()) return "not tested";
  if (answer.confirms) return answer.p_value <= level ? "as said" : "-";
  if (!answer.found) return "-";
  return answer.explained ? "explained" : "FOUND";
}

std::string to_text(const LogDiagnosis& diagnosis) {
  std::string text =
      fmt::format("{} in {} of {}, {} without observation\n", counted(diagnosis.rows, "row"),
                  counted(diagnosis.runs, "run"), counted(diagnosis.units.size(), "unit"),
                  big_number(static_cast<double>(diagnosis.missing)));
  Table table({"question", "p", "Holm", ""});
  for (const DiagnosisAnswer& one : diagnosis.answers) {
    table.add({diagnosis_question(one.asked), shown_p(one, diagnosis.replicates),
               one.tested() && !one.confirms ? fmt::format("{:.2g}", one.holm) : "",
               verdict_on(one, diagnosis.level)});
  }
  text += table.text() + "\n";
  for (const DiagnosisAnswer& one : diagnosis.answers) {
    text += fmt::format("{} {}\n", diagnosis_question(one.asked), one.text);
    if (!one.power.empty()) {
      text += fmt::format("  shown nine times in ten: {}\n", one.power);
    }
  }
  text += fmt::format(
      "\nlevel {:g} for all tests together: if one model fits, a false alarm comes up in at most "
      "{:g} % of logs\n",
      diagnosis.level, 100.0 * diagnosis.level);
  return text;
}

void run_diagnose(const DiagnoseArguments& options) {
  check_different(options.logs);
  OAS_REQUIRE(options.figure.empty() || options.figure.ends_with(".svg") ||
                  is_written_directly(options.figure),
              "--figure {}: the figure is written as .svg", options.figure);
  auto how = options_from<DiagnosisOptions>(options.settings, "diagnose");
  const AnyModel model = load_row_model(options.model, options.rows, options.common);
  how.parallelism = options.common.parallelism();
  LogDiagnosis diagnosis;
  {
    Progress progress(options.common, "diagnosing");
    progress.note("reading");
    how.stage = [&](const std::string& stage) { progress.note(stage); };
    diagnosis =
        diagnose_log(read_diagnosed_log(model, options.logs, log_options(options.rows)), how);
  }
  const nlohmann::ordered_json document = diagnosis_to_json(chain_of(model), diagnosis);
  if (!options.output.empty()) write_text_file(options.output, dump_json(document));
  if (!options.figure.empty()) write_text_file(options.figure, diagnosis_figure_svg(diagnosis));
  if (options.common.json) print_json(options.common, document);
  std::string text = to_text(diagnosis);
  if (!options.output.empty()) text += fmt::format("{}: written\n", options.output);
  if (!options.figure.empty()) text += fmt::format("{}: written\n", options.figure);
  print(options.common, text);
}

}  // namespace

void add_diagnose(CLI::App& app) {
  const auto options = std::make_shared<DiagnoseArguments>();
  CLI::App* verb = add_verb(app, "diagnose", "Test whether one model fits all rows of a log",
                            options->common, [options] { run_diagnose(*options); });
  add_model_argument(*verb, "MODEL", options->model,
                     "Model file or problem name; its transition is not used, it is estimated",
                     options->common);
  add_logs(*verb, "LOG", options->logs,
           "Log files, folders and patterns (CSV, plain, gzip or zstd); - is standard input",
           options->common)
      ->required();
  add_log_options(*verb, true, options->rows, options->common);
  for (const SettingInfo& setting : describe_options<DiagnosisOptions>()) {
    add_setting(*verb, setting, options->settings);
  }
  add_output(*verb, "-o,--output", options->output, "Report to write (.json)", options->common);
  add_output(*verb, "--figure", options->figure, "Drawing to write (.svg)", options->common);
  verb->footer(
      "Tests, together at one level: timing, reading-first rows, fit and drift of the sensors, "
      "differences of units, a change of the dynamics. The exit code is 0 whatever is found.\n\n" +
      verb->get_footer());
}

}  // namespace oas::cli
