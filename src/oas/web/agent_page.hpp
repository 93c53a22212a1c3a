#pragma once

#include <string>
#include <string_view>

namespace oas {

/// The page that shows a live agent: it asks the calls of this server, and nothing else, every two
/// seconds. It holds no data of its own, so it may be read without a token; it asks for one.
[[nodiscard]] std::string agent_page();

/// The field Content-Security-Policy of a page: only the scripts and styles that stand in it run
/// (by their SHA-256), they may ask this server alone, and no other page may frame it.
[[nodiscard]] std::string content_security_policy(std::string_view page);

/// The calls as an OpenAPI 3.1 document.
[[nodiscard]] std::string open_api_description();

}  // namespace oas
