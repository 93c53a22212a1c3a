#include "oas/estimation/transition_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <regex>
#include <span>
#include <string_view>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/words.hpp"

namespace oas {

namespace {

constexpr double kPoorError = 0.1;
constexpr std::string_view kPoorWords = "is poorly determined: standard error up to ";

// One for each block of draws.
std::vector<ObservationModel> drawn_sensors(const Pomdp& model,
                                            const TransitionEstimate& estimate) {
  std::vector<ObservationModel> sensors;
  const std::size_t size = model.sensors().values().size();
  OAS_REQUIRE(estimate.sensor_draws.size() % size == 0, "sensor_draws has {} numbers, not {} each",
              estimate.sensor_draws.size(), size);
  for (std::size_t first = 0; first < estimate.sensor_draws.size(); first += size) {
    const auto begin = estimate.sensor_draws.begin() + static_cast<std::ptrdiff_t>(first);
    sensors.emplace_back(model.num_states(), model.num_actions(), model.num_observations(),
                         std::vector(begin, begin + static_cast<std::ptrdiff_t>(size)));
  }
  return sensors;
}

}  // namespace

std::string TransitionEstimate::brief() const {
  if (status == EstimateStatus::not_run) return "not run";
  const auto total = std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0});
  std::string text = fmt::format("{}: {} {} from {} {}", estimator, total, plural(total, "pair"),
                                 rows, plural(rows, "row"));
  if (log_likelihood) {
    text = effective_rows ? fmt::format("{}: weighted log-likelihood {:.6g}, {} {}, {} {}",
                                        estimator, *log_likelihood, rows, plural(rows, "row"),
                                        passes, plural(passes, "pass"))
                          : fmt::format("{}: log-likelihood {:.6f} per row, {} {}, {} {}",
                                        estimator, *log_likelihood / static_cast<double>(rows),
                                        rows, plural(rows, "row"), passes, plural(passes, "pass"));
  }
  const auto open = std::count_if(flagged.begin(), flagged.end(),
                                  [](const FlaggedRow& row) { return !row.settled; });
  const auto unknown = static_cast<std::ptrdiff_t>(flagged.size()) - open;
  if (unknown > 0)
    text += fmt::format(", {} {} of T not determined", unknown, plural(unknown, "row"));
  if (open > 0) text += fmt::format(", {} {} of T not settled", open, plural(open, "row"));
  return text;
}

void TransitionEstimate::flag(Action action, State state, std::string reason) {
  const bool there = std::any_of(flagged.begin(), flagged.end(), [&](const FlaggedRow& one) {
    return one.action == action && one.state == state;
  });
  if (!there) flagged.push_back({action, state, std::move(reason)});
}

void TransitionEstimate::check_fits(int num_states, int num_actions) const {
  OAS_REQUIRE(transition.num_states() == num_states && transition.num_actions() == num_actions,
              "an estimate of {} states and {} actions for {} and {}", transition.num_states(),
              transition.num_actions(), num_states, num_actions);
  const auto actions = static_cast<std::size_t>(num_actions);
  const std::size_t num_rows = table_size({num_actions, num_states});
  const std::size_t num_entries = table_size({num_actions, num_states, num_states});
  const auto check = [](std::string_view name, std::size_t size, std::size_t expected) {
    OAS_REQUIRE(size == 0 || size == expected, "{} has {} numbers where {} are needed", name, size,
                expected);
  };
  check("standard_error", standard_error.size(), num_entries);
  check("lower", lower.size(), num_entries);
  check("upper", upper.size(), num_entries);
  for (const ConfidenceRegion* region : {&row_region, &joint_region}) {
    check("factor", region->factor.size(), num_rows);
    check("lower of a region", region->lower.size(), num_entries);
    check("upper of a region", region->upper.size(), num_entries);
    check("l1", region->l1.size(), num_rows);
  }
  check("pairs", pairs.size(), actions);
  check("alpha", alpha.size(), actions);
  check("visits", visits.size(), num_rows);
  check("clipped", clipped.size(), num_rows);
  check("unknown_start", unknown_start.size(), static_cast<std::size_t>(num_states));
  check("reward", reward.size(), num_rows);
  check("reward_standard_error", reward_standard_error.size(), num_rows);
  const std::size_t num_draws = num_entries > 0 ? draws.size() / num_entries : 0;
  OAS_REQUIRE(draws.size() == num_draws * num_entries, "draws has {} numbers, not {} each",
              draws.size(), num_entries);
  check("reward_draws", reward_draws.size(), num_draws * num_rows);
  OAS_REQUIRE(standard_error.empty() || (!lower.empty() && !upper.empty()),
              "standard errors without limits");
  for (const FlaggedRow& row : flagged) {
    check_action(row.action, num_actions);
    check_state(row.state, num_states);
  }
}

