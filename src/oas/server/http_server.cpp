#include "oas/server/http_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/server/http_conversation.hpp"

namespace oas {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kToFinish{5.0};  // for requests under way when the server stops
constexpr Seconds kToClose{2.0};   // for a client to take the last reply and to close
constexpr auto kBeforeRetry = std::chrono::milliseconds(100);

Clock::duration ticks(Seconds seconds) {
  return std::chrono::duration_cast<Clock::duration>(seconds);
}

// The address that counts as one client: of IPv6 the network of 64 bits, since a client has it all.
std::string client_of(const tcp::socket& socket) {
  error_code error;
  asio::ip::address address = socket.remote_endpoint(error).address();
  if (error) return "unknown";
  if (!address.is_v6()) return address.to_string();
  const asio::ip::address_v6 six = address.to_v6();
  if (six.is_v4_mapped()) return make_address_v4(asio::ip::v4_mapped, six).to_string();
  asio::ip::address_v6::bytes_type bytes = six.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
  return asio::ip::address_v6(bytes).to_string();
}

tcp::endpoint endpoint_of(const std::string& text) {
  const SocketAddress address = parse_socket_address(text);
  return {asio::ip::make_address(address.ip), address.port};
}

// What a connection waits for.
enum class Wait { request, rest_of_request, sent, closed_by_client, nothing };

// Everything but look() and the constructor happens on the strand of its socket.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Gone = std::function<void(const std::shared_ptr<Connection>&)>;

  Connection(HttpService& service, tcp::socket socket, Gone gone)
      : service_(service),
        socket_(std::move(socket)),
        gone_(std::move(gone)),
        conversation_(service, client_of(socket_)) {}

  void start() {
    post([](Connection& self) {
      self.socket_.set_option(tcp::no_delay(true), self.ignored_);
      self.go_on();
    });
  }

  // From any thread: ends what takes too long.
  void look(Clock::time_point now) {
    if (now.time_since_epoch().count() <= deadline_.load(std::memory_order_relaxed)) return;
    post([now](Connection& self) {
      if (now.time_since_epoch().count() > self.deadline_.load(std::memory_order_relaxed)) {
        self.end_late();
      }
    });
  }

  void finish() {
    post([](Connection& self) {
      self.conversation_.finish();
      if (self.wait_ == Wait::request) return self.close();
      self.end_ = Clock::now() + ticks(kToFinish);
      self.set_deadline(self.deadline());
    });
  }

 private:
  template <class Work>
  void post(Work work) {
    asio::post(socket_.get_executor(), [self = shared_from_this(), work] { self->guard(work); });
  }
  // Nothing that one connection runs into (no memory) may end the others.
  template <class Work>
  void guard(Work work) {
    try {
      if (wait_ != Wait::nothing) work(*this);
    } catch (const std::exception&) {
      close();
    }
  }

  [[nodiscard]] Clock::time_point deadline() const {
    return Clock::time_point(Clock::duration(deadline_.load(std::memory_order_relaxed)));
  }
  void set_deadline(Clock::time_point when) {
    deadline_.store(std::min(when, end_).time_since_epoch().count(), std::memory_order_relaxed);
  }
  void wait_for(Wait what, Seconds seconds) {
    wait_ = what;
    set_deadline(Clock::now() + ticks(seconds));
  }

  // Sends the next reply, or reads on.
  void go_on() {
    std::string bytes = conversation_.next();
    if (!bytes.empty()) return send(std::move(bytes));
    if (conversation_.ended()) return end_politely();
    if (!conversation_.in_request()) {
      if (end_ != Clock::time_point::max()) return close();
      wait_for(Wait::request, Seconds(service_.options.idle_seconds));
    } else if (wait_ != Wait::rest_of_request) {
      wait_for(Wait::rest_of_request, Seconds(service_.options.request_seconds));
    }
    read();
  }

  void read() {
    socket_.async_read_some(asio::buffer(read_),
                            [self = shared_from_this()](error_code error, std::size_t count) {
                              self->guard([&](Connection& me) { me.on_read(error, count); });
                            });
  }

  void on_read(error_code error, std::size_t count) {
    if (error) return close();
    if (wait_ == Wait::closed_by_client) return read();  // nobody looks at it any more
    if (wait_ == Wait::sent) return;                     // of a request that was ended as too late
    conversation_.take({read_.data(), count});
    go_on();
  }

  void send(std::string bytes) {
    wait_for(Wait::sent, Seconds(service_.options.request_seconds));
    sent_ = std::move(bytes);
    asio::async_write(socket_, asio::buffer(sent_),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        self->guard([&](Connection& me) { error ? me.close() : me.go_on(); });
                      });
  }

  // Closing with bytes of the client unread would take the reply away from it.
  void end_politely() {
    socket_.shutdown(tcp::socket::shutdown_send, ignored_);
    wait_for(Wait::closed_by_client, kToClose);
    if (!late_) read();
  }

  void end_late() {
    if (wait_ != Wait::request && wait_ != Wait::closed_by_client) service_.tally.timed_out();
    if (wait_ != Wait::rest_of_request) return close();
    late_ = true;  // a read is under way already
    send(conversation_.time_out());
  }

  void close() {
    if (wait_ == Wait::nothing) return;
    wait_ = Wait::nothing;
    socket_.close(ignored_);
    gone_(shared_from_this());
  }

  HttpService& service_;
  tcp::socket socket_;
  Gone gone_;
  HttpConversation conversation_;
  std::array<char, 8192> read_ = {};
  std::string sent_;
  Wait wait_ = Wait::request;
  bool late_ = false;
  Clock::time_point end_ = Clock::time_point::max();  // of all, once the server stops
  std::atomic<Clock::rep> deadline_ = Clock::time_point::max().time_since_epoch().count();
  error_code ignored_;
};

}  // namespace

