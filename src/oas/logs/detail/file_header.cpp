#include "oas/logs/detail/file_header.hpp"

#include <cstring>
#include <filesystem>

#include "oas/core/contracts.hpp"
#include "oas/logs/byte_source.hpp"
#include "oas/logs/detail/cells.hpp"
#include "oas/logs/detail/dialect.hpp"
#include "oas/logs/detail/line_buffer.hpp"

namespace oas::detail {

std::vector<std::string> header_cells(const std::string& path, const LogOptions& options) {
  LineBuffer lines(in_plain_csv(decompressed(open_bytes(path), path), path, Dialect(options)),
                   path);
  std::string scratch;
  for (long line = 1; lines.fill(line); ++line) {
    const char* position = lines.begin();
    if (*position != '#') {
      std::vector<std::string> cells;
      try {
        cells.emplace_back(next_cell(position, scratch));
        while (*position == ',') cells.emplace_back(next_cell(++position, scratch));
      } catch (const InvalidArgument& error) {
        throw ParseError(path, line, 0, error.what());
      }
      return cells;
    }
    lines.consume(static_cast<const char*>(std::memchr(
                      position, '\n', static_cast<std::size_t>(lines.end() - position))) +
                  1);
  }
  throw ParseError(path, 0, 0, "the header row is missing");
}

std::optional<std::vector<std::string>> peeked_header(const std::string& path,
                                                      const LogOptions& options) {
  if (path == "-" || !std::filesystem::is_regular_file(path)) return {};
  try {
    return header_cells(path, options);
  } catch (const InvalidArgument&) {
    return {};
  }
}

}  // namespace oas::detail
