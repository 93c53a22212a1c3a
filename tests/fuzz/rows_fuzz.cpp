#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/logs/log_reader.hpp"

/// LogReader against a slow reader of a few lines: whole text, one line after the other, runs put
/// together by their name. Bytes choose the cells of a log, so that most logs are nearly right;
/// both take the same logs and see the same rows in them.
namespace {

using namespace oas;  // NOLINT(google-build-using-namespace)

constexpr int kActions = 3;
constexpr int kObservations = 4;

struct Row {
  int action = 0;
  int observation = -1;
  double propensity = 0.0;

  friend bool operator==(const Row&, const Row&) = default;
};
using Runs = std::vector<std::vector<Row>>;

// What a byte stands for in a log.
constexpr std::array<std::string_view, 24> kCells = {
    "0", "1", "2", "3",     "4",    "-1",    "",      "00",  "x",  "1.0", "0.5", "1e-30",
    "5", "a", "b", "\"1\"", "0.25", "1e-31", "1e999", "nan", "+1", " 1",  "0x1", "2e-1"};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string log_text(std::string_view bytes) {
  static constexpr std::array<std::string_view, 4> kHeads = {
      "action,observation", "run,action,observation,propensity", "run,action,observation",
      "observation,propensity,action"};
  if (bytes.empty()) return "";
  static constexpr std::array<std::string_view, 3> kProbabilities = {"0.5", "1", "0.25"};
  std::string text(kHeads[static_cast<unsigned char>(bytes[0]) % kHeads.size()]);
  const std::vector<std::string> names = split(text, ',');
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    const std::size_t column = (i - 1) % names.size();
    text += column == 0 ? "\n" : ",";
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte >= 220) {
      text += kCells[byte % kCells.size()];
    } else {  // right
      text += names[column] == "propensity" ? kProbabilities[byte % 3] : kCells[byte % 3];
    }
  }
  return text + "\n";
}

std::string unquoted(const std::string& cell) {
  return cell.starts_with('"') ? cell.substr(1, cell.size() - 2) : cell;
}

std::optional<int> index(const std::string& cell, int size) {
  int value = -1;
  const char* const end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0 || value >= size) return {};
  return value;
}

std::optional<double> probability(const std::string& cell) {
  double value = 0.0;
  const char* const end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || !(value >= 1e-30 && value <= 1.0)) return {};
  return value;
}

std::optional<Row> slow_row(const std::map<std::string, std::string>& cells) {
  Row row;
  const auto action = index(cells.at("action"), kActions);
  if (!action) return {};
  row.action = *action;
  if (const std::string& seen = cells.at("observation"); !seen.empty()) {
    const auto observation = index(seen, kObservations);
    if (!observation) return {};
    row.observation = *observation;
  }
  if (cells.contains("propensity")) {
    const auto propensity = probability(cells.at("propensity"));
    if (!propensity) return {};
    row.propensity = *propensity;
  }
  return row;
}

// Nothing where the log is wrong.
std::optional<Runs> slow_reader(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  while (!lines.empty() && lines.back().empty()) lines.pop_back();  // blank ones end the log
  if (lines.empty()) return {};
  const std::vector<std::string> names = split(lines.front(), ',');
  Runs runs;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> words = split(lines[i], ',');
    if (words.size() != names.size()) return {};
    std::map<std::string, std::string> cells;
    for (std::size_t c = 0; c < names.size(); ++c) cells[names[c]] = unquoted(words[c]);
    const std::optional<Row> row = slow_row(cells);
    if (!row) return {};
    const std::string run = cells.contains("run") ? cells.at("run") : "0";
    if (cells.contains("run") && run.empty()) return {};
    const auto [place, is_new] = places.try_emplace(run, runs.size());
    if (is_new) runs.emplace_back();
    runs[place->second].push_back(*row);
  }
  if (runs.empty()) return {};  // a log without rows is none
  return runs;
}

const Pomdp& model() {
  static const Pomdp made = [] {
    PomdpParts parts;
    parts.states = Labels(2, "state");
    parts.actions = Labels(kActions, "action");
    parts.observations = Labels(kObservations, "observation");
    parts.sensors = ObservationModel(2, kActions, kObservations,
                                     std::vector<double>(2 * kActions * kObservations, 0.25));
    return Pomdp(std::move(parts));
  }();
  return made;
}

std::optional<Runs> fast_reader(const std::string& text) {
  Runs runs;
  try {
    LogReader reader(bytes_of(text), "log", model());
    for (LogBlock block; reader.read_block(block, 7);) {
      for (std::size_t i = 0; i < block.rows.size(); ++i) {
        if (std::ranges::find(block.run_starts, i) != block.run_starts.end()) runs.emplace_back();
        Row row{block.rows.actions[i].value(), block.rows.observations[i].value(), 0.0};
        if (reader.has_propensity()) row.propensity = block.rows.propensities[i];
        runs.back().push_back(row);
      }
    }
  } catch (const InvalidArgument&) {
    return {};
  }
  return runs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = log_text({reinterpret_cast<const char*>(data), size});
  if (fast_reader(text) != slow_reader(text)) std::abort();
  return 0;
}
