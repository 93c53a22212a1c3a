#pragma once

#include <string>
#include <string_view>

#include "oas/formats/model_text.hpp"

/// Cassandra's .pomdp format (docs/reference/formats.md). Timing is always `after`: O is given the
/// state that the action leads to.
namespace oas {

/// Reads a .pomdp text; `file` is used in messages. Strict as the reference parser (pomdp-solve
/// 5.5), except that a file without any R is accepted with reward 0. Rewards R(a,s,s',o) are kept
/// in full and brought to the simplest exact form (Reward::simplest); `values: cost` changes their
/// sign. A file without observations is an MDP: the state is observed. Rows that are off by less
/// than 1e-5 are renormalised, with a warning. Time and memory are linear in the text and in the
/// tables A·S·S and A·S·O.
///
/// Throws ParseError. Its position is that of the first fault and its text lists up to 20 faults,
/// one per line: "file:line:column: what was found, what was expected".
[[nodiscard]] ReadModel parse_pomdp(std::string_view text, const std::string& file,
                                    const ModelReadOptions& options = {});

/// The text of a model in the documented grammar; shortest digits that read back to the same
/// numbers. Names that the grammar does not allow are changed, with a warning; a missing discount
/// becomes 1, with a warning. Throws InvalidArgument for a model of `before` timing
/// (model/convert_timing.hpp converts) or without transition model.
[[nodiscard]] WrittenModel pomdp_to_text(const Pomdp& model);

}  // namespace oas
