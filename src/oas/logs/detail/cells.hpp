#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oas/logs/detail/run_names.hpp"
#include "oas/model/labels.hpp"

/// Cells of a CSV line. All functions start at the first byte of a cell, leave the position at the
/// byte that ends it, and rely on LineBuffer: a line feed ends the line, and some bytes behind it
/// can be read. Messages name column and value; the caller adds file, line and field.
namespace oas::detail {

/// True at the comma or the end of the line (line feed, with or without carriage return).
[[nodiscard]] inline bool ends_cell(const char* position) {
  return *position == ',' || *position == '\n' || (*position == '\r' && position[1] == '\n');
}

/// True at the end of a line that has begun just here.
[[nodiscard]] inline bool is_blank_line(const char* position) {
  return *position == '\n' || (*position == '\r' && position[1] == '\n');
}

/// The text of a cell without its quotes (RFC 4180). A view of the line, or of `scratch` when
/// quotes had to go. Throws InvalidArgument when a quote is not closed on its line or when
/// something follows the closing quote.
[[nodiscard]] std::string_view next_cell(const char*& position, std::string& scratch);

/// Of a run, a state, an action or an observation. Names stay in memory, and a compressed file of a
/// few kilobytes could hold gigabytes of them.
inline constexpr std::size_t kMostBytesOfName = 1000;
/// Throws InvalidArgument on a longer one; `kind` ("run") is used in the message.
void check_name_size(std::string_view name, std::string_view kind);

/// A value for messages: quoted, shortened, valid UTF-8 without control characters.
[[nodiscard]] std::string shown(std::string_view value);

/// A column of names or 0-based indices of a finite set; within one file never both.
class LabelColumn {
 public:
  /// `kind` ("action") is used in messages. An empty cell is -1 when `may_be_empty`, else an error.
  /// `names_only`: indices would not be those of the model.
  LabelColumn(const Labels& labels, std::string_view kind, bool may_be_empty,
              bool names_only = false);

  [[nodiscard]] std::int32_t read(const char*& position, long line) {
    if (mode_ == Mode::indices) {
      const char* p = position;
      std::uint32_t value = 0;
      for (std::uint32_t digit = 0; (digit = digit_at(p)) < 10 && value < kLargest; ++p) {
        value = 10 * value + digit;
      }
      if (p != position && value < size_ && ends_cell(p)) [[likely]] {
        position = p;
        return static_cast<std::int32_t>(value);
      }
    }
    return read_text(position, line);
  }

  /// Rows of another file follow those of this one.
  void leave_file(const std::string& name) {
    if (mode_ != Mode::unknown && mode_file_.empty()) mode_file_ = " of " + name;
  }
  /// Whether both know, or both do not, that the column holds names, or indices.
  [[nodiscard]] bool same_mode(const LabelColumn& other) const { return mode_ == other.mode_; }
  [[nodiscard]] bool knows_mode() const { return mode_ != Mode::unknown; }

 private:
  enum class Mode { unknown, names, indices };
  static constexpr std::uint32_t kLargest = 100'000'000;  // one more digit still fits in 32 bits

  struct Names {
    std::vector<std::string> list;
    std::unordered_map<std::string_view, std::int32_t> index;  // looks into the list
  };

  static std::uint32_t digit_at(const char* p) { return static_cast<std::uint8_t>(*p - '0'); }

  std::int32_t read_text(const char*& position, long line);
  std::int32_t index_of(std::string_view text, bool is_index) const;
  void set_mode(Mode mode, std::string_view text, long line);
  [[nodiscard]] std::string known_names() const;
  /// Whether names go on where the text ends: "wait@day" for "wait".
  [[nodiscard]] bool has_classes(std::string_view text) const;

  std::string kind_;
  bool may_be_empty_;
  bool names_only_;
  std::uint32_t size_;
  std::shared_ptr<const Names> names_;
  Mode mode_ = Mode::unknown;
  long mode_line_ = 0;     // where the mode was set
  std::string mode_file_;  // and in which file, where that is not the one being read
  std::string scratch_;
};

/// A column of numbers. Logs repeat few values (two propensities, some rewards), so the last ones
/// are remembered with their text.
class NumberColumn {
 public:
  enum class Range { finite, probability };  ///< probability: (0, 1]

  /// An empty cell is NaN when `may_be_empty`, else an error.
  NumberColumn(std::string_view name, Range range, bool may_be_empty = false)
      : name_(name), range_(range), may_be_empty_(may_be_empty) {}

  [[nodiscard]] double read(const char*& position) {
    for (const Entry& entry : recent_) {
      if (entry.matches(position)) {
        position += entry.size;
        return entry.value;
      }
    }
    return read_text(position);
  }

 private:
  struct Entry {
    static constexpr std::size_t kWords = 3;
    std::array<std::uint64_t, kWords> text = {};
    std::array<std::uint64_t, kWords> mask = {};
    std::size_t size = 0;
    double value = 0.0;

    [[nodiscard]] bool matches(const char* position) const {
      std::array<std::uint64_t, kWords> found;
      std::memcpy(found.data(), position, sizeof found);
      std::uint64_t difference = 0;
      for (std::size_t i = 0; i < kWords; ++i) difference |= (found[i] ^ text[i]) & mask[i];
      return difference == 0 && size > 0 && ends_cell(position + size);
    }
  };

  double read_text(const char*& position);
  void check_range(double value, std::string_view text) const;
  void remember(std::string_view text, double value);

  std::string name_;
  Range range_;
  bool may_be_empty_;
  std::array<Entry, 4> recent_;
  std::size_t oldest_ = 0;
  std::string scratch_;
};

/// Thrown where a run comes back after another began: units whose rows are interleaved.
class RunComesBack : public std::exception {
 public:
  explicit RunComesBack(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// The column that names runs: any text; a change of it starts a new run. Throws RunComesBack on a
/// name that does, as long as names are remembered.
class RunColumn {
 public:
  /// True when the cell differs from the one before it, or is the first.
  [[nodiscard]] bool changes(const char*& position) {
    const std::string_view text = next_cell(position, scratch_);
    if (goes_on_as(text)) [[likely]]
      return false;
    start(text);
    return true;
  }
  /// The name in the last cell.
  [[nodiscard]] const std::string& last() const { return last_; }
  /// From now on names may come back.
  void allow_return() { together_ = false; }
  /// The next cell starts a run whatever its name.
  void forget_last() { first_ = true; }
  /// Whether a cell of that name would start no run.
  [[nodiscard]] bool goes_on_as(std::string_view text) const { return !first_ && text == last_; }
  /// As if all runs up to the one of that number had been read; see RunNames::count_up_to().
  [[nodiscard]] bool skip_to(std::uint64_t number) {
    if (!names_.count_up_to(number)) return false;
    last_ = std::to_string(number);
    first_ = false;
    return true;
  }
  /// As changes(), of a cell that does. Has changed nothing where it throws.
  void start(std::string_view text);

 private:
  bool first_ = true;
  bool together_ = true;
  std::string last_;
  std::string scratch_;
  RunNames names_;
};

}  // namespace oas::detail
