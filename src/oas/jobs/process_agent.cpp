#include "oas/jobs/process_agent.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "oas/core/child_process.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/markup.hpp"
#include "oas/model/model_json.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kLongestTimeout = 3600.0;
constexpr std::size_t kMostWords = 1000;  // bytes of the program in a message

}  // namespace

void ProcessAgentOptions::validate() const {
  OAS_REQUIRE(!command.empty(), "process is empty; it must be a command that starts an agent");
  OAS_REQUIRE(timeout > 0.0 && timeout <= kLongestTimeout,
              "timeout is {}; it must be above 0 and at most {} seconds", timeout, kLongestTimeout);
}

struct ProcessAgent::Program {
  Program(const Pomdp& model, const ProcessAgentOptions& options, const LearningOptions& run)
      : name(run.agent),
        unit(fmt::format("run-{}", run.replication)),
        timeout((options.validate(), options.timeout)),
        watch(options.watch),
        actions(model.actions()),
        child(options.command) {
    const Json begin = {
        {"call", "begin"},    {"format", "oas-agent-process/1"},
        {"unit", unit},       {"seed", Rng({run.seed, run.replication, Role::agent}).bits() >> 32},
        {"steps", run.steps}, {"model", model_to_json(model.without_transition())}};
    const Json answer = ask(begin);
    checked(answer);
    next = {{"call", "act"}, {"unit", unit}, {"step", 0}};
  }

  [[nodiscard]] std::string where(const Json& request) const {
    const auto call = request.at("call").get<std::string>();
    return request.contains("step")
               ? fmt::format("{}: {} of step {}", name, call, request.at("step").dump())
               : fmt::format("{}: {}", name, call);
  }

  [[nodiscard]] Json ask(const Json& request) {
    asked = where(request);
    std::string line;
    try {
      line = child.ask(request.dump(), timeout, watch);
    } catch (const IoError& error) {
      throw IoError(fmt::format("{}: it {}", asked, error.what()));
    }
    try {
      return parse_json(line, asked);
    } catch (const ParseError&) {
      lied("answered with something that is not JSON: '" + escape_line(line, 80) + "'");
    }
  }

  [[noreturn]] void lied(const std::string& what) const {
    throw IoError(fmt::format("{}: it {}", asked, what));
  }

  // An object with keys that an answer may have, for the step that comes next, and no error.
  void checked(const Json& answer) const {
    constexpr std::array<std::string_view, 8> kKeys = {
        "ok", "error", "unit", "step", "action", "propensity", "probabilities", "belief"};
    try {
      const JsonView view(answer, asked);
      view.require_keys(kKeys);
      if (view.has("ok") && !view.at("ok").as_bool()) {
        lied("refused: " + (view.has("error")
                                ? escape_line(view.at("error").as_string(), kMostWords)
                                : "without a reason"));
      }
      if (view.has("step") && view.at("step").as_integer() != step) {
        view.at("step").fail(fmt::format("the step to come is {}", step));
      }
    } catch (const ParseError& error) {
      throw IoError(escape_line(error.what(), kMostWords));
    }
  }

  // The next action, asked for once.
  [[nodiscard]] const Choice& chosen() {
    if (choice) return *choice;
    const Json answer = ask(next);
    checked(answer);
    try {
      const JsonView view(answer, asked);
      choice = Choice{Action{action_of(view.at("action"))}, 1.0};
    } catch (const ParseError& error) {
      throw IoError(escape_line(error.what(), kMostWords));
    }
    return *choice;
  }

  [[nodiscard]] int action_of(const JsonView& view) const {
    if (view.is_string()) {
      const std::optional<int> index = actions.find(view.as_string());
      if (!index) {
        view.fail(fmt::format("there is no action '{}'", escape_line(view.as_string(), 80)));
      }
      return *index;
    }
    const long index = view.as_integer();
    if (index < 0 || index >= actions.size()) {
      view.fail(fmt::format("there is no action {}; there are 0 to {}", index, actions.size() - 1));
    }
    return static_cast<int>(index);
  }

  std::string name;
  std::string unit;
  double timeout;
  std::function<void()> watch;
  Labels actions;
  ChildProcess child;
  Json next;                     // what asks for the next action
  std::string asked;             // the last request, for messages
  std::optional<Choice> choice;  // what answered `next`
  std::int64_t step = 0;
};

ProcessAgent::ProcessAgent(const Pomdp& model, const ProcessAgentOptions& options,
                           const LearningOptions& run)
    : program_(std::make_shared<Program>(model, options, run)) {}

void ProcessAgent::begin(Observation first) {
  Program& program = *program_;
  program.checked(program.ask(
      {{"call", "observe"}, {"unit", program.unit}, {"step", -1}, {"observation", first.value()}}));
}

Choice ProcessAgent::act(Rng& /*rng*/) { return program_->chosen(); }

void ProcessAgent::observe(Observation observation) {
  Program& program = *program_;
  OAS_REQUIRE(program.choice.has_value(), "observation {} comes before the action",
              observation.value());
  program.next = {{"call", "step"}, {"unit", program.unit}, {"step", program.step}};
  program.next["observation"] = observation == kMissing ? Json(nullptr) : Json(observation.value());
  program.choice.reset();
  ++program.step;
}

void ProcessAgent::probabilities(std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  out[static_cast<std::size_t>(program_->chosen().action)] = 1.0;
}

Json ProcessAgent::save() const {
  throw InvalidArgument(program_->name + ": an agent in a program of its own cannot be saved");
}

void ProcessAgent::load(const JsonView& /*state*/) {
  throw InvalidArgument(program_->name + ": an agent in a program of its own cannot be loaded");
}

}  // namespace oas
