#include "oas/estimation/transition_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace oas {

namespace {

constexpr double kPoorError = 0.1;

}  // namespace

std::string TransitionEstimate::brief() const {
  if (status == EstimateStatus::not_run) return "not run";
  const auto total = std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0});
  std::string text = fmt::format("{}: {} pairs from {} rows", estimator, total, rows);
  if (log_likelihood) {
    text = effective_rows
               ? fmt::format("{}: weighted log-likelihood {:.6g}, {} rows, {} passes", estimator,
                             *log_likelihood, rows, passes)
               : fmt::format("{}: log-likelihood {:.6f} per row, {} rows, {} passes", estimator,
                             *log_likelihood / static_cast<double>(rows), rows, passes);
  }
  if (!flagged.empty()) text += fmt::format(", {} rows of T not determined", flagged.size());
  return text;
}

void TransitionEstimate::flag(Action action, State state, std::string reason) {
  const bool there = std::any_of(flagged.begin(), flagged.end(), [&](const FlaggedRow& one) {
    return one.action == action && one.state == state;
  });
  if (!there) flagged.push_back({action, state, std::move(reason)});
}

std::vector<TransitionModel> drawn_models(const TransitionEstimate& estimate) {
  const int states = estimate.transition.num_states();
  const int actions = estimate.transition.num_actions();
  const auto entries = static_cast<std::ptrdiff_t>(states) * states * actions;
  std::vector<TransitionModel> models;
  for (auto first = estimate.draws.begin(); first != estimate.draws.end(); first += entries) {
    models.emplace_back(states, actions, std::vector(first, first + entries), "draw");
  }
  return models;
}

Pomdp estimated_model(const Pomdp& model, const TransitionEstimate& estimate) {
  PomdpParts parts = model.parts();
  parts.transition = estimate.transition;
  if (estimate.sensors) parts.sensors = *estimate.sensors;
  return Pomdp(std::move(parts));
}

void warn_of_poor_rows(const Pomdp& model, TransitionEstimate& estimate) {
  const auto n = static_cast<std::size_t>(model.num_states());
  for (std::size_t start = 0; start < estimate.standard_error.size(); start += n) {
    const auto first = estimate.standard_error.begin() + static_cast<std::ptrdiff_t>(start);
    const double worst = *std::max_element(first, first + static_cast<std::ptrdiff_t>(n));
    if (!(worst > kPoorError)) continue;  // NaN: the row is flagged already
    const auto row = static_cast<int>(start / n);
    estimate.warnings.push_back(
        fmt::format("row ({}, {}) is poorly determined: standard error up to {:.2g}",
                    model.actions()[row / model.num_states()],
                    model.states()[row % model.num_states()], worst));
  }
}

}  // namespace oas
