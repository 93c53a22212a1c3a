#include "oas/logs/log_shards.hpp"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/json_text.hpp"
#include "oas/journal/journal_record.hpp"

namespace oas {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "oas-shards/1";

class CheckedSource final : public ByteSource {
 public:
  CheckedSource(std::unique_ptr<ByteSource> bytes, std::string name, const LogShard& shard)
      : bytes_(std::move(bytes)), name_(std::move(name)), shard_(shard) {}

  std::size_t read(char* out, std::size_t size) override {
    const std::size_t count = bytes_->read(out, size);
    read_ += static_cast<std::int64_t>(count);
    print_.add_bytes({out, count});
    if (count == 0 && (read_ != shard_.bytes || print_.value() != shard_.checksum)) {
      throw ParseError(name_, 0, 0, "these are not the bytes that oas-shards.json was written for");
    }
    return count;
  }

 private:
  std::unique_ptr<ByteSource> bytes_;
  std::string name_;
  LogShard shard_;
  std::int64_t read_ = 0;
  Fingerprint print_;
};

LogShard read_shard(const JsonView& entry) {
  constexpr std::array<std::string_view, 5> kKeys = {"file", "rows", "runs", "bytes", "checksum"};
  entry.require_keys(kKeys);
  LogShard shard;
  shard.file = entry.at("file").as_string();
  shard.rows = entry.at("rows").as_integer();
  shard.runs = entry.at("runs").as_integer();
  shard.bytes = entry.at("bytes").as_integer();
  const std::string print = entry.at("checksum").as_string();
  const auto end = print.data() + print.size();
  const auto parsed = std::from_chars(print.data(), end, shard.checksum, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    entry.at("checksum").fail("is not a number of 16 hexadecimal digits");
  }
  if (shard.file.empty() || shard.file != fs::path(shard.file).filename()) {
    entry.at("file").fail("is not the name of a file in this folder");
  }
  return shard;
}

bool ends_like_a_log(std::string name) {
  for (const char* const packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.erase(name.rfind('.'));
  }
  return name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".txt");
}

// A shard that a list speaks of.
void check_there(const std::string& file, const LogShard& shard) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  OAS_REQUIRE(!error, "{}: is listed in oas-shards.json, but {}", file, error.message());
  OAS_REQUIRE(bytes == static_cast<std::uintmax_t>(shard.bytes),
              "{}: has {} bytes, but {} in oas-shards.json", file, bytes, shard.bytes);
}

// A file that was found or named: what an earlier simulation has left behind is no part of a log.
void check_known(const std::string& file, ShardLists& lists) {
  if (const auto shard = lists.find(file)) return check_there(file, *shard);
  OAS_REQUIRE(!is_shard_name(fs::path(file).filename().string()) || !lists.any(file),
              "{}: is not in the oas-shards.json beside it, as if it were left over from another "
              "log; move it elsewhere, or give it another name",
              file);
}

std::vector<std::string> files_of_list(const std::string& folder) {
  std::vector<std::string> files;
  for (const LogShard& shard : read_shard_list(folder)) {
    files.push_back((fs::path(folder) / shard.file).string());
    check_there(files.back(), shard);
  }
  return files;
}

std::vector<std::string> files_of_folder(const std::string& folder) {
  if (fs::exists(shard_list_path(folder))) return files_of_list(folder);
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() && ends_like_a_log(entry.path().filename().string())) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  OAS_REQUIRE(!files.empty(), "{}: is a folder without logs (.csv, .csv.gz, .csv.zst)", folder);
  for (const std::string& file : files) {
    OAS_REQUIRE(!is_shard_name(fs::path(file).filename().string()),
                "{}: is unfinished: {} is there, but no oas-shards.json, which is written last; "
                "simulate it again, or name the files that are to be read",
                folder, fs::path(file).filename().string());
  }
  return files;
}

std::vector<std::string> fitting(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return files;
}

// A listed shard that the pattern stands for must be there.
void check_listed(const std::string& folder, const std::string& pattern) {
  if (!fs::exists(shard_list_path(folder))) return;
  for (const LogShard& shard : read_shard_list(folder)) {
    const std::string file = (fs::path(folder) / shard.file).string();
    if (fnmatch(pattern.c_str(), file.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0) {
      check_there(file, shard);
    }
  }
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
  const std::string folders = fs::path(pattern).parent_path().string();
  for (const std::string& folder : folders.empty() ? std::vector{folders} : fitting(folders)) {
    check_listed(folder, pattern);
  }
  std::vector<std::string> files = fitting(pattern);
  std::sort(files.begin(), files.end());
  OAS_REQUIRE(!files.empty(), "{}: no file fits this pattern", pattern);
  return files;
}

}  // namespace

std::string shard_name(std::int64_t index) { return fmt::format("shard-{:05}.csv.zst", index); }

