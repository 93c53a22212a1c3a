#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oas/logs/byte_source.hpp"

namespace oas {

/// One file of a log that is too long for one, as the list of its folder has it.
struct LogShard {
  std::string file;  ///< without folder
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  std::int64_t bytes = 0;
  std::uint64_t checksum = 0;  ///< fingerprint of these bytes

  friend bool operator==(const LogShard&, const LogShard&) = default;
};

/// "shard-00007.csv.zst", as oas simulate calls the files of a folder, and whether that is such a
/// name.
[[nodiscard]] std::string shard_name(std::int64_t index);
[[nodiscard]] bool is_shard_name(std::string_view file);

/// How a finished file stands in the list.
[[nodiscard]] LogShard shard_of(const std::string& path, std::int64_t rows, std::int64_t runs);

/// The list of a folder's shards in their order, oas-shards.json ("oas-shards/1",
/// docs/reference/formats.md). It is written last, so that a folder without it is unfinished.
[[nodiscard]] std::string shard_list_path(const std::string& folder);
void write_shard_list(const std::string& folder, std::span<const LogShard> shards);
/// Throws InvalidArgument, also on a list that is damaged.
[[nodiscard]] std::vector<LogShard> read_shard_list(const std::string& folder);

/// Makes the folder, or takes what shards were written to it before, and their list, away: whoever
/// finds a shard there finds one of those that are written now. Throws InvalidArgument where it is
/// no folder, and where its list is of files with other names, which then all stay.
void make_shard_folder(const std::string& folder);

/// Files that names of logs stand for, each in its place: of a folder with a list of shards these,
/// of one with a live agent's journal itself, of another folder its files that end like logs (.csv,
/// .tsv, .txt, plain or .gz, .zst), by name; of a pattern (*, ?, [) that is no file itself, those
/// that fit, by name; else the name itself. Throws InvalidArgument where nothing is found, and
/// naming a listed shard that is of another size, or missing although the folder or pattern stands
/// for it; a file named like a shard that the list beside it does not know; and a folder with such
/// files and no list, which is unfinished.
[[nodiscard]] std::vector<std::string> log_files(std::span<const std::string> names);

/// What the list in a file's folder says about it; none: there is no list, or the file is not in
/// it. A cache for many files of few folders.
class ShardLists {
 public:
  ShardLists();
  ~ShardLists();
  [[nodiscard]] std::optional<LogShard> find(const std::string& path);
  /// Whether there is a list in the file's folder.
  [[nodiscard]] bool any(const std::string& path);

 private:
  struct Folder;
  [[nodiscard]] const Folder& folder_of(const std::string& path);

  std::vector<std::unique_ptr<Folder>> folders_;
};

/// The same bytes; at their end throws ParseError naming the file unless they are those of `shard`.
[[nodiscard]] std::unique_ptr<ByteSource> checked(std::unique_ptr<ByteSource> bytes,
                                                  std::string name, const LogShard& shard);

}  // namespace oas
