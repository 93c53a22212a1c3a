#pragma once

#include <string>
#include <string_view>

#include "oas/estimation/transition_structure.hpp"
#include "oas/model/pomdp.hpp"

/// The structure file "oas-structure/1" (docs/reference/formats.md): what is known of T beforehand.
/// Every error names file, JSON path and value.
namespace oas {

/// Facts from text; `file` is used in messages, `model` gives sizes and names. Also checks that the
/// facts do not contradict each other.
[[nodiscard]] TransitionKnowledge parse_structure(std::string_view text, const std::string& file,
                                                  const Pomdp& model);

/// A structure file, or, where there is no such file, one of the words
///   zeros-of-model        what is 0 in the model's own transition is known to be 0
///   same-for-all-actions  the action makes no difference
/// Throws InvalidArgument on anything else, and on zeros-of-model without a transition.
[[nodiscard]] TransitionKnowledge read_structure(const std::string& name, const Pomdp& model);

}  // namespace oas
