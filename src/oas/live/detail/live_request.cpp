#include "oas/live/detail/live_request.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/json_text.hpp"
#include "oas/model/label_lookup.hpp"

namespace oas::detail {

namespace {

using Keys = std::span<const std::string_view>;

// What each call may be asked with; "call" goes with all.
struct CallKeys {
  std::string_view call;
  std::array<std::string_view, 9> keys;
};
constexpr std::array kCalls = {
    CallKeys{"act", {"unit", "step", "run"}},
    CallKeys{
        "observe",
        {"unit", "step", "run", "observation", "reading", "likelihood", "action", "propensity"}},
    CallKeys{
        "step",
        {"unit", "step", "run", "observation", "reading", "likelihood", "action", "propensity"}},
    CallKeys{"status", {"unit", "after", "limit"}},
    CallKeys{"estimate", {}},
    CallKeys{"plan", {}},
    CallKeys{"forecast", {"unit", "steps", "actions", "reach"}},
    CallKeys{"snapshot", {}},
    CallKeys{"end", {"unit", "step", "run"}},
    CallKeys{"health", {}},
    CallKeys{"history", {"action", "from", "to"}},
};

void check_keys(const JsonView& view, const std::string& call) {
  const auto* const found = std::find_if(kCalls.begin(), kCalls.end(),
                                         [&](const CallKeys& each) { return each.call == call; });
  if (found == kCalls.end()) {
    std::string known;
    for (const CallKeys& each : kCalls) {
      known += (known.empty() ? "" : ", ") + std::string(each.call);
    }
    throw InvalidArgument(fmt::format("there is no call '{}'; known are {}", call, known));
  }
  std::vector<std::string_view> allowed = {"call"};
  for (const std::string_view key : found->keys) {
    if (!key.empty()) allowed.push_back(key);
  }
  view.require_keys(allowed);
}

std::string unit_of(const JsonView& view) {
  std::string unit = view.as_string();
  const bool plain = std::none_of(unit.begin(), unit.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (unit.empty() || unit.size() > kLongestUnit || !plain) {
    view.fail(
        fmt::format("a unit's name has 1 to {} bytes and no control characters", kLongestUnit));
  }
  return unit;
}

std::int64_t step_of(const JsonView& view) {
  constexpr long kMostSteps = 1L << 50;
  const long step = view.as_integer();
  if (step < -1 || step > kMostSteps) view.fail("this is not a step");
  return step;
}

// A name, an index, or an index in digits.
int element_of(const JsonView& view, const Labels& labels, const char* what) {
  if (view.is_string()) return element_named(view.as_string(), labels, what);
  const long index = view.as_integer();
  if (index < 0 || index >= labels.size()) {
    view.fail(fmt::format("there is no {} {}; there are {}", what, index, labels.size()));
  }
  return static_cast<int>(index);
}

template <class Index>
std::vector<Index> elements_of(const JsonView& view, const Labels& labels, const char* what) {
  std::vector<Index> result;
  if (!view.is_array()) return {Index{element_of(view, labels, what)}};
  for (std::size_t i = 0; i < view.size(); ++i) {
    result.emplace_back(element_of(view.at(i), labels, what));
  }
  return result;
}

constexpr std::size_t kMostNumbers = 65'536;

void check_count(const JsonView& view) {
  if (!view.is_array() || view.size() == 0 || view.size() > kMostNumbers) {
    view.fail(fmt::format("expected an array of 1 to {} numbers", kMostNumbers));
  }
}

// A number, or one for each component, null where it was not read.
std::vector<double> reading_of(const JsonView& view) {
  if (!view.is_array()) return {view.as_double()};
  check_count(view);
  std::vector<double> reading;
  for (std::size_t i = 0; i < view.size(); ++i) {
    const bool missing = view.at(i).json().is_null();
    reading.push_back(missing ? std::numeric_limits<double>::quiet_NaN() : view.at(i).as_double());
  }
  return reading;
}

std::vector<double> likelihoods_of(const JsonView& view) {
  check_count(view);
  std::vector<double> likelihoods;
  for (std::size_t i = 0; i < view.size(); ++i) likelihoods.push_back(view.at(i).as_double());
  return likelihoods;
}

void read_seen(const JsonView& view, const Pomdp& model, JournalRow& row) {
  const int given = static_cast<int>(view.has("observation")) +
                    static_cast<int>(view.has("reading")) +
                    static_cast<int>(view.has("likelihood"));
  if (given != 1) {
    view.fail(
        fmt::format("expected exactly one of \"observation\" (null: missing), \"reading\" and "
                    "\"likelihood\"; there {}",
                    given == 0 ? "is none" : fmt::format("are {}", given)));
  }
  if (view.has("reading")) row.reading = reading_of(view.at("reading"));
  if (view.has("likelihood")) row.likelihoods = likelihoods_of(view.at("likelihood"));
  if (!view.has("observation")) return;
  const JsonView seen = view.at("observation");
  if (seen.json().is_null()) return;
  row.observation = Observation{element_of(seen, model.observations(), "observation")};
}

void read_row(const JsonView& view, const Pomdp& model, JournalRow& row) {
  read_seen(view, model, row);
  row.by_others = view.has("action");
  if (row.by_others) {
    row.action = Action{element_of(view.at("action"), model.actions(), "action")};
  }
  if (!view.has("propensity")) return;
  const JsonView propensity = view.at("propensity");
  if (!row.by_others) propensity.fail("a propensity goes with an action that somebody else chose");
  row.propensity = propensity.as_double();
  constexpr double kLeastPropensity = 1e-30;  // as in logs, since a journal is one
  if (!(*row.propensity >= kLeastPropensity) || *row.propensity > 1.0) {
    propensity.fail(fmt::format("a propensity is at least {} and at most 1", kLeastPropensity));
  }
}

void read_entry(const JsonView& view, const Pomdp& model, LiveRequest& request) {
  request.action = Action{element_of(view.at("action"), model.actions(), "action")};
  request.from = State{element_of(view.at("from"), model.states(), "state")};
  request.to = State{element_of(view.at("to"), model.states(), "state")};
}

void read_question(const JsonView& view, const Pomdp& model, LiveRequest& request) {
  constexpr long kMostSteps = 10'000;
  constexpr long kMostUnits = 10'000;
  if (view.has("steps")) {
    const long steps = view.at("steps").as_integer();
    if (steps < 0 || steps > kMostSteps) {
      view.at("steps").fail(fmt::format("a forecast is for 0 to {} steps", kMostSteps));
    }
    request.horizon = static_cast<int>(steps);
  }
  if (view.has("actions")) {
    request.schedule = elements_of<Action>(view.at("actions"), model.actions(), "action");
  }
  if (view.has("reach")) {
    request.reach = elements_of<State>(view.at("reach"), model.states(), "state");
  }
  if (view.has("after")) request.after = view.at("after").as_string();
  if (view.has("limit")) {
    const long limit = view.at("limit").as_integer();
    if (limit < 0 || limit > kMostUnits) {
      view.at("limit").fail(fmt::format("0 to {} units can be asked for", kMostUnits));
    }
    request.limit = static_cast<int>(limit);
  }
}

bool about_unit(const std::string& call) {
  return call == "act" || call == "observe" || call == "step" || call == "end" ||
         call == "forecast";
}

}  // namespace

LiveRequest parse_live_request(std::string_view call, std::string_view body, const Pomdp& model) {
  const nlohmann::ordered_json document = parse_json(body.empty() ? "{}" : body, "request");
  const JsonView view(document, "request");
  LiveRequest request;
  if (!document.is_object()) view.fail("expected an object");
  request.call = call.empty() ? view.at("call").as_string() : std::string(call);
  if (!call.empty() && view.has("call") && view.at("call").as_string() != call) {
    view.at("call").fail(fmt::format("the call is {}", call));
  }
  check_keys(view, request.call);
  if (view.has("unit") || about_unit(request.call)) request.unit = unit_of(view.at("unit"));
  if (view.has("run")) request.run = view.at("run").as_integer();
  if (about_unit(request.call) && request.call != "forecast") {
    request.step = step_of(view.at("step"));
  }
  if (request.call == "observe" || request.call == "step") read_row(view, model, request.row);
  if (request.call == "history") read_entry(view, model, request);
  read_question(view, model, request);
  return request;
}

std::uint64_t content_of(const JournalRow& row) {
  Fingerprint print;
  print.add(row.by_others);
  print.add(row.by_others ? row.action.value() : -1);
  print.add(row.by_others && row.propensity ? *row.propensity : 0.0);
  print.add(row.observation.value());
  print.add(row.reading.size());
  print.add_all(row.reading);
  print.add_all(row.likelihoods);
  return print.value();
}

}  // namespace oas::detail
