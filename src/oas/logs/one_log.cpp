#include "oas/logs/one_log.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/file_header.hpp"

namespace oas {

namespace {

namespace fs = std::filesystem;

bool has_part(const std::vector<std::string>& header, const ColumnNames& names,
              std::string_view part) {
  if (const auto* named = names.find(part)) return !named->empty();
  return std::find(header.begin(), header.end(), part) != header.end();
}

bool go_on(std::span<const std::string> files, const LogOptions& options) {
  if (files.size() < 2) return false;
  const auto header = detail::peeked_header(files.front(), options);
  const ColumnNames names(options.columns);
  return header && has_part(*header, names, "run") && has_part(*header, names, "time");
}

}  // namespace

OneLog::OneLog(std::vector<std::string> files, Files how)
    : files_(std::move(files)), shards_(files_.size()), how_(how) {
  OAS_REQUIRE(!files_.empty(), "a log of no file");
}

OneLog OneLog::only(std::size_t file) const {
  OneLog log(files_[file]);
  log.shards_.front() = shards_[file];
  return log;
}

std::string OneLog::title() const {
  if (files_.size() == 1) return name();
  const std::size_t more = files_.size() - 1;
  return fmt::format("{} and {} more {}", name(), more, more == 1 ? "file" : "files");
}

bool OneLog::in_one_list() const {
  const auto folder = fs::path(name()).parent_path();
  for (std::size_t file = 0; file < files_.size(); ++file) {
    if (!shards_[file] || fs::path(files_[file]).parent_path() != folder) return false;
  }
  return true;
}

OneLog listed(OneLog log, ShardLists& lists) {
  for (std::size_t file = 0; file < log.files_.size(); ++file) {
    log.shards_[file] = lists.find(log.files_[file]);
  }
  return log;
}

std::unique_ptr<ByteSource> open_bytes(const OneLog& log, std::size_t file) {
  const std::string& path = log.files()[file];
  auto bytes = open_bytes(path);
  const LogShard* const shard = log.shard(file);
  return shard != nullptr ? checked(std::move(bytes), input_name(path), *shard) : std::move(bytes);
}

std::vector<OneLog> logs_of(std::span<const std::string> names, const LogOptions& options) {
  const std::vector<std::string> files = log_files(names);
  ShardLists lists;
  if (go_on(files, options)) return {listed(OneLog(files), lists)};
  std::vector<OneLog> logs;
  logs.reserve(files.size());
  for (const std::string& file : files) logs.push_back(listed(OneLog(file), lists));
  return logs;
}

OneLog one_log_of(std::span<const std::string> names, const LogOptions& options) {
  const std::vector<std::string> files = log_files(names);
  ShardLists lists;
  return listed(OneLog(files, go_on(files, options) ? Files::go_on : Files::start_runs), lists);
}

}  // namespace oas
