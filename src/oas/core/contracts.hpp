#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// Three failures, three tools: OAS_REQUIRE for wrong input (always on, throws InvalidArgument and
/// prints the values), OAS_ASSERT for our own invariants (debug and sanitizer builds), and a status
/// in the result for numerical trouble. The library never aborts, prints or exits.
namespace oas {

/// Wrong input: a value that breaks the documented contract of a function or a file.
class InvalidArgument : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A text that does not follow its format. what() reads "file:line:column: message"; parts that
/// are unknown (0) are left out.
class ParseError : public InvalidArgument {
 public:
  ParseError(std::string file, long line, long column, std::string_view message);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] long line() const { return line_; }
  [[nodiscard]] long column() const { return column_; }

 private:
  std::string file_;
  long line_;
  long column_;
};

/// The work itself failed although the input was fine: a full disk, an unwritable folder.
class IoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {
[[noreturn]] void throw_invalid_argument(std::string message);
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}  // namespace detail

}  // namespace oas

/// OAS_REQUIRE(condition, "format", values...) throws InvalidArgument with the formatted message.
#define OAS_REQUIRE(condition, ...)                                      \
  do {                                                                   \
    if (!(condition)) [[unlikely]] {                                     \
      ::oas::detail::throw_invalid_argument(::fmt::format(__VA_ARGS__)); \
    }                                                                    \
  } while (false)

/// Checks one of our own invariants; compiled out with NDEBUG. Throws std::logic_error.
#ifdef NDEBUG
#define OAS_ASSERT(condition) static_cast<void>(0)
#else
#define OAS_ASSERT(condition)                                          \
  do {                                                                 \
    if (!(condition)) [[unlikely]] {                                   \
      ::oas::detail::assertion_failed(#condition, __FILE__, __LINE__); \
    }                                                                  \
  } while (false)
#endif
