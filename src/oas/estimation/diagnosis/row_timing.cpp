#include "oas/estimation/diagnosis/row_timing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "oas/core/contracts.hpp"
#include "oas/model/reading_likelihood.hpp"

namespace oas {

namespace {

constexpr std::size_t kStretches = 256;
constexpr std::size_t kShortestStretch = 16;
constexpr double kSameFit = 1e-6;

double normal_tail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

double tail_of(double difference, double standard_error) {
  if (!(standard_error > kSameFit)) return 1.0;
  return std::max(normal_tail(difference / standard_error), std::exp(-std::max(difference, 0.0)));
}

// What the reading of a row says of the states by the sensor of the first action; where the log
// brings likelihoods, these.
class LikelihoodOfReading {
 public:
  LikelihoodOfReading(const AnyModel& model, const DiagnosedRows& rows)
      : rows_(rows), finite_(std::get_if<Pomdp>(&model)) {
    const auto* const real = std::get_if<ContinuousPomdp>(&model);
    if (real != nullptr && real->has_sensors()) {
      real_.emplace(real->sensors(), rows.outlier_share);
    }
  }
  void operator()(std::size_t row, std::span<double> out) const {
    if (finite_ != nullptr) {
      for (std::size_t s = 0; s < out.size(); ++s) {
        out[s] = finite_->sensors()(Action{0}, State{static_cast<int>(s)}, rows_.observations[row]);
      }
    } else if (real_) {
      const std::size_t width = rows_.readings.size() / rows_.size();
      (*real_)(Action{0}, std::span(rows_.readings).subspan(row * width, width), out);
    } else {
      const auto brought = std::span(rows_.likelihoods).subspan(row * out.size(), out.size());
      std::copy(brought.begin(), brought.end(), out.begin());
    }
  }

 private:
  const DiagnosedRows& rows_;
  const Pomdp* finite_;
  std::optional<ReadingLikelihood> real_;
};

// [row]: a coarse reading, and how many there are with "nothing was read", the last: the
// observation where there are few, else the state that is likeliest by it, and how clearly. By the
// sensor of the first action whatever the row's own is: a reading must not give its action away.
struct CoarseReadings {
  std::vector<std::size_t> of_row;
  std::size_t count = 0;
};

CoarseReadings coarse_readings(const AnyModel& model, const DiagnosedRows& rows) {
  constexpr int kFewObservations = 16;
  const auto n = static_cast<std::size_t>(chain_of(model).num_states());
  const auto* finite = std::get_if<Pomdp>(&model);
  const bool few = finite != nullptr && finite->num_observations() <= kFewObservations;
  CoarseReadings out;
  out.count = 1 + (few ? static_cast<std::size_t>(finite->num_observations()) : 3 * n);
  out.of_row.assign(rows.size(), out.count - 1);
  const LikelihoodOfReading likelihood_of(model, rows);
  std::vector<double> likelihood(n);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const Observation seen = rows.observations[t];
    if (seen == kMissing) continue;
    if (few) {
      out.of_row[t] = static_cast<std::size_t>(seen);
      continue;
    }
    likelihood_of(t, likelihood);
    const auto best = std::max_element(likelihood.begin(), likelihood.end());
    const double share = *best / std::accumulate(likelihood.begin(), likelihood.end(), 0.0);
    const std::size_t clearly = share > 0.95 ? 2 : share > 0.7 ? 1 : 0;
    out.of_row[t] = 3 * static_cast<std::size_t>(best - likelihood.begin()) + clearly;
  }
  return out;
}

// Probabilities of actions by counts so far in a context; three sizes of context, weighted by how
// well they have done.
class ActionPredictor {
 public:
  ActionPredictor(std::size_t actions, std::size_t contexts)
      : actions_(actions), counts_(contexts * actions, 0.5) {}

  double update(std::size_t context, std::size_t action) {
    double* const cell = counts_.data() + context * actions_;
    const double probability = cell[action] / std::accumulate(cell, cell + actions_, 0.0);
    cell[action] += 1.0;
    return probability;
  }

