#pragma once

#include <concepts>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/index.hpp"
#include "oas/core/json_text.hpp"
#include "oas/learning/episode.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/simulation/agent.hpp"

namespace oas {

/// What an agent of this library can do beyond the Agent concept: say with which probabilities the
/// next action will be drawn (A numbers; act() then draws from them; where PlansAnew, only while no
/// plan is due), tell its episodes, save its whole state and go on from it bit for bit in an agent
/// made with the same arguments. Records of past episodes are not part of the state.
///
/// observe() takes kMissing for a step whose observation was not seen: beliefs move without
/// evidence and no sample goes across. An observation that does not exist throws InvalidArgument,
/// and nothing has changed then. load() checks all that it reads and throws InvalidArgument; an
/// AnyAgent has then not changed, an agent by itself may be loaded again or dropped.
template <class T>
concept LearningAgent = Agent<T> && std::copyable<T> &&
    requires(T agent, const T& same, std::span<double> out, const JsonView& state) {
  agent.probabilities(out);
  { same.episodes() } -> std::convertible_to<std::span<const Episode>>;
  { same.save() } -> std::same_as<nlohmann::ordered_json>;
  agent.load(state);
};

/// An agent that now and then plans anew before an action: prepare() makes the plan that is due, as
/// act() does by itself.
template <class T>
concept PlansAnew = requires(T agent, const T& same) {
  { same.plan_due() } -> std::same_as<bool>;
  agent.prepare();
};

/// An agent that may have to be shown the hidden state (before it is told the observation). No such
/// agent can exist outside a simulation; studies have them to repeat what papers did.
template <class T>
concept SeesHiddenState = requires(T agent, const T& same, State state) {
  { same.needs_hidden_state() } -> std::same_as<bool>;
  agent.reveal(state);
};

/// An agent that can say what it believes.
template <class T>
concept KeepsBelief = requires(const T& agent) {
  { agent.belief() } -> std::convertible_to<std::span<const double>>;
};

/// What must agree for one agent to go on from another's state. make_agent() fills it in.
struct AgentIdentity {
  std::string name;
  std::string settings;  ///< those that were given, "name=value", by name, with spaces between
  std::shared_ptr<const Pomdp> model;  ///< what the agent was told of it
};

/// The checksum of a saved state (AnyAgent::save), 16 hexadecimal digits, over all other keys.
[[nodiscard]] std::string checksum_of_state(const nlohmann::ordered_json& document);

/// An agent of a kind chosen at run time: act() chooses, observe() is told what came of it.
class AnyAgent {
 public:
  // Not of itself: whether that is a LearningAgent would depend on this constructor.
  template <class T>
  requires(!std::same_as<T, AnyAgent>) && LearningAgent<T> explicit AnyAgent(T agent)
      : held_(std::make_unique<Holder<T>>(std::move(agent))) {}

  /// From now on states say whose they are, and those of others are refused.
  void set_identity(AgentIdentity identity) { identity_ = std::move(identity); }

  /// What is read before the first action, where rows are reading-first. Throws InvalidArgument
  /// when the agent has no begin().
  void begin(Observation first) { held_->begin(first); }
  [[nodiscard]] Choice act(Rng& rng) { return held_->act(rng); }          ///< action and propensity
  void observe(Observation observation) { held_->observe(observation); }  ///< what came of it
  /// Makes the plan that is due, if one is, so that probabilities() need not; act() does it, too.
  void prepare() { held_->prepare(); }
  /// With which probabilities the next action will be drawn. A question: it changes nothing. Where
  /// a plan is due it costs as much as that plan.
  void probabilities(std::span<double> out) const {
    OAS_REQUIRE(!identity_.model || out.size() == num_actions(), "room for {} of {} probabilities",
                out.size(), num_actions());
    held_->probabilities(out);
  }
  [[nodiscard]] std::span<const Episode> episodes() const { return held_->episodes(); }
  /// The belief under the dynamics that the agent plays by. There is none before it has any, and
  /// for agents that keep no belief.
  [[nodiscard]] std::span<const double> belief() const { return held_->belief(); }
  /// The agent's state with format, identity and checksum. load() throws InvalidArgument on one of
  /// another agent, model or settings and on one that was changed; the agent is then as it was.
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& document);

  /// Whether the agent can do nothing without the hidden state; then, and only then, reveal() it
  /// before every observe(). Others throw InvalidArgument when it is shown to them.
  [[nodiscard]] bool needs_hidden_state() const { return held_->needs_hidden_state(); }
  void reveal(State state) {
    if (identity_.model) check_state(state, identity_.model->num_states());
    held_->reveal(state);
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual void begin(Observation first) = 0;
    virtual Choice act(Rng& rng) = 0;
    virtual void observe(Observation observation) = 0;
    virtual void prepare() = 0;
    virtual void probabilities(std::span<double> out) const = 0;
    [[nodiscard]] virtual std::span<const Episode> episodes() const = 0;
    [[nodiscard]] virtual std::span<const double> belief() const = 0;
    [[nodiscard]] virtual nlohmann::ordered_json save() const = 0;
    virtual void load(const JsonView& state) = 0;
    [[nodiscard]] virtual bool needs_hidden_state() const = 0;
    virtual void reveal(State state) = 0;
  };
  template <class T>
  struct Holder;

  [[nodiscard]] std::size_t num_actions() const {
    return identity_.model ? static_cast<std::size_t>(identity_.model->num_actions()) : 0;
  }

  std::unique_ptr<Interface> held_;
  AgentIdentity identity_;
};

template <class T>
struct AnyAgent::Holder final : AnyAgent::Interface {
  explicit Holder(T held) : agent(std::move(held)) {}
  void begin(Observation first) override {
    if constexpr (Begins<T>) {
      agent.begin(first);
    } else {
      throw InvalidArgument(fmt::format(
          "this agent cannot be told what is read before its first action (observation {})",
          first.value()));
    }
  }
  Choice act(Rng& rng) override { return agent.act(rng); }
  void observe(Observation observation) override { agent.observe(observation); }
  void prepare() override {
    if constexpr (PlansAnew<T>) agent.prepare();
  }
  void probabilities(std::span<double> out) const override {
    if constexpr (PlansAnew<T>) {
      if (agent.plan_due()) {
        T later = agent;
        later.prepare();
        later.probabilities(out);
        return;
      }
    }
    agent.probabilities(out);
  }
  [[nodiscard]] std::span<const Episode> episodes() const override { return agent.episodes(); }
  [[nodiscard]] std::span<const double> belief() const override {
    if constexpr (KeepsBelief<T>) {
      return agent.belief();
    } else {
      return {};
    }
  }
  [[nodiscard]] nlohmann::ordered_json save() const override { return agent.save(); }
  void load(const JsonView& state) override {
    T loaded = agent;
    loaded.load(state);
    agent = std::move(loaded);
  }
  [[nodiscard]] bool needs_hidden_state() const override {
    if constexpr (SeesHiddenState<T>) {
      return agent.needs_hidden_state();
    } else {
      return false;
    }
  }
  void reveal(State state) override {
    if constexpr (SeesHiddenState<T>) {
      agent.reveal(state);
    } else {
      throw InvalidArgument(
          fmt::format("this agent is not shown hidden states (state {})", state.value()));
    }
  }
  mutable T agent;  // a question may leave behind what it worked out, which is no state
};

}  // namespace oas
