#include "oas/server/http_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"

namespace oas {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Clock = std::chrono::steady_clock;

// A client that sends what it is told, byte by byte if need be.
class Client {
 public:
  explicit Client(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const SocketAddress to = parse_socket_address(address);
    sockaddr_in where = {};
    where.sin_family = AF_INET;
    where.sin_port = htons(to.port);
    inet_pton(AF_INET, to.ip.c_str(), &where.sin_addr);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&where), sizeof(where)) == 0;
  }
  Client(Client&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_) {}
  Client& operator=(Client&&) = delete;
  ~Client() {
    if (socket_ >= 0) ::close(socket_);
  }

  [[nodiscard]] bool connected() const { return connected_; }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // What comes until the server closes, or until what came ends like this.
  std::string receive(std::string_view end = "", std::chrono::milliseconds patience = 10s) {
    std::string all;
    std::array<char, 4096> bytes;
    const auto until = Clock::now() + patience;
    while (end.empty() || !all.ends_with(end)) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      pollfd wait = {socket_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) {
        return all + "(and waits)";
      }
      const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
      if (count <= 0) return all;
      all.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int socket_;
  bool connected_ = false;
};

const std::string kGet = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

struct Served {
  explicit Served(
      const HttpOptions& options = {}, HttpHandler handler =
                                           [](const HttpRequest&) {
                                             return HttpReply{200, "[done]"};
                                           })
      : server(options, std::move(handler)), thread([this] { server.run(); }) {}
  ~Served() {
    server.stop();
    if (thread.joinable()) thread.join();
  }
  // How long it takes until the server has stopped.
  double stop() {
    const auto start = Clock::now();
    server.stop();
    thread.join();
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  HttpServer server;
  std::thread thread;
};

HttpOptions impatient() {
  HttpOptions options;
  options.request_seconds = 0.3;
  options.idle_seconds = 0.3;
  return options;
}

TEST(HttpServer, ServesManyRequestsOnOneConnection) {
  Served served;
  Client client(served.server.address());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(client.send(kGet));
    ASSERT_THAT(client.receive("[done]"), StartsWith("HTTP/1.1 200 OK"));
  }
  const HttpCounts counts = served.server.counts();
  EXPECT_EQ(counts.accepted, 1U);
  EXPECT_EQ(counts.replies.at(200), 100U);
}

TEST(HttpServer, AnotherServerOnTheSameAddressIsRefused) {
  Served served;
  HttpOptions options;
  options.address = served.server.address();
  try {
    const HttpServer second(options, nullptr);
    FAIL();
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), HasSubstr(options.address + ": cannot listen there: "));
  }
}

TEST(HttpServer, ServesIpv6) {
  HttpOptions options;
  options.address = "[::1]:0";
  try {
    Served served(options);
    EXPECT_THAT(served.server.address(), StartsWith("[::1]:"));
  } catch (const IoError&) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
}

