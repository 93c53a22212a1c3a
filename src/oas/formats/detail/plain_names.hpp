#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/model/labels.hpp"

namespace oas::detail {

/// How the elements of a set are called in a text whose grammar allows only some names.
struct PlainNames {
  std::vector<std::string> names;  ///< indices in digits where the set has no names
  std::string warning;             ///< empty when no name was changed
};

/// Names that are not allowed lose the characters that `keeps` does not keep, get a letter first
/// and a number at the end where that is needed to be allowed and unique.
[[nodiscard]] PlainNames plain_names(const Labels& labels, std::string_view kind,
                                     const std::function<bool(std::string_view)>& is_allowed,
                                     const std::function<bool(char)>& keeps);

}  // namespace oas::detail
