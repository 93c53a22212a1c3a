#pragma once

#include <memory>
#include <string>
#include <string_view>

/// Bytes to a file or to standard output, compressed on the way. What a writer writes to.
namespace oas {

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  /// Throws IoError naming the path when the disk is full.
  virtual void write(std::string_view bytes) = 0;

  /// Completes the output; only then does a file appear under its name. The last call.
  virtual void commit() = 0;
};

/// Opens `path` for writing: gzip (level 3) when it ends in .gz, zstd (level 3, with checksum) when
/// it ends in .zst, else as it is; "-" and /dev/stdout are standard output. A file appears complete
/// or not at all (AtomicFile). The same bytes in give the same bytes out: no name, no date.
/// Throws InvalidArgument when the folder does not exist or cannot be written.
[[nodiscard]] std::unique_ptr<ByteSink> open_output(const std::string& path);

}  // namespace oas
