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

// Reads the source once more and hands out windows of rows.
class RowLikelihood::Windows {
 public:
  explicit Windows(const RowLikelihood& log) : source_(*log.source_), window_(log.likelihood_) {
    source_.rewind();
  }

  // The next window with its rows ahead; null at the end.
  const TransitionLikelihood* next(std::size_t& rows_ahead, bool& continues) {
    actions_.erase(actions_.begin(), actions_.begin() + static_cast<std::ptrdiff_t>(used_));
    observations_.erase(observations_.begin(),
                        observations_.begin() + static_cast<std::ptrdiff_t>(used_));
    starts_.erase(starts_.begin(), starts_.begin() + static_cast<std::ptrdiff_t>(used_));
    likelihoods_.erase(likelihoods_.begin(),
                       likelihoods_.begin() + static_cast<std::ptrdiff_t>(used_ * width_));
    while (actions_.size() < kWindowRows + kRowsAhead && read_block()) {
    }
    if (actions_.empty()) return nullptr;
    used_ = actions_.size() < kWindowRows + kRowsAhead ? actions_.size() : kWindowRows;
    const std::size_t end = std::min(actions_.size(), used_ + kRowsAhead);
    rows_ahead = end - used_;
    continues = !starts_.front();
    window_.clear();
    for (std::size_t t = 0; t < end; ++t) {
      if (starts_[t]) window_.start_run(*starts_[t]);
      append_to(window_, actions_[t], observations_[t],
                std::span(likelihoods_).subspan(t * width_, width_));
    }
    return &window_;
  }

  [[nodiscard]] std::int64_t rows_read() const { return rows_read_; }

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

LikelihoodPass RowLikelihood::pass(const TransitionModel& transition, const PassOptions& options,
                                   Parallelism parallelism) const {
  if (in_memory_) return likelihood_.pass(transition, options, parallelism);
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
  const auto windows = rows_ / static_cast<std::int64_t>(kWindowRows) + 1;
  if (options.batches > 0) {
    part.batches = static_cast<int>((options.batches + windows - 1) / windows);
  }
  Windows reader(*this);
  bool continues = false;
  std::int64_t done = 0;
  std::size_t index = 0;
  while (const TransitionLikelihood* window = reader.next(part.rows_ahead, continues)) {
    if (!continues) part.first_belief.clear();
    done += static_cast<std::int64_t>(window->rows() - part.rows_ahead);
    const bool by_run = options.forgetting.by_run() && index < run_ends_.size();
    part.rows_behind = part.rows_ahead == 0 ? 0 : (by_run ? run_ends_[index] : rows_) - done;
    ++index;
    const LikelihoodPass pass = window->pass(transition, part, parallelism);
    total.log_likelihood += pass.log_likelihood;
    for (std::size_t i = 0; i < total.score.size(); ++i) {
      total.score[i] += pass.score[i];
      total.counts[i] += pass.counts[i];
    }
    for (std::size_t i = 0; i < total.emission_counts.size(); ++i) {
      total.emission_counts[i] += pass.emission_counts[i];
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
  } else if (reader.rows_read() != rows_) {
    throw IoError(
        fmt::format("{}: {} rows where {} were read at first; a log must not change "
                    "while it is estimated from",
                    source_->name(), reader.rows_read(), rows_));
  }
  return total;
}

void RowLikelihood::visit_rows(
    const std::function<void(Action, Observation, const RunStart*)>& receive) const {
  const auto visit = [&](const TransitionLikelihood& rows, std::size_t count, bool continues) {
    const auto run_starts = rows.run_starts();
    std::size_t run = 0;
    for (std::size_t row = 0; row < count; ++row) {
      const bool starts = run < run_starts.size() && run_starts[run] == row;
      const RunStart start = starts ? rows.start_of(run++) : RunStart();
      const bool tells = starts && !(continues && row == 0);
      receive(rows.action(row), rows.observation(row), tells ? &start : nullptr);
    }
  };
  if (in_memory_) return visit(likelihood_, likelihood_.rows(), false);
  Windows reader(*this);
  std::size_t rows_ahead = 0;
  bool continues = false;
  while (const TransitionLikelihood* window = reader.next(rows_ahead, continues)) {
    visit(*window, window->rows() - rows_ahead, continues);
  }
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
  out.put(next_start_);
}

void RowLikelihood::load(ByteReader& in) {
  likelihood_.load(in);
  rows_ = static_cast<std::int64_t>(likelihood_.rows());
  runs_ = static_cast<std::int64_t>(likelihood_.runs());
  missing_ = in.get_integer(0, rows_);
  new_run_ = in.get<bool>();
  next_start_ = in.get<RunStart>();
}

}  // namespace oas
