#include "oas/experiments/log_triples.hpp"

#include <vector>

#include "oas/estimation/spectral.hpp"
#include "oas/io/log_reader.hpp"

namespace oas {

namespace {

constexpr std::size_t kTripleBlockRows = 1 << 16;

void fold_triples(const std::string& path, const Pomdp& model, TripleFolder& folder,
                  const RowsRead& progress) {
  LogReader reader(path, model);
  LogBlock block;
  while (reader.read_block(block, kTripleBlockRows)) {
    auto next_run = block.run_starts.begin();
    for (std::size_t t = 0; t < block.rows.size(); ++t) {
      if (next_run != block.run_starts.end() && *next_run == t) {
        folder.start_run();
        ++next_run;
      }
      folder.add(block.rows.actions[t], block.rows.observations[t]);
    }
    if (progress) progress(static_cast<std::int64_t>(block.rows.size()));
  }
}

}  // namespace

TransitionEstimate estimate_spectral_from_logs(const Pomdp& model,
                                               std::span<const std::string> paths,
                                               Parallelism parallelism, const RowsRead& progress) {
  std::vector<TripleFolder> parts(paths.size(),
                                  TripleFolder(model.num_actions(), model.num_observations()));
  parallel_for(paths.size(), parallelism,
               [&](std::size_t i) { fold_triples(paths[i], model, parts[i], progress); });
  for (std::size_t i = 1; i < parts.size(); ++i) parts[0].merge(parts[i]);
  Rng rng({1, 0, Role::estimation});
  return estimate_spectral(parts[0], model, {}, rng);
}

}  // namespace oas
