#include "oas/live/detail/live_state.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/counts/forgetting.hpp"
#include "oas/counts/row_pairing.hpp"
#include "oas/learning/agents.hpp"
#include "oas/simulation/policies.hpp"

namespace oas::detail {

namespace {

// Numbers of a stream that are set aside for one step; a choice takes one or two.
constexpr std::uint64_t kDrawsPerStep = 8;

Rng stream_of(std::uint64_t seed, const LiveUnit& unit, std::int64_t step) {
  Fingerprint key;
  key.add(seed);
  key.add_bytes(unit.name);
  if (unit.draws > 0) key.add(unit.draws);
  return Rng({key.value(), static_cast<std::uint32_t>(unit.runs), Role::agent},
             static_cast<std::uint64_t>(step) * kDrawsPerStep);
}

// Whether rows without propensity would bias what is learned.
bool needs_propensities(const PooledLearner& learner) {
  return !learner.likelihood() &&
         weights_by_propensity(learner.sensors().timing(), learner.sensors().num_actions(), true);
}

}  // namespace

LiveState::LiveState(LiveModel live_model, const LiveOptions& options)
    : full_model_(std::move(live_model)),
      options_(options),
      model_(find_agent(options.agent).knows_dynamics ? full_model_.finite()
                                                      : full_model_.finite().without_transition()),
      plays_(static_cast<std::size_t>(model_.num_actions()), 0),
      recent_plays_(options.half_life > 0.0 ? plays_.size() : 0, 0.0) {
  check_half_life();
  const Pomdp& model = full_model_.finite();
  if (find_agent(options.agent).split == nullptr) {
    solo_.emplace(make_agent(options.agent, model, options.settings));
    OAS_REQUIRE(full_model_.dimension() == 0,
                "the model has real-valued observations, and agent '{}' takes finite ones, which "
                "oas discretise makes; oas-ucrl-ml takes these",
                options_.agent);
    OAS_REQUIRE(!solo_->needs_hidden_state(),
                "agent '{}' must be shown the hidden state; no real system can", options.agent);
    return;
  }
  SplitAgent agent = split_agent(options.agent, model, options.settings);
  floor_ = agent.floor;
  grid_.emplace(agent.controller.grid());
  learner_settings_ = std::move(agent.learner);
  if (learner_settings_) plan_due_ = learner_settings_->first_episode();
  if (learner_settings_ || agent.controller.ready()) {
    detector_.emplace(model_, options.steps_per_false_alarm);
  }
  if (!agent.controller.ready()) return;
  LivePlan plan;
  plan.transition = plan.estimate = agent.controller.transition();
  plan.bias = agent.controller.bias();
  plan.status = "fixed";
  policy_ =
      std::make_shared<LivePolicy>(model_.without_transition(), *grid_, std::move(plan), floor_);
  if (find_agent(options.agent).knows_dynamics) {
    detector_->hold_true(policy_->plan().estimate);
  } else {
    detector_.reset();  // it plays by dynamics that it does not hold to be true
  }
}

const LiveUnit* LiveState::find(const std::string& name) const {
  const auto found = units_.find(name);
  return found == units_.end() ? nullptr : &found->second;
}

LiveUnit& LiveState::unit_of(std::uint64_t run) {
  const auto found = runs_.find(run);
  OAS_REQUIRE(found != runs_.end(), "there is no open run {}", run);
  return *found->second;
}

JournalRecord LiveState::begin_record(const std::string& name) const {
  OAS_REQUIRE(!solo_ || runs_begun_ == 0,
              "this agent cannot be split into one that learns and several that act: it has one "
              "unit and one run, and cannot begin another with unit '{}'",
              name);
  JournalRecord record;
  record.kind = JournalKind::begin;
  record.run = runs_begun_;
  record.step = model_.reading_first() ? -1 : 0;
  record.text = name;
  return record;
}

JournalRow LiveState::completed(const LiveUnit& unit, JournalRow row) const {
  if (unit.step < 0) {
    OAS_REQUIRE(!row.by_others, "the first reading of a run comes before any action");
  } else if (row.by_others) {
    OAS_REQUIRE(!solo_, "this agent cannot be told of actions that others chose");
    OAS_REQUIRE(row.propensity || !learner_settings_ || !needs_propensities(*learner_settings_),
                "action {} was chosen by others and has no propensity: in `after` timing moments "
                "are weighted by 1/propensity, and leaving such rows out would select by what was "
                "seen; oas-ucrl-ml needs none",
                model_.actions()[row.action]);
  } else {
    row.action = unit.choice.action;
    row.propensity = unit.choice.propensity;
  }
  const SeenRow seen = full_model_.seen(row);
  if (seen.likelihoods.empty()) return row;
  OAS_REQUIRE(!solo_, "agent '{}' takes finite observations and nothing else", options_.agent);
  OAS_REQUIRE(
      !learner_settings_ || learner_settings_->likelihood() || row.likelihoods.empty(),
      "agent '{}' learns by moments, which likelihoods are no use to; oas-ucrl-ml takes them",
      options_.agent);
  return row;
}

std::vector<double> LiveState::belief_now(const LiveUnit& unit) const {
  if (solo_) return {solo_->belief().begin(), solo_->belief().end()};
  if (!policy_ || unit.step < 0) return {};
  return unit.plan == policy_->plan().number ? unit.belief : policy_->belief_of(unit);
}

Choice LiveState::choose(const LiveUnit& unit, const JournalRow* row) {
  std::vector<double> belief = belief_now(unit);
  if (row == nullptr || row->action < 0) {
    if (row != nullptr && policy_) {
      LiveUnit begun = unit;
      begun.first = full_model_.seen(*row);
      belief = policy_->belief_of(begun);
    }
    return drawn(unit, row == nullptr ? unit.step : 0, belief, nullptr);
  }
  if (policy_) belief = policy_->moved(belief, full_model_.seen(*row)).belief;
  return drawn(unit, unit.step + 1, belief, row);
}

// An action that is played too rarely, after that row, if there is one.
std::optional<Action> LiveState::overdue(const JournalRow* row) const {
  std::vector<std::int64_t> plays = plays_;
  if (row != nullptr) ++plays[static_cast<std::size_t>(row->action)];
  if (!recent_plays_.empty()) {  // what fades is to be tried again
    std::vector<double> recent = recent_plays_;
    if (row != nullptr) count_play(recent, row->action);
    for (std::size_t a = 0; a < plays.size(); ++a) plays[a] = std::llround(recent[a]);
  }
  return learner_settings_->overdue(plays,
                                    std::accumulate(plays.begin(), plays.end(), std::int64_t{0}));
}

void LiveState::count_play(std::vector<double>& plays, Action action) const {
  if (plays.empty()) return;
  const double weight = std::exp2(-1.0 / options_.half_life);
  for (double& count : plays) count *= weight;
  plays[static_cast<std::size_t>(action)] += 1.0;
}

std::int64_t LiveState::worth(std::int64_t rows) const {
  if (recent_plays_.empty()) return rows;
  const Forgetting fading{options_.half_life, 0, Age::log};
  return std::min<std::int64_t>(rows, std::llround(fading.effective_rows({{rows, 1}})) + 1);
}

void LiveState::check_half_life() const {
  if (options_.half_life == 0.0) return;
  const auto require = [&](bool can, const char* why) {
    OAS_REQUIRE(
        can,
        "half_life is {}; agent '{}' {}: oas-ucrl-ml, oas-ucrl-pooled, psrl-laplace, omle and "
        "certainty-equivalent let rows fade",
        options_.half_life, options_.agent, why);
  };
  require(find_agent(options_.agent).split != nullptr, "learns from one unit alone");
  const SplitAgent agent = split_agent(options_.agent, full_model_.finite(), options_.settings);
  require(agent.learner.has_value(), "does not learn");
  require(agent.learner->options().exploration != PooledExploration::gibbs,
          "draws hidden paths through all rows alike");
}

Choice LiveState::drawn(const LiveUnit& unit, std::int64_t step, std::span<const double> belief,
                        const JournalRow* row) {
  Rng rng = stream_of(options_.seed, unit, step);
  if (solo_) {
    if (!solo_choice_) solo_choice_ = solo_->act(rng);
    return *solo_choice_;
  }
  const int num_actions = model_.num_actions();
  if (!policy_) {
    return {Action{rng.below(static_cast<std::uint32_t>(num_actions))}, 1.0 / num_actions};
  }
  if (learner_settings_) {
    if (const auto action = overdue(row)) return {*action, 1.0};
  }
  return explore(policy_->greedy(belief), floor_, num_actions, rng);
}

void LiveState::apply(const JournalRecord& record, bool check, std::vector<LearnerRow>& fed) {
  switch (record.kind) {
    case JournalKind::begin:
      begin(record);
      return;
    case JournalKind::plan:
      OAS_REQUIRE(learns(), "the journal has a plan, and the agent does not learn");
      adopt(plan_of(record));
      return;
    case JournalKind::change:
      forget();
      if (learns()) fed.push_back(learner_row(record, {}));
      return;
    default:
      break;
  }
  LiveUnit& unit = unit_of(record.run);
  save_before_change(unit);
  OAS_REQUIRE(record.step == unit.step, "unit '{}' is at step {}, the journal goes on at step {}",
              unit.name, unit.step, record.step);
  SeenRow seen;
  if (has_row(record)) {
    seen = full_model_.seen(record.row);
    unit.step < 0 ? begin_with(unit, record.row, seen) : observe(unit, record.row, seen);
  }
  if (record.kind == JournalKind::act || record.kind == JournalKind::step) {
    act(unit, record, check);
  }
  if (record.kind == JournalKind::end) end(unit);
  if (learns() && record.kind != JournalKind::act) {
    fed.push_back(learner_row(record, std::move(seen)));
  }
}

LiveUnit LiveState::begun(const JournalRecord& record) const {
  LiveUnit fresh;
  fresh.name = record.text;
  fresh.run = record.run;
  fresh.runs = 1;
  fresh.step = model_.reading_first() ? -1 : 0;
  if (names_forgotten_ > 0) fresh.draws = record.run;
  if (const LiveUnit* before = find(record.text)) {
    OAS_REQUIRE(before->ended, "unit '{}' begins a run within a run", record.text);
    fresh.runs = before->runs + 1;
    fresh.rows = before->rows;
    fresh.missing = before->missing;
    fresh.impossible = before->impossible;
  }
  return fresh;
}

void LiveState::begin(const JournalRecord& record) {
  OAS_REQUIRE(record.run == runs_begun_, "run {} begins after {} runs", record.run, runs_begun_);
  LiveUnit fresh = begun(record);
  const auto before = units_.find(record.text);
  if (before != units_.end()) {
    save_before_change(before->second);
    ended_.erase(before->second.end);
  }
  fresh.saving = saves_;
  LiveUnit& unit = units_[record.text] = std::move(fresh);
  runs_[record.run] = &unit;
  ++runs_begun_;
  ++active_;
}

// Of ended units those are remembered that ended last.
void LiveState::forget_names() {
  for (; ended_.size() > kEndedNames; ended_.erase(ended_.begin()), ++names_forgotten_) {
    const auto unit = units_.find(ended_.begin()->second);
    save_before_change(unit->second);
    units_.erase(unit);
  }
}

void LiveState::begin_with(LiveUnit& unit, const JournalRow& row, const SeenRow& seen) {
  OAS_REQUIRE(row.action < 0, "unit '{}': a first reading has an action", unit.name);
  unit.first = seen;
  unit.content = content_of(row);
  unit.has_row = true;
  unit.step = 0;
  if (solo_) {
    if (row.observation != kMissing) solo_->begin(row.observation);
  } else if (policy_) {
    policy_->take_over(unit);
  }
}

void LiveState::observe(LiveUnit& unit, const JournalRow& row, const SeenRow& seen) {
  OAS_REQUIRE(row.action >= 0 && (unit.acted || row.by_others),
              "unit '{}' observes step {} before an action is chosen", unit.name, unit.step);
  play_under_plan_in_force(unit);
  if (detector_ && detector_->active()) watch(unit, seen);
  move_belief(unit, seen);
  if (learns()) unit.window.add(seen, unit.belief);
  unit.content = content_of(row);
  unit.has_row = true;
  unit.acted = false;
  ++unit.step;
  ++unit.rows;
  ++rows_;
  if (seen.missing()) ++unit.missing, ++missing_;
  ++plays_[static_cast<std::size_t>(row.action)];
  count_play(recent_plays_, row.action);
}

void LiveState::move_belief(LiveUnit& unit, const SeenRow& row) {
  if (solo_) solo_->observe(row.observation);
  if (solo_ || !policy_) return;
  LivePolicy::Moved moved = policy_->moved(unit.belief, row);
  unit.belief = std::move(moved.belief);
  if (moved.probability > 0.0) return;
  ++unit.impossible;
  ++impossible_;
  last_impossible_ = rows_;
}

void LiveState::play_under_plan_in_force(LiveUnit& unit) {
  if (!solo_ && policy_ && unit.plan != policy_->plan().number) policy_->take_over(unit);
}

// Before the row is in the window.
void LiveState::watch(LiveUnit& unit, const SeenRow& row) {
  if (unit.watch_plan != plans_) {
    RowFilter& filter = detector_->filter();
    unit.window.bring(filter, unit.first, policy_ ? policy_->doubt_of_estimate() : 0.0);
    unit.watch.belief = filter.copied();
    unit.watch.before = unit.window.last_observation(unit.first.observation);
    unit.watch_plan = plans_;
  }
  detector_->see(unit.watch, row, rows_);
}

void LiveState::act(LiveUnit& unit, const JournalRecord& record, bool check) {
  check_action(record.choice, model_.num_actions());
  OAS_REQUIRE(!unit.acted && unit.step >= 0, "unit '{}' acts twice in step {}", unit.name,
              unit.step);
  if (check || solo_) {
    const Choice again = choose(unit, nullptr);
    OAS_REQUIRE(again.action == record.choice && again.propensity == record.choice_propensity,
                "unit '{}', step {}: the journal has action {} with propensity {}, and computed "
                "again it is {} with {}",
                unit.name, unit.step, model_.actions()[record.choice], record.choice_propensity,
                model_.actions()[again.action], again.propensity);
  }
  play_under_plan_in_force(unit);
  if (solo_) unit.belief.assign(solo_->belief().begin(), solo_->belief().end());
  solo_choice_.reset();
  unit.choice = {record.choice, record.choice_propensity};
  unit.reward = policy_ ? policy_->expected_reward(unit.belief, record.choice) : 0.0;
  unit.acted = true;
}

void LiveState::end(LiveUnit& unit) {
  runs_.erase(unit.run);
  unit.ended = true;
  unit.acted = false;
  unit.window = {};
  unit.belief = {};
  unit.watch = {};
  unit.watch_plan = -1;
  unit.end = runs_begun_ - static_cast<std::uint64_t>(active_);
  --active_;
  ended_[unit.end] = unit.name;
  forget_names();
}

void LiveState::forget() {
  if (!learns()) return;
  plan_due_ = rows_ + learner_settings_->first_episode();
  forgotten_ = rows_;
  detector_->suspend();
}

void LiveState::adopt(LivePlan plan) {
  OAS_REQUIRE(plan.number == plans_ + 1 && plan.rows <= rows_,
              "plan {} from {} rows comes after {} plans and {} rows", plan.number, plan.rows,
              plans_, rows_);
  plans_ = plan.number;
  if (plan.rows > forgotten_) {
    const std::int64_t learned = worth(plan.rows - forgotten_);
    plan_due_ = plan.rows + learner_settings_->length_after(learned);
  }
  const double drift = policy_ ? policy_->drift() + plan.distance(policy_->plan().transition) : 0.0;
  policy_ = std::make_shared<LivePolicy>(model_, *grid_, std::move(plan), floor_, drift);
  history_.add(policy_->plan());
  const std::int64_t learned = policy_->plan().rows - forgotten_;
  if (learned > 0) detector_->hold_true(policy_->plan().estimate, worth(learned));
}

LivePlan LiveState::plan_of(const JournalRecord& record) const {
  return LivePlan::parse(record.text, model_.num_states(), model_.num_actions(), grid_->size());
}

std::int64_t LiveState::rows_of_plan(const JournalRecord& record) const {
  return plan_of(record).rows;
}

void LiveState::check_plan(const JournalRecord& record, LiveLearner& learner) const {
  OAS_REQUIRE(learner.make_plan(last_plan()).to_bytes() == record.text,
              "plan {} comes out otherwise when it is made again", plan_of(record).number);
}

}  // namespace oas::detail
