#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Faults and warnings of one text, collected so that a reader can report several at once.
namespace oas::detail {

/// Where something is in a text; 0: unknown.
struct Place {
  long line = 0;
  long column = 0;
};

/// Thrown after a fault was noted: unwinds to the place from which reading can go on.
struct Skip {};

class Faults {
 public:
  static constexpr std::size_t kMost = 20;

  explicit Faults(std::string file) : file_(std::move(file)) {}

  /// Notes a fault. The last one that is kept throws the ParseError.
  void add(Place place, std::string_view message);
  /// Notes a fault and throws Skip.
  [[noreturn]] void fail(Place place, std::string_view message);
  [[nodiscard]] bool empty() const { return faults_.empty(); }
  /// Throws a ParseError that lists all faults, if there are any.
  void throw_if_any() const;

  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  [[noreturn]] void throw_all(bool cut) const;

  struct Fault {
    Place place;
    std::string message;
  };
  std::string file_;
  std::vector<Fault> faults_;
};

/// Warnings; one that is repeated is reported once, with its first line and how often it came.
class Warnings {
 public:
  explicit Warnings(std::string file) : file_(std::move(file)) {}

  /// `kind` says which warnings count as the same.
  void add(std::string_view kind, long line, std::string message);
  [[nodiscard]] std::vector<std::string> list() const;

 private:
  struct Warning {
    std::string kind;
    long line;
    std::string message;
    long count;
  };
  std::string file_;
  std::vector<Warning> warnings_;
};

}  // namespace oas::detail
