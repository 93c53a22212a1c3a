#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "oas/server/http_gate.hpp"
#include "oas/server/http_message.hpp"
#include "oas/server/http_options.hpp"
#include "oas/server/http_tally.hpp"

namespace oas {

/// What all conversations of a server have in common; whoever makes it keeps it alive.
struct HttpService {
  HttpService(const HttpOptions& given, HttpHandler answer)
      : options(given), handler(std::move(answer)), gate(given) {}

  HttpOptions options;
  HttpHandler handler;
  HttpGate gate;
  HttpTally tally;
};

/// One connection's talk in HTTP/1.1 (or 1.0), without any socket: bytes in, bytes out. Requests
/// are answered one after the other, in order; one that is refused with its body unread, or that
/// cannot be understood, ends the talk, since where the next one starts is then a guess. Bodies
/// come with a Content-Length (else 411), so nobody in between can see another border than we do.
/// Memory: the header (16 KB) and the body of one request, within the limits, and what was taken at
/// once.
class HttpConversation {
 public:
  /// `client`: its IP address.
  HttpConversation(HttpService& service, std::string client);
  ~HttpConversation();
  HttpConversation(HttpConversation&&) noexcept;
  HttpConversation& operator=(HttpConversation&&) = delete;

  /// Bytes that the client sent; call next() until it gives nothing.
  void take(std::string_view bytes);
  /// What is to be sent now, of one request at most; empty: more bytes are needed, or it ended.
  [[nodiscard]] std::string next();
  /// What is to be sent to a client that took too long over a request; ends the talk.
  [[nodiscard]] std::string time_out();
  /// The next reply is the last one.
  void finish();

  /// Whether part of a request is there.
  [[nodiscard]] bool in_request() const;
  [[nodiscard]] bool ended() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace oas
