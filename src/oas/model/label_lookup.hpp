#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oas/model/labels.hpp"

/// Elements of a model as people write them in options and policies.
namespace oas {

/// All names, separated by commas.
[[nodiscard]] std::string listed(const Labels& labels);

/// The element that a text names, by its name or its 0-based number, with blanks around it or none.
/// Throws InvalidArgument "`option`: there is no `what` 'x'; there are …", without an option where
/// there is none.
[[nodiscard]] int element_named(std::string_view text, const Labels& labels, std::string_view what,
                                std::string_view option = {});

/// The same for several names with '+' between them: "failed+burst". Each element once, in the
/// order in which they are named first.
[[nodiscard]] std::vector<int> elements_named(std::string_view text, const Labels& labels,
                                              std::string_view what, std::string_view option = {});

}  // namespace oas
