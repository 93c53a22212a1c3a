#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/live/detail/live_state.hpp"

// What of a LiveState is told and kept.
namespace oas::detail {

namespace {

// Steps per action, or per row of T, after which one should have been seen.
constexpr std::int64_t kRowsToTry = 100;
// Rows after which what happened once is no news any more.
constexpr std::int64_t kNews = 10'000;
// Below, the sensors are said not to fit.
constexpr double kLeastFit = 1e-4;
// Expected visits of a state under an action from which its row of T is learned.
constexpr double kLeastVisits = 1.0;
constexpr std::size_t kMostNamed = 5;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
// Units that a snapshot takes under one lock.
constexpr int kUnitsAtATime = 16;

// The rows of T of which a plan's data say nothing, as "action in state".
std::vector<std::string> rows_not_learned(const LivePlan& plan, const Pomdp& model) {
  std::vector<std::string> names;
  const auto n = static_cast<std::size_t>(model.num_states());
  std::size_t at = 0;
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (State s{0}; s < model.num_states(); ++s, at += n) {
      const auto row = std::span(plan.counts).subspan(at, n);
      if (std::accumulate(row.begin(), row.end(), 0.0) >= kLeastVisits) continue;
      names.push_back(fmt::format("{} in {}", model.actions()[a], model.states()[s]));
    }
  }
  return names;
}

}  // namespace

std::vector<LiveWarning> LiveState::warnings() const {
  std::vector<LiveWarning> all;
  warn_of_actions(all);
  warn_of_rows(all);
  warn_of_plan(all);
  return all;
}

void LiveState::warn_of_actions(std::vector<LiveWarning>& all) const {
  for (Action a{0}; a < model_.num_actions(); ++a) {
    if (plays_[static_cast<std::size_t>(a)] > 0 || rows_ < kRowsToTry * model_.num_actions()) {
      continue;
    }
    const std::string& name = model_.actions()[a];
    all.push_back({"action " + name,
                   fmt::format("action {} was never taken in {} steps: nothing is learned of it",
                               name, rows_)});
  }
}

void LiveState::warn_of_rows(std::vector<LiveWarning>& all) const {
  if (last_impossible_ >= 0 && rows_ - last_impossible_ <= kNews) {
    all.push_back(
        {"impossible observations",
         fmt::format("{} observations could not be under the plan of their time, the last "
                     "at row {}",
                     impossible_, last_impossible_)});
  }
  if (!detector_ || detector_->alarms() == 0) return;
  if (!detector_->alarmed() && rows_ - detector_->last_alarm() > kNews) return;
  all.push_back(
      {"change", fmt::format("the dynamics, or the sensors, seem to have changed: alarm {} at row "
                             "{}{}",
                             detector_->alarms(), detector_->last_alarm(),
                             detector_->alarmed() ? "" : "; a new plan has been made since")});
}

void LiveState::warn_of_plan(std::vector<LiveWarning>& all) const {
  const LivePlan* const plan = last_plan();
  if (plan == nullptr) return;
  if (!plan->failure.empty()) {
    all.push_back({"plan", fmt::format("plan {}: {}", plan->number, plan->failure)});
  }
  if (plan->fit_p_value < kLeastFit) {
    all.push_back(
        {"sensors", fmt::format("the sensors do not fit the rows of plan {}: a p-value of {:.2g}",
                                plan->number, plan->fit_p_value)});
  }
  const std::int64_t pairs = std::int64_t{model_.num_actions()} * model_.num_states();
  if (plan->rows - forgotten_ < kRowsToTry * pairs) return;
  std::vector<std::string> names = rows_not_learned(*plan, model_);
  if (names.empty()) return;
  const std::size_t count = names.size();
  names.resize(std::min(count, kMostNamed));
  all.push_back(
      {"rows not learned",
       fmt::format("{} of {} rows of the dynamics are not learned, since no unit took "
                   "these actions in these states: {}{}",
                   count, pairs, fmt::join(names, ", "), count > kMostNamed ? ", …" : "")});
}

void LiveSnapshot::add(const LiveUnit& unit) {
  ByteWriter out;
  unit.save(out);
  const std::string bytes = out.take();
  if (units_.empty() || units_.back().size() + bytes.size() > kPieceBytes) {
    units_.emplace_back().reserve(std::max(kPieceBytes, bytes.size()));
  }
  units_.back() += bytes;
  ++count_;
}

