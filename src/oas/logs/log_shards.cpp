#include "oas/logs/log_shards.hpp"

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
    entry.at("checksum").fail("is no number of 16 hexadecimal digits");
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

std::vector<std::string> files_of_folder(const std::string& folder) {
  std::vector<std::string> files;
  if (fs::exists(shard_list_path(folder))) {
    for (const LogShard& shard : read_shard_list(folder)) {
      files.push_back((fs::path(folder) / shard.file).string());
      std::error_code error;
      const auto bytes = fs::file_size(files.back(), error);
      OAS_REQUIRE(!error, "{}: is listed in oas-shards.json, but {}", files.back(),
                  error.message());
      OAS_REQUIRE(bytes == static_cast<std::uintmax_t>(shard.bytes),
                  "{}: has {} bytes, but {} in oas-shards.json", files.back(), bytes, shard.bytes);
    }
    return files;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() && ends_like_a_log(entry.path().filename().string())) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  OAS_REQUIRE(!files.empty(), "{}: is a folder without logs (.csv, .csv.gz, .csv.zst)", folder);
  return files;
}

std::vector<std::string> files_of_pattern(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  std::sort(files.begin(), files.end());
  OAS_REQUIRE(!files.empty(), "{}: no file fits this pattern", pattern);
  return files;
}

}  // namespace

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
  if (view.at("format").as_string() != kFormat) view.at("format").fail("is no list of shards");
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

std::vector<std::string> log_files(std::span<const std::string> names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::vector<std::string> more = {name};
    if (fs::is_directory(name)) {
      if (!holds_journal(name)) more = files_of_folder(name);
    } else if (name.find_first_of("*?[") != std::string::npos && !fs::exists(name)) {
      more = files_of_pattern(name);
    }
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

struct ShardLists::Folder {
  std::string name;
  std::map<std::string, LogShard> shards;  // by file
};

ShardLists::ShardLists() = default;
ShardLists::~ShardLists() = default;

std::optional<LogShard> ShardLists::find(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  auto at = std::find_if(folders_.begin(), folders_.end(),
                         [&](const auto& known) { return known->name == folder; });
  if (at == folders_.end()) {
    auto found = std::make_unique<Folder>(Folder{folder, {}});
    if (path != "-" && fs::exists(shard_list_path(folder))) {
      for (LogShard& shard : read_shard_list(folder)) {
        found->shards.emplace(shard.file, std::move(shard));
      }
    }
    folders_.push_back(std::move(found));
    at = std::prev(folders_.end());
  }
  const auto shard = (*at)->shards.find(fs::path(path).filename().string());
  return shard == (*at)->shards.end() ? std::nullopt : std::optional(shard->second);
}

std::unique_ptr<ByteSource> checked(std::unique_ptr<ByteSource> bytes, std::string name,
                                    const LogShard& shard) {
  return std::make_unique<CheckedSource>(std::move(bytes), std::move(name), shard);
}

}  // namespace oas
