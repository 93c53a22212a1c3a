#include <algorithm>
#include <limits>

#include "logs/log_support.hpp"
#include "oas/core/rng.hpp"
#include "oas/logs/log_writer.hpp"
#include "support/property.hpp"
#include "support/temporary_directory.hpp"

namespace oas::test {
namespace {

double any_reward(Rng& rng) {
  constexpr std::array<double, 8> kAwkward = {
      0.0, -0.0, 0.1, -1e-300, std::numeric_limits<double>::max(), 5e-324, 1.0e22, 1.0 / 3.0};
  return rng.below(2) == 0 ? kAwkward[rng.below(8)] : 2.0 * rng.uniform() - 1.0;
}

Trajectory any_rows(const Pomdp& model, LogColumns columns, std::size_t size, Rng& rng) {
  const auto below = [&](int n) { return rng.below(static_cast<std::uint32_t>(n)); };
  Trajectory rows;
  for (std::size_t i = 0; i < size; ++i) {
    rows.actions.emplace_back(below(model.num_actions()));
    rows.observations.push_back(below(5) == 0 ? kMissing
                                              : Observation(below(model.num_observations())));
    if (columns.propensity) rows.propensities.push_back(below(2) == 0 ? 0.25 : 1 - rng.uniform());
    if (columns.reward) rows.rewards.push_back(any_reward(rng));
    if (columns.state) rows.states.emplace_back(below(model.num_states()));
  }
  return rows;
}

// Names with all that needs care: commas, quotes, spaces, #, other alphabets, signs.
Labels any_labels(int size, const std::string& kind, bool named) {
  if (!named) return {size, kind};
  const std::array<std::string, 8> odd = {"a,b", "\"q\"", " ", "#x", "größe", "-1", "1.5", "it's"};
  std::vector<std::string> names;
  for (int i = 0; i < size; ++i) {
    const auto n = static_cast<std::size_t>(i);
    names.push_back(n < odd.size() ? odd[n] : fmt::format("name {}", i));
  }
  return {names, kind};
}

void expect_round_trip(const Pomdp& model, LogColumns columns, const std::string& ending,
                       const std::vector<Trajectory>& runs) {
  const TemporaryDirectory folder;
  const std::string path = folder.file("log.csv" + ending);
  LogWriter writer(path, model, columns);
  LogBlock expected;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Trajectory& rows = runs[run];
    writer.write(rows, static_cast<long>(run));
    if (rows.size() > 0) {
      expected.run_starts.push_back(expected.rows.size());
      if (columns.run) expected.run_names.push_back(std::to_string(run));
    }
    append(expected.rows.actions, rows.actions);
    append(expected.rows.observations, rows.observations);
    append(expected.rows.propensities, rows.propensities);
    append(expected.rows.rewards, rows.rewards);
    append(expected.rows.states, rows.states);
  }
  writer.commit();
  RC_ASSERT((folder.entries() == std::vector<std::string>{"log.csv" + ending}));
  const std::size_t max_rows = *rc::gen::element<std::size_t>(1, 10, 100'000).as("max_rows");
  RC_ASSERT((read_all(LogReader(path, model), max_rows) == expected));
}

RC_GTEST_PROP(LogRoundTrip, RowsReadBackEqual, ()) {
  const bool named = *rc::gen::arbitrary<bool>().as("named");
  const auto any_size = [](const char* what) { return *rc::gen::inRange(1, 30).as(what); };
  const Pomdp model =
      log_model(any_labels(any_size("states"), "state", named),
                any_labels(any_size("actions"), "action", named),
                any_labels(any_size("observations"), "observation", named), any_timing());
  const auto any_bool = [](const char* what) { return *rc::gen::arbitrary<bool>().as(what); };
  const LogColumns columns{any_bool("run"), any_bool("propensity"), any_bool("reward"),
                           any_bool("state")};
  const std::string ending = *rc::gen::element<std::string>("", ".gz", ".zst").as("ending");
  Rng rng({any_seed(), 0, Role::test});
  std::vector<Trajectory> runs = {any_rows(model, columns, 1 + rng.below(200), rng)};
  const int more = columns.run ? *rc::gen::inRange(0, 4).as("more runs") : 0;
  for (int i = 0; i < more; ++i) runs.push_back(any_rows(model, columns, rng.below(50), rng));
  expect_round_trip(model, columns, ending, runs);
}

TEST(LogRoundTrip, LargeLogsInEveryCompression) {
  const TemporaryDirectory folder;
  const Pomdp model = index_model();
  const LogColumns columns{true, true, true, true};
  Rng rng({7, 0, Role::test});
  const Trajectory rows = any_rows(model, columns, 100'000, rng);  // many compressed blocks
  for (const std::string ending : {"", ".gz", ".zst"}) {
    const std::string path = folder.file("log.csv" + ending);
    LogWriter writer(path, model, columns);
    writer.write(rows, 3);
    writer.commit();
    const LogBlock log = read_all(LogReader(path, model), 4096);
    EXPECT_TRUE(log.rows == rows) << ending;
    EXPECT_THAT(log.run_starts, testing::ElementsAre(0));
  }
}

}  // namespace
}  // namespace oas::test
