// Reading a log as `oas estimate` does, from a file in the page cache; reading a large model.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <filesystem>

#include "oas/formats/pomdp_text.hpp"
#include "oas/jobs/log_estimation.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/logs/log_writer.hpp"
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

// A sparse model of many states as large public files are: few successors, many observations.
std::string pomdp_text(int num_states) {
  std::string text = fmt::format(
      "discount: 0.99\nvalues: reward\nstates: {}\nactions: 4\nobservations: 28\n", num_states);
  for (int a = 0; a < 4; ++a) {
    for (int s = 0; s < num_states; ++s) {
      text += fmt::format("T: {} : {} : {} 0.800000\nT: {} : {} : {} 0.200000\n", a, s,
                          (s + a) % num_states, a, s, (s + 5 * a + 7) % num_states);
      for (int o = 0; o < 28; ++o) {
        text += fmt::format("O: {} : {} : {} {:.6f}\n", a, s, o, (o + s) % 28 == 0 ? 0.73 : 0.01);
      }
    }
  }
  return text + "R: * : 3 : * : * -1\n";
}

void BM_ParsePomdp(benchmark::State& state) {
  const std::string text = pomdp_text(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(parse_pomdp(text, "text"));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

BENCHMARK(BM_ParsePomdp)->Arg(250)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WriteLog)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadPlain)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadGzip)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadZstd)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace oas