std::string LiveSnapshot::bytes() const {
  ByteWriter out;
  out.put_text(rest_);
  out.put_text(policy_ ? policy_->plan().to_bytes() : "");
  out.put(policy_ ? policy_->drift() : 0.0);
  history_.save(out);
  out.put(count_);
  std::string all = out.take();
  for (const std::string& piece : units_) all += piece;
  return all;
}

// But for the units.
LiveSnapshot LiveState::snapshot_of_rest() const {
  ByteWriter out;
  out.put(runs_begun_);
  for (const std::int64_t number :
       {rows_, missing_, impossible_, plans_, plan_due_, forgotten_, names_forgotten_}) {
    out.put(number);
  }
  out.put(last_impossible_);
  out.put_all(plays_);
  out.put_all(recent_plays_);
  out.put_text(solo_ ? solo_->save().dump() : "");
  out.put(detector_ && detector_->active());
  if (detector_) detector_->save(out);
  return {out.take(), learns() ? policy_ : nullptr, history_};
}

void LiveState::save(ByteWriter& out) const {
  LiveSnapshot snapshot = snapshot_of_rest();
  for (const auto& [name, unit] : units_) snapshot.add(unit);
  out.put_text(snapshot.bytes());
}

void LiveState::begin_save() {
  ++saves_;
  saved_up_to_.clear();
  saving_ = std::make_unique<LiveSnapshot>(snapshot_of_rest());
}

void LiveState::save_before_change(LiveUnit& unit) {
  if (!saving_ || unit.saving == saves_) return;
  saving_->add(unit);
  unit.saving = saves_;
}

bool LiveState::save_some_units() {
  auto next = saved_up_to_.empty() ? units_.begin() : units_.upper_bound(saved_up_to_);
  for (int i = 0; i < kUnitsAtATime && next != units_.end(); ++i, ++next) {
    save_before_change(next->second);
    saved_up_to_ = next->first;
  }
  return next == units_.end();
}

void LiveState::load_units(ByteReader& in) {
  units_.clear();
  runs_.clear();
  ended_.clear();
  active_ = 0;
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    LiveUnit loaded = LiveUnit::loaded(in, model_.num_states());
    const std::string name = loaded.name;
    LiveUnit& unit = units_[name] = std::move(loaded);
    if (unit.ended) {
      ended_[unit.end] = name;
      continue;
    }
    runs_[unit.run] = &unit;
    ++active_;
  }
}

void LiveState::load(ByteReader& saved) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::string bytes = saved.get_text();
  ByteReader in(bytes);
  const std::string rest_bytes = in.get_text();
  ByteReader rest(rest_bytes);
  runs_begun_ = rest.get<std::uint64_t>();
  for (std::int64_t* number :
       {&rows_, &missing_, &impossible_, &plans_, &plan_due_, &forgotten_, &names_forgotten_}) {
    *number = rest.get_integer(0, kMost);
  }
  last_impossible_ = rest.get_integer(-1, kMost);
  plays_ = rest.get_all<std::int64_t>(plays_.size());
  recent_plays_ = rest.get_all<double>(recent_plays_.size());
  const std::string solo = rest.get_text();
  if (solo_) {
    const nlohmann::ordered_json document = parse_json(solo, "snapshot");
    solo_->load(JsonView(document, "snapshot"));
  }
  const std::string plan = in.get_text();
  const auto drift = in.get<double>();
  if (learns() && !plan.empty()) {
    policy_ = std::make_shared<LivePolicy>(
        model_, *grid_,
        LivePlan::parse(plan, model_.num_states(), model_.num_actions(), grid_->size()), floor_,
        drift);
  }
  history_.load(in, plays_.size() * static_cast<std::size_t>(model_.num_states()) *
                        static_cast<std::size_t>(model_.num_states()));
  load_units(in);
  const auto watching = rest.get<bool>();
  if (!detector_) return;
  OAS_REQUIRE(!watching || policy_, "saved bytes are damaged: nothing to be held to be true");
  if (watching) {
    const LivePlan& held = policy_->plan();
    detector_->hold_true(held.estimate, learns() ? worth(held.rows - forgotten_) : 0);
  }
  detector_->load(rest);
}

}  // namespace oas::detail
