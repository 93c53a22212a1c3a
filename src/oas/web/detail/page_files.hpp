#pragma once

#include <string_view>

/// The files of src/oas/web/page, as they are.
namespace oas::detail {

extern const std::string_view agent_css;
extern const std::string_view agent_html;
extern const std::string_view agent_js;
extern const std::string_view openapi_json;

}  // namespace oas::detail
