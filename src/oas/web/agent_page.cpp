#include "oas/web/agent_page.hpp"

#include <fmt/format.h>

#include "oas/core/version.hpp"
#include "oas/figures/html_page.hpp"
#include "oas/server/sha256.hpp"
#include "oas/web/detail/page_files.hpp"

namespace oas {

namespace {

// "'sha256-…' 'sha256-…'" of what stands in the elements of that name.
std::string hashes_of(std::string_view page, std::string_view element) {
  const std::string begin = fmt::format("<{}>", element);
  const std::string end = fmt::format("</{}>", element);
  std::string hashes;
  for (std::size_t at = page.find(begin); at != std::string_view::npos; at = page.find(begin, at)) {
    at += begin.size();
    const std::string_view content = page.substr(at, page.find(end, at) - at);
    hashes += fmt::format("{}'sha256-{}'", hashes.empty() ? "" : " ", base64(sha256(content)));
  }
  return hashes;
}

}  // namespace

std::string agent_page() {
  return html_page("oas agent",
                   fmt::format("<style>{}</style>\n{}<script>{}</script>\n", detail::agent_css,
                               detail::agent_html, detail::agent_js));
}

std::string content_security_policy(std::string_view page) {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      hashes_of(page, "script"), hashes_of(page, "style"));
}

std::string open_api_description() {
  constexpr std::string_view kVersion = "@version@";
  std::string text(detail::openapi_json);
  text.replace(text.find(kVersion), kVersion.size(), version());
  return text;
}

}  // namespace oas
