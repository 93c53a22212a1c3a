#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oas/core/rng.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {

/// The nodes of one step of a policy that ends. Node k takes its action, and the observation that
/// comes with it says which node of the following stage is next. What the node earns from then on,
/// its own step included, is α_k·b at belief b: exactly, in the model that it was made for.
struct HorizonStage {
  std::vector<int> actions;   ///< [K]
  std::vector<int> next;      ///< [K][O], nodes of the following stage; empty in the last one
  std::vector<double> alpha;  ///< [K][S]

  [[nodiscard]] int num_nodes() const { return static_cast<int>(actions.size()); }

  friend bool operator==(const HorizonStage&, const HorizonStage&) = default;
};

/// A policy for a number of steps: a policy graph whose nodes stand in stages, one for each step.
/// It keeps no belief, so that it means the same in all timings and has an exact value in every
/// model.
struct HorizonPolicy {
  static constexpr std::string_view kName = "point";  ///< in plan files: made of α-vectors
  static constexpr int kNone = -1;

  std::vector<HorizonStage> stages;  ///< the first step first
  int start = 0;                     ///< node of the first stage
  /// [O]: that after each first reading, where rows are reading-first, or kNone: none can give it.
  std::vector<int> first;

  [[nodiscard]] int num_steps() const { return static_cast<int>(stages.size()); }
  [[nodiscard]] int num_nodes() const;
  /// The node in which a run starts.
  [[nodiscard]] int first_node(Observation reading) const;
  /// The action that every run starts with; nothing where it depends on the first reading.
  [[nodiscard]] std::optional<Action> first_action() const;
  /// Throws InvalidArgument naming the part and the value when it is none for the model's sizes.
  void validate(const Pomdp& model) const;
  /// Throws InvalidArgument unless it can act in that model: actions, observations, how runs begin.
  void check_fits(const Pomdp& truth) const;
  [[nodiscard]] std::string brief() const;

  friend bool operator==(const HorizonPolicy&, const HorizonPolicy&) = default;
};

/// Such a policy at work: an Agent. After the last step the plan is over: act() throws
/// InvalidArgument then, and nothing is repeated.
class HorizonAgent {
 public:
  explicit HorizonAgent(HorizonPolicy policy)
      : policy_(std::make_shared<const HorizonPolicy>(std::move(policy))), node_(policy_->start) {}

  /// The first reading of a run, where rows are reading-first.
  void begin(Observation first);
  Choice act(Rng& rng);
  /// Throws InvalidArgument on kMissing: every step needs what was observed.
  void observe(Observation observation);

 private:
  std::shared_ptr<const HorizonPolicy> policy_;  // copies of the agent share it
  std::size_t step_ = 0;
  int node_;
};

}  // namespace oas
