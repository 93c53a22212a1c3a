#include <cstdio>
#include <memory>

#include "logs/log_support.hpp"
#include "oas/logs/byte_sink.hpp"
#include "oas/logs/byte_source.hpp"
#include "support/temporary_directory.hpp"

/// Compressed bytes: what was written comes back, in pieces and parts too, and damage is named.
namespace oas::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kLog = "action,observation\n0,1\n1,2\n";

// Bytes that compress badly, so that there are many compressed blocks.
std::string noise(std::size_t size) {
  std::string text;
  unsigned state = 1;
  while (text.size() < size) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>(state >> 24);
  }
  return text;
}

std::string compressed(const std::string& text, const std::string& ending) {
  const TemporaryDirectory folder;
  const auto sink = open_output(folder.file("x" + ending));
  sink->write(text);
  sink->commit();
  return slurp(folder.file("x" + ending));
}

std::string drained(ByteSource& source, std::size_t at_once) {
  std::string text;
  std::string piece(at_once, '\0');
  for (std::size_t got = 0; (got = source.read(piece.data(), at_once)) > 0;) {
    text.append(piece, 0, got);
  }
  return text;
}

std::string decompress(const std::string& bytes, std::size_t at_once = 1000) {
  return drained(*decompressed(bytes_of(bytes), "x"), at_once);
}

// A pipe that gives one byte at a time.
class Dripping final : public ByteSource {
 public:
  explicit Dripping(const std::string& text) : source_(bytes_of(text)) {}
  std::size_t read(char* out, std::size_t /*size*/) override { return source_->read(out, 1); }

 private:
  std::unique_ptr<ByteSource> source_;
};

std::string damage(const std::string& bytes) {
  try {
    static_cast<void>(decompress(bytes));
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  return pclose(pipe) == 0 ? text : "failed: " + text;
}

class Stored : public testing::TestWithParam<std::string> {};      // in any form
class Compressed : public testing::TestWithParam<std::string> {};  // and therefore checked

TEST_P(Stored, ComesBackInPiecesOfAnySize) {
  for (const std::string& text : {std::string(), kLog, noise(300'000), std::string(500'000, 'x')}) {
    const std::string bytes = compressed(text, GetParam());
    for (const std::size_t at_once : {1U, 7U, 65536U, 1U << 20}) {
      EXPECT_TRUE(decompress(bytes, at_once) == text) << text.size() << " by " << at_once;
    }
    EXPECT_TRUE(drained(*decompressed(std::make_unique<Dripping>(bytes), "x"), 4096) == text);
  }
}

TEST_P(Stored, SeveralPartsAreOneText) {
  const std::string part = noise(100'000);
  const std::string bytes = compressed(part, GetParam());
  EXPECT_TRUE(decompress(bytes + compressed("", GetParam()) + bytes) == part + part);
}

TEST_P(Compressed, EveryCutIsNoticed) {
  const std::string bytes = compressed(kLog, GetParam());
  for (std::size_t size = 4; size < bytes.size(); ++size) {
    EXPECT_THAT(damage(bytes.substr(0, size)), HasSubstr("data are cut off")) << size;
  }
}

TEST_P(Compressed, DamageIsNoticed) {
  const std::string bytes = compressed(noise(5000), GetParam());
  for (std::size_t i = 20; i < bytes.size(); i += 501) {
    std::string wrong = bytes;
    wrong[i] = static_cast<char>(wrong[i] ^ 0x55);
    EXPECT_THAT(damage(wrong), HasSubstr("data are ")) << i;
  }
  EXPECT_THAT(damage(bytes + "more"), HasSubstr("data are damaged: "));
}

TEST_P(Stored, LogsAreRecognisedByContentNotName) {
  const TemporaryDirectory folder;
  spill(folder.file("log.txt"), compressed(kLog, GetParam()));
  EXPECT_TRUE(read_all(LogReader(folder.file("log.txt"), index_model())) ==
              read_text(kLog, index_model()));
}

std::string form(const testing::TestParamInfo<std::string>& ending) {
  return ending.param.empty() ? "plain" : ending.param.substr(1);
}

INSTANTIATE_TEST_SUITE_P(Bytes, Stored, testing::Values("", ".gz", ".zst"), form);
INSTANTIATE_TEST_SUITE_P(Bytes, Compressed, testing::Values(".gz", ".zst"), form);

TEST(ByteStreams, LogsNameTheFileWhenCutOff) {
  std::string rows = "action,observation\n";
  for (int i = 0; i < 100'000; ++i) rows += i % 7 < 3 ? "0,1\n" : "2,3\n";
  for (const std::string ending : {".gz", ".zst"}) {
    std::string bytes = compressed(rows, ending);
    bytes.resize(bytes.size() - 1);
    EXPECT_THAT(error_of(bytes, index_model()), StartsWith("log.csv: the ")) << ending;
  }
}

TEST(ByteStreams, SkippableFramesAreSkipped) {
  const std::string skippable("\x5a\x2a\x4d\x18\x03\0\0\0abc", 11);
  EXPECT_EQ(decompress(skippable + compressed(kLog, ".zst")), kLog);
}

TEST(ByteStreams, OtherToolsReadWhatIsWritten) {
  const TemporaryDirectory folder;
  const std::string text = noise(200'000);
  for (const auto& [ending, tool] : {std::pair{".gz", "gzip"}, std::pair{".zst", "zstd"}}) {
    if (std::system(("command -v " + std::string(tool) + " >/dev/null").c_str()) != 0) continue;
    const std::string path = folder.file(std::string("x") + ending);
    spill(path, compressed(text, ending));
    EXPECT_TRUE(output_of(std::string(tool) + " -dc " + path) == text) << tool;
  }
}

TEST(ByteStreams, FullDiskWhileCompressing) {
  const TemporaryDirectory folder;
  for (const std::string ending : {".gz", ".zst"}) {
    const std::string path = folder.file("full" + ending);
    std::filesystem::create_symlink("/dev/full", path);
    const auto sink = open_output(path);
    sink->write("text");
    EXPECT_THROW(sink->commit(), IoError) << ending;
  }
}

TEST(ByteStreams, NamesOfInputs) {
  EXPECT_EQ(input_name("-"), "standard input");
  EXPECT_EQ(input_name("a.csv"), "a.csv");
}

}  // namespace
}  // namespace oas::test
