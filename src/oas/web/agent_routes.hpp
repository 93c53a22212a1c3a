#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/server/http_message.hpp"

namespace oas {

/// What leads to an agent, whichever it is; both may be called from several threads.
struct AgentCalls {
  /// A call by name with its JSON; the body of the reply is one line without its end.
  std::function<HttpReply(std::string_view call, std::string_view body)> call;
  std::function<std::string()> metrics;
};

/// A handler for an HttpServer:
///
///     POST /v1/<call>     a call of the agent, the body as it stands in a line of JSON
///     GET /v1/health      the same of health, for those who watch
///     GET /metrics        Prometheus text
///     GET /openapi.json   the description of all this
///     GET /               the page
///
/// Everything else is 404, or 405 where only the method is wrong. No path leads to a file.
class AgentRoutes {
 public:
  explicit AgentRoutes(AgentCalls calls);

  [[nodiscard]] HttpReply operator()(const HttpRequest& request) const;

  /// Paths without anything to keep secret: the page and the description.
  [[nodiscard]] static std::vector<std::string> open_paths() { return {"/", "/openapi.json"}; }

 private:
  [[nodiscard]] HttpReply read(std::string_view path) const;
  [[nodiscard]] HttpReply call(std::string_view name, std::string_view body) const;

  AgentCalls calls_;
  std::string page_;
  std::string policy_;
  std::string description_;
};

}  // namespace oas