Pomdp estimated_model(const Pomdp& model, const TransitionEstimate& estimate) {
  estimate.check_fits(model.num_states(), model.num_actions());
  PomdpParts parts = model.parts();
  parts.transition = estimate.transition;
  if (estimate.sensors) parts.sensors = *estimate.sensors;
  if (!estimate.reward.empty()) parts.reward = Reward::by_action_state(estimate.reward);
  return Pomdp(std::move(parts));
}

std::vector<TransitionModel> drawn_transitions(const TransitionEstimate& estimate) {
  const std::size_t entries = estimate.transition.values().size();
  estimate.check_fits(estimate.transition.num_states(), estimate.transition.num_actions());
  std::vector<TransitionModel> draws;
  for (std::size_t first = 0; first < estimate.draws.size(); first += entries) {
    const auto begin = estimate.draws.begin() + static_cast<std::ptrdiff_t>(first);
    draws.emplace_back(estimate.transition.num_states(), estimate.transition.num_actions(),
                       std::vector(begin, begin + static_cast<std::ptrdiff_t>(entries)), "draw");
  }
  return draws;
}

std::vector<Pomdp> drawn_models(const Pomdp& model, const TransitionEstimate& estimate) {
  estimate.check_fits(model.num_states(), model.num_actions());
  std::vector<Pomdp> models;
  auto rewards = estimate.reward_draws.begin();
  std::vector<TransitionModel> transitions = drawn_transitions(estimate);
  const std::vector<ObservationModel> sensors = drawn_sensors(model, estimate);
  for (std::size_t i = 0; i < transitions.size(); ++i) {
    PomdpParts parts = model.parts();
    parts.transition = std::move(transitions[i]);
    if (!sensors.empty()) {
      parts.sensors = sensors[i * sensors.size() / transitions.size()];
      if (model.reading_first() && model.first_is_common()) parts.first_observation.reset();
    }
    if (!estimate.reward_draws.empty()) {
      const auto next = rewards + model.num_actions() * model.num_states();
      parts.reward = Reward::by_action_state({rewards, next});
      rewards = next;
    }
    models.emplace_back(std::move(parts));
  }
  return models;
}

TransitionModel without_unseen(const TransitionEstimate& estimate) {
  estimate.check_fits(estimate.transition.num_states(), estimate.transition.num_actions());
  const auto given = estimate.transition.values();
  std::vector<double> values(given.begin(), given.end());
  const auto states = static_cast<std::size_t>(estimate.transition.num_states());
  for (std::size_t row = 0; row < estimate.visits.size() && !estimate.lower.empty(); ++row) {
    double left = 0.0;
    for (std::size_t e = row * states; e < (row + 1) * states; ++e) {
      const bool seen = values[e] * (estimate.visits[row] + 1.0) >= 1.0;
      if (!seen && estimate.lower[e] == 0.0) values[e] = 0.0;
      left += values[e];
    }
    for (std::size_t e = row * states; e < (row + 1) * states; ++e) {
      values[e] = left > 0.0 ? values[e] / left : given[e];
    }
  }
  return {estimate.transition.num_states(), estimate.transition.num_actions(), std::move(values)};
}

void warn_of_poor_rows(const Pomdp& model, TransitionEstimate& estimate) {
  estimate.check_fits(model.num_states(), model.num_actions());
  const auto n = static_cast<std::size_t>(model.num_states());
  for (std::size_t start = 0; start < estimate.standard_error.size(); start += n) {
    const auto first = estimate.standard_error.begin() + static_cast<std::ptrdiff_t>(start);
    const double worst = *std::max_element(first, first + static_cast<std::ptrdiff_t>(n));
    if (!(worst > kPoorError)) continue;
    const auto row = static_cast<int>(start / n);
    const auto is_this = [&](const FlaggedRow& flagged) {  // and was told of already
      return flagged.action * model.num_states() + flagged.state == row;
    };
    if (std::any_of(estimate.flagged.begin(), estimate.flagged.end(), is_this)) continue;
    estimate.warnings.push_back(
        fmt::format("row ({}, {}) {}{:.2g}", model.actions()[row / model.num_states()],
                    model.states()[row % model.num_states()], kPoorWords, worst));
  }
}

