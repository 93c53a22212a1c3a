#include "oas/journal/journal_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/journal/detail/segment.hpp"

namespace oas {

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;

bool is_zero(char c) { return c == '\0'; }

}  // namespace

JournalReader::JournalReader(std::string folder, JournalPlace from)
    : folder_(std::move(folder)), place_(from) {
  OAS_REQUIRE(holds_journal(folder_), "{}: there is no journal in this folder", folder_);
  open_segment(0);
  const bool has_header = read_header();
  if (has_header && from.offset <= place_.offset) {
    place_.sequence = header_.sequence;
    return;
  }
  if (from.offset == 0) return;
  std::error_code error;
  const auto size = std::filesystem::file_size(detail::segment_path(folder_, from.segment), error);
  if (!has_header || error || size < from.offset) {
    fail(fmt::format("the file ends before byte {}, which a snapshot goes on from", from.offset));
  }
  open_segment(from.offset);
  place_ = from;
}

JournalReader::~JournalReader() = default;

void JournalReader::open_segment(std::uint64_t offset) {
  const std::string path = detail::segment_path(folder_, place_.segment);
  file_.reset(std::fopen(path.c_str(), "rbe"));
  OAS_REQUIRE(file_ != nullptr, "{}: {}", path, std::strerror(errno));
  OAS_REQUIRE(std::fseek(file_.get(), static_cast<long>(offset), SEEK_SET) == 0, "{}: {}", path,
              std::strerror(errno));
  last_ = detail::last_segment(folder_) <= place_.segment;
  place_.offset = offset;
  buffer_.clear();
  used_ = 0;
}

std::string_view JournalReader::peek(std::size_t size) {
  while (buffer_.size() - used_ < size) {
    buffer_.erase(0, used_);
    used_ = 0;
    const std::size_t had = buffer_.size();
    buffer_.resize(had + std::min(std::max(kChunk, had), detail::kMostRecordBytes));
    const std::size_t got = std::fread(buffer_.data() + had, 1, buffer_.size() - had, file_.get());
    buffer_.resize(had + got);
    if (got > 0) continue;
    if (std::ferror(file_.get()) != 0) {
      throw IoError(fmt::format("{}: read failed: {}",
                                detail::segment_path(folder_, place_.segment),
                                std::strerror(errno)));
    }
    std::clearerr(file_.get());  // the agent may write on
    break;
  }
  return std::string_view(buffer_).substr(used_, size);
}

bool JournalReader::read_header() {
  const std::string_view magic = peek(detail::kMagic.size());
  if (magic.size() < detail::kMagic.size() && last_) {
    torn_ = magic.size();
    return false;
  }
  if (magic != detail::kMagic) {
    if (last_ && only_zeros_from(0)) return false;
    fail("this is not a file of a journal");
  }
  used_ += magic.size();
  place_.offset += magic.size();
  std::string_view bytes;
  if (!read_record(0, bytes)) {
    place_.offset = 0;
    return false;
  }
  try {
    header_ = journal_header(parse_journal_record(bytes));
  } catch (const InvalidArgument& error) {
    fail(error.what());
  }
  if (header_.segment != place_.segment) {
    fail(fmt::format("this is file {} of a journal, not {}", header_.segment, place_.segment));
  }
  return true;
}

bool JournalReader::next(JournalRecord& record) {
  if (place_.offset == 0) return false;  // the file's header is not whole
  std::string_view bytes;
  while (!read_record(place_.sequence, bytes)) {
    if (!open_next()) return false;
  }
  try {
    record = parse_journal_record(bytes);
  } catch (const InvalidArgument& error) {
    fail(error.what());
  }
  ++place_.sequence;
  return true;
}

// Goes on in the next file. One whose header is not whole has never held a record.
bool JournalReader::open_next() {
  if (torn_ > 0) return false;
  if (detail::last_segment(folder_) <= place_.segment) return false;
  const JournalPlace here = place_;
  const JournalHeader header = header_;
  ++place_.segment;
  open_segment(0);
  if (!read_header()) {
    place_ = here;
    header_ = header;
    open_segment(here.offset);
    last_ = true;
    torn_ = 0;
    return false;
  }
  if (header_.sequence != place_.sequence || header_.model != header.model ||
      header_.agent != header.agent) {
    fail(
        fmt::format("it begins with record {} of agent \"{}\", and the file before ends before "
                    "record {} of agent \"{}\"",
                    header_.sequence, header_.agent, place_.sequence, header.agent));
  }
  return true;
}

bool JournalReader::read_record(std::uint64_t number, std::string_view& record) {
  std::string_view bytes = peek(detail::kFrameBytes);
  if (bytes.empty()) return false;
  if (bytes.size() < detail::kFrameBytes) return !ends_here(detail::kFrameBytes);
  const detail::Frame frame = detail::parse_frame(bytes);
  if (frame.length_check != detail::check_of_length(number, frame.length) ||
      frame.length > detail::kMostRecordBytes) {
    if (ends_here(detail::kFrameBytes)) return false;
    fail(fmt::format("record {} has a damaged length", number));
  }
  const std::size_t size = detail::kFrameBytes + frame.length;
  bytes = peek(size);
  if (bytes.size() < size && ends_here(size)) return false;
  record = bytes.substr(detail::kFrameBytes);
  if (frame.record_check != detail::check_of_record(number, record)) {
    if (ends_here(size)) return false;
    fail(fmt::format("record {} does not agree with its checksum", number));
  }
  used_ += size;
  place_.offset += size;
  return true;
}

// Whether the record here, of that size, which is not whole, is the torn end of the journal: cut
// off, or zeros from some byte of it on. Only the last file may end so.
bool JournalReader::ends_here(std::size_t frame_and_record) {
  const std::string_view bytes = peek(frame_and_record);
  const bool cut = bytes.size() < frame_and_record;
  const bool zeros =
      !cut && is_zero(bytes.back()) && only_zeros_from(place_.offset + frame_and_record);
  if (!last_ || (!cut && !zeros)) {
    if (cut) fail("the file is cut off, and another one follows");
    return false;
  }
  const auto size = std::filesystem::file_size(detail::segment_path(folder_, place_.segment));
  torn_ = size > place_.offset ? size - place_.offset : 0;
  return true;
}

bool JournalReader::only_zeros_from(std::uint64_t offset) {
  const std::string path = detail::segment_path(folder_, place_.segment);
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr || std::fseek(file.get(), static_cast<long>(offset), SEEK_SET) != 0) {
    return false;
  }
  std::string bytes(kChunk, '\0');
  while (const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), file.get())) {
    const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(got);
    if (!std::all_of(bytes.begin(), end, is_zero)) return false;
  }
  return true;
}

void JournalReader::fail(const std::string& what) const {
  throw InvalidArgument(fmt::format(
      "{}: byte {}: {}", detail::segment_path(folder_, place_.segment), place_.offset, what));
}

}  // namespace oas
