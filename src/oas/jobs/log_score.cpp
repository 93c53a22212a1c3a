#include "oas/jobs/log_score.hpp"

#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include "oas/belief/filter.hpp"
#include "oas/belief/likelihood_filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/model/reading_likelihood.hpp"

namespace oas {

namespace {

constexpr std::int64_t kFirstBatchRows = 64;
constexpr std::size_t kMostBatches = 128;  // per file; then neighbours are merged
constexpr std::size_t kFewestBatches = 16;

// Sums over some consecutive rows, one per model.
struct Batch {
  std::vector<double> sums;
  std::int64_t observed = 0;
};

struct FileScore {
  std::vector<Batch> batches;
  std::vector<std::int64_t> impossible;
  std::int64_t rows = 0;
  std::int64_t runs = 0;
  std::int64_t missing = 0;
};

// Leaves the likelihood of the state that is known, if it is.
void keep_known(const LogBlock& block, std::size_t t, std::vector<double>& likelihood) {
  if (block.known.empty() || block.known[t] < 0) return;
  const auto state = static_cast<std::size_t>(block.known[t]);
  for (std::size_t s = 0; s < likelihood.size(); ++s) likelihood[s] *= s == state;
}

// A model's belief along the rows of a block.
class FiniteFilter {
 public:
  explicit FiniteFilter(const Pomdp& model)
      : model_(&model),
        filter_(model),
        known_filter_(model),
        likelihood_(static_cast<std::size_t>(model.num_states())) {}
  double reset(const RunStart& start) {
    RunStart mine = start;
    const FirstReading* const first = start.first();
    if (first != nullptr && first->observation != kMissing) {
      mine = start.with(first_reading(*model_->first_observation(), first->observation));
    }
    known_filter_.reset(mine);
    return filter_.reset(mine);
  }
  double update(const LogBlock& block, std::size_t t) {
    const Action action = block.rows.actions[t];
    const Observation seen = block.rows.observations[t];
    if (block.known.empty()) return filter_.update(action, seen);
    for (State s{0}; s < model_->num_states(); ++s) {
      likelihood_[static_cast<std::size_t>(s)] =
          seen == kMissing ? 1.0 : model_->sensors()(action, s, seen);
    }
    keep_known(block, t, likelihood_);
    return known_filter_.update(action, likelihood_);
  }

 private:
  const Pomdp* model_;
  BeliefFilter filter_;
  LikelihoodFilter known_filter_;
  std::vector<double> likelihood_;
};

class VectorFilter {
 public:
  VectorFilter(const ContinuousPomdp& model, double outlier_share)
      : filter_(model.chain()), likelihood_(static_cast<std::size_t>(model.num_states()), 1.0) {
    if (model.has_sensors()) sensors_.emplace(model.sensors(), outlier_share);
    if (model.first_density()) first_.emplace(*model.first_density(), outlier_share);
  }
  double reset(const RunStart& start) {
    const FirstReading* const first = start.first();
    if (first == nullptr || first->reading.empty()) return filter_.reset(start);
    FirstReading mine = *first;
    (*first_)(Action{0}, mine.reading, mine.likelihood);
    return filter_.reset(start.with(std::move(mine)));
  }
  double update(const LogBlock& block, std::size_t t) {
    const Action action = block.rows.actions[t];
    const std::size_t n = likelihood_.size();
    const bool seen = block.rows.observations[t] != kMissing;
    if (block.readings.empty() || !seen) {  // the log's own likelihoods; 1 where nothing was seen
      return filter_.update(action, std::span(block.likelihoods).subspan(t * n, n));
    }
    const std::size_t d = block.readings.size() / block.rows.size();
    (*sensors_)(action, std::span(block.readings).subspan(t * d, d), likelihood_);
    keep_known(block, t, likelihood_);
    return filter_.update(action, likelihood_);
  }

 private:
  LikelihoodFilter filter_;
  std::optional<ReadingLikelihood> sensors_;
  std::optional<ReadingLikelihood> first_;  // of first readings
  std::vector<double> likelihood_;
};

template <class Filter>
class Scorer {
 public:
  template <class Model, class... Settings>
  explicit Scorer(std::span<const Model> models, const Settings&... settings) {
    for (const Model& model : models) filters_.emplace_back(model, settings...);
    result_.impossible.assign(models.size(), 0);
    clear();
  }

  void add(const LogBlock& block) {
    std::size_t run = 0;
    std::size_t last = 0;
    const auto start_runs = [&](std::size_t t) {
      for (; run < block.run_starts.size() && block.run_starts[run] == t; ++run) {
        start_run(block.starts.empty() ? RunStart() : block.starts[run]);
      }
    };
    for (std::size_t t = 0; t < block.rows.size(); ++t) {
      start_runs(t);
      if (last < block.last_actions.size() && block.last_actions[last] == t) {
        ++last;  // nothing was seen of what it led to
        continue;
      }
      add_row(block, t);
    }
    start_runs(block.rows.size());  // runs without rows
  }

  FileScore finish() {
    if (current_.observed > 0) close();
    return std::move(result_);
  }

 private:
  void start_run(const RunStart& start) {
    ++result_.runs;
    if (start.first() == nullptr) {
      for (Filter& filter : filters_) filter.reset(start);
    } else {
      score(start.first()->observation != kMissing,
            [&](Filter& filter) { return filter.reset(start); });
    }
  }

  void add_row(const LogBlock& block, std::size_t t) {
    const bool known = !block.known.empty() && block.known[t] >= 0;
    score(known || block.rows.observations[t] != kMissing,
          [&](Filter& filter) { return filter.update(block, t); });
  }

