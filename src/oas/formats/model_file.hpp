#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oas/formats/model_text.hpp"

/// Model files of all formats: oas-model/1 (.json), .pomdp, POMDPX (.pomdpx).
namespace oas {

enum class ModelFormat { json, pomdp, pomdpx };

/// Reads a model in the format that its first character tells: { is JSON, < is POMDPX, anything
/// else what the ending of `file` says, without one .pomdp. Throws as the readers do.
[[nodiscard]] ReadModel parse_any_model(std::string_view text, const std::string& file,
                                        const ModelReadOptions& options = {});
[[nodiscard]] ReadModel read_any_model(const std::string& path,
                                       const ModelReadOptions& options = {});

/// The format that the ending of a name says, in capitals or not. Throws InvalidArgument that lists
/// the known endings.
[[nodiscard]] ModelFormat format_of_ending(const std::string& path);

/// Whether the ending is that of a model of others: .pomdp, .pomdpx.
[[nodiscard]] bool is_foreign_model(const std::string& path);

/// Writes a model in the format that the ending says; the file appears complete or not at all.
/// Returns warnings about what the format could not carry over as it was.
std::vector<std::string> write_any_model(const std::string& path, const Pomdp& model);

}  // namespace oas
