#include "oas/jobs/log_cells.hpp"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/parallel.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/logs/log_writer.hpp"
#include "oas/model/model_json.hpp"

namespace oas {

namespace {

// `count` rows from `first` on.
Trajectory cut(const Trajectory& rows, std::size_t first, std::size_t count) {
  Trajectory part;
  const auto copy = [&](const auto& from, auto& to) {
    if (from.empty()) return;
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
    to.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  copy(rows.actions, part.actions);
  copy(rows.observations, part.observations);
  copy(rows.propensities, part.propensities);
  copy(rows.rewards, part.rewards);
  copy(rows.states, part.states);
  return part;
}

void require_known_start(const RunStart& start, const std::string& log) {
  OAS_REQUIRE(!start.is_unknown(),
              "from: a unit of {} had rows before, so that it starts in an unknown state, which a "
              "log of cells cannot say; write the cells of all rows",
              log);
}

}  // namespace

std::int64_t discretise_log(const ContinuousPomdp& model, const Pomdp& finite, const Cells& cells,
                            const OneLog& log, const std::string& path, const RowsRead& progress,
                            const LogOptions& options) {
  const Gaps gaps(options.gaps);
  OAS_REQUIRE(
      gaps.kind != Gaps::Kind::new_run,
      "gaps: a log cannot say that a run starts in an unknown state; action=NAME and repeat "
      "put rows in");
  OAS_REQUIRE(
      Outliers(options.outliers).kind != Outliers::Kind::share,
      "outliers: cells are made of readings as they are, which a share of outliers does not "
      "enter; use 'missing'");
  LogReader reader(log, model, options);
  reader.set_rows(LogRows::as_written);
  OAS_REQUIRE(!gaps.inserts_rows() || !reader.has_reward(),
              "{}: rows that are put into gaps have no reward; leave the column out (--columns "
              "reward=)",
              reader.name());
  OAS_REQUIRE(!reader.has_likelihood(), "{}: contains likelihoods, but cells need observations",
              reader.name());
  LogColumns columns;
  columns.run = true;
  columns.propensity = reader.has_propensity();
  columns.reward = reader.has_reward();
  columns.state = reader.has_state();
  LogWriter writer(path, finite, columns);
  long run = -1;
  std::string name;  // of the run
  for (LogBlock block; reader.read_block(block, kLogBlockRows);) {
    to_cells(block.readings, cells, block.rows.observations);
    std::size_t first = 0;
    std::size_t started = 0;
    by_runs(
        block.view(),
        [&](const RunStart& start) {
          require_known_start(start, reader.name());
          ++run;
          if (reader.has_run()) name = block.run_names[started++];
        },
        [&](const RowBlock& part) {
          const Trajectory rows = cut(block.rows, first, part.size());
          if (reader.has_run()) {
            writer.write(rows, run, name);
          } else {
            writer.write(rows, run);
          }
          first += part.size();
        });
    if (progress) progress(static_cast<std::int64_t>(block.rows.size()));
  }
  writer.commit();
  return static_cast<std::int64_t>(reader.rows_read());
}

bool has_draws_under_densities(const nlohmann::ordered_json& estimate,
                               const ContinuousPomdp& model) {
  const std::size_t densities = model.density_draws().draws.size();
  return densities > 0 && estimate.contains("labelled_rows") && estimate.contains("draws") &&
         estimate["draws"].size() % densities == 0;
}

nlohmann::ordered_json discretised_document(const ContinuousPomdp& model, const Pomdp& finite,
                                            const Cells& cells, nlohmann::ordered_json estimate,
                                            Parallelism parallelism) {
  nlohmann::ordered_json document = model_to_json(finite);
  document["cells"] = cells_to_json(cells);
  if (estimate.is_null()) return document;
  if (has_draws_under_densities(estimate, model)) {
    std::vector<nlohmann::ordered_json> drawn(model.density_draws().draws.size());
    parallel_for(drawn.size(), parallelism, [&](std::size_t k) {
      drawn[k] = model_to_json(discretise(model.with_draw(k), cells))["observation"];
    });
    estimate["sensor_draws"] = drawn;
  }
  document["estimate"] = std::move(estimate);
  return document;
}

}  // namespace oas