  // A row whose probability `take` returns when a filter takes it in; `seen`: it tells something.
  template <class Take>
  void score(bool seen, const Take& take) {
    ++result_.rows;
    for (std::size_t m = 0; m < filters_.size(); ++m) {
      const double probability = take(filters_[m]);
      if (!seen) continue;
      if (!(probability > 0.0)) ++result_.impossible[m];
      current_.sums[m] += std::log(probability);
    }
    result_.missing += !seen;
    current_.observed += seen;
    if (current_.observed == batch_rows_) close();
  }

  void close() {
    auto& batches = result_.batches;
    batches.push_back(current_);
    clear();
    if (batches.size() < kMostBatches) return;
    for (std::size_t i = 0; i < batches.size(); i += 2) {
      for (std::size_t m = 0; m < filters_.size(); ++m) {
        batches[i].sums[m] += batches[i + 1].sums[m];
      }
      batches[i].observed += batches[i + 1].observed;
      if (i > 0) batches[i / 2] = batches[i];
    }
    batches.resize(batches.size() / 2);
    batch_rows_ *= 2;
  }

  void clear() {
    current_.sums.assign(filters_.size(), 0.0);
    current_.observed = 0;
  }

  std::vector<Filter> filters_;
  FileScore result_;
  Batch current_;
  std::int64_t batch_rows_ = kFirstBatchRows;
};

// Mean of sums(b) over all observed rows, with the error by the spread of the batches.
template <class Sum>
ScoreMean mean_of(const std::vector<Batch>& batches, const Sum& sum) {
  double total = 0.0;
  double observed = 0.0;
  for (const Batch& batch : batches) {
    total += sum(batch);
    observed += static_cast<double>(batch.observed);
  }
  ScoreMean mean = {total / observed, std::numeric_limits<double>::quiet_NaN()};
  const auto count = static_cast<double>(batches.size());
  if (batches.size() < kFewestBatches || !std::isfinite(mean.value)) return mean;
  double square = 0.0;
  for (const Batch& batch : batches) {
    const double deviation = sum(batch) - mean.value * static_cast<double>(batch.observed);
    square += deviation * deviation;
  }
  mean.standard_error = std::sqrt(square * count / (count - 1.0)) / observed;
  return mean;
}

void check_alike(const Pomdp& model, const Pomdp& first) {
  static_cast<void>(model.transition());  // throws when unknown
  OAS_REQUIRE(
      model.actions() == first.actions() && model.observations() == first.observations() &&
          model.timing() == first.timing() && model.rows() == first.rows(),
      "the models to compare differ in actions, observations, timing or rows: {} against {}",
      model.brief(), first.brief());
}

template <class Filter, class Model, class... Settings>
LogScore score_with(std::span<const Model> models, std::span<const std::string> paths,
                    Parallelism parallelism, const RowsRead& progress, const LogOptions& options,
                    const Settings&... settings) {
  OAS_REQUIRE(!paths.empty(), "no log to score on");
  std::mutex progress_mutex;
  const std::vector<OneLog> logs = logs_of(paths, options);
  std::vector<FileScore> files(logs.size());
  parallel_for(logs.size(), parallelism, [&](std::size_t i) {
    LogReader reader(logs[i], models.front(), options);
    reader.set_rows(LogRows::all);
    Scorer<Filter> scorer(models, settings...);
    for (LogBlock block; reader.read_block(block, kLogBlockRows);) {
      scorer.add(block);
      const std::lock_guard lock(progress_mutex);
      if (progress) progress(static_cast<std::int64_t>(block.rows.size()));
    }
    files[i] = scorer.finish();
  });
  LogScore score;
  score.impossible_rows.assign(models.size(), 0);
  std::vector<Batch> batches;
  for (const FileScore& file : files) {
    batches.insert(batches.end(), file.batches.begin(), file.batches.end());
    score.rows += file.rows;
    score.runs += file.runs;
    score.missing += file.missing;
    for (std::size_t m = 0; m < models.size(); ++m) {
      score.impossible_rows[m] += file.impossible[m];
    }
  }
  OAS_REQUIRE(score.rows > score.missing, "none of {} rows has an observation", score.rows);
  score.num_batches = static_cast<int>(batches.size());
  for (std::size_t m = 0; m < models.size(); ++m) {
    score.models.push_back(mean_of(batches, [m](const Batch& batch) { return batch.sums[m]; }));
    score.differences.push_back(
        mean_of(batches, [m](const Batch& batch) { return batch.sums[m] - batch.sums[0]; }));
  }
  return score;
}

}  // namespace

LogScore score_logs(std::span<const Pomdp> models, std::span<const std::string> paths,
                    Parallelism parallelism, const RowsRead& progress, const LogOptions& options) {
  OAS_REQUIRE(!models.empty(), "no model to score");
  for (const Pomdp& model : models) check_alike(model, models.front());
  return score_with<FiniteFilter>(models, paths, parallelism, progress, options);
}

LogScore score_logs(std::span<const ContinuousPomdp> models, std::span<const std::string> paths,
                    Parallelism parallelism, const RowsRead& progress, const LogOptions& options) {
  OAS_REQUIRE(!models.empty(), "no model to score");
  for (const ContinuousPomdp& model : models) {
    check_alike(model.chain(), models.front().chain());
    OAS_REQUIRE(model.has_sensors() == models.front().has_sensors() &&
                    (!model.has_sensors() ||
                     model.sensors().dimension() == models.front().sensors().dimension()),
                "the models to compare differ in their observations: {} against {}", model.brief(),
                models.front().brief());
  }
  return score_with<VectorFilter>(models, paths, parallelism, progress, options,
                                  Outliers(options.outliers).share);
}

}  // namespace oas
