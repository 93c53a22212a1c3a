#include "oas/server/http_message.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace oas {

HttpReply http_error(int status, std::string_view reason) {
  const nlohmann::ordered_json body = {{"ok", false}, {"error", std::string(reason)}};
  return {status, body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

HttpReply http_wrong_method(const HttpRequest& request, std::string_view known) {
  HttpReply reply = http_error(
      405, fmt::format("{} {}: this path knows only {}", request.method, request.path, known));
  reply.fields.emplace_back("Allow", std::string(known));
  return reply;
}

}  // namespace oas
