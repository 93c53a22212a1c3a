#include "oas/logs/detail/cell_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "oas/core/contracts.hpp"
#include "oas/logs/csv_cell.hpp"

namespace oas::detail {

LabelText::LabelText(const Labels& labels, std::string_view kind, bool may_be_missing)
    : kind_(kind), may_be_missing_(may_be_missing) {
  starts_.push_back(0);
  for (int i = 0; i < labels.size(); ++i) {
    const std::string cell = csv_cell(labels[i]);
    longest_ = std::max(longest_, cell.size());
    bytes_ += cell;
    starts_.push_back(bytes_.size());
  }
}

char* LabelText::append(std::int32_t index, char* out) const {
  const auto i = static_cast<std::size_t>(index);
  if (i >= starts_.size() - 1) [[unlikely]] {
    OAS_REQUIRE(index == -1 && may_be_missing_, "{} {} is out of range; the model has {}", kind_,
                index, starts_.size() - 1);
    return out;
  }
  const std::size_t size = starts_[i + 1] - starts_[i];
  if (size == 1) {
    *out = bytes_[starts_[i]];
  } else {
    std::memcpy(out, bytes_.data() + starts_[i], size);
  }
  return out + size;
}

char* NumberText::append(double value, char* out) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
  Entry& entry = recent_[(bits * kGolden) >> 58];
  if (entry.bits != bits || entry.size == 0) {
    const auto end = std::to_chars(entry.text.data(), entry.text.data() + kMaxNumber, value);
    entry.size = static_cast<std::size_t>(end.ptr - entry.text.data());
    entry.bits = bits;
  }
  std::memcpy(out, entry.text.data(), kMaxNumber);
  return out + entry.size;
}

}  // namespace oas::detail
