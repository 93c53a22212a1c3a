#include "live/live_kills.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "live/live_fleet.hpp"
#include "oas/journal/journal_reader.hpp"
#include "oas/problems/named.hpp"
#include "support/temporary_directory.hpp"

namespace oas::test {

namespace {

// The agent's process: answers lines until it is killed.
[[noreturn]] void serve(const Pomdp& model, const LiveOptions& options, int in, int out) {
  int code = 1;
  try {
    LiveAgent agent(model, options);
    std::FILE* const requests = fdopen(in, "r");
    char* line = nullptr;
    std::size_t room = 0;
    while (getline(&line, &room, requests) > 0) {
      const std::string answer = agent.answer(line) + "\n";
      if (write(out, answer.data(), answer.size()) < 0) break;
    }
    code = 0;
  } catch (const std::exception& error) {
    const std::string text = std::string("agent: ") + error.what() + "\n";
    [[maybe_unused]] const auto done = write(STDERR_FILENO, text.data(), text.size());
  }
  _exit(code);
}

struct Server {
  pid_t process = 0;
  int requests = -1;
  std::FILE* answers = nullptr;

  Server(const Pomdp& model, const LiveOptions& options) {
    int to[2];
    int from[2];
    if (pipe(to) != 0 || pipe(from) != 0) throw std::runtime_error("no pipe");
    process = fork();
    if (process == 0) {
      close(to[1]);
      close(from[0]);
      serve(model, options, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    requests = to[1];
    answers = fdopen(from[0], "r");
  }
  ~Server() {
    close(requests);
    std::fclose(answers);
    waitpid(process, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void send(const FleetUnit& unit) const {
    const std::string line = unit.request().dump() + "\n";
    // Nobody reads any more once it was killed.
    [[maybe_unused]] const auto done = write(requests, line.data(), line.size());
  }
};

// Now and then an agent lives long enough to make a plan.
std::chrono::microseconds life(int start, Rng& rng) {
  constexpr int kLong = 8;
  return std::chrono::microseconds(start % kLong == kLong - 1 ? 300'000 + rng.below(700'000)
                                                              : 1000 + rng.below(40'000));
}

// All units have a request under way until the agent is killed; what was answered was told.
void run_until_killed(const Pomdp& model, const LiveOptions& options, std::vector<FleetUnit>& units,
                      std::chrono::microseconds wait) {
  const Server server(model, options);
  std::thread killer([&] {
    std::this_thread::sleep_for(wait);
    kill(server.process, SIGKILL);
  });
  for (const FleetUnit& unit : units) server.send(unit);
  char* line = nullptr;
  std::size_t room = 0;
  for (std::size_t next = 0;; next = (next + 1) % units.size()) {
    const ssize_t size = getline(&line, &room, server.answers);
    if (size <= 0 || line[size - 1] != '\n') break;
    const auto answer = nlohmann::json::parse(line);
    EXPECT_TRUE(answer["ok"].get<bool>()) << units[next].request() << answer;
    if (!answer["ok"].get<bool>()) break;
    units[next].take(answer);
    server.send(units[next]);
  }
  std::free(line);
  killer.join();
}

// Every answer is in the journal as it was told, in order and once.
void expect_told_is_written(const std::string& folder, const Pomdp& model,
                            const std::vector<FleetUnit>& units) {
  std::map<std::uint64_t, const FleetUnit*> by_run;
  std::map<std::uint64_t, std::size_t> choices;
  JournalReader reader(folder);
  for (JournalRecord record; reader.next(record);) {
    if (record.kind == JournalKind::begin) {
      for (const FleetUnit& unit : units) {
        if (unit.name() == record.text) by_run[record.run] = &unit;
      }
    }
    if (record.kind != JournalKind::act && record.kind != JournalKind::step) continue;
    const auto& told = by_run.at(record.run)->told();
    const std::size_t at = choices[record.run]++;
    if (at == told.size()) continue;  // written, and killed before it was told
    ASSERT_LT(at, told.size());
    EXPECT_EQ(told[at].action, model.actions()[record.choice]);
    EXPECT_EQ(told[at].propensity, record.choice_propensity);
    if (record.kind == JournalKind::act) continue;
    const nlohmann::json seen = record.row.missing()
                                    ? nlohmann::json(nullptr)
                                    : nlohmann::json(record.row.observation.value());
    EXPECT_EQ(told[at - 1].observation, seen);
  }
  for (const auto& [run, unit] : by_run) EXPECT_GE(choices[run], unit->told().size());
}

std::string all_of(LiveAgent& agent) {
  std::string text;
  for (const char* call : {"status", "estimate", "plan"})
    text += agent.call(call, "{}").body + "\n";
  return text;
}

}  // namespace

void expect_survives(int kills, double half_life) {
  std::signal(SIGPIPE, SIG_IGN);
  const TemporaryDirectory folder;
  const Pomdp model = make_problem("machine-maintenance");
  LiveOptions options = quick_options(folder.file("journal"));
  options.half_life = half_life;
  std::vector<FleetUnit> units;
  for (std::uint64_t i = 0; i < 4; ++i) units.emplace_back(model, "unit " + std::to_string(i), i);
  Rng rng({1, 0, Role::test});
  for (int i = 0; i < kills && !testing::Test::HasFailure(); ++i) {
    options.memory = rng.below(2) == 0 ? 0 : 1;
    run_until_killed(model, options, units, life(i, rng));
  }
  std::size_t told = 0;
  for (const FleetUnit& unit : units) told += unit.told().size();
  EXPECT_GT(told, static_cast<std::size_t>(4 * kills)) << "hardly a call was answered";
  expect_told_is_written(options.journal, model, units);
  // Without new plans while they are compared.
  options.snapshot_every = 0;
  std::string resumed;
  {
    LiveAgent agent(model, options);
    resumed = all_of(agent);
    EXPECT_GE(nlohmann::json::parse(agent.call("status", "{}").body)["plans"], 1);
  }
  options.verify = true;
  LiveAgent again(model, options);
  EXPECT_EQ(all_of(again), resumed);
  for (FleetUnit& unit : units) unit.take(ask(again, unit.request()));
}

}  // namespace oas::test
