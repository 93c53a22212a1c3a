#include "oas/estimation/likelihood/row_likelihood.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr std::size_t kWindowRows = 1 << 19;
constexpr std::size_t kRowsAhead = 1 << 14;  // no chain of interest remembers longer

void require_rereadable(const RowSource& source, std::size_t memory_limit) {
  OAS_REQUIRE(source.cannot_rewind().empty(),
              "{}: the rows need more than {} bytes of memory; likelihood estimators go over the "
              "rows many times, so that beyond this limit the log must be read again, which a "
              "pipe does not allow. Put it into a file, or allow more memory",
              source.cannot_rewind(), memory_limit);
}

void append_to(TransitionLikelihood& rows, Action action, Observation observation,
               std::span<const double> likelihoods) {
  if (likelihoods.empty()) {
    rows.append(action, observation);
  } else {
    rows.append(action, likelihoods);
  }
}

}  // namespace

// Some consecutive rows of `rows` with those ahead of them.
struct RowLikelihood::Window {
  const TransitionLikelihood* rows;
  std::size_t first;
  std::size_t end;  // of the rows ahead, too
  std::size_t rows_ahead;
  bool continues;  // the first row does not start a run
};

// All rows in windows, the same ones in memory and from files.
class RowLikelihood::Windows {
 public:
  virtual ~Windows() = default;
  // False at the end.
  virtual bool next(Window& window) = 0;
  [[nodiscard]] virtual std::int64_t rows_read() const = 0;

 protected:
  // How many of `rows` that are left are the next window's own: all, where few remain ahead.
  static std::size_t own_rows(std::size_t rows) {
    return rows < kWindowRows + kRowsAhead ? rows : kWindowRows;
  }
};

class RowLikelihood::StoredWindows final : public Windows {
 public:
  explicit StoredWindows(const TransitionLikelihood& rows) : rows_(rows) {}

  bool next(Window& window) override {
    const std::size_t left = rows_.rows() - done_;
    if (left == 0) return false;
    const std::size_t own = own_rows(left);
    window = {&rows_, done_, done_ + std::min(left, own + kRowsAhead), 0, false};
    window.rows_ahead = window.end - window.first - own;
    const auto starts = rows_.run_starts();
    window.continues = !std::binary_search(starts.begin(), starts.end(), done_);
    done_ += own;
    return true;
  }
  [[nodiscard]] std::int64_t rows_read() const override { return static_cast<std::int64_t>(done_); }

 private:
  const TransitionLikelihood& rows_;
  std::size_t done_ = 0;
};

// Reads the source once more.
class RowLikelihood::ReadWindows final : public Windows {
 public:
  explicit ReadWindows(const RowLikelihood& log) : source_(*log.source_), window_(log.likelihood_) {
    source_.rewind();
  }

  bool next(Window& window) override {
    actions_.erase(actions_.begin(), actions_.begin() + static_cast<std::ptrdiff_t>(used_));
    observations_.erase(observations_.begin(),
                        observations_.begin() + static_cast<std::ptrdiff_t>(used_));
    starts_.erase(starts_.begin(), starts_.begin() + static_cast<std::ptrdiff_t>(used_));
    likelihoods_.erase(likelihoods_.begin(),
                       likelihoods_.begin() + static_cast<std::ptrdiff_t>(used_ * width_));
    while (actions_.size() < kWindowRows + kRowsAhead && read_block()) {
    }
    if (actions_.empty()) return false;
    used_ = own_rows(actions_.size());
    const std::size_t end = std::min(actions_.size(), used_ + kRowsAhead);
    window = {&window_, 0, end, end - used_, !starts_.front()};
    window_.clear();
    for (std::size_t t = 0; t < end; ++t) {
      if (starts_[t]) window_.start_run(*starts_[t]);
      append_to(window_, actions_[t], observations_[t],
                std::span(likelihoods_).subspan(t * width_, width_));
    }
    return true;
  }

  [[nodiscard]] std::int64_t rows_read() const override { return rows_read_; }

 private:
  bool read_block() {
    RowBlock rows;
    if (!source_.next(rows)) return false;
    const std::size_t first = actions_.size();
    actions_.insert(actions_.end(), rows.actions.begin(), rows.actions.end());
    observations_.insert(observations_.end(), rows.observations.begin(), rows.observations.end());
    likelihoods_.insert(likelihoods_.end(), rows.likelihoods.begin(), rows.likelihoods.end());
    width_ = rows.likelihoods.size() / rows.size();
    starts_.resize(actions_.size());
    for (std::size_t run = 0; run < rows.run_starts.size(); ++run) {
      starts_[first + rows.run_starts[run]] = rows.starts.empty() ? RunStart() : rows.starts[run];
    }
    rows_read_ += static_cast<std::int64_t>(rows.size());
    return true;
  }

  RowSource& source_;
  TransitionLikelihood window_;
  std::vector<Action> actions_;
  std::vector<Observation> observations_;
  std::vector<double> likelihoods_;              // [row][width_]
  std::size_t width_ = 0;                        // states; 0: observations are finite
  std::vector<std::optional<RunStart>> starts_;  // of the run, where a row starts one
  std::size_t used_ = 0;                         // rows of the last window, without those ahead
  std::int64_t rows_read_ = 0;
};

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
    : RowLikelihood(TransitionLikelihood::with_vectors(model.chain()), memory_limit) {
  vectors_ = true;
}

void RowLikelihood::start_run(RunStart start) {
  new_run_ = true;
  next_start_ = start;
}

