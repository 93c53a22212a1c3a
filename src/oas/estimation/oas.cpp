#include "oas/estimation/oas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kFewestBatches = 16.0;  // below, a spread over batches says too little
constexpr std::int64_t kFewestPairs = 1024;
constexpr std::size_t kMostBatches = 512;
constexpr double kWeakSensor = 0.05;  // σ_S(Z_a) below this deserves a warning

// Neighbours put together, so that at most kMostBatches are left.
std::vector<PairMoments> merged_batches(const MomentSeries& series) {
  const std::size_t count = series.batches.size();
  const std::size_t group = (count + kMostBatches - 1) / kMostBatches;
  std::vector<PairMoments> merged;
  for (std::size_t b = 0; b < count; ++b) {
    if (b % group == 0) {
      merged.push_back(series.batches[b]);
    } else {
      merged.back().add(series.batches[b]);
    }
  }
  return merged;
}

// Row (a,s) of the tables of an estimate.
void solve_row(const PairMoments& total, int action, int state, std::span<double> values,
               TransitionEstimate& estimate) {
  const auto row = total.matrix(action).row(state);
  const double visits = row.sum();
  const double positive = row.cwiseMax(0.0).sum();
  estimate.visits.push_back(visits);
  const double negative = positive - visits;
  estimate.clipped.push_back(positive > 0.0 ? negative / (positive + negative) : 1.0);
  if (positive <= 0.0) {
    const bool unseen = estimate.pairs[static_cast<std::size_t>(action)] == 0;
    const bool blind = estimate.alpha[static_cast<std::size_t>(action)] == 0.0;
    estimate.flagged.push_back({Action{action}, State{state},
                                unseen  ? "the action was never seen in a pair"
                                : blind ? "its sensor is blind, so that pairs cannot show it"
                                        : "no positive mass is left"});
  } else if (visits <= 0.0) {
    // Clipping turns such a row into noise that looks like a distribution.
    estimate.flagged.push_back(
        {Action{action}, State{state},
         fmt::format("it is noise, its estimated number of visits is {:.3g}", visits)});
  }
  for (int next = 0; next < total.num_states; ++next) {
    values[static_cast<std::size_t>(next)] =
        positive > 0.0 ? std::max(row(next), 0.0) / positive : 1.0 / total.num_states;
  }
}

void add_warnings(const Pomdp& model, TransitionEstimate& estimate) {
  for (int a = 0; a < model.num_actions(); ++a) {
    const double alpha = estimate.alpha[static_cast<std::size_t>(a)];
    if (alpha < kWeakSensor) {
      estimate.warnings.push_back(fmt::format(
          "the sensor hardly tells the states apart under action '{}' (alpha = {:.3g}): expect "
          "large errors in every row that this action helps to learn",
          model.actions()[a], alpha));
    }
  }
  for (const FlaggedRow& row : estimate.flagged) {
    estimate.warnings.push_back(fmt::format("row ({}, {}) is not determined: {}",
                                            model.actions()[row.action], model.states()[row.state],
                                            row.reason));
  }
  if (estimate.standard_error.empty()) {
    estimate.warnings.push_back("too few pairs for error bars");
  }
}

}  // namespace

void OasOptions::validate() const {
  OAS_REQUIRE(confidence > 0.0 && confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", confidence);
}

JointErrors moment_errors(const MomentSeries& series) {
  JointErrors errors;
  if (series.effective_batches() < kFewestBatches) return errors;
  const PairMoments total = series.total();
  if (total.total_pairs() < kFewestPairs) return errors;
  const std::vector<PairMoments> batches = merged_batches(series);
  const auto n = static_cast<std::size_t>(total.num_states);
  const double count = std::min(series.effective_batches(), static_cast<double>(batches.size()));
  errors.degrees = count - 1.0;
  errors.factor.setZero(static_cast<Eigen::Index>(total.sums.size()),
                        static_cast<Eigen::Index>(batches.size()));
  for (std::size_t first = 0; first < total.sums.size(); first += n) {
    const auto row_sum = [&](const PairMoments& moments) {
      const auto begin = moments.sums.begin() + static_cast<std::ptrdiff_t>(first);
      return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(n), 0.0);
    };
    const double visits = row_sum(total);
    errors.determined.push_back(visits > 0.0 ? 1 : 0);
    if (visits <= 0.0) continue;
    for (std::size_t b = 0; b < batches.size(); ++b) {
      const double sum = row_sum(batches[b]);
      for (std::size_t i = first; i < first + n; ++i) {
        errors.factor(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(b)) =
            (batches[b].sums[i] - total.sums[i] / visits * sum) / visits *
            std::sqrt(count / (count - 1.0));
      }
    }
  }
  return errors;
}

TransitionEstimate estimate_oas(const MomentSeries& series, const LeftInverses& inverses,
                                const Pomdp& model, const OasOptions& options) {
  options.validate();
  OAS_REQUIRE(
      !series.batches.empty(),
      "the log has {} rows and no pair of consecutive observed rows; at least one is needed",
      series.rows);
  const int num_states = inverses.num_states();
  const int num_actions = inverses.num_actions();
  const PairMoments total = series.total();
  TransitionEstimate estimate;
  estimate.estimator = options.name;
  estimate.confidence = options.confidence;
  estimate.num_batches = static_cast<int>(series.batches.size());
  estimate.pairs = total.pairs;
  estimate.rows = series.rows;
  estimate.runs = series.runs;
  estimate.missing = series.missing;
  std::vector<double> values(total.sums.size());
  const auto n = static_cast<std::size_t>(num_states);
  for (int a = 0; a < num_actions; ++a) {
    estimate.alpha.push_back(inverses.alpha(Action{a}));
    for (int s = 0; s < num_states; ++s) {
      solve_row(total, a, s, std::span(values).subspan(estimate.visits.size() * n, n), estimate);
    }
  }
  if (const JointErrors errors = moment_errors(series); errors.factor.size() > 0) {
    set_error_bars(errors, values, estimate);
    if (options.regions) add_regions(errors, values, estimate);
  }
  estimate.transition = TransitionModel(num_states, num_actions, std::move(values));
  estimate.status = estimate.flagged.empty() ? EstimateStatus::ok : EstimateStatus::flagged;
  add_warnings(model, estimate);
  return estimate;
}

TransitionEstimate estimate_oas(const PairCounts& counts, const Pomdp& model,
                                const OasOptions& options) {
  const LeftInverses inverses(model);
  MomentSeries series;
  if (counts.total() > 0) series.batches.push_back(project(counts, inverses, model.timing()));
  return estimate_oas(series, inverses, model, options);
}

}  // namespace oas