// A thread for each connection would be lost at each of these.
TEST(HttpServer, SlowClientsHoldNobodyUp) {
  HttpOptions options;
  options.threads = 1;
  Served served(options);
  std::vector<Client> slow;
  for (int i = 0; i < 100; ++i) {
    slow.emplace_back(served.server.address());
    ASSERT_TRUE(slow.back().send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"));
  }
  Client client(served.server.address());
  for (int i = 0; i < 10; ++i) {
    for (Client& each : slow) ASSERT_TRUE(each.send("X"));
    ASSERT_TRUE(client.send(kGet));
    ASSERT_THAT(client.receive("[done]"), EndsWith("[done]"));
  }
  for (Client& each : slow) ASSERT_TRUE(each.send(": y\r\n\r\nbytes"));
  for (Client& each : slow) EXPECT_THAT(each.receive("[done]"), StartsWith("HTTP/1.1 200 OK"));
}

TEST(HttpServer, WhoDribblesIsToldThatTheTimeIsOver) {
  Served served(impatient());
  Client client(served.server.address());
  const auto start = Clock::now();
  while (Clock::now() - start < 10s && client.send("G")) std::this_thread::sleep_for(20ms);
  EXPECT_LT(Clock::now() - start, 9s);
  Client silent(served.server.address());
  ASSERT_TRUE(silent.send("GET / HTTP/1.1\r\n"));
  EXPECT_THAT(silent.receive(), testing::AllOf(StartsWith("HTTP/1.1 408 "), HasSubstr("0.3 s"),
                                               testing::Not(HasSubstr("waits"))));
  Client half(served.server.address());
  ASSERT_TRUE(half.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nby"));
  EXPECT_THAT(half.receive(), StartsWith("HTTP/1.1 408 "));
  Client idle(served.server.address());
  EXPECT_EQ(idle.receive(), "");
  EXPECT_GE(served.server.counts().timed_out, 2U);
}

TEST(HttpServer, WhoDoesNotReadIsLeft) {
  Served served(impatient(), [](const HttpRequest&) {
    return HttpReply{200, std::string(std::size_t{1} << 26, 'x')};
  });
  Client client(served.server.address());
  ASSERT_TRUE(client.send(kGet));
  const auto start = Clock::now();
  while (served.server.counts().timed_out == 0 && Clock::now() - start < 10s) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(served.server.counts().timed_out, 1U);
}

TEST(HttpServer, ABodyOfTenMegabytesGetsItsReply) {
  Served served;
  Client client(served.server.address());
  ASSERT_TRUE(
      client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\n"));
  const std::string part(100'000, 'x');
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client.send(part)) << i;
  EXPECT_THAT(client.receive(), testing::AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("262144")));
}

TEST(HttpServer, AThousandConnectionsAreServed) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 2200) GTEST_SKIP() << "only " << limit.rlim_cur << " files may be open";
  HttpOptions options;
  options.connections = 1000;
  options.rate = 0.0;
  Served served(options);
  std::vector<Client> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.emplace_back(served.server.address());
    ASSERT_TRUE(clients.back().send(kGet)) << i;
  }
  for (Client& client : clients) ASSERT_THAT(client.receive("[done]"), EndsWith("[done]"));
  Client beyond(served.server.address());
  EXPECT_THAT(beyond.receive(), StartsWith("HTTP/1.1 503 "));
  clients.pop_back();
  for (int i = 0; i < 500 && served.server.counts().open == 1000; ++i) {
    std::this_thread::sleep_for(10ms);
  }
  Client after(served.server.address());
  ASSERT_TRUE(after.send(kGet));
  EXPECT_THAT(after.receive("[done]"), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(served.server.counts().turned_away, 1U);
}

TEST(HttpServer, StopAnswersWhatIsUnderWay) {
  std::promise<void> asked;
  Served served({}, [&](const HttpRequest& request) {
    if (request.path == "/slow") {
      asked.set_value();
      std::this_thread::sleep_for(1s);
    }
    return HttpReply{200, "[done]"};
  });
  Client idle(served.server.address());
  Client half(served.server.address());
  Client slow(served.server.address());
  ASSERT_TRUE(idle.send(kGet));
  ASSERT_THAT(idle.receive("[done]"), EndsWith("[done]"));
  ASSERT_TRUE(half.send("GET / HTTP/1.1\r\nHost: loc"));
  std::this_thread::sleep_for(100ms);  // so that it is read
  ASSERT_TRUE(slow.send("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  asked.get_future().wait();
  served.server.stop();
  EXPECT_EQ(idle.receive(), "");
  EXPECT_FALSE(Client(served.server.address()).connected());
  ASSERT_TRUE(half.send("alhost\r\n\r\n"));
  const std::string last = half.receive("[done]");
  EXPECT_THAT(last, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(last, EndsWith("[done]"));
  EXPECT_THAT(slow.receive("[done]"), EndsWith("[done]"));
}

TEST(HttpServer, StopDoesNotWaitForEver) {
  Served served;
  Client half(served.server.address());
  ASSERT_TRUE(half.send("GET / HT"));
  std::this_thread::sleep_for(100ms);
  EXPECT_LT(served.stop(), 9.0);
}

TEST(HttpServer, StopBeforeRunEndsAtOnce) {
  HttpServer server({}, [](const HttpRequest&) { return HttpReply{}; });
  server.stop();
  server.run();
}

}  // namespace
}  // namespace oas
