#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "oas/formats/model_file.hpp"
#include "oas/problems/named.hpp"
#include "oas/server/http_options.hpp"
#include "oas/simulation/environment.hpp"

/// Units of a simulated model that ask `oas agent --http` at a given rate, and how long it takes:
///
///     http_load MODEL ADDR:PORT [UNITS] [STEPS_PER_SECOND] [SECONDS]
///
/// Each unit has a connection of its own and sends a step at fixed times, whether the answers
/// before were fast or not; the latency is counted from the time at which a step should have been
/// sent, so that a halt of the server is seen by all that would have asked meanwhile. One that is
/// still waiting for its last answer sends as soon as it has it.
namespace {

using namespace oas;  // NOLINT(google-build-using-namespace)
using Clock = std::chrono::steady_clock;

int connect_to(const SocketAddress& to) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where = {};
  where.sin_family = AF_INET;
  where.sin_port = htons(to.port);
  inet_pton(AF_INET, to.ip.c_str(), &where.sin_addr);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&where), sizeof(where)) != 0) {
    throw std::runtime_error(fmt::format("{}:{}: {}", to.ip, to.port, std::strerror(errno)));
  }
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return socket;
}

// One unit: its true state, its connection, and the step it is at.
class Unit {
 public:
  Unit(const Pomdp& model, const SocketAddress& to, int number)
      : model_(&model),
        name_(fmt::format("load-{}", number)),
        environment_(model, Rng({1, static_cast<std::uint32_t>(number), Role::environment})),
        socket_(connect_to(to)) {}

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] bool waits() const { return waits_; }

  void send(Clock::time_point due) {
    const std::string seen = fmt::format(",\"observation\":{}", observation_);
    const std::string body =
        fmt::format("{{\"unit\":\"{}\",\"step\":{}{}}}", name_, step_, began_ ? seen : "");
    const std::string request =
        fmt::format("POST /v1/{} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}",
                    began_ ? "step" : "act", body.size(), body);
    if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      throw std::runtime_error(fmt::format("{}: cannot send", name_));
    }
    due_ = due;
    waits_ = true;
  }

  // Seconds since the step was due, once the whole answer is there; else less than 0.
  double receive() {
    char bytes[4096];
    const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN)) {
      throw std::runtime_error(fmt::format("{}: the server closed the connection", name_));
    }
    if (count > 0) answer_.append(bytes, static_cast<std::size_t>(count));
    if (!answer_.ends_with("}\n")) return -1.0;
    const double seconds = std::chrono::duration<double>(Clock::now() - due_).count();
    take(answer_);
    answer_.clear();
    waits_ = false;
    return seconds;
  }

 private:
  void take(std::string_view answer) {
    if (!answer.starts_with("HTTP/1.1 200 ")) {
      throw std::runtime_error(fmt::format("{}: {}", name_, answer));
    }
    constexpr std::string_view kKey = "\"action\":";
    std::string_view value = answer.substr(answer.find(kKey) + kKey.size());
    value = value.substr(0, value.find(','));
    int action = 0;
    if (value.starts_with('"')) {
      action = *model_->actions().find(value.substr(1, value.size() - 2));
    } else {
      std::from_chars(value.data(), value.data() + value.size(), action);
    }
    observation_ = static_cast<int>(environment_.step(Action{action}).observation);
    if (began_) ++step_;
    began_ = true;
  }

  const Pomdp* model_;
  std::string name_;
  Environment environment_;
  int socket_;
  std::string answer_;
  int observation_ = 0;
  long step_ = 0;
  bool began_ = false;
  bool waits_ = false;
  Clock::time_point due_;
};

// One value of GET /metrics, 0 where it is not there.
double metric(const SocketAddress& to, std::string_view name) {
  const int socket = connect_to(to);
  const std::string request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
  std::string text;
  if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    char bytes[4096];
    for (ssize_t count = 0; (count = ::recv(socket, bytes, sizeof(bytes), 0)) > 0;) {
      text.append(bytes, static_cast<std::size_t>(count));
    }
  }
  ::close(socket);
  const std::string line = fmt::format("\n{} ", name);
  const std::size_t at = text.find(line);
  return at == std::string::npos ? 0.0 : std::stod(text.substr(at + line.size()));
}

