#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"
#include "oas/simulation/agent.hpp"
#include "oas/simulation/any_loop.hpp"
#include "oas/simulation/environment.hpp"

namespace oas {

/// One row of the table of logging policies, as `oas list` prints it.
struct PolicyInfo {
  std::string_view name;
  std::string_view summary;
  bool reacts;  ///< whether actions depend on observations
};

/// All logging policies.
[[nodiscard]] std::span<const PolicyInfo> policies();
/// Throws InvalidArgument that lists the known names.
[[nodiscard]] const PolicyInfo& find_policy(std::string_view name);

/// Which policy plays, by name.
struct PolicyOptions {
  std::string name = "belief";
  /// Minimum probability ι of every action, in [0, 1/A]; unset: 1/(10A). `uniform` and
  /// `round-robin` have none.
  std::optional<double> min_action_probability = std::nullopt;
  /// The transition model that the policy believes in; unset: the true one.
  std::optional<TransitionModel> own_transition = std::nullopt;

  /// Throws InvalidArgument naming the field and the value.
  void validate(const Pomdp& model) const;
};

/// A model and a policy that plays in it, advanced in blocks of any size: the same steps result
/// however they are cut. Run-time choice of the policy costs one call per block, not per step.
class ClosedLoop {
 public:
  /// Streams are (seed, replication, environment) and (seed, replication, agent). Throws
  /// InvalidArgument on an unknown policy, a bad option, a model without transition model.
  ClosedLoop(const Pomdp& model, const PolicyOptions& options, std::uint64_t seed,
             std::uint32_t replication = 0);
  /// The same with any agent in place of a named policy, on the same streams.
  template <Agent T>
  [[nodiscard]] static ClosedLoop of(const Pomdp& model, T agent, std::uint64_t seed,
                                     std::uint32_t replication = 0) {
    return ClosedLoop(Loop(model, std::move(agent), seed, replication));
  }

  /// Appends the next `steps` steps to `out`, all columns.
  void advance(std::size_t steps, Trajectory& out) { loop_.advance(steps, out); }
  /// How the run starts: where rows are reading-first with its first reading.
  [[nodiscard]] RunStart start() { return loop_.start(); }

 private:
  using Loop = AnyLoop<Environment, Trajectory>;

  explicit ClosedLoop(Loop loop) : loop_(std::move(loop)) {}

  Loop loop_;
};

}  // namespace oas
