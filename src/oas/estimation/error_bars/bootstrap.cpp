#include "oas/estimation/error_bars/bootstrap.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "oas/core/task_farm.hpp"

namespace oas {

namespace {

constexpr std::size_t kFewestRows = 1024;
constexpr std::size_t kFewestBlocks = 16;
constexpr std::size_t kMostBlocks = 128;
constexpr std::size_t kBlockRows = 128;          // at least, where there are enough
constexpr std::size_t kResampledRowsAhead = 64;  // looked at behind a block
constexpr double kResampleTolerance = 1e-3;      // of a resample's climb: 5 % of a standard error
constexpr double kShare = 1e-3;                  // of uniform in its start: off the bounds

// How often each of `count` pieces comes up in one resample.
std::vector<int> draw_weights(std::size_t count, const BootstrapOptions& options, std::size_t r) {
  Rng rng({options.seed, static_cast<std::uint32_t>(r), Role::bootstrap});
  std::vector<int> weights(count, 0);
  for (std::size_t i = 0; i < count; ++i) ++weights[rng.below(static_cast<std::uint32_t>(count))];
  return weights;
}

// A resample of B pieces has (B-1)/B of the variance.
void widen(Resampled& resampled, const std::vector<double>& centre) {
  const auto count = static_cast<double>(resampled.pieces);
  const double factor = std::sqrt(count / (count - 1.0));
  for (std::vector<double>& values : resampled.estimates) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = centre[i] + factor * (values[i] - centre[i]);
    }
  }
}

// Rows cut into blocks whose likelihoods add up to that of the whole, and can be weighted.
class RowBlocks {
 public:
  RowBlocks(const Pomdp& model, const TransitionLikelihood& rows, const TransitionModel& at) {
    const std::vector<std::size_t> cuts = cut(rows);
    std::vector<double> belief;
    for (std::size_t b = 0; b + 1 < cuts.size(); ++b) {
      blocks_.push_back(take(model, rows, cuts[b], cuts[b + 1]));
      Block& block = blocks_.back();
      if (!starts_run(rows, cuts[b])) block.first_belief = belief;
      PassOptions options = block.options(0);
      belief = block.rows.pass(at, options, {1}).last_belief;
    }
  }

  [[nodiscard]] std::size_t size() const { return blocks_.size(); }

  // The pass of a log that holds block b weights[b] times.
  [[nodiscard]] LikelihoodPass pass(const std::vector<int>& weights, const TransitionModel& at,
                                    const PassOptions& options) const {
    LikelihoodPass total;
    total.log_likelihood = 0.0;
    total.score.assign(at.values().size(), 0.0);
    total.counts = total.score;
    const auto count = static_cast<int>(blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (weights[b] == 0) continue;
      const LikelihoodPass part =
          blocks_[b].rows.pass(at, blocks_[b].options((options.batches + count - 1) / count), {1});
      total.log_likelihood += weights[b] * part.log_likelihood;
      for (std::size_t i = 0; i < total.score.size(); ++i) {
        total.score[i] += weights[b] * part.score[i];
        total.counts[i] += weights[b] * part.counts[i];
      }
      for (int copy = 0; copy < weights[b]; ++copy) {
        total.batch_scores.insert(total.batch_scores.end(), part.batch_scores.begin(),
                                  part.batch_scores.end());
        total.batch_steps.insert(total.batch_steps.end(), part.batch_steps.begin(),
                                 part.batch_steps.end());
      }
    }
    return total;
  }

 private:
  struct Block {
    TransitionLikelihood rows;
    std::size_t rows_ahead = 0;
    std::vector<double> first_belief;

    [[nodiscard]] PassOptions options(int batches) const {
      PassOptions options;
      options.batches = batches;
      options.first_belief = first_belief;
      options.rows_ahead = rows_ahead;
      return options;
    }
  };

  static bool starts_run(const TransitionLikelihood& rows, std::size_t row) {
    return std::binary_search(rows.run_starts().begin(), rows.run_starts().end(), row);
  }

