#include "oas/estimation/moments/oas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kFewestBatches = 4.0;  // below, a spread over batches says too little
constexpr std::size_t kMostBatches = 512;
constexpr double kVisitNoise = 3.5;   // standard deviations of what noise makes up
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
  const double negative = std::max(0.0, positive - visits);  // not less, by rounding
  estimate.clipped.push_back(positive > 0.0 ? negative / (positive + negative) : 1.0);
  if (positive <= 0.0) {
    const bool unseen = estimate.pairs[static_cast<std::size_t>(action)] == 0;
    const bool blind = estimate.alpha[static_cast<std::size_t>(action)] == 0.0;
    estimate.flagged.push_back({Action{action}, State{state},
                                unseen  ? "the action was never seen in a pair"
                                : blind ? "its sensor is blind, so pairs cannot show it"
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

namespace {

// Contributions of the batches to the errors of a row, and what is behind them.
struct RowSpread {
  Matrix factor;         // [s'] × batches
  double degrees = 0.0;  // of freedom: batches that tell of it, less one
};

RowSpread row_spread(const PairMoments& total, const std::vector<PairMoments>& batches,
                     double effective_batches, std::size_t row) {
  const auto n = static_cast<Eigen::Index>(total.num_states);
  const double mass = total.row_mass(row);
  const std::size_t first = row * static_cast<std::size_t>(n);
  const double correction = std::sqrt(effective_batches / (effective_batches - 1.0));
  RowSpread spread;
  spread.factor.setZero(n, static_cast<Eigen::Index>(batches.size()));
  double squares = 0.0;
  double fourth = 0.0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const double part = batches[b].row_mass(row);
    auto column = spread.factor.col(static_cast<Eigen::Index>(b));
    for (Eigen::Index i = 0; i < n; ++i) {
      const std::size_t entry = first + static_cast<std::size_t>(i);
      column(i) = (batches[b].sums[entry] - total.sums[entry] / mass * part) / mass * correction;
    }
    const double square = column.squaredNorm();
    squares += square;
    fourth += square * square;
  }
  // Σ‖c‖⁴ of normal errors in d directions is (1 + 2/d) (Σ‖c‖²)² / B.
  const double kurtosis = 1.0 + 2.0 / static_cast<double>(std::max<Eigen::Index>(n - 1, 1));
  spread.degrees = fourth > 0.0 ? std::clamp(kurtosis * squares * squares / fourth - 1.0, 1.0,
                                             std::max(effective_batches - 1.0, 1.0))
                                : 1.0;
  return spread;
}

}  // namespace

JointErrors moment_errors(const MomentSeries& series, std::span<const double> values) {
  JointErrors errors;
  if (series.effective_batches() < kFewestBatches) return errors;
  const PairMoments total = series.total();
  const std::vector<PairMoments> batches = merged_batches(series);
  const auto n = static_cast<std::size_t>(total.num_states);
  const double count = std::min(series.effective_batches(), static_cast<double>(batches.size()));
  errors.factor.setZero(static_cast<Eigen::Index>(total.sums.size()),
                        static_cast<Eigen::Index>(batches.size()));
  std::vector<double> visits;
  std::vector<double> degrees;
  for (std::size_t row = 0; row < total.squares.size(); ++row) {
    visits.push_back(total.effective_visits(row));
    errors.determined.push_back(visits.back() > 0.0 ? 1 : 0);
    degrees.push_back(1.0);
    if (visits.back() <= 0.0) continue;
    const RowSpread spread = row_spread(total, batches, count, row);
    errors.factor.middleRows(static_cast<Eigen::Index>(row * n), static_cast<Eigen::Index>(n)) =
        spread.factor;
    degrees.back() = spread.degrees;
  }
  errors.evidence = evidence_of_counts(errors, values, visits);
  // Where the spread is no larger than that of counts, it is not what the evidence rests on.
  for (std::size_t i = 0; i < errors.evidence.size(); ++i) {
    const double spread = errors.factor.row(static_cast<Eigen::Index>(i)).squaredNorm();
    if (visits[i / n] * spread <= values[i] * (1.0 - values[i])) continue;
    errors.evidence[i].set_degrees(degrees[i / n]);
  }
  return errors;
}

namespace {

// [s'][s]: mean square of L(s,o) of readings in state s'; and that of their sum over s.
struct ReadingSquares {
  ReadingSquares(const LeftInverses& inverses, const Pomdp& model, Action action)
      : of_state(Matrix::Zero(model.num_states(), model.num_states())),
        of_sum(Vector::Zero(model.num_states())) {
    const MatrixView weights = inverses.transposed(action);
    for (State from{0}; from < model.num_states(); ++from) {
      for (Observation o{0}; o < model.num_observations(); ++o) {
        const double share = model.sensors()(action, from, o);
        if (share == 0.0) continue;
        const auto row = weights.row(o.value());
        of_state.row(from.value()) += share * row.cwiseAbs2();
        of_sum(from.value()) += share * row.sum() * row.sum();
      }
    }
  }
  Matrix of_state;
  Vector of_sum;
};

// [a][s]: the standard deviation of the visits that noise of readings in other states makes up.
// Given the states, readings are independent, so that no chain is too slow for this. What noise
// adds in the state itself weighs pairs that are there, in the entry as in the row.
std::vector<double> made_up_visits(const PairMoments& total, const LeftInverses& inverses,
                                   const Pomdp& model) {
  const int n = total.num_states;
  const auto pairs = static_cast<double>(total.total_pairs());
  // Σw² over the visits of each row.
  const Matrix visits = MatrixView(total.squares.data(), total.num_actions, n).cwiseMax(0.0);
  std::vector<ReadingSquares> squares;
  Matrix first = Matrix::Zero(n, n);  // mean over actions
  double second = 0.0;
  for (int a = 0; a < total.num_actions; ++a) {
    squares.emplace_back(inverses, model, Action{a});
    const double share = static_cast<double>(total.pairs[static_cast<std::size_t>(a)]) / pairs;
    first += share * squares.back().of_state;
    const double mass = visits.row(a).sum();
    if (mass > 0.0) second += share * visits.row(a).dot(squares.back().of_sum) / mass;
  }
  std::vector<double> deviations;
  for (int a = 0; a < total.num_actions; ++a) {
    const Matrix& square =
        model.timing() == Timing::before ? squares[static_cast<std::size_t>(a)].of_state : first;
    for (int s = 0; s < n; ++s) {
      const double others = visits.row(a).dot(square.col(s)) - visits(a, s) * square(s, s);
      deviations.push_back(std::sqrt(std::max(second * others, 0.0)));
    }
  }
  return deviations;
}

// Rows whose visits may be noise are not determined.
void flag_made_up_rows(const std::vector<double>& noise, TransitionEstimate& estimate) {
  const auto n = static_cast<int>(noise.size() / estimate.alpha.size());
  for (int row = 0; row < static_cast<int>(noise.size()); ++row) {
    const double visits = estimate.visits[static_cast<std::size_t>(row)];
    const double most = kVisitNoise * noise[static_cast<std::size_t>(row)];
    if (visits >= most) continue;
    estimate.flag(
        Action{row / n}, State{row % n},
        fmt::format("its estimated visits, {:.3g}, may be noise, which makes up to {:.3g}", visits,
                    most));
  }
}

void add_error_bars(const PairMoments& total, std::span<const double> noise, JointErrors& errors,
                    std::span<const double> values, TransitionEstimate& estimate) {
  const int num_states = total.num_states;
  const auto n = static_cast<std::size_t>(num_states);
  for (std::size_t i = 0; i < errors.evidence.size(); ++i) {
    const double visits = estimate.visits[i / n];
    if (visits > 0.0) errors.evidence[i].set_divisor_error(noise[i / n] / visits);
  }
  for (const FlaggedRow& row : estimate.flagged) {
    errors.determined[static_cast<std::size_t>(row.action * num_states + row.state)] = 0;
  }
  set_error_bars(errors, values, estimate);
  std::vector<double> visits;
  for (std::size_t row = 0; row < total.squares.size(); ++row) {
    visits.push_back(total.effective_visits(row));
  }
  for (const std::size_t row : drop_empty_rows(visits, errors, estimate)) {
    const auto index = static_cast<int>(row);
    estimate.flag(Action{index / num_states}, State{index % num_states},
                  "its pairs are too few, or too noisy, to tell its entries");
  }
}

}  // namespace

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
  JointErrors errors = moment_errors(series, values);
  if (errors.factor.size() > 0) {
    const std::vector<double> noise = made_up_visits(total, inverses, model);
    flag_made_up_rows(noise, estimate);
    add_error_bars(total, noise, errors, values, estimate);
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