void RowLikelihood::read(RowSource& source, const Block& also) {
  OAS_REQUIRE(source_ == nullptr && rows_ == 0, "rows of one source only can be read");
  source_ = &source;
  for (RowBlock block; source.next(block);) {
    std::size_t first = 0;
    by_runs(
        block, [&](RunStart start) { start_run(start); },
        [&](const RowBlock& rows) {
          add(rows, &source, first);
          first += rows.size();
        });
    if (also) also(block);
    if (in_memory_ && likelihood_.bytes() > memory_limit_) {
      require_rereadable(source, memory_limit_);
      in_memory_ = false;
    }
    if (!in_memory_) likelihood_.clear();
  }
  end_run();
  new_run_ = true;
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
  append_to(likelihood_, rows.actions[t], rows.observations[t],
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

std::unique_ptr<RowLikelihood::Windows> RowLikelihood::windows() const {
  if (in_memory_) return std::make_unique<StoredWindows>(likelihood_);
  return std::make_unique<ReadWindows>(*this);
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
  if (in_memory_ && likelihood_.rows() < kWindowRows + kRowsAhead) {
    return likelihood_.pass(transition, options, parallelism);  // one window
  }
  LikelihoodPass total;
  total.log_likelihood = 0.0;
  total.score.assign(transition.values().size(), 0.0);
  total.counts = total.score;
  if (options.emissions) {
    const std::size_t rows = total.score.size() / static_cast<std::size_t>(transition.num_states());
    total.emission_counts.assign(rows * static_cast<std::size_t>(likelihood_.num_observations()),
                                 0.0);
  }
  PassOptions part = options;
  const auto num_windows = rows_ / static_cast<std::int64_t>(kWindowRows) + 1;
  if (options.batches > 0) {
    part.batches = static_cast<int>((options.batches + num_windows - 1) / num_windows);
  }
  const std::unique_ptr<Windows> reader = windows();
  std::int64_t done = 0;
  for (Window window{}; reader->next(window);) {
    if (!window.continues) part.first_belief.clear();
    part.first_row = window.first;
    part.end_row = window.end;
    part.rows_ahead = window.rows_ahead;
    done += static_cast<std::int64_t>(window.end - window.first - window.rows_ahead);
    part.rows_behind = window.rows_ahead == 0 ? 0 : rows_behind(done, options.forgetting);
    const LikelihoodPass pass = window.rows->pass(transition, part, parallelism);
    total.log_likelihood += pass.log_likelihood;
    for (std::size_t i = 0; i < total.score.size(); ++i) {
      total.score[i] += pass.score[i];
      total.counts[i] += pass.counts[i];
    }
    for (std::size_t i = 0; i < total.emission_counts.size(); ++i) {
      total.emission_counts[i] += pass.emission_counts[i];
    }
    if (!pass.unknown_starts.empty()) total.unknown_starts.resize(pass.unknown_starts.size(), 0.0);
    for (std::size_t i = 0; i < pass.unknown_starts.size(); ++i) {
      total.unknown_starts[i] += pass.unknown_starts[i];
    }
    total.batch_emission_counts.insert(total.batch_emission_counts.end(),
                                       pass.batch_emission_counts.begin(),
                                       pass.batch_emission_counts.end());
    total.batch_scores.insert(total.batch_scores.end(), pass.batch_scores.begin(),
                              pass.batch_scores.end());
    total.batch_steps.insert(total.batch_steps.end(), pass.batch_steps.begin(),
                             pass.batch_steps.end());
    total.handover_error = std::max(total.handover_error, pass.handover_error);
    part.first_belief = pass.last_belief;
    if (!pass.possible()) break;
  }
  if (!total.possible()) {
    std::fill(total.score.begin(), total.score.end(), 0.0);
    std::fill(total.counts.begin(), total.counts.end(), 0.0);
    std::fill(total.emission_counts.begin(), total.emission_counts.end(), 0.0);
  } else if (reader->rows_read() != rows_) {
    throw IoError(
        fmt::format("{}: {} rows where {} were read at first; a log must not change "
                    "while it is estimated from",
                    source_->name(), reader->rows_read(), rows_));
  }
  return total;
}

template <class Receive>
void RowLikelihood::visit(const Receive& receive) const {
  const std::unique_ptr<Windows> reader = windows();
  for (Window window{}; reader->next(window);) {
    const std::span<const std::size_t> starts = window.rows->run_starts();
    auto run = static_cast<std::size_t>(
        std::lower_bound(starts.begin(), starts.end(), window.first) - starts.begin());
    for (std::size_t row = window.first; row < window.end - window.rows_ahead; ++row) {
      const bool starts_here = run < starts.size() && starts[run] == row;
      const RunStart start = starts_here ? window.rows->start_of(run++) : RunStart();
      const bool tells = starts_here && !(window.continues && row == window.first);
      receive(*window.rows, row, tells ? &start : nullptr);
    }
  }
}

void RowLikelihood::visit_rows(
    const std::function<void(Action, Observation, const RunStart*)>& receive) const {
  visit([&](const TransitionLikelihood& rows, std::size_t row, const RunStart* start) {
    receive(rows.action(row), rows.observation(row), start);
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
    if (!message.empty()) return;
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
          fmt::format("row {}: after the rows before it, {} cannot happen {}", index, seen, why);
      return;
    }
    belief /= probability;
    if (rows.timing() == Timing::before) step();
  });
  OAS_REQUIRE(!message.empty(), "the rows cannot happen {}", why);
  if (source_ != nullptr) source_->fail_at(index - 1, message);
  detail::throw_invalid_argument(message);
}

LikelihoodRows RowLikelihood::rows(Parallelism parallelism, RowsRead progress) const {
  LikelihoodRows rows;
  rows.likelihood = [this, parallelism, progress = std::move(progress)](
                        const TransitionModel& transition, const PassOptions& options) {
    LikelihoodPass result = pass(transition, options, parallelism);
    if (in_memory_ && progress) progress(rows_);
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