 private:
  std::size_t actions_;
  std::vector<double> counts_;
};

// [row]: log P(action | the row before and, if so, this row's own reading), learned on the way.
std::vector<double> log_actions(const AnyModel& model, const DiagnosedRows& rows,
                                const CoarseReadings& seen, bool with_own) {
  const auto actions = static_cast<std::size_t>(chain_of(model).num_actions());
  const std::size_t readings = seen.count;
  std::vector<ActionPredictor> predictors = {{actions, readings},
                                             {actions, readings * (actions + 1)},
                                             {actions, readings * (actions + 1) * readings}};
  std::vector<double> weights(predictors.size(), 1.0);
  std::vector<double> logs(rows.size());
  std::size_t run = 0;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const bool starts = run < rows.run_starts.size() && rows.run_starts[run] == t;
    run += starts;
    const std::size_t last = starts ? actions : static_cast<std::size_t>(rows.actions[t - 1]);
    const std::size_t before = starts ? readings - 1 : seen.of_row[t - 1];
    const std::size_t own = with_own ? seen.of_row[t] : 0;
    const std::size_t contexts[] = {own, own * (actions + 1) + last,
                                    (own * (actions + 1) + last) * readings + before};
    double mixed = 0.0;
    double total = 0.0;
    for (std::size_t m = 0; m < predictors.size(); ++m) {
      const double probability =
          predictors[m].update(contexts[m], static_cast<std::size_t>(rows.actions[t]));
      total += weights[m];
      weights[m] *= probability;
      mixed += weights[m];
    }
    logs[t] = std::log(mixed / total);
    for (double& weight : weights) weight /= mixed;
  }
  return logs;
}

// [row]: what is gained by letting actions depend on their own row's reading; 0 if nothing.
std::vector<double> own_reading_gain(const AnyModel& model, const DiagnosedRows& rows) {
  std::vector<double> gain(rows.size(), 0.0);
  const auto* real = std::get_if<ContinuousPomdp>(&model);
  if (real != nullptr && !real->has_sensors()) return gain;
  const CoarseReadings seen = coarse_readings(model, rows);
  gain = log_actions(model, rows, seen, true);
  const std::vector<double> without = log_actions(model, rows, seen, false);
  for (std::size_t t = 0; t < gain.size(); ++t) gain[t] -= without[t];
  if (std::accumulate(gain.begin(), gain.end(), 0.0) <= 0.0) gain.assign(gain.size(), 0.0);
  return gain;
}

// The orders that likelihood can tell from that of the model.
std::vector<RowOrder> rivals_of(RowOrder own, bool ignore_actions) {
  std::vector<RowOrder> rivals;
  for (const RowOrder order : {RowOrder::before, RowOrder::after, RowOrder::reading_first}) {
    const bool same = ignore_actions && (order == RowOrder::after) == (own == RowOrder::after);
    const bool named_before = ignore_actions && order == RowOrder::reading_first;
    if (order != own && !same && !named_before) rivals.push_back(order);
  }
  return rivals;
}

// The rows as the file has them, in the orders that are compared.
class OrderComparison {
 public:
  OrderComparison(const AnyModel& model, const DiagnosedRows& rows, const FittedDynamics& fitted,
                  Parallelism parallelism)
      : own_(order_of(chain_of(model))),
        ignore_actions_(sensors_ignore_actions(model)),
        shifts_(own_ == RowOrder::reading_first || !ignore_actions_),
        with_first_(knows_first_readings(model)),
        model_(model),
        file_(in_file(model, rows)),
        fitted_(fitted),
        parallelism_(parallelism) {}

  [[nodiscard]] bool possible() const { return file_.rows.size() > 0; }

  [[nodiscard]] TimingTest run() {
    TimingTest test;
    test.own = own_;
    gain_ = own_reading_gain(model_, file_.rows);
    // Where rows are left out the dynamics that fit them all would be at an advantage.
    const OrderedRows rows = rows_in(own_);
    const FittedDynamics own =
        shifts_ ? fit_rows(rows.model, rows.rows, {}, parallelism_) : fitted_;
    const std::vector<double> logs = predictions(own_, rows, own.transition);
    for (const RowOrder order : rivals_of(own_, ignore_actions_)) {
      test.rivals.push_back(compare(order, logs));
    }
    for (const OrderRival& rival : test.rivals) {
      const auto count = static_cast<double>(test.rivals.size());
      test.p_value = std::fmin(test.p_value, std::min(1.0, count * rival.p_value));
    }
    return test;
  }

