#include <iterator>

#include "oas/core/contracts.hpp"
#include "oas/live/detail/live_service.hpp"

// What can be counted, as Prometheus reads it.
namespace oas::detail {

namespace {

// A name as it stands between the quotes of a label.
std::string quoted_label(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

class MetricsText {
 public:
  void add(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text_), "# HELP oas_{0} {2}\n# TYPE oas_{0} {1}\n", name,
                   type, help);
  }
  template <class Number>
  void value(std::string_view name, Number value, std::string_view labels = {}) {
    fmt::format_to(std::back_inserter(text_), "oas_{}{} {}\n", name, labels, value);
  }
  template <class Number>
  void add(std::string_view name, std::string_view type, std::string_view help, Number number) {
    add(name, type, help);
    value(name, number);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

void LiveService::count(const std::string& call, int status) const {
  const std::scoped_lock lock(counting_);
  ++calls_[{call, status}];
}

std::string LiveService::metrics() const {
  MetricsText text;
  {
    const std::scoped_lock lock(counting_);
    text.add("calls_total", "counter", "Calls by name and status.");
    for (const auto& [call, count] : calls_) {
      text.value("calls_total", count,
                 fmt::format("{{call=\"{}\",status=\"{}\"}}", call.first, call.second));
    }
  }
  const std::scoped_lock lock(mutex_);
  const Labels& actions = state_.model().actions();
  text.add("units", "gauge", "Units whose run goes on.", state_.active());
  text.add("rows_total", "counter", "Steps that were observed, of all units.", state_.rows());
  text.add("rows_missing_total", "counter", "Steps whose observation was missing.",
           state_.missing());
  text.add("rows_impossible_total", "counter",
           "Observations that could not be under the plan of their time.", state_.impossible());
  text.add("actions_total", "counter", "Steps by action.");
  for (int a = 0; a < actions.size(); ++a) {
    text.value("actions_total", state_.plays()[static_cast<std::size_t>(a)],
               fmt::format("{{action=\"{}\"}}", quoted_label(actions[a])));
  }
  const LivePlan* const plan = state_.last_plan();
  text.add("plans_total", "counter", "Plans that came into force.", state_.plans());
  text.add("plan_rows", "gauge", "Steps that the plan in force was made from.",
           plan == nullptr ? 0 : plan->rows);
  text.add("planning", "gauge", "1 while a plan is being made.", plan_from_.has_value() ? 1 : 0);
  text.add("planning_seconds_total", "counter", "Time spent on plans.", planning_seconds_);
  if (const LiveDetector* detector = state_.detector()) {
    text.add("change_evidence", "gauge",
             "Evidence that what units show has changed; the alarm is at steps_per_false_alarm.",
             detector->evidence());
    text.add("change_alarms_total", "counter", "Alarms of change.", detector->alarms());
  }
  if (plan != nullptr) {
    text.add("sensor_fit_p_value", "gauge", "Do the sensors fit the rows of the plan in force.",
             plan->fit_p_value);
  }
  text.add("journal_records_total", "counter", "Records of the journal.",
           store_.journal().place().sequence);
  text.add("journal_syncs_total", "counter", "Syncs of the journal since the start.",
           store_.journal().syncs());
  const bool healthy = broken_.empty() && journal_failure_.empty() && !store_.journal().broken();
  text.add("healthy", "gauge", "0 when the last call that changes something could not be written.",
           healthy ? 1 : 0);
  text.add("warnings", "gauge", "Warnings that status shows.", warnings_now().size());
  return text.take();
}

}  // namespace oas::detail
