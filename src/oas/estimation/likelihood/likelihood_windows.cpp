#include "oas/estimation/likelihood/detail/likelihood_windows.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace oas::detail {

namespace {

class StoredWindows final : public RowWindows {
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
class ReadWindows final : public RowWindows {
 public:
  ReadWindows(RowSource& source, const TransitionLikelihood& like)
      : source_(source), window_(like) {
    window_.clear();
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

void add_to(std::vector<double>& sum, const std::vector<double>& more) {
  if (!more.empty()) sum.resize(more.size(), 0.0);
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

template <class T>
void append_all(std::vector<T>& list, const std::vector<T>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

void Window::look(PassOptions& options, std::int64_t rows_behind) const {
  if (!continues) options.first_belief.clear();
  options.first_row = first;
  options.end_row = end;
  options.rows_ahead = rows_ahead;
  options.rows_behind = rows_behind;
}

std::unique_ptr<RowWindows> stored_windows(const TransitionLikelihood& rows) {
  return std::make_unique<StoredWindows>(rows);
}

std::unique_ptr<RowWindows> read_windows(RowSource& source, const TransitionLikelihood& like) {
  return std::make_unique<ReadWindows>(source, like);
}

void append_to(TransitionLikelihood& rows, Action action, Observation observation,
               std::span<const double> likelihoods) {
  if (likelihoods.empty()) {
    rows.append(action, observation);
  } else {
    rows.append(action, likelihoods);
  }
}

PassOptions options_of_windows(const PassOptions& options, std::int64_t rows) {
  PassOptions part = options;
  const auto windows = rows / static_cast<std::int64_t>(kWindowRows) + 1;
  if (options.batches > 0) {
    part.batches = static_cast<int>((options.batches + windows - 1) / windows);
  }
  return part;
}

WindowTotal::WindowTotal(const TransitionModel& transition, const PassOptions& options,
                         int num_observations) {
  total_.log_likelihood = 0.0;
  total_.score.assign(transition.values().size(), 0.0);
  total_.counts = total_.score;
  if (!options.emissions) return;
  const std::size_t rows = total_.score.size() / static_cast<std::size_t>(transition.num_states());
  total_.emission_counts.assign(rows * static_cast<std::size_t>(num_observations), 0.0);
}

void WindowTotal::add(const LikelihoodPass& pass) {
  if (!possible()) return;
  total_.log_likelihood += pass.log_likelihood;
  add_to(total_.score, pass.score);
  add_to(total_.counts, pass.counts);
  add_to(total_.emission_counts, pass.emission_counts);
  add_to(total_.unknown_starts, pass.unknown_starts);
  append_all(total_.batch_emission_counts, pass.batch_emission_counts);
  append_all(total_.batch_scores, pass.batch_scores);
  append_all(total_.batch_steps, pass.batch_steps);
  total_.handover_error = std::max(total_.handover_error, pass.handover_error);
}

LikelihoodPass WindowTotal::finish() {
  if (!possible()) {
    for (auto* sums : {&total_.score, &total_.counts, &total_.emission_counts}) {
      std::fill(sums->begin(), sums->end(), 0.0);
    }
  }
  return std::move(total_);
}

void WindowTotal::save(ByteWriter& out) const {
  out.put(total_.log_likelihood);
  out.put(total_.handover_error);
  for (const auto* sums :
       {&total_.score, &total_.counts, &total_.emission_counts, &total_.unknown_starts}) {
    out.put_all(*sums);
  }
}

void WindowTotal::load(ByteReader& in) {
  total_.log_likelihood = in.get<double>();
  total_.handover_error = in.get<double>();
  for (auto* sums :
       {&total_.score, &total_.counts, &total_.emission_counts, &total_.unknown_starts}) {
    *sums = in.get_all<double>();
  }
}

std::string WindowTotal::take_batches() {
  ByteWriter out;
  out.put_all(std::exchange(total_.batch_steps, {}));
  out.put_all(std::exchange(total_.batch_scores, {}));
  out.put_all(std::exchange(total_.batch_emission_counts, {}));
  return out.take();
}

void WindowTotal::add_batches(std::string_view bytes) {
  ByteReader in(bytes);
  append_all(total_.batch_steps, in.get_all<std::int64_t>());
  append_all(total_.batch_scores, in.get_all<double>());
  append_all(total_.batch_emission_counts, in.get_all<double>());
}

}  // namespace oas::detail
