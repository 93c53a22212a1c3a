#include "oas/estimation/oas.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr int kFewestBatches = 16;    // below, a spread over batches says too little
constexpr double kWeakSensor = 0.05;  // σ_S(Z_a) below this deserves a warning
constexpr double kLargeError = 0.1;   // so does a row whose entries are known to ± 0.1 only

// Works on one row (a,s) of the tables of an estimate.
class RowSolver {
 public:
  RowSolver(const PairMoments& total, const MomentSeries& series, TransitionEstimate& estimate)
      : total_(total), series_(series), estimate_(estimate), n_(total.num_states) {
    const auto batches = series.batches.size();
    if (batches >= kFewestBatches) {
      const boost::math::students_t student(static_cast<double>(batches - 1));
      quantile_ = boost::math::quantile(student, 0.5 + 0.5 * estimate.confidence);
    }
  }

  [[nodiscard]] bool has_error_bars() const { return quantile_ > 0.0; }

  void solve(int action, int state, std::vector<double>& values) {
    const auto row = total_.matrix(action).row(state);
    const double visits = row.sum();
    const double positive = row.cwiseMax(0.0).sum();
    const std::size_t start = offset(action, state);
    estimate_.visits.push_back(visits);
    const double negative = positive - visits;
    estimate_.clipped.push_back(positive > 0.0 ? negative / (positive + negative) : 1.0);
    if (positive <= 0.0) {
      const bool unseen = estimate_.pairs[static_cast<std::size_t>(action)] == 0;
      estimate_.flagged.push_back(
          {Action{action}, State{state},
           unseen ? "the action was never seen in a pair" : "no positive mass is left"});
    }
    for (int next = 0; next < n_; ++next) {
      values[start + static_cast<std::size_t>(next)] =
          positive > 0.0 ? std::max(row(next), 0.0) / positive : 1.0 / n_;
    }
    if (has_error_bars()) add_error_bars(action, state, visits, values);
  }

 private:
  [[nodiscard]] std::size_t offset(int action, int state) const {
    return (static_cast<std::size_t>(action) * static_cast<std::size_t>(n_) +
            static_cast<std::size_t>(state)) *
           static_cast<std::size_t>(n_);
  }

  void add_error_bars(int action, int state, double visits, const std::vector<double>& values) {
    const auto row = total_.matrix(action).row(state);
    const auto batches = static_cast<double>(series_.batches.size());
    for (int next = 0; next < n_; ++next) {
      if (visits <= 0.0) {
        push(std::numeric_limits<double>::quiet_NaN(), 0.0, 1.0);
        continue;
      }
      const double ratio = row(next) / visits;
      double sum = 0.0;
      for (const PairMoments& batch : series_.batches) {
        const auto piece = batch.matrix(action).row(state);
        const double influence = (piece(next) - ratio * piece.sum()) / visits;
        sum += influence * influence;
      }
      const double error = std::sqrt(sum * batches / (batches - 1.0));
      const double value = values[offset(action, state) + static_cast<std::size_t>(next)];
      push(error, std::min(value, std::clamp(ratio - quantile_ * error, 0.0, 1.0)),
           std::max(value, std::clamp(ratio + quantile_ * error, 0.0, 1.0)));
    }
  }

  void push(double error, double lower, double upper) {
    estimate_.standard_error.push_back(error);
    estimate_.lower.push_back(lower);
    estimate_.upper.push_back(upper);
  }

  const PairMoments& total_;
  const MomentSeries& series_;
  TransitionEstimate& estimate_;
  int n_;
  double quantile_ = 0.0;
};

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
  for (std::size_t row = 0; row < estimate.visits.size(); ++row) {
    // Clipping turns such a row into noise that looks like a distribution.
    if (estimate.visits[row] <= 0.0 && estimate.clipped[row] < 1.0) {
      const auto index = static_cast<int>(row);
      estimate.warnings.push_back(
          fmt::format("row ({}, {}) is noise: its estimated number of visits is {:.3g}",
                      model.actions()[index / model.num_states()],
                      model.states()[index % model.num_states()], estimate.visits[row]));
    }
  }
  for (const FlaggedRow& row : estimate.flagged) {
    estimate.warnings.push_back(fmt::format("row ({}, {}) is not determined: {}",
                                            model.actions()[row.action], model.states()[row.state],
                                            row.reason));
  }
  if (estimate.standard_error.empty()) {
    estimate.warnings.push_back("too few pairs for error bars");
    return;
  }
  const auto n = static_cast<std::size_t>(model.num_states());
  for (std::size_t start = 0; start < estimate.standard_error.size(); start += n) {
    const auto first = estimate.standard_error.begin() + static_cast<std::ptrdiff_t>(start);
    const double worst = *std::max_element(first, first + static_cast<std::ptrdiff_t>(n));
    if (worst > kLargeError) {  // false for NaN: those rows are flagged already
      const auto row = static_cast<int>(start / n);
      estimate.warnings.push_back(
          fmt::format("row ({}, {}) is poorly determined: standard error up to {:.2g}",
                      model.actions()[row / model.num_states()],
                      model.states()[row % model.num_states()], worst));
    }
  }
}

}  // namespace

void OasOptions::validate() const {
  OAS_REQUIRE(confidence > 0.0 && confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", confidence);
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
  RowSolver solver(total, series, estimate);
  for (int a = 0; a < num_actions; ++a) {
    estimate.alpha.push_back(inverses.alpha(Action{a}));
    for (int s = 0; s < num_states; ++s) solver.solve(a, s, values);
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
