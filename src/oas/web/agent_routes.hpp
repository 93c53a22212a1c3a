#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "oas/server/http_message.hpp"
#include "oas/web/estimate_history.hpp"

namespace oas {

/// A handler for an HttpServer:
///
///     POST /v1/<call>     a call of the agent, the body as it stands in a line of JSON
///     POST /v1/history    one entry of T over time (EstimateHistory)
///     GET /metrics        Prometheus text
///     GET /openapi.json   the description of all this
///     GET /               the page
///
/// Everything else is 404, or 405 where only the method is wrong. No path leads to a file.
class AgentRoutes {
 public:
  /// `calls` is used from several threads. Keeps a thread that watches for new plans.
  explicit AgentRoutes(AgentCalls calls);

  [[nodiscard]] HttpReply operator()(const HttpRequest& request) const;

  /// Paths without anything to keep secret: the page and the description.
  [[nodiscard]] static std::vector<std::string> open_paths() { return {"/", "/openapi.json"}; }

 private:
  [[nodiscard]] HttpReply read(std::string_view path) const;
  [[nodiscard]] HttpReply call(std::string_view name, std::string_view body) const;

  AgentCalls calls_;
  EstimateHistory history_;
  std::string page_;
  std::string policy_;
  std::string description_;
};

}  // namespace oas
