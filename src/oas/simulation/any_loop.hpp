#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "oas/simulation/agent.hpp"
#include "oas/simulation/run.hpp"

namespace oas {

/// A system and whoever plays in it, the agent's type erased: a choice at run time costs one call
/// per block of steps; inside, everything is known to the compiler. `Rows` is what advance() of
/// run.hpp appends to. A value that moves.
template <class System, class Rows>
class AnyLoop {
 public:
  /// Streams are (seed, replication, environment) and (seed, replication, agent).
  template <Agent<typename System::Reading> T>
  AnyLoop(const typename System::Model& model, T agent, std::uint64_t seed,
          std::uint32_t replication)
      : player_(std::make_unique<PlayerOf<T>>(model, std::move(agent), seed, replication)) {}

  /// Appends the next `steps` steps to `out`.
  void advance(std::size_t steps, Rows& out) { player_->advance(steps, out); }
  /// Lets the agent see the first reading, where there is one, and says how the run starts.
  [[nodiscard]] RunStart start() { return player_->start(); }

 private:
  struct Player {
    virtual ~Player() = default;
    virtual void advance(std::size_t steps, Rows& out) = 0;
    virtual RunStart start() = 0;
  };

  template <class T>
  struct PlayerOf final : Player {
    PlayerOf(const typename System::Model& model, T who, std::uint64_t seed,
             std::uint32_t replication)
        : environment(model, Rng({seed, replication, Role::environment})),
          agent(std::move(who)),
          agent_rng({seed, replication, Role::agent}) {}

    void advance(std::size_t steps, Rows& out) override {
      oas::advance(environment, agent, agent_rng, steps, out);
    }

    RunStart start() override {
      open_run(environment, agent);
      return environment.start();
    }

    System environment;
    T agent;
    Rng agent_rng;
  };

  std::unique_ptr<Player> player_;
};

}  // namespace oas
