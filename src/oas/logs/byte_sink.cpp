#include "oas/logs/byte_sink.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"

namespace oas {

namespace {

constexpr std::size_t kOutputBlock = std::size_t{1} << 16;

class FileSink final : public ByteSink {
 public:
  explicit FileSink(const std::string& path) : file_(path) {}
  void write(std::string_view bytes) override { file_.write(bytes); }
  void commit() override { file_.commit(); }

 private:
  AtomicFile file_;
};

// Not an AtomicFile on /dev/stdout: that is a regular file after `> log.csv`, and to rename
// something over it would fail.
class StandardOutput final : public ByteSink {
 public:
  void write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) fail();
  }
  void commit() override {
    if (std::fflush(stdout) != 0) fail();
  }

 private:
  [[noreturn]] static void fail() {
    throw IoError(fmt::format("standard output: write failed: {}", std::strerror(errno)));
  }
};

class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> below)
      : below_(std::move(below)), output_(kOutputBlock) {
    constexpr int kGzipHeader = 16;
    constexpr int kLevel = 3;  // three times as fast as 6 and hardly larger on logs
    constexpr int kMemory = 8;
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, MAX_WBITS + kGzipHeader, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~GzipSink() override { deflateEnd(&stream_); }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  void write(std::string_view bytes) override {
    constexpr std::size_t kLargest = std::size_t{1} << 30;  // zlib counts in 32 bits
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kLargest))) {
      compress(bytes.substr(0, kLargest), Z_NO_FLUSH);
    }
  }
  void commit() override {
    compress({}, Z_FINISH);
    below_->commit();
  }

 private:
  void compress(std::string_view bytes, int flush) {
    stream_.next_in = reinterpret_cast<z_const Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      deflate(&stream_, flush);
      below_->write({output_.data(), output_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  std::unique_ptr<ByteSink> below_;
  std::vector<char> output_;
  z_stream stream_ = {};
};

class ZstdSink final : public ByteSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> below)
      : below_(std::move(below)),
        output_(kOutputBlock),
        context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, 3);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  void write(std::string_view bytes) override { compress(bytes, ZSTD_e_continue); }
  void commit() override {
    compress({}, ZSTD_e_end);
    below_->commit();
  }

 private:
  void compress(std::string_view bytes, ZSTD_EndDirective mode) {
    ZSTD_inBuffer input = {bytes.data(), bytes.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer output = {output_.data(), output_.size(), 0};
      left = ZSTD_compressStream2(context_.get(), &output, &input, mode);
      if (ZSTD_isError(left) != 0) {
        throw IoError(fmt::format("zstd compression failed: {}", ZSTD_getErrorName(left)));
      }
      below_->write({output_.data(), output.pos});
    } while (mode == ZSTD_e_end ? left != 0 : input.pos < input.size);
  }

  std::unique_ptr<ByteSink> below_;
  std::vector<char> output_;
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context_;
};

}  // namespace

std::unique_ptr<ByteSink> open_output(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return std::make_unique<StandardOutput>();
  auto file = std::make_unique<FileSink>(path);
  if (path.ends_with(".gz")) return std::make_unique<GzipSink>(std::move(file));
  if (path.ends_with(".zst")) return std::make_unique<ZstdSink>(std::move(file));
  return file;
}

}  // namespace oas
