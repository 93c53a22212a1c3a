#include "bench_list.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "oas/core/files.hpp"
#include "oas/study/known_studies.hpp"

namespace oas::cli {

namespace fs = std::filesystem;

BenchFiles::BenchFiles(const std::string& folder)
    : study(folder.empty() ? find_study("benchmark")
                           : (fs::path(folder) / "benchmark.toml").string()),
      list((fs::path(study).parent_path() / kBenchList).string()),
      text(read_text_file(study)),
      instances(bench_instances(text, study)) {}

BenchList BenchFiles::known_list() const {
  BenchList known = parse_bench_list(read_text_file(list), list);
  check_bench(instances, known, list);
  return known;
}

void show_bench_list(const BenchListArguments& options) {
  const BenchFiles files(options.files);
  std::string text;
  if (options.again) {
    text = while_shown(options.common, "finding the best policies", [&] {
      return bench_list_csv(files.instances, options.gap, options.common.parallelism());
    });
    if (!options.output.empty()) write_text_file(options.output, text);
  }
  const BenchList list = options.again ? parse_bench_list(text, "list") : files.known_list();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Table table({"instance", "model", "alpha", "best gain", "with floor", "memoryless", "uniform"});
  for (std::size_t r = 0; r < list.rows.size(); ++r) {
    const std::vector<std::string>& row = list.rows[r];
    nlohmann::ordered_json entry;
    for (std::size_t i = 0; i < row.size(); ++i) entry[list.columns[i]] = row[i];
    const auto cell = [&](const char* name) { return row[list.column(name)]; };
    const auto number = [&](const char* name, const char* digits) {
      return fmt::format(fmt::runtime(digits), list.number(r, name));
    };
    table.add({cell("instance"), cell("model"), number("alpha", "{:.3f}"),
               number("gain_lower", "{:.5f}") + " to " + number("gain_upper", "{:.5f}"),
               number("floor_lower", "{:.5f}") + " to " + number("floor_upper", "{:.5f}"),
               number("memoryless", "{:.5f}"), number("uniform", "{:.5f}")});
    rows.push_back(std::move(entry));
  }
  if (options.common.json) {
    print_json(options.common, {{"version", kBenchVersion}, {"instances", rows}});
  }
  print(options.common,
        fmt::format("{}: {} instances\n{}", kBenchVersion, list.rows.size(), table.text()));
}

}  // namespace oas::cli
