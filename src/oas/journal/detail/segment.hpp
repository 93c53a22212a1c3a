#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The frame of records in a file of a journal: length, checksum of number and length, checksum of
/// number and record, record. A record's number is that of its place in the whole journal, so that
/// none can be exchanged for another. A file begins with kMagic and its header, whose number is 0.
namespace oas::detail {

inline constexpr std::string_view kMagic = "oasjrnl1";
inline constexpr std::size_t kFrameBytes = 12;
inline constexpr std::size_t kMostRecordBytes = std::size_t{1} << 30;

struct Frame {
  std::uint32_t length = 0;
  std::uint32_t length_check = 0;
  std::uint32_t record_check = 0;
};

[[nodiscard]] std::uint32_t check_of_length(std::uint64_t number, std::uint32_t length);
[[nodiscard]] std::uint32_t check_of_record(std::uint64_t number, std::string_view record);

/// The record with its frame.
[[nodiscard]] std::string framed(std::uint64_t number, std::string_view record);
/// Of kFrameBytes bytes.
[[nodiscard]] Frame parse_frame(std::string_view bytes);

/// "journal-00000001.oasj" in that folder.
[[nodiscard]] std::string segment_path(const std::string& folder, int segment);
/// The largest number of a file of a journal in that folder; 0 where there is none, or no folder.
[[nodiscard]] int last_segment(const std::string& folder);

}  // namespace oas::detail
