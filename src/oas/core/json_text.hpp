#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oas {

/// Parses JSON text. Throws ParseError with file, line and column on a syntax error, on a number
/// that no double holds, on a key that is given twice in one object, on more than 64 levels and on
/// more than 4,096 keys in one object, since looking them up takes time with their square. NaN and
/// infinities are no JSON.
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text, const std::string& file);

/// JSON text for people and machines: two-space indentation, arrays of numbers on one line,
/// shortest digits that read back to the same double, newline at the end. Bytes that are no UTF-8,
/// as in names of files, become U+FFFD.
[[nodiscard]] std::string dump_json(const nlohmann::ordered_json& value);

/// Reads values out of a parsed document; every error is a ParseError "file: $.path: message" that
/// names the value found. A view: the document must outlive it.
class JsonView {
 public:
  JsonView(const nlohmann::ordered_json& root, std::string file);

  /// Throws unless this is an object whose keys are all in `allowed`.
  void require_keys(std::span<const std::string_view> allowed) const;

  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] JsonView at(std::string_view key) const;  ///< throws when missing
  [[nodiscard]] JsonView at(std::size_t index) const;

  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::string as_string() const;
  [[nodiscard]] double as_double() const;  ///< a finite number
  [[nodiscard]] long as_integer() const;
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] std::vector<std::string> as_strings() const;

  /// A nested array of numbers of exactly these extents, flattened row by row.
  [[nodiscard]] std::vector<double> as_array(std::span<const int> extents) const;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const nlohmann::ordered_json& json() const { return *value_; }

  [[noreturn]] void fail(std::string_view message) const;

 private:
  JsonView(const nlohmann::ordered_json& value, std::string file, std::string path);
  void append_array(std::span<const int> extents, std::vector<double>& out) const;
  [[nodiscard]] std::string found() const;  // the value, shortened, for messages

  const nlohmann::ordered_json* value_;
  std::string file_;
  std::string path_;
};

}  // namespace oas