  // First rows of the blocks, and the end.
  static std::vector<std::size_t> cut(const TransitionLikelihood& rows) {
    const std::size_t count = std::clamp(rows.rows() / kBlockRows, kFewestBlocks, kMostBlocks);
    const std::size_t shortest = rows.rows() / count;
    const auto runs = rows.run_starts();
    std::vector<std::size_t> cuts;
    for (std::size_t b = 0; b < count; ++b) {
      const std::size_t first = rows.rows() * b / count;
      const std::size_t run = *(std::upper_bound(runs.begin(), runs.end(), first) - 1);
      // Moved by less than a block, no two cuts can meet.
      cuts.push_back(first - run < shortest ? run : first);
    }
    cuts.push_back(rows.rows());
    return cuts;
  }

  static Block take(const Pomdp& model, const TransitionLikelihood& rows, std::size_t first,
                    std::size_t end) {
    Block block{TransitionLikelihood(model), 0, {}};
    for (std::size_t row = first; row < end + kResampledRowsAhead && row < rows.rows(); ++row) {
      if (starts_run(rows, row)) {
        if (row >= end) break;
        const auto runs = rows.run_starts();
        const auto run = std::lower_bound(runs.begin(), runs.end(), row) - runs.begin();
        block.rows.start_run(rows.start_of(static_cast<std::size_t>(run)));
      }
      block.rows.append(rows.action(row), rows.observation(row));
      if (row >= end) ++block.rows_ahead;
    }
    return block;
  }

  std::vector<Block> blocks_;
};

}  // namespace

std::string_view to_string(ErrorBars kind) {
  constexpr std::array<std::string_view, 3> kNames = {"asymptotic", "block-bootstrap",
                                                      "parametric-bootstrap"};
  return kNames[static_cast<std::size_t>(kind)];
}

double Resampled::degrees() const {
  double inverse = 1.0 / (static_cast<double>(estimates.size()) - 1.0);
  if (pieces > 0) inverse += 1.0 / (static_cast<double>(pieces) - 1.0);
  return 1.0 / inverse;
}

void BootstrapOptions::validate() const { check_ranges(*this); }

std::vector<std::vector<double>> resampled_estimates(
    int resamples, Parallelism parallelism,
    const std::function<std::vector<double>(std::size_t)>& resample) {
  std::vector<std::vector<double>> estimates(static_cast<std::size_t>(resamples));
  if (parallelism.team == nullptr) {
    parallel_for(estimates.size(), parallelism, [&](std::size_t r) { estimates[r] = resample(r); });
    return estimates;
  }
  TaskFarm farm;
  farm.tasks.resize(estimates.size());
  std::iota(farm.tasks.begin(), farm.tasks.end(), 0);
  const auto place = [](std::int64_t task) { return static_cast<std::size_t>(task); };
  farm.here = [&](std::int64_t task) { estimates[place(task)] = resample(place(task)); };
  farm.away = [&](std::int64_t task) {
    ByteWriter out;
    out.put_all(resample(place(task)));
    return out.take();
  };
  farm.take = [&](std::int64_t task, const std::string& bytes) {
    estimates[place(task)] = ByteReader(bytes).get_all<double>();
  };
  run_farm(farm, parallelism);
  return estimates;
}

std::vector<double> moment_ratios(const PairMoments& total, const std::vector<double>& otherwise) {
  std::vector<double> ratios = otherwise;
  ratios.resize(total.sums.size(), 0.0);
  const auto n = static_cast<std::size_t>(total.num_states);
  for (std::size_t first = 0; first < total.sums.size(); first += n) {
    const auto row = total.sums.begin() + static_cast<std::ptrdiff_t>(first);
    const double sum = std::accumulate(row, row + static_cast<std::ptrdiff_t>(n), 0.0);
    for (std::size_t i = first; i < first + n && sum > 0.0; ++i) {
      ratios[i] = std::clamp(total.sums[i] / sum, -1.0, 2.0);
    }
  }
  return ratios;
}

