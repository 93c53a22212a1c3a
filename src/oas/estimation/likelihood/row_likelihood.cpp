#include "oas/estimation/likelihood/row_likelihood.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/detail/kept_rows.hpp"
#include "oas/estimation/likelihood/detail/likelihood_windows.hpp"
#include "oas/estimation/likelihood/detail/team_rows.hpp"

namespace oas {

using detail::kRowsAhead;
using detail::kWindowRows;
using detail::Window;

namespace {

void require_rereadable(const RowSource& source, std::size_t memory_limit) {
  OAS_REQUIRE(source.cannot_rewind().empty(),
              "{}: the rows need more than {} bytes of memory; likelihood estimators go over the "
              "rows many times, so that beyond this limit the log must be read again, which a "
              "pipe does not allow. Put it into a file, or allow more memory",
              source.cannot_rewind(), memory_limit);
}

}  // namespace

RowLikelihood::RowLikelihood(TransitionLikelihood likelihood, std::size_t memory_limit)
    : memory_limit_(memory_limit),
      likelihood_(std::move(likelihood)),
      transitions_(static_cast<std::size_t>(likelihood_.num_actions()), 0) {}

RowLikelihood::RowLikelihood(const Pomdp& model, std::size_t memory_limit)
    : RowLikelihood(TransitionLikelihood(model), memory_limit) {
  actions_ = model.actions();
  observations_ = model.observations();
}

RowLikelihood::RowLikelihood(const ContinuousPomdp& model, std::size_t memory_limit)
    : RowLikelihood(with_vectors(model.chain(), memory_limit)) {}

RowLikelihood RowLikelihood::with_vectors(const Pomdp& chain, std::size_t memory_limit) {
  RowLikelihood rows(TransitionLikelihood::with_vectors(chain), memory_limit);
  rows.vectors_ = true;
  return rows;
}

void RowLikelihood::start_run(RunStart start) {
  new_run_ = true;
  next_start_ = start;
}

void RowLikelihood::go_on() {
  new_run_ = false;
  goes_on_ = true;
}

void RowLikelihood::read(RowSource& source, const Block& also) {
  OAS_REQUIRE(source_ == nullptr && rows_ == 0, "rows of one source only can be read");
  source_ = &source;
  read_blocks(source, also, nullptr);
  end_run();
  new_run_ = true;
}

void RowLikelihood::count(RowSource& source, const Block& also, detail::KeptRows& kept) {
  in_memory_ = false;
  read_blocks(source, also, &kept);
}

void RowLikelihood::read_blocks(RowSource& source, const Block& also, detail::KeptRows* kept) {
  for (RowBlock block; source.next(block);) {
    const bool goes_on = !new_run_ && (block.run_starts.empty() || block.run_starts.front() != 0);
    std::size_t first = 0;
    by_runs(
        block, [&](RunStart start) { start_run(start); },
        [&](const RowBlock& rows) {
          add(rows, &source, first);
          first += rows.size();
        });
    if (also) also(block);
    if (kept != nullptr) kept->add(likelihood_, goes_on);
    if (in_memory_ && likelihood_.bytes() > memory_limit_) {
      require_rereadable(source, memory_limit_);
      in_memory_ = false;
    }
    if (!in_memory_) likelihood_.clear();
  }
}

void RowLikelihood::add(const RowBlock& rows, const RowSource* from, std::size_t first) {
  OAS_REQUIRE(in_memory_ || from != nullptr, "the rows before are not in memory");
  for (std::size_t t = 0; t < rows.size(); ++t) {
    if (new_run_) {
      end_run();
      likelihood_.start_run(std::exchange(next_start_, {}));
      ++runs_;
    }
    new_run_ = false;
    try {
      append_row(rows, t);
    } catch (const InvalidArgument&) {
      if (from == nullptr || vectors_) throw;
      from->fail(first + t,
                 fmt::format("observation '{}' has probability 0 in every state under action '{}'",
                             observations_[rows.observations[t]], actions_[rows.actions[t]]));
    }
    missing_ += rows.observations[t] == kMissing;
    ++transitions_[static_cast<std::size_t>(rows.actions[t])];
    last_ = rows.actions[t];
    ++run_rows_;
    ++rows_;
  }
}

void RowLikelihood::append_row(const RowBlock& rows, std::size_t t) {
  const std::size_t width = rows.likelihoods.size() / rows.size();
  detail::append_to(likelihood_, rows.actions[t], rows.observations[t],
                    rows.likelihoods.subspan(t * width, width));
}

void RowLikelihood::end_run() {
  // Nothing is seen of where the last row of a run led to.
  if (last_ && likelihood_.timing() == Timing::before) {
    --transitions_[static_cast<std::size_t>(*last_)];
  }
  last_.reset();
  if (run_rows_ > 0) ++run_lengths_[run_rows_];
  run_end_ += std::exchange(run_rows_, 0);
  while (static_cast<std::int64_t>((run_ends_.size() + 1) * kWindowRows) <= run_end_) {
    run_ends_.push_back(run_end_);
  }
}

std::unique_ptr<detail::RowWindows> RowLikelihood::windows() const {
  if (in_memory_) return detail::stored_windows(likelihood_);
  return detail::read_windows(*source_, likelihood_);
}

// Rows after the first `done`: of the run that the last of these is of, or of all.
std::int64_t RowLikelihood::rows_behind(std::int64_t done, const Forgetting& forgetting) const {
  if (!forgetting.by_run()) return rows_ - done;
  if (in_memory_) {
    const auto starts = likelihood_.run_starts();
    const auto next = std::lower_bound(starts.begin(), starts.end(), done);
    return next == starts.end() ? rows_ - done : static_cast<std::int64_t>(*next) - done;
  }
  const auto window = static_cast<std::size_t>(done) / kWindowRows - 1;
  return (window < run_ends_.size() ? run_ends_[window] : rows_) - done;
}

LikelihoodPass RowLikelihood::pass(const TransitionModel& transition, const PassOptions& options,
                                   Parallelism parallelism) const {
  if (team_rows_) return team_rows_->lead(transition, options, parallelism);
  if (in_memory_ && likelihood_.rows() < kWindowRows + kRowsAhead) {
    return likelihood_.pass(transition, options, parallelism);  // one window
  }
  detail::WindowTotal total(transition, options, likelihood_.num_observations());
  PassOptions part = detail::options_of_windows(options, rows_);
  const std::unique_ptr<detail::RowWindows> reader = windows();
  std::int64_t done = 0;
  for (Window window{}; total.possible() && reader->next(window);) {
    if (options.mean_weight) {
      part.mean_weight = [&options, before = static_cast<std::size_t>(done) - window.first](
                             std::size_t first, std::size_t count) {
        return options.mean_weight(before + first, count);
      };
    }
    done += window.own_rows();
    const std::int64_t behind = window.rows_ahead == 0 ? 0 : rows_behind(done, options.forgetting);
    window.look(part, behind);
    const LikelihoodPass pass = window.rows->pass(transition, part, parallelism);
    total.add(pass);
    part.first_belief = pass.last_belief;
  }
  if (total.possible() && reader->rows_read() != rows_) {
    throw IoError(
        fmt::format("{}: {} rows where {} were read at first; a log must not change "
                    "while it is estimated from",
                    source_->name(), reader->rows_read(), rows_));
  }
  return total.finish();
}

template <class Receive>
void RowLikelihood::visit(const Receive& receive) const {
  const std::unique_ptr<detail::RowWindows> reader = windows();
  for (Window window{}; reader->next(window);) {
    const std::span<const std::size_t> starts = window.rows->run_starts();
    auto run = static_cast<std::size_t>(
        std::lower_bound(starts.begin(), starts.end(), window.first) - starts.begin());
    for (std::size_t row = window.first; row < window.end - window.rows_ahead; ++row) {
      const bool starts_here = run < starts.size() && starts[run] == row;
      const RunStart start = starts_here ? window.rows->start_of(run++) : RunStart();
      const bool tells = starts_here && !(window.continues && row == window.first);
      if (!receive(*window.rows, row, tells ? &start : nullptr)) return;
    }
  }
}

void RowLikelihood::visit_rows(const ReceiveRow& receive, std::int64_t most) const {
  std::int64_t left = most;
  if (left <= 0) return;
  visit([&](const TransitionLikelihood& rows, std::size_t row, const RunStart* start) {
    receive(rows.action(row), rows.observation(row), start);
    return --left > 0;
  });
}

void RowLikelihood::require_possible(const TransitionModel& transition, std::string_view why,
                                     Parallelism parallelism) const {
  if (pass(transition, {}, parallelism).possible()) return;
  const auto states = static_cast<Eigen::Index>(likelihood_.num_states());
  Vector belief(states);
  std::int64_t index = 0;
  std::string message;
  visit([&](const TransitionLikelihood& rows, std::size_t row, const RunStart* start) {
    if (start != nullptr) start->belief(rows.start(), std::span(belief.data(), belief.size()));
    ++index;
    const Action action = rows.action(row);
    const auto step = [&] { belief = transition.matrix(action).transpose() * belief; };
    if (rows.timing() == Timing::after) step();
    belief.array() *= VectorView(rows.emission(row).data(), states).array();
    const double probability = belief.sum();
    if (!(probability > 0.0)) {
      const std::string seen =
          vectors_ ? "this reading"
                   : fmt::format("observation '{}' under action '{}'",
                                 observations_[rows.observation(row)], actions_[action]);
      message =
          fmt::format("row {}: after the rows before it, {} is impossible {}", index, seen, why);
      return false;
    }
    belief /= probability;
    if (rows.timing() == Timing::before) step();
    return true;
  });
  OAS_REQUIRE(!message.empty(), "the rows are impossible {}", why);
  if (source_ != nullptr) source_->fail_at(index - 1, message);
  detail::throw_invalid_argument(message);
}

LikelihoodRows RowLikelihood::rows(Parallelism parallelism, RowsRead progress) const {
  LikelihoodRows rows;
  rows.likelihood = [this, parallelism, progress = std::move(progress)](
                        const TransitionModel& transition, const PassOptions& options) {
    LikelihoodPass result = pass(transition, options, parallelism);
    if ((in_memory_ || team_rows_) && progress) progress(rows_);
    return result;
  };
  rows.rows = rows_;
  rows.runs = runs_;
  rows.missing = missing_;
  rows.transitions = in_memory_ ? likelihood_.transitions() : transitions_;
  return rows;
}

RunLengths RowLikelihood::run_lengths() const {
  return in_memory_ ? likelihood_.run_lengths() : run_lengths_;
}

void RowLikelihood::append(const RowLikelihood& other) {
  OAS_REQUIRE(in_memory_ && other.in_memory_ && vectors_ == other.vectors_,
              "rows can be put together only while they are in memory");
  likelihood_.append(other.likelihood_);
  rows_ += other.rows_;
  runs_ += other.runs_;
  missing_ += other.missing_;
  new_run_ = other.rows_ > 0 ? other.new_run_ : new_run_ || other.new_run_;
  if (other.new_run_) next_start_ = other.next_start_;
}

void RowLikelihood::save_counts(ByteWriter& out) const {
  for (const std::int64_t count : {rows_, runs_, missing_}) out.put(count);
  out.put_all(transitions_);
  out.put(goes_on_);
  out.put(last_.value_or(Action{-1}));
}

void RowLikelihood::add_counts(ByteReader& in) {
  in_memory_ = false;
  for (std::int64_t* count : {&rows_, &runs_, &missing_}) *count += in.get<std::int64_t>();
  const auto transitions = in.get_all<std::int64_t>(transitions_.size());
  for (std::size_t a = 0; a < transitions.size(); ++a) transitions_[a] += transitions[a];
  if (!in.get<bool>()) end_run();
  last_ = in.get<Action>();
  if (*last_ < 0) last_.reset();
}

void RowLikelihood::share(RowSource& source, std::shared_ptr<const detail::TeamRows> team_rows) {
  end_run();
  source_ = &source;
  team_rows_ = std::move(team_rows);
}

void RowLikelihood::save(ByteWriter& out) const {
  OAS_REQUIRE(in_memory_, "rows that are not in memory cannot be saved");
  likelihood_.save(out);
  out.put(missing_);
  out.put(new_run_);
  next_start_.save(out);
}

void RowLikelihood::load(ByteReader& in) {
  likelihood_.load(in);
  rows_ = static_cast<std::int64_t>(likelihood_.rows());
  runs_ = static_cast<std::int64_t>(likelihood_.runs());
  missing_ = in.get_integer(0, rows_);
  new_run_ = in.get<bool>();
  next_start_ = RunStart::loaded(in);
}

}  // namespace oas
