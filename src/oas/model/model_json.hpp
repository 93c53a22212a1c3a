#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "oas/model/pomdp.hpp"

/// The model file "oas-model/1" (docs/reference/formats.md): reading names file, JSON path and
/// value in every error; writing and reading back gives an equal model.
namespace oas {

/// Reads a model from a file. An `estimate` or `calibration` object beside the model (the output of
/// `oas estimate` and `oas calibrate`) is allowed and skipped.
[[nodiscard]] Pomdp read_model(const std::string& path);

/// The same from text; `file` is used in messages.
[[nodiscard]] Pomdp parse_model(std::string_view text, const std::string& file);

/// The document of a model.
[[nodiscard]] nlohmann::ordered_json model_to_json(const Pomdp& model);

/// Writes a model; the file appears complete or not at all.
void write_model(const std::string& path, const Pomdp& model);

}  // namespace oas
