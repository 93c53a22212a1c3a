#include "oas/logs/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/logs/detail/journal_text.hpp"

namespace oas {

namespace {

constexpr std::size_t kInputBlock = std::size_t{1} << 16;

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path,
                      std::int64_t size = std::numeric_limits<std::int64_t>::max())
      : name_(input_name(path)), left_(size) {
    const bool is_stdin = path == "-";
    descriptor_ = is_stdin ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) throw_cannot_open(name_, errno);
    owned_ = !is_stdin;
    struct stat info = {};
    if (fstat(descriptor_, &info) == 0 && S_ISDIR(info.st_mode)) {
      if (owned_) close(descriptor_);
      throw InvalidArgument(name_ + ": is a folder, not a file");
    }
  }
  ~FileSource() override {
    if (owned_) close(descriptor_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  void begin_at(std::int64_t place) {
    if (lseek(descriptor_, place, SEEK_SET) != place) fail(errno);
  }

  std::size_t read(char* out, std::size_t size) override {
    ssize_t got = -1;
    const auto most = static_cast<std::uint64_t>(left_);
    do {
      got = ::read(descriptor_, out, std::min<std::uint64_t>(size, most));
    } while (got < 0 && errno == EINTR);
    if (got < 0) fail(errno);
    left_ -= got;
    return static_cast<std::size_t>(got);
  }

 private:
  [[noreturn]] void fail(int error) const {
    throw IoError(fmt::format("{}: read failed: {}", name_, std::strerror(error)));
  }

  std::string name_;
  std::int64_t left_;  // bytes that it may still give
  int descriptor_ = -1;
  bool owned_ = false;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view text) : left_(text) {}

  std::size_t read(char* out, std::size_t size) override {
    const std::size_t count = left_.copy(out, size);
    left_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view left_;
};

// The bytes that were taken to recognise the format, then the rest.
class PrefixedSource final : public ByteSource {
 public:
  PrefixedSource(std::string prefix, std::unique_ptr<ByteSource> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  std::size_t read(char* out, std::size_t size) override {
    if (given_ == prefix_.size()) return rest_->read(out, size);
    const std::size_t count = prefix_.copy(out, size, given_);
    given_ += count;
    return count;
  }

 private:
  std::string prefix_;
  std::size_t given_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)), input_(kInputBlock) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(char* out, std::size_t size) override {
    const auto room =
        static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = room;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0 && !refill()) {
        if (inside_member_) throw ParseError(name_, 0, 0, "the gzip data are cut off");
        return 0;
      }
      step();
    }
    return room - stream_.avail_out;
  }

 private:
  bool refill() {
    const std::size_t got = source_->read(input_.data(), input_.size());
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  void step() {
    if (!inside_member_) inflateReset(&stream_);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    inside_member_ = status != Z_STREAM_END;
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      throw ParseError(name_, 0, 0,
                       fmt::format("the gzip data are damaged: {}",
                                   stream_.msg != nullptr ? stream_.msg : "unknown reason"));
    }
  }

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> input_;
  z_stream stream_ = {};
  bool inside_member_ = true;
};

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> source, std::string name)
      : source_(std::move(source)),
        name_(std::move(name)),
        input_(kInputBlock),
        context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    if (context_ == nullptr) throw std::bad_alloc();
  }

  std::size_t read(char* out, std::size_t size) override {
    ZSTD_outBuffer output = {out, size, 0};
    while (output.pos == 0) {
      if (unread_.pos == unread_.size && !more_output_ && !refill()) {
        if (inside_frame_) throw ParseError(name_, 0, 0, "the zstd data are cut off");
        return 0;
      }
      const std::size_t hint = ZSTD_decompressStream(context_.get(), &output, &unread_);
      if (ZSTD_isError(hint) != 0) {
        throw ParseError(name_, 0, 0,
                         fmt::format("the zstd data are damaged: {}", ZSTD_getErrorName(hint)));
      }
      inside_frame_ = hint != 0;
      // A full output may mean that the decoder holds back more, without needing input for it.
      more_output_ = inside_frame_ && output.pos == output.size;
    }
    return output.pos;
  }

 private:
  bool refill() {
    unread_ = {input_.data(), source_->read(input_.data(), input_.size()), 0};
    return unread_.size > 0;
  }

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> input_;
  ZSTD_inBuffer unread_ = {nullptr, 0, 0};
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
  bool inside_frame_ = true;
  bool more_output_ = false;
};

// Pipes may give one byte at a time.
std::string read_prefix(ByteSource& source, std::size_t size) {
  std::string prefix(size, '\0');
  std::size_t filled = 0;
  std::size_t got = 0;
  while (filled < size && (got = source.read(prefix.data() + filled, size - filled)) > 0) {
    filled += got;
  }
  prefix.resize(filled);
  return prefix;
}

bool is_gzip(std::string_view prefix) { return prefix.starts_with("\x1f\x8b"); }

// A frame, or a skippable frame (50 to 5f), with which parallel compressors begin.
bool is_zstd(std::string_view prefix) {
  if (prefix.starts_with("\x28\xb5\x2f\xfd")) return true;
  return prefix.size() >= 4 && (prefix[0] & '\xf0') == '\x50' &&
         prefix.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  if (path != "-" && holds_journal(path)) return std::make_unique<detail::JournalText>(path);
  return std::make_unique<FileSource>(path);
}

std::unique_ptr<ByteSource> open_range(const std::string& path, std::int64_t begin,
                                       std::int64_t end) {
  auto source = std::make_unique<FileSource>(path, end - begin);
  source->begin_at(begin);
  return source;
}

bool is_plain_file(const std::string& path) {
  if (path == "-" || holds_journal(path) || !std::filesystem::is_regular_file(path)) return false;
  FileSource source(path);
  const std::string prefix = read_prefix(source, 4);
  return !is_gzip(prefix) && !is_zstd(prefix);
}

bool reads_again(const std::string& path) {
  if (path == "-") return false;
  return !std::filesystem::exists(path) || std::filesystem::is_regular_file(path) ||
         holds_journal(path);
}

std::unique_ptr<ByteSource> bytes_of(std::string_view text) {
  return std::make_unique<MemorySource>(text);
}

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> source, std::string name) {
  const std::string prefix = read_prefix(*source, 4);
  auto whole = std::make_unique<PrefixedSource>(prefix, std::move(source));
  if (is_gzip(prefix)) return std::make_unique<GzipSource>(std::move(whole), std::move(name));
  if (is_zstd(prefix)) return std::make_unique<ZstdSource>(std::move(whole), std::move(name));
  return whole;
}

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

}  // namespace oas
