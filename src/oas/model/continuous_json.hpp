#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "oas/model/continuous_pomdp.hpp"

/// Model files "oas-model/1" with `density` in place of `observation`, or with neither
/// (docs/reference/formats.md): reading names file, JSON path and value in every error; writing and
/// reading back gives an equal model.
namespace oas {

/// Whether a text is a JSON model without table of finite observations. False for text that is no
/// JSON object: other readers then say what is wrong.
[[nodiscard]] bool is_continuous_model(std::string_view text);

/// Reads such a model; an `estimate` object beside it is allowed and skipped.
[[nodiscard]] ContinuousPomdp parse_continuous_model(std::string_view text,
                                                     const std::string& file);

/// The document of a model.
[[nodiscard]] nlohmann::ordered_json model_to_json(const ContinuousPomdp& model);

/// Writes a model; the file appears complete or not at all.
void write_model(const std::string& path, const ContinuousPomdp& model);

}  // namespace oas
