#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/core/contracts.hpp"
#include "oas/journal/journal_reader.hpp"
#include "oas/journal/journal_writer.hpp"

/// Any bytes as a journal's file, as one whose header is whole, and as a record: they are read,
/// refused with InvalidArgument, or cut where they are torn; what was read reads back equal.
namespace {

namespace fs = std::filesystem;

// An empty folder that vanishes at the end.
struct Folder {
  std::string path =
      (fs::temp_directory_path() / ("journal_fuzz_" + std::to_string(getpid()))).string();
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

const std::string& folder() {
  static const Folder made;
  return made.path;
}

const std::string& whole_header() {
  static const std::string bytes = [] {
    oas::JournalWriter(folder(), {}, {}, 1 << 20);
    std::ifstream file(folder() + "/journal-00000001.oasj", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  return bytes;
}

void read_file(std::string_view bytes) {
  std::ofstream(folder() + "/journal-00000001.oasj", std::ios::binary) << bytes;
  try {
    oas::JournalReader reader(folder());
    for (oas::JournalRecord record; reader.next(record);) {
      const std::string written = oas::to_bytes(record);
      if (oas::to_bytes(oas::parse_journal_record(written)) != written) std::abort();
    }
    if (reader.place().offset + reader.torn_bytes() > bytes.size()) std::abort();
  } catch (const oas::InvalidArgument&) {
  }
}

std::optional<oas::JournalRecord> parse(std::string_view bytes) {
  try {
    return oas::parse_journal_record(bytes);
  } catch (const oas::InvalidArgument&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string header = whole_header();
  read_file(bytes);
  read_file(header + std::string(bytes));
  if (const auto record = parse(bytes)) {
    const std::string written = oas::to_bytes(*record);
    const auto again = parse(written);
    if (!again || oas::to_bytes(*again) != written) std::abort();
  }
  return 0;
}
