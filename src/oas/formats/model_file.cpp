#include "oas/formats/model_file.hpp"

#include <algorithm>
#include <optional>

#include "oas/core/contracts.hpp"
#include "oas/core/files.hpp"
#include "oas/formats/pomdp_text.hpp"
#include "oas/formats/pomdpx.hpp"
#include "oas/model/model_json.hpp"

namespace oas {

namespace {

bool ends_with(const std::string& path, std::string_view ending) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return path.size() > ending.size() && std::equal(ending.rbegin(), ending.rend(), path.rbegin(),
                                                   [&](char x, char y) { return x == lower(y); });
}

std::optional<ModelFormat> known_ending(const std::string& path) {
  if (ends_with(path, ".json")) return ModelFormat::json;
  if (ends_with(path, ".pomdp")) return ModelFormat::pomdp;
  if (ends_with(path, ".pomdpx")) return ModelFormat::pomdpx;
  return std::nullopt;
}

ModelFormat format_of(std::string_view text, const std::string& file) {
  const auto first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const char c = first == std::string_view::npos ? '\0' : text[first];
  if (c == '{') return ModelFormat::json;
  if (c == '<') return ModelFormat::pomdpx;
  return known_ending(file).value_or(ModelFormat::pomdp);
}

}  // namespace

ReadModel parse_any_model(std::string_view text, const std::string& file,
                          const ModelReadOptions& options) {
  switch (format_of(text, file)) {
    case ModelFormat::json:
      return {parse_model(text, file), {}};
    case ModelFormat::pomdpx:
      return parse_pomdpx(text, file, options);
    case ModelFormat::pomdp:
      break;
  }
  return parse_pomdp(text, file, options);
}

ReadModel read_any_model(const std::string& path, const ModelReadOptions& options) {
  return parse_any_model(read_text_file(path), path, options);
}

ModelFormat format_of_ending(const std::string& path) {
  const auto format = known_ending(path);
  OAS_REQUIRE(format.has_value(),
              "{}: the ending gives the format of a model; known are .json, .pomdp and .pomdpx",
              path);
  return *format;
}

bool is_foreign_model(const std::string& path) {
  return known_ending(path).value_or(ModelFormat::json) != ModelFormat::json;
}

std::vector<std::string> write_any_model(const std::string& path, const Pomdp& model) {
  const ModelFormat format = format_of_ending(path);
  if (format == ModelFormat::json) {
    write_model(path, model);
    return {};
  }
  WrittenModel written =
      format == ModelFormat::pomdp ? pomdp_to_text(model) : pomdpx_to_text(model);
  write_text_file(path, written.text);
  if (model.observation_counts()) {
    written.warnings.emplace_back(
        "the numbers of labelled rows behind the sensors are left out; only .json holds them");
  }
  return std::move(written.warnings);
}

}  // namespace oas
