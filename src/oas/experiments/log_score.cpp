#include "oas/experiments/log_score.hpp"

#include <cmath>
#include <limits>
#include <mutex>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/io/log_reader.hpp"

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

class Scorer {
 public:
  explicit Scorer(std::span<const Pomdp> models) {
    for (const Pomdp& model : models) filters_.emplace_back(model);
    result_.impossible.assign(models.size(), 0);
    clear();
  }

  void add(const LogBlock& block) {
    auto run = block.run_starts.begin();
    for (std::size_t t = 0; t < block.rows.size(); ++t) {
      if (run != block.run_starts.end() && *run == t) {
        for (BeliefFilter& filter : filters_) filter.reset();
        ++run;
        ++result_.runs;
      }
      add_row(block.rows.actions[t], block.rows.observations[t]);
    }
    result_.rows += static_cast<std::int64_t>(block.rows.size());
  }

  FileScore finish() {
    if (current_.observed > 0) close();
    return std::move(result_);
  }

 private:
  void add_row(Action action, Observation observation) {
    const bool seen = observation != kMissing;
    for (std::size_t m = 0; m < filters_.size(); ++m) {
      const double probability = filters_[m].update(action, observation);
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

  std::vector<BeliefFilter> filters_;
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

void check_alike(std::span<const Pomdp> models) {
  OAS_REQUIRE(!models.empty(), "no model to score");
  const Pomdp& first = models.front();
  for (const Pomdp& model : models) {
    static_cast<void>(model.transition());  // throws when unknown
    OAS_REQUIRE(model.actions() == first.actions() &&
                    model.observations() == first.observations() &&
                    model.timing() == first.timing(),
                "the models to compare differ in actions, observations or timing: {} against {}",
                model.brief(), first.brief());
  }
}

}  // namespace

LogScore score_logs(std::span<const Pomdp> models, std::span<const std::string> paths,
                    Parallelism parallelism, const RowsRead& progress) {
  check_alike(models);
  OAS_REQUIRE(!paths.empty(), "no log to score on");
  std::mutex progress_mutex;
  std::vector<FileScore> files(paths.size());
  parallel_for(paths.size(), parallelism, [&](std::size_t i) {
    LogReader reader(paths[i], models.front());
    Scorer scorer(models);
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

}  // namespace oas
