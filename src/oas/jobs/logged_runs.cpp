#include "oas/jobs/logged_runs.hpp"

#include <fmt/format.h>

#include <optional>

namespace oas {

namespace {

// The part of row t of a column with several numbers per row.
void append_part(const std::vector<double>& column, std::size_t t, std::size_t rows,
                 std::vector<double>& out) {
  const std::size_t width = column.size() / rows;
  const auto first = column.begin() + static_cast<std::ptrdiff_t>(t * width);
  out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(width));
}

// What follows is more of the same run.
void go_on(LoggedRun& run) {
  run.actions.clear();
  run.observations.clear();
  for (auto* column : {&run.rewards, &run.readings, &run.likelihoods, &run.times}) column->clear();
  run.known.clear();
  run.last_action = false;
  run.is_more = true;
}

template <class Filter, class Update>
std::int64_t walk_piece(Filter& filter, const LoggedRun& piece, const Update& update,
                        const std::function<void(std::size_t, std::span<const double>)>& visit) {
  std::int64_t impossible = 0;
  if (!piece.is_more) impossible += !(filter.reset(piece.start) > 0.0);
  for (std::size_t t = 0; t < piece.actions.size(); ++t) {
    if (visit) visit(t, filter.belief());
    impossible += !(update(filter, t) > 0.0);
  }
  return impossible;
}

}  // namespace

std::int64_t PieceFilter::walk(
    const LoggedRun& piece,
    const std::function<void(std::size_t, std::span<const double>)>& visit) {
  if (!piece.is_more) {
    const bool exact = finite_ && piece.likelihoods.empty();
    if (exact && !exact_) exact_.emplace(chain_);
    if (!exact && !brought_) brought_.emplace(chain_);
    if (!exact) exact_.reset();
  }
  if (exact_) {
    return walk_piece(
        *exact_, piece,
        [&](BeliefFilter& filter, std::size_t t) {
          return filter.update(piece.actions[t], piece.observations[t]);
        },
        visit);
  }
  const auto states = static_cast<std::size_t>(chain_.num_states());
  return walk_piece(
      *brought_, piece,
      [&](LikelihoodFilter& filter, std::size_t t) {
        return filter.update(piece.actions[t],
                             std::span(piece.likelihoods).subspan(t * states, states));
      },
      visit);
}

FilteredRun filter_run(const Pomdp& chain, bool finite, const LoggedRun& run,
                       const std::function<void(std::size_t, std::span<const double>)>& visit) {
  PieceFilter filter(chain, finite);
  FilteredRun result;
  result.impossible = filter.walk(run, visit);
  result.belief.assign(filter.belief().begin(), filter.belief().end());
  return result;
}

void for_each_run(LogReader& reader, const std::function<void(const LoggedRun& run)>& receive,
                  std::size_t most_rows) {
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
      if (run->actions.size() == most_rows) {
        receive(*run);
        go_on(*run);
      }
    }
    start_runs(block.rows.size());  // runs without rows
  }
  if (run) receive(*run);
}

}  // namespace oas
