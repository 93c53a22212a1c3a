#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/live/detail/live_state.hpp"

// What of a LiveState is told and kept.
namespace oas::detail {

namespace {

// Steps per action after which one should have been taken.
constexpr std::int64_t kRowsToTry = 100;
// Below, the sensors are said not to fit.
constexpr double kLeastFit = 1e-4;

}  // namespace

std::vector<std::string> LiveState::warnings() const {
  std::vector<std::string> all;
  for (Action a{0}; a < model_.num_actions(); ++a) {
    if (plays_[static_cast<std::size_t>(a)] > 0 || rows_ < kRowsToTry * model_.num_actions()) {
      continue;
    }
    all.push_back(fmt::format("action {} was never taken in {} steps: nothing is learned of it",
                              model_.actions()[a], rows_));
  }
  std::int64_t impossible = 0;
  for (const auto& [name, unit] : units_) impossible += unit.impossible;
  if (impossible > 0) {
    all.push_back(
        fmt::format("{} observations could not be under the plan of their time", impossible));
  }
  if (detector_ && detector_->alarms() > 0) {
    all.push_back(
        fmt::format("the dynamics, or the sensors, seem to have changed: alarm {} at row "
                    "{}{}",
                    detector_->alarms(), detector_->last_alarm(),
                    detector_->alarmed() ? "" : "; a new plan has been made since"));
  }
  const LivePlan* const plan = last_plan();
  if (plan == nullptr) return all;
  if (!plan->failure.empty()) {
    all.push_back(fmt::format("plan {}: {}", plan->number, plan->failure));
  }
  if (plan->fit_p_value < kLeastFit) {
    all.push_back(fmt::format("the sensors do not fit the rows of plan {}: a p-value of {:.2g}",
                              plan->number, plan->fit_p_value));
  }
  return all;
}

void LiveState::save(ByteWriter& out) const {
  out.put(static_cast<std::uint64_t>(units_.size()));
  for (const auto& [name, unit] : units_) unit.save(out);
  out.put(runs_begun_);
  for (const std::int64_t number : {rows_, plans_, plan_due_, forgotten_}) out.put(number);
  out.put_all(plays_);
  out.put_text(solo_ ? solo_->save().dump() : "");
  out.put_text(learns() && policy_ ? policy_->plan().to_bytes() : "");
  out.put(detector_ && detector_->active());
  if (detector_) detector_->save(out);
}

void LiveState::load(ByteReader& in) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  units_.clear();
  runs_.clear();
  active_ = 0;
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    LiveUnit loaded = LiveUnit::loaded(in, model_.num_states());
    const std::string name = loaded.name;
    LiveUnit& unit = units_[name] = std::move(loaded);
    if (unit.ended) continue;
    runs_[unit.run] = &unit;
    ++active_;
  }
  runs_begun_ = in.get<std::uint64_t>();
  for (std::int64_t* number : {&rows_, &plans_, &plan_due_, &forgotten_}) {
    *number = in.get_integer(0, kMost);
  }
  plays_ = in.get_all<std::int64_t>(plays_.size());
  const std::string solo = in.get_text();
  if (solo_) {
    const nlohmann::ordered_json document = parse_json(solo, "snapshot");
    solo_->load(JsonView(document, "snapshot"));
  }
  const std::string plan = in.get_text();
  if (learns() && !plan.empty()) {
    policy_ = std::make_shared<LivePolicy>(
        model_, *grid_,
        LivePlan::parse(plan, model_.num_states(), model_.num_actions(), grid_->size()), floor_);
  }
  const auto watching = in.get<bool>();
  if (!detector_) return;
  OAS_REQUIRE(!watching || policy_, "saved bytes are damaged: nothing to be held to be true");
  if (watching) {
    const LivePlan& held = policy_->plan();
    detector_->hold_true(held.estimate, learns() ? held.rows - forgotten_ : 0);
  }
  detector_->load(in);
}

}  // namespace oas::detail