bool is_shard_name(std::string_view file) {
  constexpr std::string_view kBefore = "shard-";
  constexpr std::string_view kBehind = ".csv.zst";
  if (!file.starts_with(kBefore) || !file.ends_with(kBehind)) return false;
  file.remove_prefix(kBefore.size());
  if (file.size() < kBehind.size() + 5) return false;
  file.remove_suffix(kBehind.size());
  return std::all_of(file.begin(), file.end(), [](char c) { return c >= '0' && c <= '9'; });
}

LogShard shard_of(const std::string& path, std::int64_t rows, std::int64_t runs) {
  const auto bytes = open_bytes(path);
  std::vector<char> block(std::size_t{1} << 16);
  Fingerprint print;
  LogShard shard{fs::path(path).filename().string(), rows, runs, 0, 0};
  while (const std::size_t count = bytes->read(block.data(), block.size())) {
    print.add_bytes({block.data(), count});
    shard.bytes += static_cast<std::int64_t>(count);
  }
  shard.checksum = print.value();
  return shard;
}

std::string shard_list_path(const std::string& folder) {
  return (fs::path(folder) / "oas-shards.json").string();
}

void write_shard_list(const std::string& folder, std::span<const LogShard> shards) {
  Json list = Json::array();
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  for (const LogShard& shard : shards) {
    list.push_back({{"file", shard.file},
                    {"rows", shard.rows},
                    {"runs", shard.runs},
                    {"bytes", shard.bytes},
                    {"checksum", fmt::format("{:016x}", shard.checksum)}});
    rows += shard.rows;
    runs += shard.runs;
  }
  const Json document = {
      {"format", kFormat}, {"rows", rows}, {"runs", runs}, {"shards", std::move(list)}};
  write_text_file(shard_list_path(folder), dump_json(document));
}

std::vector<LogShard> read_shard_list(const std::string& folder) {
  const std::string path = shard_list_path(folder);
  const Json document = parse_json(read_text_file(path), path);
  const JsonView view(document, path);
  constexpr std::array<std::string_view, 4> kKeys = {"format", "rows", "runs", "shards"};
  view.require_keys(kKeys);
  if (view.at("format").as_string() != kFormat) view.at("format").fail("is not a list of shards");
  const JsonView list = view.at("shards");
  std::vector<LogShard> shards;
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    shards.push_back(read_shard(list.at(i)));
    rows += shards.back().rows;
    runs += shards.back().runs;
  }
  if (view.at("rows").as_integer() != rows) view.at("rows").fail("is not the sum of all shards");
  if (view.at("runs").as_integer() != runs) view.at("runs").fail("is not the sum of all shards");
  return shards;
}

void make_shard_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  OAS_REQUIRE(!error && fs::is_directory(folder), "{}: cannot be made a folder: {}", folder,
              error.message());
  if (fs::exists(shard_list_path(folder))) {
    for (const LogShard& shard : read_shard_list(folder)) {
      OAS_REQUIRE(is_shard_name(shard.file),
                  "{}: its oas-shards.json lists {}, which no simulation has written; choose "
                  "another folder",
                  folder, shard.file);
    }
    fs::remove(shard_list_path(folder));  // first: without it the folder is unfinished
  }
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (is_shard_name(entry.path().filename().string())) old.push_back(entry.path());
  }
  for (const fs::path& file : old) fs::remove(file);
}

std::vector<std::string> log_files(std::span<const std::string> names) {
  std::vector<std::string> files;
  ShardLists lists;
  for (const std::string& name : names) {
    std::vector<std::string> more = {name};
    if (fs::is_directory(name)) {
      if (!holds_journal(name)) more = files_of_folder(name);
    } else {
      const bool pattern = name.find_first_of("*?[") != std::string::npos && !fs::exists(name);
      if (pattern) more = files_of_pattern(name);
      for (const std::string& file : more) check_known(file, lists);
    }
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

struct ShardLists::Folder {
  std::string name;
  bool listed = false;
  std::map<std::string, LogShard> shards;  // by file
};

ShardLists::ShardLists() = default;
ShardLists::~ShardLists() = default;

const ShardLists::Folder& ShardLists::folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  const auto at = std::find_if(folders_.begin(), folders_.end(),
                               [&](const auto& known) { return known->name == folder; });
  if (at != folders_.end()) return **at;
  auto found = std::make_unique<Folder>(Folder{folder, fs::exists(shard_list_path(folder)), {}});
  if (found->listed) {
    for (LogShard& shard : read_shard_list(folder)) {
      found->shards.emplace(shard.file, std::move(shard));
    }
  }
  return *folders_.emplace_back(std::move(found));
}

std::optional<LogShard> ShardLists::find(const std::string& path) {
  if (path == "-") return {};
  const Folder& folder = folder_of(path);
  const auto shard = folder.shards.find(fs::path(path).filename().string());
  return shard == folder.shards.end() ? std::nullopt : std::optional(shard->second);
}

bool ShardLists::any(const std::string& path) { return path != "-" && folder_of(path).listed; }

std::unique_ptr<ByteSource> checked(std::unique_ptr<ByteSource> bytes, std::string name,
                                    const LogShard& shard) {
  return std::make_unique<CheckedSource>(std::move(bytes), std::move(name), shard);
}

}  // namespace oas
