#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oas/model/labels.hpp"

/// Values as CSV cells. All functions write at `out`, where kMaxNumber bytes or longest() + 1 are
/// free, and return the position behind the cell.
namespace oas::detail {

/// The cells of a finite set, made once.
class LabelText {
 public:
  LabelText(const Labels& labels, std::string_view kind, bool may_be_missing);

  [[nodiscard]] std::size_t longest() const { return longest_; }

  /// Throws InvalidArgument when `index` is out of range; -1 is an empty cell where allowed.
  [[nodiscard]] char* append(std::int32_t index, char* out) const;

 private:
  std::string kind_;
  bool may_be_missing_;
  std::size_t longest_ = 0;
  std::string bytes_;                // all cells, one behind the other
  std::vector<std::size_t> starts_;  // of each cell in bytes_, and the end
};

/// Numbers in the shortest form that reads back to the same double. Logs repeat few values, so
/// their texts are remembered.
class NumberText {
 public:
  static constexpr std::size_t kMaxNumber = 32;

  [[nodiscard]] char* append(double value, char* out);

 private:
  struct Entry {
    std::uint64_t bits = 0;
    std::size_t size = 0;  // 0: none yet
    std::array<char, kMaxNumber> text = {};
  };
  std::array<Entry, 64> recent_;
};

}  // namespace oas::detail
