#include "oas/server/http_conversation.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <ctime>
#include <exception>
#include <optional>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

namespace http = boost::beast::http;
using Parser = http::request_parser<http::string_body>;
using Clock = HttpGate::Clock;

constexpr std::uint32_t kHeaderBytes = 16 * 1024;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Nothing may be guessed, framed, fetched by other sites or kept.
constexpr std::string_view kSafety =
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cache-Control: no-store\r\n";

std::string to_text(const HttpReply& reply, bool keep_alive, bool with_body) {
  const auto status = http::int_to_status(static_cast<unsigned>(reply.status));
  std::string text = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: oas\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\n"
      "Content-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\n{}",
      reply.status, view(http::obsolete_reason(status)), fmt::gmtime(std::time(nullptr)),
      reply.type, reply.body.size(), keep_alive ? "keep-alive" : "close", kSafety);
  for (const auto& [name, value] : reply.fields) text += fmt::format("{}: {}\r\n", name, value);
  text += "\r\n";
  if (with_body) text += reply.body;
  return text;
}

HttpReply reply_to_fault(const boost::system::error_code& fault, const HttpOptions& options) {
  if (fault == http::error::body_limit) {
    return http_error(413, fmt::format("the body has more than the {} bytes that are allowed",
                                       options.body_bytes));
  }
  if (fault == http::error::header_limit) {
    return http_error(
        431, fmt::format("the header has more than the {} bytes that are allowed", kHeaderBytes));
  }
  if (fault == http::error::bad_version) {
    return http_error(505, "only HTTP/1.1 and HTTP/1.0 are supported");
  }
  return http_error(400, fmt::format("this is not an HTTP request: {}", fault.message()));
}

HttpHead head_of(const Parser& parser, std::string_view client) {
  const auto& fields = parser.get();
  return {.client = client,
          .target = view(fields.target()),
          .host = view(fields[http::field::host]),
          .origin = view(fields[http::field::origin]),
          .authorization = view(fields[http::field::authorization]),
          .hosts = fields.count(http::field::host),
          .before_1_1 = fields.version() < 11,
          .has_transfer_encoding = fields.count(http::field::transfer_encoding) > 0};
}

}  // namespace

struct HttpConversation::Parts {
  HttpService& service;
  std::string client;
  std::string bytes = {};             // taken and not used yet
  std::optional<Parser> parser = {};  // of the request under way
  bool judged = false;                // the gate let its header pass
  bool last = false;
  bool ended = false;

  void start_request() {
    parser.emplace();
    parser->header_limit(kHeaderBytes);
    parser->body_limit(static_cast<std::uint64_t>(service.options.body_bytes));
    judged = false;
  }

  // Uses what it can of the bytes.
  boost::system::error_code parse() {
    boost::system::error_code fault;
    std::size_t used = 0;
    // After the header it stops, and at the end of the request.
    while (used < bytes.size() && !fault && !parser->is_done()) {
      const bool before = parser->is_header_done();
      used += parser->put({bytes.data() + used, bytes.size() - used}, fault);
      if (parser->is_header_done() != before) break;
    }
    bytes.erase(0, used);
    if (fault == http::error::need_more) fault = {};
    return fault;
  }

  std::string send(const HttpReply& reply, bool keep_alive, bool with_body = true) {
    service.tally.reply(reply.status);
    parser.reset();
    ended = ended || !keep_alive;
    return to_text(reply, keep_alive, with_body);
  }

  std::optional<std::string> judge() {
    judged = true;
    const HttpHead head = head_of(*parser, client);
    std::optional<HttpReply> reply = service.gate.refusal(head, Clock::now());
    if (reply) {
      const bool whole = parser->is_done() && !head.has_transfer_encoding;
      return send(*reply, whole && parser->keep_alive() && !last,
                  parser->get().method() != http::verb::head);
    }
    const bool waits = boost::beast::iequals(parser->get()[http::field::expect], "100-continue");
    if (waits && !head.before_1_1 && !parser->is_done() && bytes.empty()) {
      return "HTTP/1.1 100 Continue\r\n\r\n";
    }
    return std::nullopt;
  }

  HttpReply handle() const {
    const auto& message = parser->get();
    const bool head = message.method() == http::verb::head;
    const HttpRequest request = {.method = head ? "GET" : view(message.method_string()),
                                 .path = path_of(view(message.target())),
                                 .body = message.body()};
    const auto start = Clock::now();
    try {
      HttpReply reply = service.handler(request);
      service.tally.handled(Clock::now() - start);
      return reply;
    } catch (const std::exception& error) {
      return http_error(500, error.what());
    }
  }

  std::string answer() {
    const HttpReply reply = handle();
    return send(reply, parser->keep_alive() && !last, parser->get().method() != http::verb::head);
  }
};

HttpConversation::HttpConversation(HttpService& service, std::string client)
    : parts_(new Parts{service, std::move(client)}) {}
HttpConversation::~HttpConversation() = default;
HttpConversation::HttpConversation(HttpConversation&&) noexcept = default;

void HttpConversation::take(std::string_view bytes) {
  if (!parts_->ended) parts_->bytes += bytes;
}

std::string HttpConversation::next() {
  Parts& p = *parts_;
  while (!p.ended && !p.bytes.empty()) {
    if (!p.parser) p.start_request();
    if (const auto fault = p.parse())
      return p.send(reply_to_fault(fault, p.service.options), false);
    if (!p.parser->is_header_done()) return {};
    if (!p.judged) {
      if (auto reply = p.judge()) return *reply;
      if (!p.parser->is_done()) continue;
    }
    if (p.parser->is_done()) return p.answer();
  }
  return {};
}

std::string HttpConversation::time_out() {
  return parts_->send(http_error(408, fmt::format("the request did not arrive within {} s",
                                                  parts_->service.options.request_seconds)),
                      false);
}

void HttpConversation::finish() { parts_->last = true; }

bool HttpConversation::in_request() const {
  return parts_->parser.has_value() || !parts_->bytes.empty();
}

bool HttpConversation::ended() const { return parts_->ended; }

}  // namespace oas