class HttpServer::Body {
 public:
  Body(const HttpOptions& options, HttpHandler handler)
      : service(options, std::move(handler)),
        strand_(asio::make_strand(context_)),
        acceptor_(strand_),
        sweep_(strand_),
        retry_(strand_) {
    listen();
    asio::post(strand_, [this] {
      accept();
      sweep();
    });
  }

  [[nodiscard]] const std::string& address() const { return address_; }

  void run() {
    std::vector<std::thread> others;
    for (int i = 1; i < service.options.threads; ++i) {
      others.emplace_back([this] { context_.run(); });
    }
    context_.run();
    for (std::thread& other : others) other.join();
  }

  void stop() {
    asio::post(strand_, [this] {
      stopping_ = true;
      acceptor_.close(ignored_);
      retry_.cancel();
      for (const auto& each : all()) each->finish();
      sweep_.cancel();  // it starts anew, at shorter intervals
    });
  }

  HttpService service;

 private:
  void listen() {
    const std::string& text = service.options.address;
    try {
      const tcp::endpoint where = endpoint_of(text);
      acceptor_.open(where.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(where);
      acceptor_.listen(1024);
      const tcp::endpoint at = acceptor_.local_endpoint();
      const std::string ip = at.address().to_string();
      address_ =
          fmt::format("{}:{}", at.address().is_v6() ? fmt::format("[{}]", ip) : ip, at.port());
    } catch (const boost::system::system_error& error) {
      throw IoError(fmt::format("{}: cannot listen there: {}", text, error.code().message()));
    }
  }

  void accept() {
    acceptor_.async_accept(asio::make_strand(context_), [this](error_code error, auto socket) {
      if (stopping_) return;
      if (!error) {
        admit(std::move(socket));
        return accept();
      }
      retry_.expires_after(kBeforeRetry);  // as when there are no more file descriptors
      retry_.async_wait([this](error_code cancelled) {
        if (!cancelled && !stopping_) accept();
      });
    });
  }

  void admit(tcp::socket socket) {
    std::unique_lock lock(mutex_);
    if (connections_.size() >= static_cast<std::size_t>(service.options.connections)) {
      lock.unlock();
      return turn_away(std::move(socket));
    }
    auto connection = std::make_shared<Connection>(service, std::move(socket),
                                                   [this](const auto& gone) { forget(gone); });
    connections_.insert(connection);
    lock.unlock();
    service.tally.opened();
    connection->start();
  }

  void turn_away(tcp::socket socket) {
    service.tally.turned_away();
    const std::string body = http_error(503, "too many connections").body;
    const std::string text = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\nRetry-After: 1\r\nConnection: close\r\n\r\n{}",
        body.size(), body);
    socket.non_blocking(true, ignored_);
    socket.write_some(asio::buffer(text), ignored_);
    socket.shutdown(tcp::socket::shutdown_both, ignored_);
  }

  void forget(const std::shared_ptr<Connection>& gone) {
    service.tally.closed();
    const std::lock_guard lock(mutex_);
    connections_.erase(gone);
  }

  [[nodiscard]] std::vector<std::shared_ptr<Connection>> all() {
    const std::lock_guard lock(mutex_);
    return {connections_.begin(), connections_.end()};
  }

  // Looks for connections whose time is over, often enough to be a tenth too late at most.
  void sweep() {
    const auto open = all();
    if (stopping_ && open.empty()) return;
    const auto now = Clock::now();
    for (const auto& each : open) each->look(now);
    const HttpOptions& options = service.options;
    const Seconds least{std::min({options.request_seconds, options.idle_seconds, 10.0})};
    sweep_.expires_after(stopping_ ? ticks(Seconds(0.02)) : ticks(least / 10.0));
    sweep_.async_wait([this](error_code) { sweep(); });
  }

  asio::io_context context_;
  asio::strand<asio::io_context::executor_type> strand_;
  tcp::acceptor acceptor_;
  asio::steady_timer sweep_;
  asio::steady_timer retry_;
  std::string address_;
  bool stopping_ = false;  // on the strand
  std::mutex mutex_;
  std::set<std::shared_ptr<Connection>> connections_;
  error_code ignored_;
};

HttpServer::HttpServer(const HttpOptions& options, HttpHandler handler) {
  options.validate();
  body_ = std::make_unique<Body>(options, std::move(handler));
}
HttpServer::~HttpServer() = default;

std::string HttpServer::address() const { return body_->address(); }
void HttpServer::run() { body_->run(); }
void HttpServer::stop() { body_->stop(); }
HttpCounts HttpServer::counts() const { return body_->service.tally.counts(); }

}  // namespace oas
