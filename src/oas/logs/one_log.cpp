#include "oas/logs/one_log.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/file_header.hpp"

namespace oas {

namespace {

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

OneLog::OneLog(std::vector<std::string> files) : files_(std::move(files)) {
  OAS_REQUIRE(!files_.empty(), "a log of no file");
}

std::string OneLog::title() const {
  if (files_.size() == 1) return name();
  const std::size_t more = files_.size() - 1;
  return fmt::format("{} and {} more {}", name(), more, more == 1 ? "file" : "files");
}

std::vector<OneLog> logs_of(std::span<const std::string> names, const LogOptions& options) {
  const std::vector<std::string> files = log_files(names);
  if (go_on(files, options)) return {OneLog(files)};
  std::vector<OneLog> logs(files.begin(), files.end());
  ShardLists lists;
  for (OneLog& log : logs) {
    if (auto shard = lists.find(log.name())) log.is_shard(std::move(*shard));
  }
  return logs;
}

OneLog one_log_of(std::span<const std::string> names, const LogOptions& options) {
  const std::vector<std::string> files = log_files(names);
  OAS_REQUIRE(files.size() < 2 || go_on(files, options),
              "{}: several files are one log only where they have columns for the run and the "
              "time, by which a unit is known to go on in the next file",
              files.front());
  return logs_of(files, options).front();
}

}  // namespace oas
