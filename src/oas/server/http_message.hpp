#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oas {

/// What a handler sees of a request that the server's rules let pass. The views last as long as the
/// call of the handler.
struct HttpRequest {
  std::string_view method;  ///< as sent; HEAD comes as GET, and the body is kept back
  std::string_view path;    ///< as sent, nothing decoded, without '?' and what follows
  std::string_view body;
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> fields =
      {};  ///< of the header, beside the usual
};

/// Answers requests, from several threads at a time. What it throws becomes a reply with status
/// 500 and the message.
using HttpHandler = std::function<HttpReply(const HttpRequest&)>;

/// {"ok":false,"error":"…"} and a line feed; bytes of the reason that are no UTF-8 become U+FFFD.
[[nodiscard]] HttpReply http_error(int status, std::string_view reason);

/// 405 for a path that knows other methods, which the reply lists: "GET, HEAD".
[[nodiscard]] HttpReply http_wrong_method(const HttpRequest& request, std::string_view known);

}  // namespace oas
