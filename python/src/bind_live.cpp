#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <type_traits>
#include <utility>

#include "bindings.hpp"
#include "models.hpp"
#include "oas/core/contracts.hpp"
#include "oas/learning/agents.hpp"
#include "oas/live/live_agent.hpp"
#include "settings.hpp"
#include "work.hpp"

namespace oas::python {

namespace {

// A live agent until it is closed. A process that was forked has neither its threads nor a right to
// its journal, so that there it cannot be asked, and is never taken down.
class OpenAgent {
 public:
  OpenAgent(AnyModel model, LiveOptions options)
      : synchronous_(options.synchronous), process_(getpid()) {
    agent_ = run_for({"records"}, [&](const RowsRead&) {
      return std::make_unique<LiveAgent>(std::move(model), std::move(options));
    });
    notes_ = agent_->notes();
  }
  ~OpenAgent() {
    if (!ours()) static_cast<void>(agent_.release());
  }
  OpenAgent(const OpenAgent&) = delete;
  OpenAgent& operator=(const OpenAgent&) = delete;

  [[nodiscard]] LiveReply call(const std::string& call, const std::string& body) {
    return asked([&](LiveAgent& agent) { return agent.call(call, body); });
  }
  [[nodiscard]] std::string answer(const std::string& line) {
    return asked([&](LiveAgent& agent) { return agent.answer(line); });
  }
  [[nodiscard]] std::string metrics() {
    return asked([](LiveAgent& agent) { return agent.metrics(); });
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  // Waits for calls that are under way; the journal is free afterwards.
  void close() {
    if (!ours()) return;
    const nb::gil_scoped_release released;
    const std::unique_lock lock(in_use_);
    agent_.reset();
  }

 private:
  template <class Ask>
  using Answer = std::invoke_result_t<const Ask&, LiveAgent&>;

  [[nodiscard]] bool ours() const { return getpid() == process_; }

  // Only calls that may plan take long enough for Ctrl-C.
  template <class Ask>
  [[nodiscard]] Answer<Ask> asked(const Ask& ask) {
    OAS_REQUIRE(ours(),
                "this live agent belongs to process {}, from which this one was forked; only that "
                "one can ask it",
                process_);
    if (synchronous_) return run_for({"plans"}, [&](const RowsRead&) { return held(ask); });
    const nb::gil_scoped_release released;
    return held(ask);
  }

  template <class Ask>
  [[nodiscard]] Answer<Ask> held(const Ask& ask) {
    const std::shared_lock lock(in_use_);
    OAS_REQUIRE(agent_ != nullptr, "this live agent was closed");
    return ask(*agent_);
  }

  bool synchronous_;
  pid_t process_;
  std::shared_mutex in_use_;
  std::unique_ptr<LiveAgent> agent_;
  std::vector<std::string> notes_;
};

void require_known(const Setting& setting, const std::string& agent, const SettingFields& ours) {
  std::vector<std::string> names;
  for (const SettingInfo& each : find_agent(agent).settings()) names.push_back(each.name);
  if (std::find(names.begin(), names.end(), setting.name) != names.end()) return;
  for (const SettingInfo& each : ours.describe()) names.push_back(each.name);
  throw InvalidArgument(fmt::format("there is no setting '{}'; {} and live agents have {}",
                                    setting.name, agent, fmt::join(names, ", ")));
}

// Settings of live agents, and those of the agent that plays.
LiveOptions live_options(const std::string& journal, const std::string& agent, std::uint64_t seed,
                         const std::vector<Setting>& settings) {
  LiveOptions options;
  options.journal = journal;
  options.agent = agent;
  options.seed = seed;
  SettingFields fields;
  options.visit(fields);
  std::vector<Setting> ours;
  for (const Setting& setting : settings) {
    if (fields.set(setting)) {
      ours.push_back(setting);
    } else {
      require_known(setting, agent, fields);
      options.settings.push_back(setting);
    }
  }
  fields.require_looked_at(ours);
  return options;
}

}  // namespace

void bind_live(nb::module_& m) {
  nb::class_<OpenAgent>(m, "_LiveAgent")
      .def("__init__",
           [](OpenAgent* self, nb::handle model, const std::string& journal,
              const std::string& agent, nb::handle seed, const nb::dict& settings) {
             new (self) OpenAgent(any_model(model), live_options(journal, agent, seed_of(seed),
                                                                 settings_of(settings)));
           })
      .def("_call",
           [](OpenAgent& self, const std::string& call, const std::string& body) {
             const LiveReply reply = self.call(call, body);
             return nb::make_tuple(reply.status, reply.body);
           })
      .def("_answer", &OpenAgent::answer)
      .def("_metrics", &OpenAgent::metrics)
      .def("_close", &OpenAgent::close)
      .def_prop_ro("_notes", &OpenAgent::notes);
}

}  // namespace oas::python