Resampled resample_batches(const MomentSeries& series, const BootstrapOptions& options,
                           Parallelism parallelism) {
  options.validate();
  OAS_REQUIRE(series.batches.size() >= kFewestBlocks, "{} batches; at least {} are needed",
              series.batches.size(), kFewestBlocks);
  const std::vector<double> centre = moment_ratios(series.total());
  Resampled resampled;
  resampled.pieces = series.batches.size();
  resampled.estimates.resize(static_cast<std::size_t>(options.resamples));
  parallel_for(resampled.estimates.size(), parallelism, [&](std::size_t r) {
    const std::vector<int> weights = draw_weights(series.batches.size(), options, r);
    PairMoments total(series.batches.front().num_states, series.batches.front().num_actions);
    for (std::size_t b = 0; b < weights.size(); ++b) {
      for (std::size_t i = 0; i < total.sums.size(); ++i) {
        total.sums[i] += weights[b] * series.batches[b].sums[i];
      }
    }
    resampled.estimates[r] = moment_ratios(total, centre);
  });
  widen(resampled, centre);
  return resampled;
}

std::vector<double> climb_again(const LikelihoodFunction& likelihood,
                                const TransitionModel& estimate, const LikelihoodOptions& climb) {
  LikelihoodOptions settings = climb;
  settings.accelerate = true;
  settings.tolerance = std::max(climb.tolerance, kResampleTolerance);
  const LikelihoodEstimate found =
      maximize_likelihood(likelihood, mixed_with_uniform(estimate, kShare), settings);
  return {found.transition.values().begin(), found.transition.values().end()};
}

Resampled resample_blocks(const Pomdp& model, const TransitionLikelihood& rows,
                          const TransitionModel& estimate, const LikelihoodOptions& climb,
                          const BootstrapOptions& options, Parallelism parallelism) {
  options.validate();
  OAS_REQUIRE(rows.rows() >= kFewestRows,
              "the log has {} rows; resampling blocks of it takes at least {}", rows.rows(),
              kFewestRows);
  const RowBlocks blocks(model, rows, mixed_with_uniform(estimate, kShare));
  Resampled resampled;
  resampled.pieces = blocks.size();
  resampled.estimates = resampled_estimates(options.resamples, parallelism, [&](std::size_t r) {
    const std::vector<int> weights = draw_weights(blocks.size(), options, r);
    return climb_again([&](const TransitionModel& at,
                           const PassOptions& pass) { return blocks.pass(weights, at, pass); },
                       estimate, climb);
  });
  widen(resampled, {estimate.values().begin(), estimate.values().end()});
  return resampled;
}

void set_bootstrap_errors(const Resampled& resampled, ErrorBars kind,
                          TransitionEstimate& estimate) {
  if (estimate.standard_error.empty()) return;
  const auto values = estimate.transition.values();
  JointErrors errors;
  const std::size_t n = values.size() / estimate.visits.size();
  for (std::size_t first = 0; first < values.size(); first += n) {
    errors.determined.push_back(std::isfinite(estimate.standard_error[first]) ? 1 : 0);
  }
  const std::size_t resamples = resampled.estimates.size();
  errors.degrees = resampled.degrees();
  errors.factor.resize(static_cast<Eigen::Index>(values.size()),
                       static_cast<Eigen::Index>(resamples));
  for (std::size_t r = 0; r < resamples; ++r) {
    errors.factor.col(static_cast<Eigen::Index>(r)) =
        VectorView(resampled.estimates[r].data(), static_cast<Eigen::Index>(values.size()));
  }
  const Vector mean = errors.factor.rowwise().mean();
  errors.factor =
      (errors.factor.colwise() - mean) / std::sqrt(static_cast<double>(resamples) - 1.0);
  errors.evidence = evidence_of_counts(errors, values, estimate.visits);
  set_error_bars(errors, values, estimate);
  if (!estimate.row_region.factor.empty()) add_regions(errors, values, estimate);
  estimate.error_bars = to_string(kind);
  estimate.resamples = static_cast<int>(resamples);
}

}  // namespace oas
