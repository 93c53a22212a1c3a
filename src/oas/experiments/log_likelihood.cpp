#include "oas/experiments/log_likelihood.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr std::size_t kWindowRows = 1 << 19;
constexpr std::size_t kRowsAhead = 1 << 14;  // no chain of interest remembers longer

void require_rereadable(std::span<const std::string> paths, std::size_t memory_limit) {
  for (const std::string& path : paths) {
    OAS_REQUIRE(path != "-" && std::filesystem::is_regular_file(path),
                "{}: the rows need more than {} bytes of memory; likelihood estimators go over the "
                "rows many times, so that beyond this limit the log must be read again, which a "
                "pipe does not allow. Put it into a file, or allow more memory",
                input_name(path), memory_limit);
  }
}

void append_row(TransitionLikelihood& rows, Action action, Observation observation,
                std::span<const double> likelihoods) {
  if (likelihoods.empty()) {
    rows.append(action, observation);
  } else {
    rows.append(action, likelihoods);
  }
}

}  // namespace

void fold_block(const LogBlock& block, std::span<const double> propensities, PairFolder& folder) {
  const std::span<const Action> actions(block.rows.actions);
  const std::span<const Observation> observations(block.rows.observations);
  by_runs(
      block, [&] { folder.start_run(); },
      [&](std::size_t first, std::size_t count) {
        folder.add(actions.subspan(first, count), observations.subspan(first, count),
                   propensities.empty() ? propensities : propensities.subspan(first, count));
      });
}

// Reads the files once more and hands out windows of rows.
class LogLikelihood::Windows {
 public:
  explicit Windows(const LogLikelihood& log) : log_(log), window_(log.likelihood_) {}

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
    continues = starts_.front() == 0;
    window_.clear();
    for (std::size_t t = 0; t < end; ++t) {
      if (starts_[t] != 0) window_.start_run();
      append_row(window_, actions_[t], observations_[t],
                 std::span(likelihoods_).subspan(t * width_, width_));
    }
    return &window_;
  }

  [[nodiscard]] std::int64_t rows_read() const { return rows_read_; }

 private:
  bool read_block() {
    for (; file_ < log_.paths_.size(); ++file_, reader_.reset()) {
      if (!reader_) reader_.emplace(log_.open_(log_.paths_[file_]));
      if (!reader_->read_block(block_, kLogBlockRows)) continue;
      const std::size_t first = actions_.size();
      const Trajectory& rows = block_.rows;
      actions_.insert(actions_.end(), rows.actions.begin(), rows.actions.end());
      observations_.insert(observations_.end(), rows.observations.begin(), rows.observations.end());
      likelihoods_.insert(likelihoods_.end(), block_.likelihoods.begin(), block_.likelihoods.end());
      width_ = block_.likelihoods.size() / rows.size();
      starts_.resize(actions_.size(), 0);
      for (const std::size_t start : block_.run_starts) starts_[first + start] = 1;
      rows_read_ += static_cast<std::int64_t>(rows.size());
      if (log_.progress_) log_.progress_(static_cast<std::int64_t>(rows.size()));
      return true;
    }
    return false;
  }

  const LogLikelihood& log_;
  TransitionLikelihood window_;
  std::vector<Action> actions_;
  std::vector<Observation> observations_;
  std::vector<double> likelihoods_;  // [row][width_]
  std::size_t width_ = 0;            // states; 0: observations are finite
  std::vector<char> starts_;         // whether a row starts a run
  std::size_t used_ = 0;             // rows of the last window, without those ahead
  std::size_t file_ = 0;
  std::optional<LogReader> reader_;
  LogBlock block_;
  std::int64_t rows_read_ = 0;
};

LogLikelihood::LogLikelihood(const Pomdp& model, std::span<const std::string> paths,
                             std::size_t memory_limit, PairFolder* fold, RowsRead progress)
    : open_([&model](const std::string& path) { return LogReader(path, model); }),
      finite_(&model),
      paths_(paths.begin(), paths.end()),
      progress_(std::move(progress)),
      likelihood_(model),
      transitions_(static_cast<std::size_t>(model.num_actions()), 0) {
  const FoldBlock fold_pairs = [fold](const LogBlock& block, std::span<const double> propensities) {
    fold_block(block, propensities, *fold);
  };
  read_all(fold != nullptr ? fold_pairs : FoldBlock{}, memory_limit);
}

