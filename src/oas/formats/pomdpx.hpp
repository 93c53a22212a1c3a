#pragma once

#include <string>
#include <string_view>

#include "oas/formats/model_text.hpp"

/// POMDPX, the XML format of APPL (docs/reference/formats.md): factored models, given by tables or
/// decision diagrams. Timing is always `after`.
namespace oas {

/// Reads a POMDPX text; `file` is used in messages. Factored variables are flattened: the states
/// are all combinations of the state variables, in the order of their declaration, the last one
/// fastest, and so for actions and observations. State variables that are fully observed become
/// part of the observation; combinations that can never be observed are then left out. Rewards of
/// several variables add up. Rows that are off by less than 1e-5 are renormalised, with a warning.
/// Time is linear in the text, the tables A·S·S and A·S·O, and the reward where it depends on s' or
/// o.
///
/// Throws ParseError that lists up to 20 faults, as parse_pomdp does. A model whose flattened
/// tables exceed options.max_numbers is refused.
[[nodiscard]] ReadModel parse_pomdpx(std::string_view text, const std::string& file,
                                     const ModelReadOptions& options = {});

/// The text of a model with one state, one action and one observation variable. Names with white
/// space are changed, and so are "*" and "-", with a warning; a missing discount becomes 1, with a
/// warning. Throws InvalidArgument for a model of `before` timing or without transition model.
[[nodiscard]] WrittenModel pomdpx_to_text(const Pomdp& model);

}  // namespace oas
