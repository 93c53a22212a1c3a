#include "oas/model/labels.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
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
    OAS_REQUIRE(index_.emplace(name, i).second, "{} name '{}' is used twice", kind, name);
  }
}

std::string Labels::operator[](int i) const {
  return has_names() ? names_[static_cast<std::size_t>(i)] : std::to_string(i);
}

std::optional<int> Labels::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

}  // namespace oas
