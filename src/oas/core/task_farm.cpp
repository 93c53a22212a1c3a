#include "oas/core/task_farm.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/team.hpp"

namespace oas {

namespace {

constexpr std::int64_t kNone = -1;
constexpr std::int64_t kHello = -2;

// Rank 0: hands out the tasks.
class Dealer {
 public:
  Dealer(const TaskFarm& farm, std::size_t threads) : farm_(farm), threads_(threads) {}

  void work(Parallelism parallelism) {
    parallel_for(threads_, {parallelism.threads}, [&](std::size_t) {
      while (const std::optional<std::int64_t> task = next()) {
        guarded([&] { farm_.here(*task); });
      }
    });
  }

  // Answers the threads of other ranks, each of which comes with what it has done and gets its next
  // task, until all of them were told that there is none. A rank first says how many it has.
  void serve(Team& team) {
    int ranks_to_come = team.size() - 1;
    std::int64_t open = 0;
    while (ranks_to_come > 0 || open > 0) {
      const Team::Message message = team.receive_any();
      ByteReader in(message.bytes);
      const auto done = in.get<std::int64_t>();
      if (done == kHello) {
        --ranks_to_come;
        open += in.get<std::int64_t>();
        continue;
      }
      if (done != kNone) guarded([&] { farm_.take(done, result_of(in.get_text())); });
      const std::optional<std::int64_t> task = next();
      if (!task) --open;
      ByteWriter out;
      out.put(task.value_or(kNone));
      team.send(message.from, out.take());
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::optional<std::int64_t> next() {
    if (ended_ || (farm_.stop && farm_.stop())) return {};
    const std::size_t place = place_++;
    return place < farm_.tasks.size() ? std::optional(farm_.tasks[place]) : std::nullopt;
  }

  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      ended_ = true;
    }
  }

  const TaskFarm& farm_;
  std::size_t threads_;
  std::atomic<std::size_t> place_{0};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

// Another rank: its threads take turns with the messages.
void work_away(const TaskFarm& farm, std::size_t threads, Team& team) {
  static_cast<void>(team.order());
  std::mutex mutex;
  ByteWriter hello;
  hello.put(kHello);
  hello.put(static_cast<std::int64_t>(threads));
  team.send(0, hello.take());
  std::vector<std::thread> helpers;
  const auto work = [&] {
    std::int64_t task = kNone;
    std::string answer;
    do {
      ByteWriter out;
      out.put(task);
      out.put_text(answer);
      {
        const std::lock_guard lock(mutex);
        team.send(0, out.take());
        task = ByteReader(team.receive(0)).get<std::int64_t>();
      }
      if (task != kNone) answer = answer_of(team, [&] { return farm.away(task); });
    } while (task != kNone);
  };
  for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  static_cast<void>(team.order());
}

}  // namespace

void run_farm(const TaskFarm& farm, Parallelism parallelism) {
  const std::size_t threads = num_threads(parallelism);
  Team* const team = parallelism.team;
  if (team != nullptr && !team->leads()) return work_away(farm, threads, *team);
  Dealer dealer(farm, threads);
  if (team == nullptr) {
    dealer.work(parallelism);
    return dealer.rethrow();
  }
  {
    const Exchange exchange(*team);
    team->give_order("tasks");
    std::thread server([&] { dealer.serve(*team); });
    dealer.work(parallelism);
    server.join();
  }
  dealer.rethrow();
}

}  // namespace oas