namespace {

// What was said of one row, of several: "it was never visited" → "they were never visited".
std::string about_several(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kWords = {
      {{" it was ", " they were "},
       {" it is ", " they are "},
       {" it has ", " they have "},
       {" it ", " them "},
       {" its ", " their "}}};
  std::string several;
  while (!text.empty()) {
    const auto word = std::find_if(kWords.begin(), kWords.end(),
                                   [&](const auto& one) { return text.starts_with(one.first); });
    if (word == kWords.end()) {
      several += text.front();
      text.remove_prefix(1);
    } else {  // the blank at its end may begin another
      several += word->second.substr(0, word->second.size() - 1);
      text.remove_prefix(word->first.size() - 1);
    }
  }
  return several;
}

// A reason, numbers left out: what rows that share it have in common.
std::string without_numbers(const std::string& reason) {
  static const std::regex kNumber(R"(-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)");
  return std::regex_replace(reason, kNumber, "");
}

// Rows of which the same is said: "is poorly …".
struct RowGroup {
  std::string kind;
  std::vector<std::string> rows;
  std::string_view reason;     // of the first
  bool differ = false;         // the numbers in their reasons
  std::vector<double> errors;  // of rows that are poorly determined

  // The row with the largest error first.
  void sort() {
    std::vector<std::size_t> order(errors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return errors[a] > errors[b]; });
    std::vector<std::string> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(rows[i]));
    if (!errors.empty()) rows = std::move(sorted);
  }
};

std::string words_for(const RowGroup& group) {
  constexpr std::size_t kShown = 4;
  const std::size_t count = group.rows.size();
  if (count == 0) return std::string(group.reason);
  if (count == 1) return fmt::format("row {} {}", group.rows.front(), group.reason);
  std::string reason(group.reason.substr(group.reason.find(' ')));
  if (!group.errors.empty()) {
    reason = fmt::format("{}{:.2g}", kPoorWords.substr(kPoorWords.find(' ')),
                         *std::max_element(group.errors.begin(), group.errors.end()));
  } else if (group.differ) {
    reason += " (the first of them)";
  }
  const std::span shown(group.rows.data(), std::min(count, kShown));
  const std::string more = count > kShown ? fmt::format(" and {} more", count - kShown) : "";
  return fmt::format("rows {}{} {}{}", fmt::join(shown, ", "), more,
                     group.reason.starts_with("has ") ? "have" : "are", about_several(reason));
}

}  // namespace

std::vector<std::string> for_people(const std::vector<std::string>& warnings) {
  constexpr std::string_view kRow = "row (";
  std::vector<RowGroup> groups;
  for (const std::string& warning : warnings) {
    const std::size_t end = warning.starts_with(kRow) ? warning.find(") ") : std::string::npos;
    const bool of_row = end != std::string::npos;
    const std::string_view reason = std::string_view(warning).substr(of_row ? end + 2 : 0);
    const std::string kind = without_numbers(std::string(reason));
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const RowGroup& group) {
      return of_row && !group.rows.empty() && group.kind == kind;
    });
    const bool is_new = same == groups.end();
    RowGroup& group = is_new ? groups.emplace_back() : *same;
    if (is_new) {
      group.kind = kind;
      group.reason = reason;
    }
    group.differ = group.differ || group.reason != reason;
    if (!of_row) continue;
    group.rows.push_back(warning.substr(kRow.size() - 1, end + 2 - kRow.size()));
    if (reason.starts_with(kPoorWords)) {
      group.errors.push_back(std::strtod(warning.c_str() + end + 2 + kPoorWords.size(), nullptr));
    }
  }
  std::vector<std::string> texts;
  for (RowGroup& group : groups) {
    group.sort();
    texts.push_back(words_for(group));
  }
  return texts;
}

}  // namespace oas