 private:
  [[nodiscard]] OrderedRows in_file(const AnyModel& model, const DiagnosedRows& rows) const {
    // In timing `after` a model knows how first readings come about, although it has none.
    const RowOrder order = own_ == RowOrder::reading_first ? RowOrder::after : own_;
    OrderedRows file = rows_in_order(model, rows, order);
    if (shifts_) file.rows = without_short_runs(file.rows);
    return file;
  }
  [[nodiscard]] OrderedRows rows_in(RowOrder order) const {
    return rows_in_order(file_.model, file_.rows, order);
  }

  [[nodiscard]] OrderRival compare(RowOrder order, const std::vector<double>& own) const {
    OrderRival rival;
    rival.order = order;
    const OrderedRows rows = rows_in(order);
    try {
      rival.fitted = fit_rows(rows.model, rows.rows, {}, parallelism_);
    } catch (const InvalidArgument&) {  // the start rules the first readings out
      rival.impossible = true;
      return rival;
    }
    std::vector<double> differences = predictions(order, rows, rival.fitted.transition);
    for (std::size_t t = 0; t < own.size(); ++t) differences[t] -= own[t];
    rival.difference = std::accumulate(differences.begin(), differences.end(), 0.0);
    rival.standard_error = spread_of(differences, rival.difference);
    rival.p_value = tail_of(rival.difference, rival.standard_error);
    return rival;
  }

  static double spread_of(const std::vector<double>& differences, double sum_of_all) {
    const double mean = sum_of_all / static_cast<double>(differences.size());
    const std::size_t length = std::max(kShortestStretch, differences.size() / kStretches);
    double squares = 0.0;
    for (std::size_t first = 0; first < differences.size(); first += length) {
      const std::size_t end = std::min(first + length, differences.size());
      double sum = 0.0;
      for (std::size_t t = first; t < end; ++t) sum += differences[t] - mean;
      squares += sum * sum;
    }
    return std::sqrt(squares);
  }

  // [row of the file]: what is predicted of its reading, and of actions by it.
  [[nodiscard]] std::vector<double> predictions(RowOrder order, const OrderedRows& rows,
                                                const TransitionModel& transition) const {
    std::vector<double> logs = log_predictions(rows.model, rows.rows, transition);
    if (order == RowOrder::reading_first) logs = at_readings(rows, logs);
    if (shifts_ && !with_first_) {
      for (const std::size_t start : file_.rows.run_starts) logs[start] = 0.0;
    }
    const bool by_reading =
        order == RowOrder::reading_first || (order == RowOrder::before && ignore_actions_);
    for (std::size_t t = 0; by_reading && t < logs.size(); ++t) logs[t] += gain_[t];
    return logs;
  }

  // The first reading of each run before the others.
  [[nodiscard]] std::vector<double> at_readings(const OrderedRows& rows,
                                                const std::vector<double>& later) const {
    std::vector<double> logs;
    const std::vector<double>& start = chain_of(rows.model).start();
    std::vector<double> belief(start.size());
    std::size_t run = 0;
    for (std::size_t t = 0; t < later.size(); ++t) {
      if (run < rows.rows.run_starts.size() && rows.rows.run_starts[run] == t) {
        const double first = rows.rows.starts[run++].belief(start, belief);
        logs.push_back(std::log(std::max(first, 1e-300)));
      }
      logs.push_back(later[t]);
    }
    return logs;
  }

  RowOrder own_;
  bool ignore_actions_;
  bool shifts_;      // an order is looked at in which readings belong to the action before
  bool with_first_;  // then: first readings can be predicted
  const AnyModel& model_;
  OrderedRows file_;
  const FittedDynamics& fitted_;
  Parallelism parallelism_;
  std::vector<double> gain_;  // [row of the file]
};

}  // namespace

double OrderRival::p_value_of_rival() const {
  return impossible ? 0.0 : tail_of(-difference, standard_error);
}

const OrderRival& TimingTest::best() const {
  return *std::min_element(rivals.begin(), rivals.end(), [](const auto& x, const auto& y) {
    return x.impossible != y.impossible ? y.impossible : x.difference > y.difference;
  });
}

TimingTest test_timing(const AnyModel& model, const DiagnosedRows& rows,
                       const FittedDynamics& fitted, Parallelism parallelism) {
  TimingTest test;
  test.own = order_of(chain_of(model));
  if (rows.known_states()) {
    test.why_not = "known states are read with the timing";
    return test;
  }
  OrderComparison comparison(model, rows, fitted, parallelism);
  if (comparison.possible()) return comparison.run();
  test.why_not = "runs of single rows do not tell the timing";
  return test;
}

}  // namespace oas
