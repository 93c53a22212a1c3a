#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "oas/logs/byte_source.hpp"
#include "oas/logs/log_options.hpp"

namespace oas::detail {

/// How the cells of a file are written: what separates them, what stands where there is nothing,
/// and what decimals begin with. Turned into plain CSV before anybody parses it.
class Dialect {
 public:
  Dialect() = default;
  /// Throws InvalidArgument naming the option and its value.
  explicit Dialect(const LogOptions& options);

  /// Commas between cells, empty cells, decimal points: nothing to do.
  [[nodiscard]] bool plain() const {
    return separator_ == ',' && missing_.empty() && !decimal_comma_;
  }
  /// A line without its line feed as plain CSV, appended to `out`: the same cells in the same
  /// order, those that stand for nothing empty unless it is a `header`. Broken quotes are passed on
  /// for the parser to complain of.
  void append_plain(std::string_view line, bool header, std::string& out) const;

 private:
  void append_cell(std::string_view cell, bool header, std::string& out) const;

  char separator_ = ',';
  bool decimal_comma_ = false;
  std::vector<std::string> missing_;
};

/// What `source`, called `name` in messages, says in plain CSV; itself where it already is.
[[nodiscard]] std::unique_ptr<ByteSource> in_plain_csv(std::unique_ptr<ByteSource> source,
                                                       const std::string& name,
                                                       const Dialect& dialect);

/// "; if … --separator ';'" where a header of one cell looks like several columns; else empty.
[[nodiscard]] std::string separator_hint(const std::vector<std::string>& header);

/// ". If that … --missing NA" where a text often stands for nothing; else empty.
[[nodiscard]] std::string missing_hint(std::string_view text);
/// The same for what is no number, unless nothing may stand there; 1,5 may have a decimal comma.
[[nodiscard]] std::string number_hint(std::string_view text, bool may_be_empty);

}  // namespace oas::detail
