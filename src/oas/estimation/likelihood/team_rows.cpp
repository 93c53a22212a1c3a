#include "oas/estimation/likelihood/detail/team_rows.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr std::string_view kPassOrder = "pass";

void save_pass(const TransitionModel& transition, const PassOptions& options, ByteWriter& out) {
  out.put(transition.num_states());
  out.put(transition.num_actions());
  out.put_all(transition.values());
  out.put(options.batches);
  out.put(options.emissions);
  out.put_all(options.unknown_start);
  out.put_all(options.never_left);
  out.put(options.sensors ? options.sensors->num_observations() : 0);
  if (options.sensors) out.put_all(options.sensors->values());
}

TransitionModel load_transition(ByteReader& in) {
  const int states = in.get<int>();
  const int actions = in.get<int>();
  return {states, actions, in.get_all<double>()};
}

PassOptions load_options(const TransitionModel& transition, ByteReader& in) {
  PassOptions options;
  options.batches = in.get<int>();
  options.emissions = in.get<bool>();
  options.unknown_start = in.get_all<double>();
  options.never_left = in.get_all<std::size_t>();
  const int observations = in.get<int>();
  if (observations > 0) {
    options.sensors = std::make_shared<const ObservationModel>(
        transition.num_states(), transition.num_actions(), observations, in.get_all<double>());
  }
  return options;
}

bool goes_on_behind(const Window& window) {
  if (window.rows_ahead == 0) return false;
  const auto starts = window.rows->run_starts();
  return !std::binary_search(starts.begin(), starts.end(), window.end - window.rows_ahead);
}

}  // namespace

// One pass, as this rank goes through it.
struct TeamRows::Pass {
  const TransitionModel& transition;
  const PassOptions& options;  // of the whole pass
  Parallelism parallelism;
  PassOptions part;                    // of windows
  std::vector<LikelihoodPass> passes;  // of windows, up to the first impossible one
};

TeamRows::TeamRows(Team& team, const RowLikelihood& like, CountedRows counted,
                   std::span<const std::shared_ptr<RowSource>> sources)
    : team_(team), all_rows_(counted.num_rows()), own_(like) {
  const std::size_t windows = num_windows(static_cast<std::size_t>(all_rows_));
  ranks_ = static_cast<int>(std::min(windows, static_cast<std::size_t>(team.size())));
  const std::vector<Stretch> kept = counted.kept();
  std::vector<Stretch> wanted(static_cast<std::size_t>(team.size()));
  for (int rank = 0; rank < ranks_; ++rank) {
    const Stretch rows = rows_of(rank);
    if (can_be_handed_over(rows, kept)) wanted[static_cast<std::size_t>(rank)] = rows;
  }
  const Stretch handed_over = wanted[static_cast<std::size_t>(team.rank())];
  own_.likelihood_.reserve(handed_over.size());
  continues_ = hand_over(team, std::move(counted.own), kept, wanted, own_.likelihood_);
  if (!takes_part()) return;
  windows_ = windows_of(team.rank());
  if (handed_over.size() == 0) read(counted.rows_of_parts(), sources);
  look_at_ends();
}

Stretch TeamRows::windows_of(int rank) const {
  const std::size_t windows = num_windows(static_cast<std::size_t>(all_rows_));
  const auto index = static_cast<std::size_t>(rank);
  const auto ranks = static_cast<std::size_t>(ranks_);
  return {windows * index / ranks, windows * (index + 1) / ranks};
}

// With those ahead.
Stretch TeamRows::rows_of(int rank) const {
  const auto rows = static_cast<std::size_t>(all_rows_);
  const Stretch windows = windows_of(rank);
  if (rank + 1 == ranks_) return {windows.first * kWindowRows, rows};
  return {windows.first * kWindowRows, std::min(rows, windows.end * kWindowRows + kRowsAhead)};
}

