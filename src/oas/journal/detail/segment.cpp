#include "oas/journal/detail/segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "oas/core/fingerprint.hpp"

namespace oas::detail {

namespace {

std::string segment_name(int segment) { return fmt::format("journal-{:08}.oasj", segment); }

std::uint32_t folded(std::uint64_t value) {
  return static_cast<std::uint32_t>(value ^ (value >> 32));
}

// That of a file of a journal; 0: it is another file.
int segment_of(const std::string& name) {
  constexpr std::string_view kBegin = "journal-";
  int segment = 0;
  if (!name.starts_with(kBegin)) return 0;
  std::from_chars(name.data() + kBegin.size(), name.data() + name.size(), segment);
  return segment > 0 && name == segment_name(segment) ? segment : 0;
}

}  // namespace

std::uint32_t check_of_length(std::uint64_t number, std::uint32_t length) {
  Fingerprint print;
  print.add(number);
  print.add(length);
  return folded(print.value());
}

std::uint32_t check_of_record(std::uint64_t number, std::string_view record) {
  Fingerprint print;
  print.add(number);
  print.add_bytes(record);
  return folded(print.value());
}

std::string framed(std::uint64_t number, std::string_view record) {
  const auto length = static_cast<std::uint32_t>(record.size());
  const std::array<std::uint32_t, 3> frame = {length, check_of_length(number, length),
                                              check_of_record(number, record)};
  std::string bytes(kFrameBytes, '\0');
  std::memcpy(bytes.data(), frame.data(), kFrameBytes);
  return bytes.append(record);
}

Frame parse_frame(std::string_view bytes) {
  Frame frame;
  static_assert(sizeof(Frame) == kFrameBytes);
  std::memcpy(&frame, bytes.data(), kFrameBytes);
  return frame;
}

std::string segment_path(const std::string& folder, int segment) {
  return (std::filesystem::path(folder) / segment_name(segment)).string();
}

int last_segment(const std::string& folder) {
  int last = 0;
  std::error_code error;
  // Not increment(error), which ends the program where there is no memory.
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    last = std::max(last, segment_of(entry.path().filename().string()));
  }
  return last;
}

}  // namespace oas::detail
