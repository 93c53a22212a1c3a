#include "oas/jobs/logged_runs.hpp"

namespace oas {

namespace {

// The part of row t of a column with several numbers per row.
void append_part(const std::vector<double>& column, std::size_t t, std::size_t rows,
                 std::vector<double>& out) {
  const std::size_t width = column.size() / rows;
  const auto first = column.begin() + static_cast<std::ptrdiff_t>(t * width);
  out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(width));
}

}  // namespace

void for_each_run(LogReader& reader, const std::function<void(const LoggedRun& run)>& receive) {
  LoggedRun run;
  const auto finish = [&] {
    if (!run.actions.empty()) receive(run);
    run = {};
  };
  for (LogBlock block; reader.read_block(block, 1 << 16);) {
    std::size_t next = 0;
    for (std::size_t t = 0; t < block.rows.size(); ++t) {
      if (next < block.run_starts.size() && block.run_starts[next] == t) {
        finish();
        if (!block.run_names.empty()) run.name = block.run_names[next];
        if (!block.first_steps.empty()) run.first_step = block.first_steps[next];
        if (!block.starts.empty()) run.start = block.starts[next];
        ++next;
      }
      run.actions.push_back(block.rows.actions[t]);
      run.observations.push_back(block.rows.observations[t]);
      append_part(block.readings, t, block.rows.size(), run.readings);
      append_part(block.likelihoods, t, block.rows.size(), run.likelihoods);
      if (!block.times.empty()) run.times.push_back(block.times[t]);
      if (!block.known.empty()) run.known.push_back(block.known[t]);
    }
  }
  finish();
}

}  // namespace oas
