#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace oas {

/// The elements of a finite set: only a size, or a size with names. Names are unique, not empty,
/// never all digits (so that a log can use names or 0-based indices without doubt) and hold no
/// control characters.
class Labels {
 public:
  Labels() = default;
  /// Unnamed set of `size` >= 1 elements. `kind` ("state") is used in messages.
  Labels(int size, std::string_view kind);
  Labels(std::vector<std::string> names, std::string_view kind);

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool has_names() const { return !names_.empty(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// The name of element i, or its index in digits. Throws InvalidArgument when there is none.
  [[nodiscard]] std::string operator[](int i) const;

  /// The index of a name, or nothing. Indices in digits are not names.
  [[nodiscard]] std::optional<int> find(std::string_view name) const;

  friend bool operator==(const Labels& a, const Labels& b) {
    return a.size_ == b.size_ && a.names_ == b.names_;
  }

 private:
  int size_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> index_;
};

}  // namespace oas
