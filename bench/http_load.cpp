#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
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
/// still waiting for its last answer sends as soon as it has it, and at the end every step that was
/// due is waited for. What this program itself was late with is told: where that is no small part
/// of the latency, the machine was too busy to measure.
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
  [[nodiscard]] Clock::time_point due() const { return due_; }

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

double quantile(std::vector<double>& seconds, double share) {
  const auto at = seconds.begin() +
                  static_cast<std::ptrdiff_t>(share * static_cast<double>(seconds.size() - 1));
  std::nth_element(seconds.begin(), at, seconds.end());
  return *at * 1e3;
}

// Steps of all units at their times. None is sent before the one before is answered.
class Load {
 public:
  Load(std::vector<Unit> units, double rate, double duration)
      : units_(std::move(units)), interval_(ticks(static_cast<double>(units_.size()) / rate)) {
    start_ = Clock::now();
    end_ = start_ + ticks(duration);
    for (std::size_t i = 0; i < units_.size(); ++i) {
      due_.emplace(start_ + interval_ * static_cast<long>(i) / static_cast<long>(units_.size()), i);
    }
  }

  // Until all that is due before the end is answered.
  void run() {
    const int ready = ::epoll_create1(0);
    for (std::size_t i = 0; i < units_.size(); ++i) {
      epoll_event event = {};
      event.events = EPOLLIN;
      event.data.u64 = i;
      epoll_ctl(ready, EPOLL_CTL_ADD, units_[i].socket(), &event);
    }
    std::vector<epoll_event> events(units_.size());
    for (send_due(); waiting_ > 0 || next_due() < end_; send_due()) {
      if (Clock::now() > end_ + kPatience) throw std::runtime_error("answers do not come any more");
      const auto left = std::clamp(next_due() - Clock::now(), Clock::duration::zero(), kLookAround);
      const timespec wait = {0, left.count()};
      const int count =
          ::epoll_pwait2(ready, events.data(), static_cast<int>(events.size()), &wait, nullptr);
      for (int i = 0; i < count; ++i) receive(events[static_cast<std::size_t>(i)].data.u64);
    }
    ::close(ready);
  }

  std::vector<double> seconds;  // until the answer, from when each step was due
  std::vector<double> late;     // until it was sent, where that could have been done in time

 private:
  using Due = std::pair<Clock::time_point, std::size_t>;  // a unit that waits for nothing

  static constexpr Clock::duration kPatience = std::chrono::seconds(60);
  static constexpr Clock::duration kLookAround = std::chrono::milliseconds(100);

  static Clock::duration ticks(double time) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time));
  }

  [[nodiscard]] Clock::time_point next_due() const {
    return due_.empty() ? Clock::time_point::max() : due_.top().first;
  }

  void send_due() {
    while (next_due() < end_ && next_due() <= Clock::now()) {
      const auto [due, unit] = due_.top();
      due_.pop();
      if (due >= answered_.at(unit)) {
        late.push_back(std::chrono::duration<double>(Clock::now() - due).count());
      }
      units_[unit].send(due);
      ++waiting_;
    }
  }

  void receive(std::size_t unit) {
    const double took = units_[unit].receive();
    if (took < 0.0) return;
    seconds.push_back(took);
    --waiting_;
    answered_[unit] = Clock::now();
    due_.emplace(units_[unit].due() + interval_, unit);
  }

  std::vector<Unit> units_;
  Clock::duration interval_;  // between two steps of a unit
  Clock::time_point start_;
  Clock::time_point end_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<Clock::time_point> answered_ = std::vector<Clock::time_point>(units_.size());
  std::size_t waiting_ = 0;
};

// Each connection is an open file.
void allow_files(std::size_t files) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files) return;
  limit.rlim_cur = std::min<rlim_t>(files, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < files) {
    throw std::runtime_error(fmt::format("{} open files are needed (ulimit -n)", files));
  }
}

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
  constexpr int kOtherFiles = 50;
  allow_files(static_cast<std::size_t>(units + kOtherFiles));
  std::vector<Unit> all;
  all.reserve(static_cast<std::size_t>(units));
  for (int i = 0; i < units; ++i) all.emplace_back(model, to, i);
  const double plans = metric(to, "oas_plans_total");
  const double planning = metric(to, "oas_planning_seconds_total");
  Load load(std::move(all), rate, duration);
  load.run();
  if (load.seconds.empty()) throw std::runtime_error("nothing was answered");
  fmt::print("{} units, {:.0f} steps/s answered of {:.0f} asked for, {:.0f} s\n", units,
             static_cast<double>(load.seconds.size()) / duration, rate, duration);
  fmt::print("{:.0f} plans came into force, planning took {:.0f} % of the time\n",
             metric(to, "oas_plans_total") - plans,
             100.0 * (metric(to, "oas_planning_seconds_total") - planning) / duration);
  for (const double share : {0.5, 0.9, 0.99, 0.999, 1.0}) {
    fmt::print("p{:<6g} {:8.3f} ms\n", 100.0 * share, quantile(load.seconds, share));
  }
  if (!load.late.empty()) {
    fmt::print("of that this program was late: p50 {:.3f} ms, p99 {:.3f} ms\n",
               quantile(load.late, 0.5), quantile(load.late, 0.99));
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