// Where somebody keeps each of them, and they fit into the memory.
bool TeamRows::can_be_handed_over(Stretch rows, std::span<const Stretch> kept) const {
  std::size_t there = 0;
  for (const Stretch& some : kept) there += overlap(some, rows).size();
  return there == rows.size() && rows.size() * own_.stored().bytes_of_row() <= own_.memory_limit();
}

void TeamRows::read(std::span<const std::int64_t> rows_of_sources,
                    std::span<const std::shared_ptr<RowSource>> sources) {
  const Stretch rows = rows_of(team_.rank());
  const auto first = static_cast<std::int64_t>(rows.first);
  const auto end = static_cast<std::int64_t>(rows.end);
  std::vector<std::shared_ptr<RowSource>> used;
  std::int64_t place = 0;
  std::int64_t skip = 0;
  for (std::size_t i = 0; i < sources.size(); place += rows_of_sources[i++]) {
    if (place + rows_of_sources[i] <= first || place >= end) continue;
    if (used.empty()) skip = first - place;
    used.push_back(sources[i]);
  }
  slice_ = std::make_unique<RowSlice>(std::move(used), skip, end - first);
  RowBlock block;
  static_cast<void>(slice_->next(block));
  continues_ = block.run_starts.empty() || block.run_starts.front() != 0;
  slice_->rewind();
  own_.read(*slice_, {});
}

// The last window is kept where others are read again in every pass: its end is wanted first.
void TeamRows::look_at_ends() {
  const std::unique_ptr<RowWindows> reader = own_.windows();
  for (std::size_t i = 0; i < windows_.size(); ++i) static_cast<void>(reader->next(last_));
  goes_on_ = goes_on_behind(last_);
  if (own_.in_memory()) return slice_.reset();
  last_rows_ = *last_.rows;
  last_.rows = &*last_rows_;
}

void TeamRows::visit_rows(std::int64_t most, const ReceiveRow& receive) const {
  const bool last = team_.rank() + 1 == ranks_;
  const auto end = last ? all_rows_ : static_cast<std::int64_t>(windows_.end * kWindowRows);
  bool first = true;
  own_.visit_rows(
      [&](Action action, Observation observation, const RunStart* start) {
        const bool goes_on = std::exchange(first, false) && continues_;
        receive(action, observation, goes_on ? nullptr : start);
      },
      std::min(most, end - first_row()));
}

void TeamRows::visit_last_rows(std::size_t count, const ReceiveRow& receive) const {
  const TransitionLikelihood& rows = *last_.rows;
  const std::size_t end = last_.end - last_.rows_ahead;
  const auto starts = rows.run_starts();
  auto run = static_cast<std::size_t>(std::lower_bound(starts.begin(), starts.end(), end - count) -
                                      starts.begin());
  for (std::size_t row = end - count; row < end; ++row) {
    const bool starts_here = run < starts.size() && starts[run] == row;
    const RunStart start = starts_here ? rows.start_of(run++) : RunStart();
    receive(rows.action(row), rows.observation(row), starts_here ? &start : nullptr);
  }
}

LikelihoodPass TeamRows::lead(const TransitionModel& transition, const PassOptions& options,
                              Parallelism parallelism) const {
  const Exchange exchange(team_);
  ByteWriter order;
  save_pass(transition, options, order);
  team_.give_order(std::string(kPassOrder) + order.take());
  Pass pass{transition, options, parallelism, options_of_windows(options, all_rows_), {}};
  WindowTotal total = share(pass);
  for (int rank = 1; rank < ranks_; ++rank) {
    const std::string bytes = team_.receive(rank);
    ByteReader in(bytes);
    total.add_batches(in.get_text());
    if (rank + 1 == ranks_) total.load(in);
  }
  return total.finish();
}

