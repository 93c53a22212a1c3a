#include "oas/jobs/logged_runs.hpp"

#include <fmt/format.h>

#include <optional>

#include "oas/belief/filter.hpp"
#include "oas/belief/likelihood_filter.hpp"

namespace oas {

namespace {

// The part of row t of a column with several numbers per row.
void append_part(const std::vector<double>& column, std::size_t t, std::size_t rows,
                 std::vector<double>& out) {
  const std::size_t width = column.size() / rows;
  const auto first = column.begin() + static_cast<std::ptrdiff_t>(t * width);
  out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(width));
}

template <class Filter, class Update>
FilteredRun walk(Filter filter, const LoggedRun& run, const Update& update,
                 const std::function<void(std::size_t, std::span<const double>)>& visit) {
  FilteredRun result;
  result.impossible += !(filter.reset(run.start) > 0.0);
  for (std::size_t t = 0; t < run.actions.size(); ++t) {
    if (visit) visit(t, filter.belief());
    result.impossible += !(update(filter, t) > 0.0);
  }
  result.belief.assign(filter.belief().begin(), filter.belief().end());
  return result;
}

}  // namespace

FilteredRun filter_run(const Pomdp& chain, bool finite, const LoggedRun& run,
                       const std::function<void(std::size_t, std::span<const double>)>& visit) {
  if (finite && run.likelihoods.empty()) {
    return walk(
        BeliefFilter(chain), run,
        [&](BeliefFilter& filter, std::size_t t) {
          return filter.update(run.actions[t], run.observations[t]);
        },
        visit);
  }
  const auto states = static_cast<std::size_t>(chain.num_states());
  return walk(
      LikelihoodFilter(chain), run,
      [&](LikelihoodFilter& filter, std::size_t t) {
        return filter.update(run.actions[t],
                             std::span(run.likelihoods).subspan(t * states, states));
      },
      visit);
}

void for_each_run(LogReader& reader, const std::function<void(const LoggedRun& run)>& receive) {
  reader.set_rows(LogRows::all);
  std::optional<LoggedRun> run;
  std::int64_t unnamed = 0;  // units so far, where the log does not name them
  for (LogBlock block; reader.read_block(block, 1 << 16);) {
    std::size_t next = 0;
    const auto start_runs = [&](std::size_t t) {
      for (; next < block.run_starts.size() && block.run_starts[next] == t; ++next) {
        if (run) receive(*run);
        run.emplace();
        if (!block.first_steps.empty()) run->first_step = block.first_steps[next];
        if (block.run_names.empty() && !run->goes_on()) ++unnamed;
        run->unit =
            block.run_names.empty() ? fmt::format("{}", unnamed - 1) : block.run_names[next];
        if (!block.starts.empty()) run->start = block.starts[next];
      }
    };
    std::size_t last = 0;
    for (std::size_t t = 0; t < block.rows.size(); ++t) {
      start_runs(t);
      run->actions.push_back(block.rows.actions[t]);
      run->observations.push_back(block.rows.observations[t]);
      if (!block.rows.rewards.empty()) run->rewards.push_back(block.rows.rewards[t]);
      append_part(block.readings, t, block.rows.size(), run->readings);
      append_part(block.likelihoods, t, block.rows.size(), run->likelihoods);
      if (!block.times.empty()) run->times.push_back(block.times[t]);
      if (!block.known.empty()) run->known.push_back(block.known[t]);
      if (last < block.last_actions.size() && block.last_actions[last] == t) {
        run->last_action = true;
        ++last;
      }
    }
    start_runs(block.rows.size());  // runs without rows
  }
  if (run) receive(*run);
}

}  // namespace oas
