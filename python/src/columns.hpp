#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

/// Columns of a table as somebody has it: NumPy arrays, Arrow streams. Numbers stay where they are;
/// texts become codes into a list of words.
namespace oas::python {

namespace nb = nanobind;

/// Numbers of one type at equal distances, where somebody keeps them.
template <class Number>
struct Series {
  const Number* first = nullptr;
  std::size_t count = 0;
  std::ptrdiff_t step = 1;  ///< from one to the next

  Series() = default;
  Series(const Number* first_one, std::size_t size, std::ptrdiff_t distance)
      : first(first_one), count(size), step(distance) {}
  explicit Series(std::span<const Number> values) : first(values.data()), count(values.size()) {}

  [[nodiscard]] std::size_t size() const { return count; }
  [[nodiscard]] Number operator[](std::size_t i) const {
    return first[static_cast<std::ptrdiff_t>(i) * step];
  }
};
template <class... Numbers>
using SeriesOf = std::variant<Series<Numbers>...>;

/// Whole numbers below 2^63; `missing` is empty or has a byte for every row.
struct WholeCells {
  SeriesOf<std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint64_t, std::uint32_t,
           std::uint16_t, std::uint8_t>
      values;
  std::span<const std::uint8_t> missing;

  [[nodiscard]] std::int64_t operator[](std::size_t row) const;
  [[nodiscard]] bool is_missing(std::size_t row) const {
    return !missing.empty() && missing[row] != 0;
  }
};
/// Real numbers, NaN where one is missing.
struct RealCells {
  SeriesOf<double, float> values;

  [[nodiscard]] double operator[](std::size_t row) const;
};
/// Texts: codes into `words`, -1 where one is missing.
struct TextCells {
  std::vector<std::int32_t> codes;
  std::vector<std::string> words;
};
/// Dates in nanoseconds since 1970, the least number where one is missing.
struct DateCells {
  std::span<const std::int64_t> nanoseconds;
  bool zoned = false;
  static constexpr std::int64_t kMissing = INT64_MIN;
};
using Cells = std::variant<WholeCells, RealCells, TextCells, DateCells>;

/// Codes for texts, in the order in which they come.
class WordList {
 public:
  [[nodiscard]] std::int32_t code(std::string_view word);
  [[nodiscard]] std::vector<std::string> take() { return std::move(words_); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> codes_;
  std::vector<std::string> words_;
};

/// A column and whatever keeps its memory.
struct Column {
  std::string part;  ///< what it is of a row: action, observation, run, …
  std::string name;  ///< as its owner calls it
  Cells cells;
  std::vector<std::vector<std::int64_t>> whole_memory;  // one at most; a vector moves with it
  std::vector<std::vector<double>> real_memory;
  std::vector<std::vector<std::uint8_t>> missing_memory;
  std::vector<nb::object> owners;

  [[nodiscard]] std::size_t size() const;
  /// Whether there are real numbers among its cells that are no whole ones.
  [[nodiscard]] bool has_fractions() const;
};

/// Columns of equal length.
class Columns {
 public:
  /// Throws InvalidArgument naming the column on another length, or on a part that is there.
  void add(Column column);
  [[nodiscard]] const Column* find(std::string_view part) const;
  [[nodiscard]] const std::vector<Column>& all() const { return columns_; }
  [[nodiscard]] std::size_t size() const { return columns_.empty() ? 0 : columns_.front().size(); }

 private:
  std::vector<Column> columns_;
};

/// The names of the columns of an Arrow stream, which is not used up by that.
[[nodiscard]] std::vector<std::string> arrow_names(nb::handle capsule);

/// The column of an Arrow stream (the capsule of __arrow_c_stream__) of one column that is no
/// struct, or of the field `field` of one that is. Throws InvalidArgument naming a type that
/// cannot be read.
[[nodiscard]] std::vector<Column> arrow_columns(nb::handle capsule,
                                                const std::vector<std::string>& fields);

/// A cell as text, as it would stand in a CSV file without quotes; empty where it is missing.
[[nodiscard]] std::string cell_text(const Column& column, std::size_t row);
/// Throws InvalidArgument "column 'reward', row 3: 'much' `why`".
[[noreturn]] void fail_cell(const Column& column, std::size_t row, const char* why);
/// A cell as a number, NaN where it is missing. Throws as fail_cell() does.
[[nodiscard]] double real_cell(const Column& column, std::size_t row);

}  // namespace oas::python