LogLikelihood::LogLikelihood(const ContinuousPomdp& model, std::span<const std::string> paths,
                             std::size_t memory_limit, const FoldBlock& fold, RowsRead progress)
    : open_([&model](const std::string& path) { return LogReader(path, model); }),
      paths_(paths.begin(), paths.end()),
      progress_(std::move(progress)),
      likelihood_(TransitionLikelihood::with_vectors(model.chain())),
      transitions_(static_cast<std::size_t>(model.num_actions()), 0) {
  read_all(fold, memory_limit);
}

void LogLikelihood::read_all(const FoldBlock& fold, std::size_t memory_limit) {
  OAS_REQUIRE(!paths_.empty(), "no log to read");
  LogBlock block;
  std::vector<double> ones;
  for (const std::string& path : paths_) {
    LogReader reader = open_(path);
    for (long line = reader.line(); reader.read_block(block, kLogBlockRows); line = reader.line()) {
      read_rows(block, path, line);
      const Trajectory& rows = block.rows;
      if (fold) {
        ones.assign(rows.size(), 1.0);
        fold(block, rows.propensities.empty() ? ones : rows.propensities);
      }
      rows_ += static_cast<std::int64_t>(rows.size());
      if (in_memory_ && likelihood_.bytes() > memory_limit) {
        require_rereadable(paths_, memory_limit);
        in_memory_ = false;
      }
      if (!in_memory_) likelihood_.clear();
      if (progress_) progress_(static_cast<std::int64_t>(rows.size()));
    }
  }
  end_run();
}

void LogLikelihood::read_rows(const LogBlock& block, const std::string& path, long line) {
  const Trajectory& rows = block.rows;
  const std::size_t width = block.likelihoods.size() / rows.size();
  auto run_start = block.run_starts.begin();
  for (std::size_t t = 0; t < rows.size(); ++t) {
    if (run_start != block.run_starts.end() && *run_start == t) {
      end_run();
      likelihood_.start_run();
      ++run_start;
      ++runs_;
    }
    try {
      append_row(likelihood_, rows.actions[t], rows.observations[t],
                 std::span(block.likelihoods).subspan(t * width, width));
    } catch (const InvalidArgument&) {
      if (finite_ == nullptr) throw;
      throw ParseError(
          path, line + 1 + static_cast<long>(t), 0,
          fmt::format("observation '{}' has probability 0 in every state under action '{}'",
                      finite_->observations()[rows.observations[t]],
                      finite_->actions()[rows.actions[t]]));
    }
    missing_ += rows.observations[t] == kMissing;
    ++transitions_[static_cast<std::size_t>(rows.actions[t])];
    last_ = rows.actions[t];
    ++run_rows_;
  }
}

void LogLikelihood::end_run() {
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

LikelihoodPass LogLikelihood::pass(const TransitionModel& transition, const PassOptions& options,
                                   Parallelism parallelism) const {
  if (in_memory_) {
    LikelihoodPass pass = likelihood_.pass(transition, options, parallelism);
    if (progress_) progress_(rows_);
    return pass;
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
                    fmt::join(paths_, ", "), reader.rows_read(), rows_));
  }
  return total;
}

void LogLikelihood::visit_rows(
    const std::function<void(Action, Observation, bool)>& receive) const {
  const auto visit = [&](const TransitionLikelihood& rows, std::size_t count, bool continues) {
    auto run = rows.run_starts().begin();
    for (std::size_t row = 0; row < count; ++row) {
      const bool starts = run != rows.run_starts().end() && *run == row;
      if (starts) ++run;
      receive(rows.action(row), rows.observation(row), starts && !(continues && row == 0));
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

LikelihoodRows LogLikelihood::rows(Parallelism parallelism) const {
  LikelihoodRows rows;
  rows.likelihood = [this, parallelism](const TransitionModel& transition,
                                        const PassOptions& options) {
    return pass(transition, options, parallelism);
  };
  rows.rows = rows_;
  rows.runs = runs_;
  rows.missing = missing_;
  rows.transitions = transitions_;
  return rows;
}

}  // namespace oas
