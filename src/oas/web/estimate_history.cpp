#include "oas/web/estimate_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

constexpr auto kBetweenLooks = std::chrono::seconds(1);
constexpr std::size_t kFewestPoints = 16;
constexpr std::size_t kMostPoints = 400;

double number_or_nan(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// The numbers of nested arrays, one after the other; `null` becomes NaN.
void flatten(const Json& value, std::vector<double>& out) {
  if (value.is_array()) {
    for (const Json& part : value) flatten(part, out);
  } else {
    out.push_back(number_or_nan(value));
  }
}

}  // namespace

EstimateHistory::EstimateHistory(AgentCalls calls, std::size_t max_bytes)
    : calls_(std::move(calls)), max_bytes_(max_bytes) {}

EstimateHistory::~EstimateHistory() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void EstimateHistory::watch() {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!ends_) {
      lock.unlock();
      try {
        look();
      } catch (const std::exception&) {  // no memory: the page shows less, and the agent goes on
      }
      lock.lock();
      ended_.wait_for(lock, kBetweenLooks, [this] { return ends_; });
    }
  });
}

void EstimateHistory::look() {
  const HttpReply status = calls_.call("status", R"({"limit":0})");
  if (status.status != 200) return;
  const auto plans = Json::parse(status.body).value("plans", std::int64_t{0});
  {
    const std::lock_guard lock(mutex_);
    if (plans == plans_) return;
  }
  const HttpReply estimated = calls_.call("estimate", "{}");
  const HttpReply planned = calls_.call("plan", "{}");
  if (estimated.status != 200 || planned.status != 200) return;
  const Json estimate = Json::parse(estimated.body);
  const Json plan = Json::parse(planned.body).at("plan");
  if (!estimate.at("transition").is_array() || !plan.is_object()) return;
  Point point;
  point.plan = plan.at("number").get<std::int64_t>();
  point.rows = estimate.at("rows").get<std::int64_t>();
  point.gain = number_or_nan(plan.at("gain"));
  point.optimistic_gain = number_or_nan(plan.at("optimistic_gain"));
  flatten(estimate.at("transition"), point.values);
  const std::size_t entries = point.values.size();
  flatten(estimate.at("standard_error"), point.values);
  point.values.resize(2 * entries, std::numeric_limits<double>::quiet_NaN());
  const std::lock_guard lock(mutex_);
  plans_ = plans;
  num_actions_ = estimate.at("actions").size();
  num_states_ = estimate.at("states").size();
  add(std::move(point));
}

// Under the lock.
void EstimateHistory::add(Point point) {
  const std::size_t bytes = sizeof(Point) + point.values.size() * sizeof(double);
  points_.push_back(std::move(point));
  if (points_.size() < std::clamp(max_bytes_ / bytes, kFewestPoints, kMostPoints)) return;
  std::deque<Point> kept;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (i % 2 == 0 || i + 1 == points_.size()) kept.push_back(std::move(points_[i]));
  }
  points_ = std::move(kept);
}

HttpReply EstimateHistory::answer(std::string_view body) const {
  const std::lock_guard lock(mutex_);
  std::size_t entry = 0;
  try {
    const Json request = parse_json(body, "request");
    const JsonView view(request, "request");
    constexpr std::array<std::string_view, 3> kKeys = {"action", "from", "to"};
    view.require_keys(kKeys);
    const std::array<std::size_t, 3> ends = {num_actions_, num_states_, num_states_};
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      const long index = view.at(kKeys[i]).as_integer();
      const bool known =
          index >= 0 && (points_.empty() || static_cast<std::size_t>(index) < ends[i]);
      OAS_REQUIRE(known, "request: $.{} is {}; it must be from 0 to below {}", kKeys[i], index,
                  ends[i]);
      entry = entry * ends[i] + static_cast<std::size_t>(index);
    }
  } catch (const InvalidArgument& error) {
    return http_error(400, error.what());
  }
  Json answer = {{"ok", true}};
  for (const char* key : {"plan", "rows", "value", "standard_error", "gain", "optimistic_gain"}) {
    answer[key] = Json::array();
  }
  for (const Point& point : points_) {
    const std::size_t entries = point.values.size() / 2;
    answer["plan"].push_back(point.plan);
    answer["rows"].push_back(point.rows);
    answer["value"].push_back(number_or_null(point.values[entry]));
    answer["standard_error"].push_back(number_or_null(point.values[entries + entry]));
    answer["gain"].push_back(number_or_null(point.gain));
    answer["optimistic_gain"].push_back(number_or_null(point.optimistic_gain));
  }
  return {200, answer.dump() + "\n"};
}

}  // namespace oas
