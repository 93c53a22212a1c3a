#include "oas/jobs/log_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>

#include "oas/core/contracts.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/planning/policies/policy_file.hpp"
#include "oas/sensors/cell_search.hpp"
#include "oas/sensors/cells.hpp"

namespace oas {

namespace {

constexpr std::string_view kOfLog = "log:";

constexpr double kCellsOfRules = 16.0;  // in all: enough for a belief to be rounded little

Cells even_cells(const ContinuousPomdp& model) {
  const double per_component = std::pow(kCellsOfRules, 1.0 / model.sensors().dimension());
  CellSearchOptions search;
  search.method = "even";
  search.cells = std::max(2, static_cast<int>(std::lround(per_component)));
  return find_cells(model.sensors(), search).cells;
}

// Counts as a distribution; false where there are none.
bool set_shares(std::span<const double> counts, std::span<double> shares) {
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  if (!(sum > 0.0)) return false;
  for (std::size_t i = 0; i < counts.size(); ++i) shares[i] = counts[i] / sum;
  return true;
}

// The actions of a log, counted by what came before.
class ActionCounts {
 public:
  explicit ActionCounts(const Pomdp& model)
      : actions_(static_cast<std::size_t>(model.num_actions())),
        observations_(static_cast<std::size_t>(model.num_observations())),
        after_row_(actions_ * observations_ * actions_, 0.0),
        after_observation_(observations_ * actions_, 0.0),
        first_(actions_, 0.0),
        after_first_(model.reading_first() ? after_observation_.size() : 0, 0.0),
        all_(actions_, 0.0) {}

  void add(const LoggedRun& run) {
    for (std::size_t t = 0; t < run.actions.size(); ++t) {
      const auto action = static_cast<std::size_t>(run.actions[t]);
      ++rows_;
      all_[action] += 1.0;
      if (t == 0) {
        if (!run.goes_on()) first_[action] += 1.0;
        add_first(run, action);
        continue;
      }
      if (run.observations[t - 1] == kMissing) continue;
      const auto seen = static_cast<std::size_t>(run.observations[t - 1]);
      const auto last = static_cast<std::size_t>(run.actions[t - 1]);
      after_row_[(last * observations_ + seen) * actions_ + action] += 1.0;
      after_observation_[seen * actions_ + action] += 1.0;
    }
  }

  [[nodiscard]] LoggedPolicy policy() const {
    LoggedPolicy result;
    result.rows = rows_;
    result.first.resize(actions_);
    if (!set_shares(first_, result.first)) set_shares(all_, result.first);
    result.given.resize(after_row_.size());
    for (std::size_t row = 0; row < actions_ * observations_; ++row) {
      const auto shares = std::span(result.given).subspan(row * actions_, actions_);
      if (set_shares(std::span(after_row_).subspan(row * actions_, actions_), shares)) {
        ++result.seen;
        continue;
      }
      const auto by_observation =
          std::span(after_observation_).subspan(row % observations_ * actions_, actions_);
      if (!set_shares(by_observation, shares)) set_shares(all_, shares);
    }
    set_first_given(result);
    return result;
  }

 private:
  void add_first(const LoggedRun& run, std::size_t action) {
    const FirstReading* const first = run.start.first();
    if (first == nullptr || first->observation == kMissing) return;
    after_first_[static_cast<std::size_t>(first->observation) * actions_ + action] += 1.0;
  }
  // After a first reading that the log never has, as after the same reading later on.
  void set_first_given(LoggedPolicy& policy) const {
    policy.first_given.resize(after_first_.size());
    for (std::size_t i = 0; i < after_first_.size(); i += actions_) {
      const auto shares = std::span(policy.first_given).subspan(i, actions_);
      if (!set_shares(std::span(after_first_).subspan(i, actions_), shares) &&
          !set_shares(std::span(after_observation_).subspan(i, actions_), shares)) {
        std::copy(policy.first.begin(), policy.first.end(), shares.begin());
      }
    }
  }

  std::size_t actions_;
  std::size_t observations_;
  std::vector<double> after_row_;          // [a][o][next a]
  std::vector<double> after_observation_;  // [o][next a]
  std::vector<double> first_;
  std::vector<double> after_first_;  // [first o][a]
  std::vector<double> all_;
  std::int64_t rows_ = 0;
};

}  // namespace

LoggedPolicy clone_policy(const Pomdp& model, const OneLog& log, const LogOptions& options) {
  LogReader reader(log, model, options);
  ActionCounts counts(model);
  for_each_run(reader, [&](const LoggedRun& run) { counts.add(run); });
  LoggedPolicy policy = counts.policy();
  OAS_REQUIRE(policy.rows > 0, "{}: has no rows to learn a policy from", log.name());
  return policy;
}

AskedPolicy ask_policy(const std::string& text, const Pomdp& model, const LogOptions& options) {
  if (text.starts_with(kOfLog)) {
    const std::array names = {text.substr(kOfLog.size())};
    const LoggedPolicy policy = clone_policy(model, one_log_of(names, options), options);
    return {text, last_row_controller(policy.given, policy.first, model, policy.first_given), true,
            fmt::format("action given the last row, from {} rows; {} of {} kinds of row were seen",
                        policy.rows, policy.seen, model.num_actions() * model.num_observations())};
  }
  if (is_policy_text(text)) return parse_policy_text(text, model);
  try {
    return asked_policy(read_any_policy(text), text, model);
  } catch (const ParseError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("policy {}: {}", text, error.what()));
  }
}

Pomdp seen_by_policy(const std::string& text, const ContinuousPomdp& model) {
  OAS_REQUIRE(!text.starts_with(kOfLog),
              "policy {}: with real-valued readings it is unknown which of them the "
              "actions of a log answered; oas discretise makes finite ones",
              text);
  OAS_REQUIRE(model.has_sensors(),
              "policy {}: the model has no densities, so it is unknown what will be "
              "read",
              text);
  if (is_policy_text(text)) return discretise(model, even_cells(model));
  const AnyPolicy policy = read_any_policy(text);
  OAS_REQUIRE(!std::holds_alternative<PolicyGraph>(policy),
              "policy {}: it is unknown which real-valued readings the observations of "
              "the graph stand for; use a plan (.json) that was made for cells of oas "
              "discretise",
              text);
  const Plan* const plan = std::get_if<Plan>(&policy);
  if (plan == nullptr) return discretise(model, even_cells(model));
  const Pomdp& cells = plan->model;
  OAS_REQUIRE(cells.num_states() == model.num_states() &&
                  cells.num_actions() == model.num_actions() && cells.timing() == model.timing() &&
                  cells.rows() == model.chain().rows(),
              "policy {}: made for {}; this model: {}", text, cells.brief(), model.brief());
  return model.with_sensors(cells.sensors(), cells.first_observation());
}

}  // namespace oas
