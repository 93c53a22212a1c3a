#include "oas/logs/detail/line_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

// Enough for ordinary lines, and stays in a cache between reading and parsing.
constexpr std::size_t kFirstSize = std::size_t{1} << 17;

}  // namespace

LineBuffer::LineBuffer(std::unique_ptr<ByteSource> source, std::string name)
    : source_(std::move(source)),
      name_(std::move(name)),
      buffer_(kFirstSize),
      begin_(buffer_.data()),
      end_(buffer_.data()) {}

bool LineBuffer::refill(long line) {
  filled_ -= static_cast<std::size_t>(end_ - buffer_.data());
  std::memmove(buffer_.data(), end_, filled_);
  std::size_t whole = 0;  // bytes of whole lines
  while (whole == 0 && !at_end_) {
    if (filled_ + kSlack == buffer_.size()) grow(line);
    char* const gap = buffer_.data() + filled_;
    const std::size_t got = source_->read(gap, buffer_.size() - kSlack - filled_);
    const std::size_t last = std::string_view(gap, got).rfind('\n');
    if (last != std::string_view::npos) whole = filled_ + last + 1;
    filled_ += got;
    at_end_ = got == 0;
  }
  if (at_end_ && filled_ > 0) {
    buffer_[filled_++] = '\n';
    whole = filled_;
  }
  begin_ = buffer_.data();
  end_ = begin_ + whole;
  if (at_start_) skip_byte_order_mark();
  return begin_ != end_;
}

void LineBuffer::grow(long line) {
  constexpr std::size_t kLargest = kMaxLine + 1 + kSlack;
  if (buffer_.size() == kLargest) {
    throw ParseError(name_, line, 0, fmt::format("longer than the limit of {} bytes", kMaxLine));
  }
  buffer_.resize(std::min(2 * buffer_.size(), kLargest));
}

void LineBuffer::skip_byte_order_mark() {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  at_start_ = false;
  if (std::string_view(begin_, static_cast<std::size_t>(end_ - begin_)).starts_with(kMark)) {
    begin_ += kMark.size();
  }
}

}  // namespace oas::detail
