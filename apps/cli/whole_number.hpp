#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

/// Options that take whole numbers. CLI11 itself would read -1 as the largest unsigned number, and
/// cut larger ones off.
namespace oas::cli {

/// More simulated steps than this are taken for a slip of the pen.
inline constexpr std::int64_t kMostSteps = 1'000'000'000'000;

template <std::integral T>
struct Between {
  T least = 0;
  T most = std::numeric_limits<T>::max();
};

/// Throws CLI::ValidationError that names the option, the range and the text.
template <std::integral T>
T read_whole_number(const std::string& option, const std::string& text, Between<T> range) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < range.least || value > range.most) {
    throw CLI::ValidationError(option, fmt::format("not a whole number between {} and {}: '{}'",
                                                   range.least, range.most, text));
  }
  return value;
}

/// Declares an option whose value, a whole number of `range`, is given to `set`.
template <std::integral T>
CLI::Option* add_whole_number_function(CLI::App& verb, const std::string& name,
                                       std::function<void(T)> set, Between<T> range,
                                       const std::string& summary) {
  return verb
      .add_option_function<std::string>(
          name, [=](const std::string& text) { set(read_whole_number<T>(name, text, range)); },
          summary)
      ->type_name(std::unsigned_integral<T> ? "UINT" : "INT");
}

/// Declares an option that takes a whole number of `range`.
template <std::integral T>
CLI::Option* add_whole_number(CLI::App& verb, const std::string& name, T& value, Between<T> range,
                              const std::string& summary) {
  return add_whole_number_function<T>(
             verb, name, [&value](T number) { value = number; }, range, summary)
      ->default_function([&value] { return fmt::format("{}", value); });
}
template <std::integral T>
CLI::Option* add_whole_number(CLI::App& verb, const std::string& name, std::optional<T>& value,
                              Between<T> range, const std::string& summary) {
  return add_whole_number_function<T>(
      verb, name, [&value](T number) { value = number; }, range, summary);
}

/// Declares --seed.
inline CLI::Option* add_seed(CLI::App& verb, std::uint64_t& seed, const std::string& summary) {
  return add_whole_number(verb, "--seed", seed, {}, summary)->capture_default_str();
}

}  // namespace oas::cli
