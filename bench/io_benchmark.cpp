// Reading a log as `oas estimate` does, from a file in the page cache.

#include <benchmark/benchmark.h>

#include <filesystem>

#include "oas/experiments/log_estimation.hpp"
#include "oas/io/log_reader.hpp"
#include "oas/io/log_writer.hpp"
#include "oas/problems/random_pomdp.hpp"
#include "oas/simulation/closed_loop.hpp"

namespace oas {
namespace {

constexpr std::size_t kRows = 1'000'000;

Pomdp instance() {
  Rng rng({1, 0, Role::problem});
  return random_pomdp({}, rng).model;
}

std::string write_log(const Pomdp& model, const char* name) {
  const std::string path = (std::filesystem::temp_directory_path() / name).string();
  ClosedLoop loop(model, {}, 1);
  Trajectory rows;
  loop.advance(kRows, rows);
  LogWriter writer(path, model, {.propensity = true});
  writer.write(rows, 0);
  writer.commit();
  return path;
}

void BM_WriteLog(benchmark::State& state) {
  const Pomdp model = instance();
  std::string path;
  for (auto _ : state) path = write_log(model, "oas_benchmark.csv");
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kRows));
  std::filesystem::remove(path);
}

void read(benchmark::State& state, const char* name) {
  const Pomdp model = instance();
  const std::string path = write_log(model, name);
  for (auto _ : state) {
    LogReader reader(path, model);
    LogBlock block;
    while (reader.read_block(block, 65536)) benchmark::DoNotOptimize(block.rows.actions.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kRows));
  std::filesystem::remove(path);
}

void BM_ReadPlain(benchmark::State& state) { read(state, "oas_benchmark.csv"); }
void BM_ReadGzip(benchmark::State& state) { read(state, "oas_benchmark.csv.gz"); }
void BM_ReadZstd(benchmark::State& state) { read(state, "oas_benchmark.csv.zst"); }

BENCHMARK(BM_WriteLog)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadPlain)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadGzip)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadZstd)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace oas
