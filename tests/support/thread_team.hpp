#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "oas/core/team.hpp"

namespace oas::testing_support {

/// Messages between the threads of one process, for tests of what teams do.
class ThreadMail {
 public:
  void send(int from, int to, std::string bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[to].push_back({from, std::move(bytes)});
    arrived_.notify_all();
  }
  /// From -1: anybody.
  [[nodiscard]] Team::Message receive(int to, int from) {
    std::unique_lock lock(mutex_);
    std::deque<Team::Message>& box = boxes_[to];
    while (true) {
      for (auto message = box.begin(); message != box.end(); ++message) {
        if (from >= 0 && message->from != from) continue;
        Team::Message found = std::move(*message);
        box.erase(message);
        return found;
      }
      arrived_.wait(lock);
    }
  }
  [[nodiscard]] bool empty() {
    const std::lock_guard lock(mutex_);
    for (const auto& [to, box] : boxes_) {
      if (!box.empty()) return false;
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<int, std::deque<Team::Message>> boxes_;
};

class ThreadTeam final : public Team {
 public:
  ThreadTeam(ThreadMail& mail, int rank, int size) : mail_(mail), rank_(rank), size_(size) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void send(int to, std::string bytes) override { mail_.send(rank_, to, std::move(bytes)); }
  [[nodiscard]] std::string receive(int from) override { return mail_.receive(rank_, from).bytes; }
  [[nodiscard]] Message receive_any() override { return mail_.receive(rank_, -1); }
  void tell(const std::string& line) override {
    if (leads()) told.push_back(line);
  }

  std::vector<std::string> told;

 private:
  ThreadMail& mail_;
  int rank_;
  int size_;
};

/// Calls work(team) on `size` ranks, each a thread, and dismisses the others when rank 0 is done.
/// Rethrows what rank 0 threw, or else another rank; Dismissed is no failure. True when no message
/// was left over.
inline bool run_team(int size, const std::function<void(ThreadTeam&)>& work) {
  ThreadMail mail;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadTeam team(mail, rank, size);
      try {
        work(team);
        if (rank > 0) static_cast<void>(team.order());
      } catch (const Dismissed&) {
      } catch (...) {
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
      if (rank == 0) team.dismiss();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return mail.empty();
}

}  // namespace oas::testing_support
