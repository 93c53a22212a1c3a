#include "oas/estimation/diagnosis/diagnosed_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/belief/filter.hpp"
#include "oas/belief/likelihood_filter.hpp"

namespace oas {

RowBlock DiagnosedRows::block() const {
  RowBlock all;
  all.actions = actions;
  all.observations = observations;
  all.readings = readings;
  all.likelihoods = likelihoods;
  all.run_starts = run_starts;
  all.starts = starts;
  return all;
}

std::vector<int> DiagnosedRows::unit_of_row() const {
  std::vector<int> units_of(size());
  for (std::size_t run = 0; run < run_starts.size(); ++run) {
    const std::size_t end = run + 1 < run_starts.size() ? run_starts[run + 1] : size();
    std::fill(units_of.begin() + static_cast<std::ptrdiff_t>(run_starts[run]),
              units_of.begin() + static_cast<std::ptrdiff_t>(end), unit_of_run[run]);
  }
  return units_of;
}

std::vector<std::size_t> DiagnosedRows::in_order() const {
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t x, std::size_t y) { return place[x] < place[y]; });
  return order;
}

FittedDynamics fit_rows(const AnyModel& model, const DiagnosedRows& rows,
                        const std::function<bool(std::size_t)>& keep, Parallelism parallelism) {
  Evidence evidence = make_evidence("oas-ml", model);
  const RowBlock all = rows.block();
  const auto is_kept = [&](std::size_t row) { return !keep || keep(row); };
  for (std::size_t run = 0; run < rows.run_starts.size(); ++run) {
    const std::size_t end =
        run + 1 < rows.run_starts.size() ? rows.run_starts[run + 1] : rows.size();
    std::size_t row = rows.run_starts[run];
    while (row < end) {
      const std::size_t first = row;
      while (row < end && is_kept(row)) ++row;
      if (row > first) {
        evidence.start_run(first == rows.run_starts[run] ? rows.starts[run] : RunStart::unknown());
        evidence.add(all.part(first, row - first));
      } else {
        ++row;
      }
    }
  }
  EstimateOptions options;
  options.error_bars = false;
  options.parallelism = parallelism;
  TransitionEstimate estimate = evidence.estimate(options);
  return {std::move(estimate.transition), std::move(estimate.visits),
          estimate.log_likelihood.value_or(0.0), std::move(estimate.unknown_start)};
}

namespace {

template <class Update, class Reset>
std::vector<double> predict_rows(const DiagnosedRows& rows, const Reset& reset,
                                 const Update& update) {
  std::vector<double> logs(rows.size(), 0.0);
  std::size_t run = 0;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    if (run < rows.run_starts.size() && rows.run_starts[run] == t) reset(rows.starts[run++]);
    // What the model rules out counts as very unlikely, so that sums stay finite.
    logs[t] = std::log(std::max(update(t), 1e-300));
  }
  return logs;
}

}  // namespace

std::vector<double> log_predictions(const AnyModel& model, const DiagnosedRows& rows,
                                    const TransitionModel& transition) {
  const Pomdp chain = chain_of(model).with_transition(transition);
  const auto states = static_cast<std::size_t>(chain.num_states());
  if (rows.likelihoods.empty()) {
    BeliefFilter filter(chain);
    return predict_rows(
        rows, [&](RunStart start) { filter.reset(start); },
        [&](std::size_t t) { return filter.update(rows.actions[t], rows.observations[t]); });
  }
  LikelihoodFilter filter(chain);
  const std::span<const double> likelihoods = rows.likelihoods;
  return predict_rows(
      rows, [&](RunStart start) { filter.reset(start); },
      [&](std::size_t t) {
        return filter.update(rows.actions[t], likelihoods.subspan(t * states, states));
      });
}

}  // namespace oas
