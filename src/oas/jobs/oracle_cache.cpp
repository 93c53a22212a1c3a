#include "oas/jobs/oracle_cache.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/json_text.hpp"
#include "oas/core/version.hpp"
#include "oas/model/model_json.hpp"

namespace oas {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "oas-oracle/2";
constexpr std::string_view kEnding = ".oracle.json";

// Size and time of the file that holds this code.
std::string name_of_build() {
  std::string name;
  Dl_info self{};
  std::vector<fs::path> files = {"/proc/self/exe"};
  if (dladdr(&kFormat, &self) != 0 && self.dli_fname != nullptr) files.emplace_back(self.dli_fname);
  for (const fs::path& file : files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (error) continue;
    const auto changed = fs::last_write_time(file, error);
    if (error) continue;
    name += fmt::format("{}@{} ", size, changed.time_since_epoch().count());
  }
  return name;
}

// All that an oracle depends on.
Json key_of(const Pomdp& model, const RegretOracleOptions& options) {
  static const std::string build = name_of_build();
  return {{"format", kFormat},
          {"version", version()},
          {"build", build},
          {"maths", maths_library().fingerprint},
          {"floor", options.floor},
          {"gap", options.gap},
          {"model", model_to_json(model)}};
}

std::string checksum_of(const Json& entry) {
  return fmt::format("{:016x}", fingerprint(entry.dump()));
}

// The entry of a file without its checksum, which holds; throws otherwise.
Json entry_in(const fs::path& file) {
  Json entry = parse_json(read_text_file(file.string()), file.string());
  const auto checksum = entry.at("checksum").get<std::string>();
  entry.erase("checksum");
  OAS_REQUIRE(checksum == checksum_of(entry), "{}: the checksum does not hold", file.string());
  return entry;
}

std::optional<RegretOracle> oracle_in(const fs::path& file, const Json& key, const Pomdp& model) {
  try {
    const Json entry = entry_in(file);
    if (entry.at("key") != key) return {};
    const auto plan_of = [&](const char* name) {
      Plan plan = parse_plan(entry.at(name).dump(), file.string());
      OAS_REQUIRE(plan.gain_lower <= plan.gain_upper, "{}: bounds cross", file.string());
      plan.model = model;
      return plan;
    };
    Plan plan = plan_of("plan");
    Plan floor_plan = entry.contains("floor_plan") ? plan_of("floor_plan") : plan;
    return RegretOracle(std::move(plan), std::move(floor_plan), key.at("floor").get<double>());
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {
    return {};  // not there, cut off, damaged, or of another time
  }
}

struct Entry {
  fs::path path;
  std::uintmax_t size = 0;
  fs::file_time_type used;
};

void remove_oldest(const fs::path& folder) {
  std::error_code error;
  std::vector<Entry> entries;
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& each : fs::directory_iterator(folder, error)) {
    if (!each.path().string().ends_with(kEnding)) continue;
    const auto size = each.file_size(error);
    if (error) continue;
    const auto used = each.last_write_time(error);
    if (error) continue;
    entries.push_back({each.path(), size, used});
    bytes += size;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& x, const Entry& y) { return x.used < y.used; });
  for (const Entry& entry : entries) {
    if (bytes <= OracleCache::kMostBytes) break;
    fs::remove(entry.path, error);
    bytes -= entry.size;
  }
}

void keep(const fs::path& file, Json key, const RegretOracle& oracle) {
  try {
    fs::create_directories(file.parent_path());
    const bool floored = oracle.floor > 0.0;
    Json entry = {{"key", std::move(key)}, {"plan", plan_to_json(oracle.plan)}};
    if (floored) entry["floor_plan"] = plan_to_json(oracle.floor_plan);
    entry["checksum"] = checksum_of(entry);
    write_text_file(file.string(), entry.dump());
    remove_oldest(file.parent_path());
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {
    // a cache that cannot be written costs time and nothing else
  }
}

}  // namespace

OracleCache OracleCache::of_user() {
  const auto named = [](const char* variable) -> std::optional<fs::path> {
    const char* value = std::getenv(variable);
    if (value == nullptr) return {};
    return fs::path(value);
  };
  if (const auto folder = named("OAS_CACHE")) return OracleCache(folder->string());
  // By the letter of the specification relative paths count as not set.
  const auto cache = named("XDG_CACHE_HOME");
  if (cache && cache->is_absolute()) return OracleCache((*cache / "oas").string());
  const auto home = named("HOME");
  if (home && home->is_absolute()) return OracleCache((*home / ".cache" / "oas").string());
  return {};
}

RegretOracle OracleCache::get(const Pomdp& model, const RegretOracleOptions& options,
                              Parallelism parallelism) const {
  if (folder_.empty()) return {model, options, parallelism};
  Json key = key_of(model, options);
  const fs::path file =
      fs::path(folder_) / "oracles" / fmt::format("{:016x}{}", fingerprint(key.dump()), kEnding);
  if (std::optional<RegretOracle> known = oracle_in(file, key, model)) {
    std::error_code error;
    fs::last_write_time(file, fs::file_time_type::clock::now(), error);
    return std::move(*known);
  }
  RegretOracle oracle(model, options, parallelism);
  keep(file, std::move(key), oracle);
  return oracle;
}

}  // namespace oas
