#include "oas/core/contracts.hpp"

namespace oas {

namespace {

std::string located(const std::string& file, long line, long column, std::string_view message) {
  std::string text = file;
  if (line > 0) text += fmt::format(":{}", line);
  if (line > 0 && column > 0) text += fmt::format(":{}", column);
  return text.empty() ? std::string(message) : fmt::format("{}: {}", text, message);
}

}  // namespace

ParseError::ParseError(std::string file, long line, long column, std::string_view message)
    : InvalidArgument(located(file, line, column, message)),
      file_(std::move(file)),
      line_(line),
      column_(column) {}

namespace detail {

void throw_invalid_argument(std::string message) { throw InvalidArgument(message); }

void assertion_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(fmt::format("{}:{}: assertion failed: {}", file, line, condition));
}

}  // namespace detail

}  // namespace oas