struct Load {
  std::vector<Unit> units;
  Clock::duration interval;  // between two steps of a unit
  std::vector<double> seconds;

  // Sends what is due at `now`, and gives the time at which something is due again.
  Clock::time_point send_due(std::vector<Clock::time_point>& due, Clock::time_point now) {
    Clock::time_point next = now + interval;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (units[i].waits()) continue;
      if (due[i] <= now) {
        units[i].send(due[i]);
        due[i] += interval;
      } else {
        next = std::min(next, due[i]);
      }
    }
    return next;
  }

  void run(double duration) {
    const auto start = Clock::now();
    const int ready = ::epoll_create1(0);
    std::vector<Clock::time_point> due;
    for (std::size_t i = 0; i < units.size(); ++i) {
      due.push_back(start + interval * static_cast<long>(i) / static_cast<long>(units.size()));
      epoll_event event = {};
      event.events = EPOLLIN;
      event.data.u64 = i;
      epoll_ctl(ready, EPOLL_CTL_ADD, units[i].socket(), &event);
    }
    std::vector<epoll_event> events(units.size());
    while (std::chrono::duration<double>(Clock::now() - start).count() < duration) {
      const auto next = send_due(due, Clock::now());
      const auto left = std::max(next - Clock::now(), Clock::duration::zero());
      const timespec wait = {0, std::min<long>(left.count(), 999'999'999)};
      const int count =
          ::epoll_pwait2(ready, events.data(), static_cast<int>(events.size()), &wait, nullptr);
      for (int i = 0; i < count; ++i) {
        const double took = units[events[static_cast<std::size_t>(i)].data.u64].receive();
        if (took >= 0.0) seconds.push_back(took);
      }
    }
    ::close(ready);
  }

  [[nodiscard]] double quantile(double share) {
    const auto at = seconds.begin() +
                    static_cast<std::ptrdiff_t>(share * static_cast<double>(seconds.size() - 1));
    std::nth_element(seconds.begin(), at, seconds.end());
    return *at * 1e3;
  }
};

void run(const std::vector<std::string>& words) {
  if (words.size() < 2) {
    throw std::runtime_error("http_load MODEL ADDR:PORT [UNITS] [STEPS_PER_SECOND] [SECONDS]");
  }
  const ProblemInfo* const known = find_problem(words[0]);
  const Pomdp model = known != nullptr ? known->make() : read_any_model(words[0]).model;
  const SocketAddress to = parse_socket_address(words[1]);
  const int units = words.size() > 2 ? std::stoi(words[2]) : 100;
  const double rate = words.size() > 3 ? std::stod(words[3]) : 10'000.0;
  const double duration = words.size() > 4 ? std::stod(words[4]) : 30.0;
  Load load;
  load.interval = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(static_cast<double>(units) / rate));
  for (int i = 0; i < units; ++i) load.units.emplace_back(model, to, i);
  const double plans = metric(to, "oas_plans_total");
  const double planning = metric(to, "oas_planning_seconds_total");
  load.run(duration);
  if (load.seconds.empty()) throw std::runtime_error("nothing was answered");
  fmt::print("{} units, {:.0f} steps/s answered of {:.0f} asked for, {:.0f} s\n", units,
             static_cast<double>(load.seconds.size()) / duration, rate, duration);
  fmt::print("{:.0f} plans came into force, planning took {:.0f} % of the time\n",
             metric(to, "oas_plans_total") - plans,
             100.0 * (metric(to, "oas_planning_seconds_total") - planning) / duration);
  for (const double share : {0.5, 0.9, 0.99, 0.999, 1.0}) {
    fmt::print("p{:<6g} {:8.3f} ms\n", 100.0 * share, load.quantile(share));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "http_load: {}\n", error.what());
    return 1;
  }
}
