#include "oas/model/labels.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
// Whether a text is UTF-8, as JSON files need it: no stray, overlong or surrogate bytes.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    const unsigned char first = byte(i);
    const std::size_t more = first < 0x80   ? 0
                             : first < 0xc2 ? 4
                             : first < 0xe0 ? 1
                             : first < 0xf0 ? 2
                             : first < 0xf5 ? 3
                                            : 4;
    if (more == 4 || i + more >= text.size()) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      const unsigned char low = k > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
      const unsigned char high = k > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
      if (byte(i + k) < low || byte(i + k) > high) return false;
    }
    i += more + 1;
  }
  return true;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Labels::Labels(int size, std::string_view kind) : size_(size) {
  OAS_REQUIRE(size >= 1, "number of {}s is {}; it must be at least 1", kind, size);
}

Labels::Labels(std::vector<std::string> names, std::string_view kind)
    : size_(static_cast<int>(names.size())), names_(std::move(names)) {
  OAS_REQUIRE(size_ >= 1, "the list of {}s is empty", kind);
  for (int i = 0; i < size_; ++i) {
    const std::string& name = names_[static_cast<std::size_t>(i)];
    OAS_REQUIRE(!name.empty(), "{} {} has an empty name", kind, i);
    OAS_REQUIRE(!std::all_of(name.begin(), name.end(), is_digit),
                "{} name '{}' is all digits; it would be read as an index", kind, name);
    OAS_REQUIRE(std::none_of(name.begin(), name.end(), is_control),
                "the name of {} {} holds a control character", kind, i);
    OAS_REQUIRE(is_utf8(name), "the name of {} {} is not UTF-8", kind, i);
    OAS_REQUIRE(index_.emplace(name, i).second, "{} name '{}' is used twice", kind, name);
  }
}

std::string Labels::operator[](int i) const {
  OAS_REQUIRE(i >= 0 && i < size_, "element {} of a set of {}", i, size_);
  return has_names() ? names_[static_cast<std::size_t>(i)] : std::to_string(i);
}

std::optional<int> Labels::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

}  // namespace oas
