#pragma once

#include <memory>
#include <string>

#include "oas/server/http_message.hpp"
#include "oas/server/http_options.hpp"
#include "oas/server/http_tally.hpp"

namespace oas {

/// Serves HTTP/1.1 on one address. Asynchronous: a few threads serve all connections, and a slow
/// client costs its place and nothing else, and that for a limited time: from a request's first
/// byte to its last there are `request_seconds`, as many to take the reply, `idle_seconds` between
/// requests. No request reaches a file; what is answered is up to the handler alone.
class HttpServer {
 public:
  /// Listens at once; run() answers. Throws InvalidArgument on bad options, IoError that names the
  /// address when it is taken, not of this machine or not allowed.
  HttpServer(const HttpOptions& options, HttpHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Where it listens, with the port that was chosen: "127.0.0.1:43121".
  [[nodiscard]] std::string address() const;
  /// Returns after stop(), once the requests under way are answered. To be called once.
  void run();
  /// From any thread, at any time: no new connection is accepted, idle ones are closed, and whoever
  /// has begun a request has 5 seconds at most to send it and to take the reply.
  void stop();
  [[nodiscard]] HttpCounts counts() const;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace oas
