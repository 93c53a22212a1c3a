#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "fuzz/fuzz_target.hpp"
#include "oas/server/http_conversation.hpp"

/// HttpConversation on any bytes: every reply has a status, a length that is true and, when it is
/// an error, a JSON reason; and however the bytes are cut, the same requests are answered the same.
/// Which fault of what is no request is found first may depend on the cut, nothing else.
namespace {

using namespace oas;  // NOLINT(google-build-using-namespace)

void require(bool condition) {
  if (!condition) std::abort();
}

HttpService& service() {
  static HttpOptions options = [] {
    HttpOptions given;
    given.body_bytes = 1024;
    given.rate = 0.0;
    given.tokens = {"0123456789abcdef"};
    given.open_paths = {"/"};
    return given;
  }();
  static HttpService service(options, [](const HttpRequest& request) {
    require(request.body.size() <= 1024);
    require(request.path.find('?') == std::string_view::npos);
    return HttpReply{200, std::string(request.method) + "\n" + std::string(request.path) + "\n" +
                              std::string(request.body)};
  });
  return service;
}

std::string field(std::string_view header, std::string_view name) {
  const std::size_t at = header.find(name);
  require(at != std::string_view::npos);
  const std::size_t from = at + name.size();
  return std::string(header.substr(from, header.find("\r\n", from) - from));
}

// The reply without its date; "" for what only says that the body may come, and for the last reply
// to what is no request.
std::string check(const std::string& reply) {
  require(reply.starts_with("HTTP/1.1 "));
  if (reply == "HTTP/1.1 100 Continue\r\n\r\n") return "";
  const std::size_t end = reply.find("\r\n\r\n");
  require(end != std::string::npos);
  const std::string header = reply.substr(0, end + 2);
  const std::string body = reply.substr(end + 4);
  require(body.empty() || std::to_string(body.size()) == field(header, "Content-Length: "));
  if (header[9] != '2' && !body.empty()) require(nlohmann::json::parse(body)["ok"] == false);
  const bool is_fault = body.find("this is not an HTTP request") != std::string::npos ||
                        header[9] == '5' || header.substr(9, 3) == "431";
  if (is_fault) return "";
  const std::size_t date = header.find("Date: ");
  return header.substr(0, date) + header.substr(header.find("\r\n", date)) + body;
}

std::string talk(std::string_view bytes, std::size_t piece) {
  HttpConversation conversation(service(), "127.0.0.1");
  std::string all;
  while (!bytes.empty()) {
    conversation.take(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    for (std::string reply = conversation.next(); !reply.empty(); reply = conversation.next()) {
      all += check(reply);
    }
  }
  require(conversation.next().empty());
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = talk(bytes, bytes.size());
  require(talk(bytes, 1) == whole);
  require(talk(bytes, 7) == whole);
  return 0;
}
