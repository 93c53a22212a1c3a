#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

/// Bytes from a file, a pipe or memory, decompressed on the way. What a reader reads from.
namespace oas {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Puts between 1 and `size` bytes into `out` and returns how many; 0 only at the end. `size` is
  /// at least 1.
  virtual std::size_t read(char* out, std::size_t size) = 0;
};

/// The bytes of a file as they are; "-" is standard input; of a folder with a live agent's journal
/// the log that this is, as text. Throws InvalidArgument when the file is
/// missing, a folder or unreadable; read() throws IoError when the device fails.
[[nodiscard]] std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// Bytes begin … end-1 of a file as they are, or fewer where it ends before. Throws as open_bytes()
/// does.
[[nodiscard]] std::unique_ptr<ByteSource> open_range(const std::string& path, std::int64_t begin,
                                                     std::int64_t end);
/// Whether that is a file, no pipe and no journal, that is not compressed.
[[nodiscard]] bool is_plain_file(const std::string& path);

/// Whether what open_bytes() gives can be read again from the first byte: a file, a journal; no
/// pipe. What is not there can: who opens it will say so.
[[nodiscard]] bool reads_again(const std::string& path);

/// The bytes of a text that outlives the source.
[[nodiscard]] std::unique_ptr<ByteSource> bytes_of(std::string_view text);

/// The content of `source`: gzip (several members too) and zstd (several frames too) are
/// recognised by their first bytes and decompressed, everything else passes through. Constant
/// memory, except that a zstd stream sets its own window (libzstd refuses more than 128 MiB).
/// read() throws ParseError naming `name` when the compressed data are damaged or cut off.
[[nodiscard]] std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source,
                                                       std::string name);

/// How a path is called in messages: itself, or "standard input" for "-".
[[nodiscard]] std::string input_name(const std::string& path);

}  // namespace oas
