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

LineBuffer::LineBuffer(std::unique_ptr<ByteSource> source, std::string name, bool at_start)
    : source_(std::move(source)),
      name_(std::move(name)),
      buffer_(kFirstSize),
      begin_(buffer_.data()),
      end_(buffer_.data()),
      at_start_(at_start) {}

bool LineBuffer::refill(long line) {
  if (failure_) std::rethrow_exception(failure_);
  drop_used();
  for (find_lines(); begin_ == end_; find_lines()) {
    if (filled_ > kMaxLine) {
      throw ParseError(name_, line, 0, fmt::format("longer than the limit of {} bytes", kMaxLine));
    }
    if (at_end_) return false;
    if (filled_ + kSlack == buffer_.size()) grow(2 * buffer_.size());
    read_more();
  }
  return true;
}

bool LineBuffer::fill_ahead(long line, std::size_t bytes) {
  if (!fill(line)) return false;
  if (static_cast<std::size_t>(end_ - begin_) >= bytes || at_end_ || failure_) return true;
  drop_used();
  if (buffer_.size() < bytes + kSlack) grow(bytes + kSlack);
  try {
    while (filled_ + kSlack < buffer_.size() && !at_end_) read_more();
  } catch (...) {
    failure_ = std::current_exception();
  }
  find_lines();
  return true;
}

void LineBuffer::drop_used() {
  filled_ -= static_cast<std::size_t>(begin_ - buffer_.data());
  std::memmove(buffer_.data(), begin_, filled_);
  end_ = buffer_.data() + (end_ - begin_);
  begin_ = buffer_.data();
}

void LineBuffer::grow(std::size_t size) {
  const std::ptrdiff_t whole = end_ - begin_;
  buffer_.resize(size);
  begin_ = buffer_.data();
  end_ = begin_ + whole;
}

// Into the room behind what there is; begin_ is at the start of the buffer.
void LineBuffer::read_more() {
  const std::size_t got =
      source_->read(buffer_.data() + filled_, buffer_.size() - kSlack - filled_);
  filled_ += got;
  at_end_ = got == 0;
  if (at_end_ && filled_ > 0 && buffer_[filled_ - 1] != '\n') buffer_[filled_++] = '\n';
  if (at_start_) skip_byte_order_mark();
}

// Sets end_ behind the last whole line that comes before one that is too long.
void LineBuffer::find_lines() {
  const std::string_view text(begin_, filled_ - static_cast<std::size_t>(begin_ - buffer_.data()));
  std::size_t whole = 0;
  while (true) {
    const std::size_t last = text.substr(whole, kMaxLine + 1).rfind('\n');
    if (last == std::string_view::npos) break;
    whole += last + 1;
  }
  end_ = begin_ + whole;
}

// As soon as there are three bytes, or no more.
void LineBuffer::skip_byte_order_mark() {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (filled_ < kMark.size() && !at_end_) return;
  at_start_ = false;
  if (std::string_view(buffer_.data(), filled_).starts_with(kMark)) begin_ += kMark.size();
}

}  // namespace oas::detail
