#include "oas/planning/policies/alpha_policy.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/model/convert_timing.hpp"
#include "oas/theory/communication.hpp"

namespace oas {

namespace {

// Sums and squares of larger numbers would not be finite.
void check_magnitude(const AlphaPolicy& policy) {
  constexpr double kLargest = 1e120;
  for (const double value : policy.alpha) {
    OAS_REQUIRE(std::abs(value) <= kLargest,
                "an alpha-vector has {:g}; numbers must lie within ±{:g}", value, kLargest);
  }
}

// Vectors over beliefs have the same meaning in both timings only where the states have.
void check_timing(const Pomdp& model) {
  if (model.timing() == Timing::after) return;
  const TimingConversion same = convert_timing(model, Timing::after);
  OAS_REQUIRE(
      same.model.has_value(),
      "alpha-vectors are for models of timing after; this model has timing before and is not "
      "equivalent on the same states: {}",
      same.reason);
}

void check_sizes(const AlphaPolicy& policy, const Pomdp& model, const StateSplit& split) {
  for (std::size_t k = 0; k < policy.actions.size(); ++k) {
    OAS_REQUIRE(policy.actions[k] < model.num_actions(),
                "vector {} is for action {}, but the model has {} actions", k, policy.actions[k],
                model.num_actions());
  }
  if (policy.num_seen == 1) {
    OAS_REQUIRE(policy.vector_length == model.num_states(),
                "the policy's vectors have {} numbers, but the model has {} states",
                policy.vector_length, model.num_states());
    return;
  }
  OAS_REQUIRE(
      !split.empty(),
      "the policy has {} seen values; only the .pomdpx file that it was made for says which "
      "part of the state is seen",
      policy.num_seen);
  OAS_REQUIRE(policy.num_seen == split.num_seen && policy.vector_length == split.num_hidden,
              "the policy is for {} seen values and {} hidden ones, the model has {} and {}",
              policy.num_seen, policy.vector_length, split.num_seen, split.num_hidden);
  const auto num_states = static_cast<std::size_t>(model.num_states());
  OAS_REQUIRE(split.seen.size() == num_states && split.hidden.size() == num_states,
              "what is seen of {} states, what is hidden of {}; the model has {}",
              split.seen.size(), split.hidden.size(), num_states);
  const auto below = [](int most) { return [most](int i) { return i >= 0 && i < most; }; };
  OAS_REQUIRE(std::ranges::all_of(split.seen, below(split.num_seen)) &&
                  std::ranges::all_of(split.hidden, below(split.num_hidden)),
              "a state has a seen or hidden part that does not exist");
}

}  // namespace

std::span<const double> AlphaPolicy::vector(int k) const {
  const auto width = static_cast<std::size_t>(std::max(vector_length, 0));
  const auto first = static_cast<std::size_t>(std::max(k, 0)) * width;
  OAS_REQUIRE(k >= 0 && k < num_vectors() && first + width <= alpha.size(),
              "vector {} of {}; {} numbers", k, num_vectors(), alpha.size());
  return std::span(alpha).subspan(first, width);
}

void AlphaPolicy::validate() const {
  OAS_REQUIRE(vector_length >= 1, "vectors of {} numbers", vector_length);
  OAS_REQUIRE(num_seen >= 1, "{} seen values", num_seen);
  OAS_REQUIRE(!actions.empty(), "a policy without vectors");
  OAS_REQUIRE(seen.size() == actions.size() &&
                  alpha.size() == actions.size() * static_cast<std::size_t>(vector_length),
              "{} actions, {} seen values and {} numbers for vectors of {} numbers", actions.size(),
              seen.size(), alpha.size(), vector_length);
  for (std::size_t k = 0; k < actions.size(); ++k) {
    OAS_REQUIRE(actions[k] >= 0, "vector {} is for action {}", k, actions[k]);
    OAS_REQUIRE(seen[k] >= 0 && seen[k] < num_seen, "vector {} is for seen value {} of {}", k,
                seen[k], num_seen);
  }
  check_finite(alpha, "alpha");
}

std::string AlphaPolicy::brief() const {
  return num_seen == 1 ? fmt::format("{} alpha-vectors of {} numbers", num_vectors(), vector_length)
                       : fmt::format("{} alpha-vectors of {} numbers, {} seen values",
                                     num_vectors(), vector_length, num_seen);
}

AlphaActions::AlphaActions(const AlphaPolicy& policy, const Pomdp& model, const StateSplit& split)
    : width_(static_cast<std::size_t>(policy.vector_length)),
      num_states_(static_cast<std::size_t>(model.num_states())) {
  policy.validate();
  check_magnitude(policy);
  check_sizes(policy, model, split);
  check_timing(model);
  groups_.resize(static_cast<std::size_t>(policy.num_seen));
  belief_.resize(width_);
  const bool whole = policy.num_seen == 1;
  for (int s = 0; s < model.num_states(); ++s) {
    const auto i = static_cast<std::size_t>(s);
    Group& group = groups_[static_cast<std::size_t>(whole ? 0 : split.seen[i])];
    group.states.push_back(s);
    group.hidden.push_back(whole ? s : split.hidden[i]);
  }
  for (int k = 0; k < policy.num_vectors(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    Group& group = groups_[static_cast<std::size_t>(policy.seen[i])];
    const auto vector = policy.vector(k);
    group.actions.push_back(policy.actions[i]);
    group.alpha.insert(group.alpha.end(), vector.begin(), vector.end());
  }
  const bool complete = std::none_of(groups_.begin(), groups_.end(),
                                     [](const Group& group) { return group.actions.empty(); });
  if (complete) return;
  std::vector<bool> reachable(static_cast<std::size_t>(model.num_states()), true);
  const auto report = analyse_communication(model.transition(), model.start());
  for (const State s : report.unreachable) reachable[static_cast<std::size_t>(s)] = false;
  for (std::size_t x = 0; x < groups_.size(); ++x) {
    for (const int s : groups_[x].states) {
      OAS_REQUIRE(!groups_[x].actions.empty() || !reachable[static_cast<std::size_t>(s)],
                  "the policy has no vector for seen value {}, which state {} has", x,
                  model.states()[s]);
    }
  }
}

int AlphaActions::operator()(std::span<const double> belief) {
  OAS_REQUIRE(belief.size() == num_states_, "a belief over {} states for {}", belief.size(),
              num_states_);
  const Group* group = &groups_.front();
  if (groups_.size() > 1) {
    double largest = -1.0;
    for (const Group& candidate : groups_) {
      if (candidate.actions.empty()) continue;
      double mass = 0.0;
      for (const int s : candidate.states) mass += belief[static_cast<std::size_t>(s)];
      if (mass > largest) {
        largest = mass;
        group = &candidate;
      }
    }
  }
  std::fill(belief_.begin(), belief_.end(), 0.0);
  for (std::size_t i = 0; i < group->states.size(); ++i) {
    belief_[static_cast<std::size_t>(group->hidden[i])] =
        belief[static_cast<std::size_t>(group->states[i])];
  }
  const MatrixView vectors(group->alpha.data(), static_cast<Eigen::Index>(group->actions.size()),
                           static_cast<Eigen::Index>(width_));
  const VectorView b(belief_.data(), static_cast<Eigen::Index>(width_));
  std::size_t best = 0;
  double value = vectors.row(0).dot(b);
  for (std::size_t k = 1; k < group->actions.size(); ++k) {
    const double other = vectors.row(static_cast<Eigen::Index>(k)).dot(b);
    if (other > value) {
      value = other;
      best = k;
    }
  }
  return group->actions[best];
}

}  // namespace oas
