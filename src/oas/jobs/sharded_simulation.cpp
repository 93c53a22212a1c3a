#include "oas/jobs/sharded_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/task_farm.hpp"
#include "oas/core/team.hpp"
#include "oas/logs/log_shards.hpp"

namespace oas {

namespace {

constexpr std::int64_t kRowsOfShard = std::int64_t{1} << 20;
constexpr std::int64_t kMostShards = 100'000;

struct WrittenShard {
  LogShard shard;
  double reward = 0.0;
};

class Shards {
 public:
  Shards(const AnyModel& model, const LogSimulationOptions& options, std::string folder,
         std::int64_t shards)
      : model_(model),
        options_(options),
        folder_(std::move(folder)),
        written_(static_cast<std::size_t>(shards)) {}

  [[nodiscard]] WrittenShard write(std::int64_t index) const {
    const auto shards = static_cast<std::int64_t>(written_.size());
    LogSimulationOptions some = options_;
    some.first_run = options_.runs * index / shards;
    some.runs = options_.runs * (index + 1) / shards - some.first_run;
    some.run_names = options_.runs > 1;
    const std::string path = (std::filesystem::path(folder_) / shard_name(index)).string();
    const SimulatedLog log = simulate_log(model_, some, path, {1});
    return {shard_of(path, log.steps, some.runs), log.reward};
  }

  void take(std::int64_t index, WrittenShard shard, const RowsRead& progress) {
    const std::lock_guard lock(mutex_);
    if (progress) progress(shard.shard.rows);
    written_[static_cast<std::size_t>(index)] = std::move(shard);
  }

  SimulatedLog finish() const {
    SimulatedLog totals;
    std::vector<LogShard> list;
    for (const WrittenShard& each : written_) {
      totals.reward += each.reward;
      totals.steps += each.shard.rows;
      list.push_back(each.shard);
    }
    write_shard_list(folder_, list);
    return totals;
  }

 private:
  const AnyModel& model_;
  const LogSimulationOptions& options_;
  std::string folder_;
  std::mutex mutex_;
  std::vector<WrittenShard> written_;
};

std::string saved(const WrittenShard& written) {
  ByteWriter out;
  out.put_text(written.shard.file);
  for (const std::int64_t value : {written.shard.rows, written.shard.runs, written.shard.bytes}) {
    out.put(value);
  }
  out.put(written.shard.checksum);
  out.put(written.reward);
  return out.take();
}

WrittenShard loaded(std::string_view bytes) {
  ByteReader in(bytes);
  WrittenShard written;
  written.shard.file = in.get_text();
  for (std::int64_t* value : {&written.shard.rows, &written.shard.runs, &written.shard.bytes}) {
    *value = in.get<std::int64_t>();
  }
  written.shard.checksum = in.get<std::uint64_t>();
  written.reward = in.get<double>();
  return written;
}

}  // namespace

std::int64_t usual_shards(const LogSimulationOptions& options) {
  const double rows = static_cast<double>(options.runs) * static_cast<double>(options.steps);
  const double shards = std::ceil(rows / static_cast<double>(kRowsOfShard));
  return static_cast<std::int64_t>(
      std::min({shards, static_cast<double>(options.runs), static_cast<double>(kMostShards)}));
}

SimulatedLog simulate_shards(const AnyModel& model, const LogSimulationOptions& options,
                             const std::string& folder, std::int64_t shards,
                             Parallelism parallelism, const RowsRead& progress) {
  options.validate(model);  // before there is a folder
  OAS_REQUIRE(shards >= 1 && shards <= std::min(options.runs, kMostShards),
              "shards is {}; it must be from 1 to the number of runs, {}, and at most {}", shards,
              options.runs, kMostShards);
  if (parallelism.team == nullptr || parallelism.team->leads()) make_shard_folder(folder);
  Shards all(model, options, folder, shards);
  TaskFarm farm;
  farm.tasks.resize(static_cast<std::size_t>(shards));
  std::iota(farm.tasks.begin(), farm.tasks.end(), 0);
  farm.here = [&](std::int64_t task) { all.take(task, all.write(task), progress); };
  farm.away = [&](std::int64_t task) { return saved(all.write(task)); };
  farm.take = [&](std::int64_t task, const std::string& bytes) {
    all.take(task, loaded(bytes), progress);
  };
  run_farm(farm, parallelism);
  return all.finish();
}

}  // namespace oas