void TeamRows::help(const std::string& order, Parallelism parallelism) const {
  if (!takes_part()) return;
  const Exchange exchange(team_);
  OAS_REQUIRE(order.starts_with(kPassOrder), "nobody knows what to do with '{}'", order);
  ByteReader in(std::string_view(order).substr(kPassOrder.size()));
  const TransitionModel transition = load_transition(in);
  const PassOptions options = load_options(transition, in);
  Pass pass{transition, options, parallelism, options_of_windows(options, all_rows_), {}};
  WindowTotal total = share(pass);
  ByteWriter out;
  out.put_text(total.take_batches());
  if (team_.rank() + 1 == ranks_) total.save(out);
  team_.send(0, out.take());
}

// The windows of this rank, added to what the ranks before have sent.
WindowTotal TeamRows::share(Pass& pass) const {
  const int rank = team_.rank();
  if (goes_on_) {
    ByteWriter out;
    out.put_all(guess_last_belief(pass));
    team_.send(rank + 1, out.take());
  }
  const std::vector<double> guess = guessed_first_belief(pass);
  if (!continues_ || !guess.empty()) pass_windows(pass, guess);
  WindowTotal total(pass.transition, pass.options, own_.stored().num_observations());
  if (rank > 0) {
    const std::string bytes = team_.receive(rank - 1);
    ByteReader in(bytes);
    std::vector<double> belief = in.get_all<double>();
    total.load(in);
    if (continues_ && total.possible() && (belief != guess || pass.passes.empty())) {
      correct(pass, std::move(belief));
    }
  }
  for (const LikelihoodPass& window : pass.passes) total.add(window);
  if (rank + 1 < ranks_) {
    ByteWriter out;
    out.put_all(pass.passes.empty() ? std::vector<double>() : pass.passes.back().last_belief);
    total.save(out);
    team_.send(rank + 1, out.take());
  }
  return total;
}

std::vector<double> TeamRows::guess_last_belief(const Pass& pass) const {
  PassOptions part = pass.part;
  part.batches = 0;
  part.emissions = false;
  const auto states = static_cast<std::size_t>(pass.transition.num_states());
  part.first_belief.assign(states, 1.0 / static_cast<double>(states));
  last_.look(part, 0);
  return last_.rows->guess_last_belief(pass.transition, part);
}

// Empty: there is none, or the rank before cannot tell before it is done.
std::vector<double> TeamRows::guessed_first_belief(const Pass& /*pass*/) const {
  if (!continues_) return {};
  const std::string bytes = team_.receive(team_.rank() - 1);
  return ByteReader(bytes).get_all<double>();
}

void TeamRows::pass_windows(Pass& pass, std::vector<double> belief) const {
  pass.passes.clear();
  pass.part.first_belief = std::move(belief);
  const std::unique_ptr<RowWindows> reader = own_.windows();
  Window window{};
  for (std::size_t i = 0; i < windows_.size() && reader->next(window); ++i) {
    if (i == 0) window.continues = continues_;
    window.look(pass.part, all_rows_);
    pass.passes.push_back(window.rows->pass(pass.transition, pass.part, pass.parallelism));
    if (!pass.passes.back().possible()) return;
    pass.part.first_belief = pass.passes.back().last_belief;
  }
}

// With another first belief: windows are passed again until their last beliefs are as before.
void TeamRows::correct(Pass& pass, std::vector<double> belief) const {
  if (pass.passes.empty() || !pass.passes.back().possible()) {
    return pass_windows(pass, std::move(belief));
  }
  pass.part.first_belief = std::move(belief);
  const std::unique_ptr<RowWindows> reader = own_.windows();
  Window window{};
  for (std::size_t i = 0; i < windows_.size() && reader->next(window); ++i) {
    if (i == 0) window.continues = continues_;
    if (i > 0 && !window.continues) return;
    window.look(pass.part, all_rows_);
    LikelihoodPass again = window.rows->pass(pass.transition, pass.part, pass.parallelism);
    const bool same = again.last_belief == pass.passes[i].last_belief;
    pass.passes[i] = std::move(again);
    if (same) return;
    if (!pass.passes[i].possible()) return pass.passes.resize(i + 1);
    pass.part.first_belief = pass.passes[i].last_belief;
  }
}

}  // namespace oas::detail
