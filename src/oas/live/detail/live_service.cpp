#include "oas/live/detail/live_service.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/learning/agents.hpp"

namespace oas::detail {

namespace {

constexpr int kOk = 200;
constexpr int kBadRequest = 400;
constexpr int kUnknown = 404;
constexpr int kConflict = 409;
constexpr int kTooLong = 413;
constexpr int kUnavailable = 503;

// So many units are told of under one lock.
constexpr int kUnitsPerLock = 100;

LiveReply refused(int status, std::string_view reason) {
  const Json body = {{"ok", false}, {"error", reason}};
  return {status, body.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

bool changes(const std::string& call) {
  return call == "act" || call == "observe" || call == "step" || call == "end";
}

}  // namespace

LiveService::LiveService(AnyModel model, LiveOptions options)
    : options_((options.validate(), std::move(options))),
      state_(LiveModel(std::move(model)), options_),
      store_(state_.full_model(), options_) {
  if (state_.learns()) {
    learner_ = std::make_unique<LiveLearner>(
        split_agent(options_.agent, state_.full_model().finite(), options_.settings), options_.seed,
        RowStorage{options_.row_memory(), options_.journal,
                   rows_again(options_.journal, state_.full_model())},
        options_.half_life);
  }
  store_.recover(state_, learner_.get());
  if (!options_.synchronous) worker_ = std::thread([this] { background(); });
  if (options_.sync == LiveSync::interval) syncer_ = std::thread([this] { sync_now_and_then(); });
}

LiveService::~LiveService() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  stop_ = true;
  wake_.notify_all();
  sync_wake_.notify_all();
  if (worker_.joinable()) worker_.join();
  if (syncer_.joinable()) syncer_.join();
}

LiveReply LiveService::call(std::string_view call, std::string_view body) {
  LiveReply reply;
  std::string name = "unreadable";
  try {
    if (body.size() > options_.max_body) {
      throw Refusal{kTooLong, fmt::format("the request has {} bytes; at most {} are taken",
                                          body.size(), options_.max_body)};
    }
    const LiveRequest request = parse_live_request(call, body, state_.model());
    name = request.call;
    const Json answered = answer(request);
    if (options_.sync == LiveSync::always && changes(request.call)) store_.journal().sync();
    reply = {answered["ok"] ? kOk : kUnavailable,
             answered.dump(-1, ' ', false, Json::error_handler_t::replace)};
  } catch (const Refusal& refusal) {
    reply = refused(refusal.status, refusal.reason);
  } catch (const InvalidArgument& error) {
    reply = refused(kBadRequest, error.what());
  } catch (const std::exception& error) {
    reply = refused(kUnavailable, error.what());
  }
  count(name, reply.status);
  return reply;
}

Json LiveService::answer(const LiveRequest& request) {
  Json answer = {{"ok", true}};
  std::function<Json()> rest;
  {
    const std::scoped_lock lock(mutex_);
    if (!broken_.empty() && request.call != "status" && request.call != "health") {
      throw Refusal{kUnavailable, broken_};
    }
    rest = question(request);
    if (!rest) answer.update(dispatch(request));
    after_call();
  }
  if (rest) answer.update(rest());
  if (request.call == "status" && request.unit.empty()) add_units(request, answer);
  return answer;
}

std::function<Json()> LiveService::question(const LiveRequest& request) const {
  const Pomdp& model = state_.model();
  if (request.call == "estimate") {
    return [&model, view = plan_view(state_)] { return estimate_answer(model, view); };
  }
  if (request.call == "plan") {
    return [&model, view = plan_view(state_)] { return plan_answer(model, view); };
  }
  if (request.call == "history") {
    return [&model, history = state_.history(), &request] {
      return history_answer(model, history, request);
    };
  }
  if (request.call != "forecast") return {};
  return [view = forecast_view(state_, known(request), request)] { return forecast_answer(view); };
}

// A few at a time, so that calls need not wait until all are told of.
void LiveService::add_units(LiveRequest request, Json& answer) const {
  int left = request.limit;
  answer["units"] = Json::array();
  do {
    request.limit = std::min(left, kUnitsPerLock);
    left -= request.limit;
    const std::unique_lock lock(mutex_);
    Json some = units_answer(state_, request);
    answer["more"] = some["more"];
    for (Json& unit : some["units"]) answer["units"].push_back(std::move(unit));
    if (!answer["units"].empty()) request.after = answer["units"].back()["unit"];
  } while (left > 0 && answer["more"]);
}

Json LiveService::dispatch(const LiveRequest& request) {
  if (request.call == "act") return act(request);
  if (request.call == "observe") return observe(request);
  if (request.call == "step") return step(request);
  if (request.call == "end") return end(request);
  if (request.call == "status") return status(request);
  if (request.call == "snapshot") return snapshot();
  return health();
}

const LiveUnit& LiveService::known(const LiveRequest& request) const {
  const LiveUnit* const unit = state_.find(request.unit);
  if (unit == nullptr) {
    throw Refusal{kUnknown, fmt::format("there is no unit '{}'", request.unit)};
  }
  return *unit;
}

LiveService::Target LiveService::target_of(const LiveRequest& request) const {
  const std::int64_t first = state_.model().reading_first() ? -1 : 0;
  Target target;
  target.unit = state_.find(request.unit);
  const bool begins = target.unit == nullptr || (target.unit->ended && *request.step == first);
  if (begins) {
    if (*request.step != first) {
      throw Refusal{kUnknown, fmt::format("there is no unit '{}'; one begins with {} of step {}",
                                          request.unit, first < 0 ? "observe" : "act", first)};
    }
    if (state_.active() >= options_.max_units) {
      throw Refusal{kUnavailable,
                    fmt::format("there are {} units, as many as are taken", state_.active())};
    }
    target.records.push_back(state_.begin_record(request.unit));
    target.begun = std::make_shared<const LiveUnit>(state_.begun(target.records.front()));
    target.unit = target.begun.get();
  }
  if (request.run && *request.run != target.unit->runs) {
    throw Refusal{kConflict, fmt::format("unit '{}' is in run {}, not {}", request.unit,
                                         target.unit->runs, *request.run)};
  }
  return target;
}

void LiveService::out_of_order(const LiveUnit& unit, const LiveRequest& request) {
  std::string expected = fmt::format("act of step {}", unit.step);
  if (unit.acted || unit.step < 0) expected = fmt::format("observe or step of step {}", unit.step);
  if (unit.ended) expected = "act of step 0, which begins another run";
  throw Refusal{kConflict, fmt::format("unit '{}': {} of step {} is out of order; expected {}",
                                       unit.name, request.call, *request.step, expected)};
}

bool LiveService::repeats(const LiveUnit& unit, const LiveRequest& request) {
  if (unit.ended || !unit.has_row || *request.step != unit.step - 1) return false;
  if (content_of(request.row) == unit.content) return true;
  throw Refusal{kConflict,
                fmt::format("unit '{}': step {} was observed already, and it was not this",
                            unit.name, *request.step)};
}

Json LiveService::act(const LiveRequest& request) {
  Target target = target_of(request);
  const LiveUnit& unit = *target.unit;
  if (unit.ended || *request.step != unit.step || unit.step < 0) out_of_order(unit, request);
  if (!unit.acted) take_action(std::move(target));
  return act_answer(state_, known(request));
}

// Where a plan is to be made within the call, it is made first.
void LiveService::take_action(Target target) {
  if (options_.synchronous && state_.plan_due()) plan_within_the_call();
  const Choice choice = state_.choose(*target.unit, nullptr);
  JournalRecord record;
  record.kind = JournalKind::act;
  record.run = target.unit->run;
  record.step = target.unit->step;
  record.choice = choice.action;
  record.choice_propensity = choice.propensity;
  target.records.push_back(std::move(record));
  commit(target.records);
}

JournalRecord LiveService::row_record(const LiveUnit& unit, const LiveRequest& request) const {
  const bool can = unit.acted || unit.step < 0 || request.row.by_others;
  if (unit.ended || *request.step != unit.step || !can) out_of_order(unit, request);
  JournalRecord record;
  record.kind = JournalKind::observe;
  record.run = unit.run;
  record.step = unit.step;
  record.row = state_.completed(unit, request.row);
  return record;
}

Json LiveService::observe(const LiveRequest& request) {
  Target target = target_of(request);
  if (!repeats(*target.unit, request)) {
    target.records.push_back(row_record(*target.unit, request));
    commit(target.records);
  }
  Json answer = observe_answer(known(request));
  answer["step"] = *request.step + 1;
  return answer;
}

Json LiveService::step(const LiveRequest& request) {
  Target target = target_of(request);
  if (!repeats(*target.unit, request)) {
    JournalRecord record = row_record(*target.unit, request);
    const bool planned = options_.synchronous && state_.plan_due_after_row();
    if (state_.fleet() && !planned) {
      const Choice choice = state_.choose(*target.unit, &record.row);
      record.kind = JournalKind::step;
      record.choice = choice.action;
      record.choice_propensity = choice.propensity;
    }
    target.records.push_back(std::move(record));
    commit(target.records);
  }
  const LiveUnit& unit = known(request);
  if (!unit.acted) take_action({&unit, nullptr, {}});
  return act_answer(state_, known(request));
}

Json LiveService::end(const LiveRequest& request) {
  const LiveUnit& unit = known(request);
  if (request.run && *request.run != unit.runs) {
    throw Refusal{kConflict, fmt::format("unit '{}' is in run {}, not {}", unit.name, unit.runs,
                                         *request.run)};
  }
  if (*request.step != unit.step) {
    throw Refusal{kConflict,
                  fmt::format("unit '{}': end of step {} is out of order; expected end of step {}",
                              unit.name, *request.step, unit.step)};
  }
  if (!unit.ended) {
    JournalRecord record;
    record.kind = JournalKind::end;
    record.run = unit.run;
    record.step = unit.step;
    commit(std::span(&record, 1));
  }
  return observe_answer(unit);
}

Json LiveService::status(const LiveRequest& request) const {
  if (!request.unit.empty()) return unit_answer(state_, known(request));
  return {{"agent", options_.agent},
          {"states", labels_of(state_.model().states())},
          {"rows", state_.rows()},
          {"active_units", state_.active()},
          {"plans", state_.plans()},
          {"planning", plan_from_.has_value()},
          {"records", store_.journal().place().sequence},
          {"warnings", warning_texts()}};
}

std::vector<LiveWarning> LiveService::warnings() const {
  const std::scoped_lock lock(mutex_);
  return warnings_now();
}

// Under the lock.
std::vector<LiveWarning> LiveService::warnings_now() const {
  std::vector<LiveWarning> all;
  const auto add = [&](const char* about, const std::string& text) {
    if (!text.empty()) all.push_back({about, text});
  };
  add("agent", broken_);
  add("journal", journal_failure_.empty() && store_.journal().broken()
                     ? "the journal could not be synced; the agent must be started again"
                     : journal_failure_);
  add("planning", planning_failure_);
  add("snapshot", snapshot_failure_);
  for (LiveWarning& warning : state_.warnings()) all.push_back(std::move(warning));
  return all;
}

Json LiveService::warning_texts() const {
  Json texts = Json::array();
  for (const LiveWarning& warning : warnings_now()) texts.push_back(warning.text);
  return texts;
}

Json LiveService::snapshot() {
  snapshot_asked_ = true;  // taken beside the calls, or as this one ends
  return {{"records", store_.journal().place().sequence}};
}

// Whether calls are served now: where the last record could not be written, that is tried again.
Json LiveService::health() {
  if (broken_.empty() && (!journal_failure_.empty() || store_.journal().broken())) {
    try {
      store_.journal().try_to_write();
      journal_failure_.clear();
    } catch (const IoError& error) {
      journal_failure_ = error.what();
    }
  }
  const std::string& failure = broken_.empty() ? journal_failure_ : broken_;
  const Json warnings = warning_texts();
  if (failure.empty()) {
    return {{"status", warnings.empty() ? "serving" : "serving, with warnings"},
            {"warnings", warnings}};
  }
  return {{"ok", false}, {"error", failure}, {"status", "failing"}, {"warnings", warnings}};
}

// The state follows the journal. What cannot be applied should have been refused before.
void LiveService::commit(std::span<const JournalRecord> records) {
  try {
    store_.journal().append(records);
    journal_failure_.clear();
  } catch (const IoError& error) {
    journal_failure_ = error.what();
    throw;
  }
  try {
    for (const JournalRecord& record : records) state_.apply(record, false, pending_);
  } catch (const std::exception& error) {
    broken_ = fmt::format("the agent must be started again: {}", error.what());
    throw;
  }
  if (!options_.synchronous) return;
  for (const LearnerRow& row : pending_) learner_->add(row);
  pending_.clear();
}

}  // namespace oas::detail
