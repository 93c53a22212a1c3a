#include "oas/belief/smoother.hpp"

#include <algorithm>
#include <cmath>

#include "oas/belief/filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"

namespace oas {

namespace {

class Smoother {
 public:
  Smoother(const Pomdp& model, std::span<const Action> actions,
           std::span<const Observation> observations)
      : model_(model),
        actions_(actions),
        observations_(observations),
        block_(std::max<std::size_t>(
            1, static_cast<std::size_t>(std::sqrt(static_cast<double>(actions.size()))))),
        possible_(actions.size(), true) {}

  void run(const SmoothedRow& receive) {
    mark_impossible();
    store_checkpoints();
    emit(receive);
  }

 private:
  // An observation of probability 0 is skipped by the filter; the backward pass must skip it too.
  void mark_impossible() {
    BeliefFilter filter(model_);
    for (std::size_t t = 0; t < actions_.size(); ++t) {
      possible_[t] = filter.update(actions_[t], observations_[t]) > 0.0;
    }
  }

  // message(s_t) ∝ P(rows t… | s_t) from message(s_{t+1}), scaled to maximum 1.
  void step_back(std::size_t t, Vector& message) const {
    const Action a = actions_[t];
    const bool seen = observations_[t] != kMissing && possible_[t];
    const auto likelihood = [&] {
      return model_.sensors().matrix(a).row(observations_[t].value()).transpose();
    };
    if (seen && model_.timing() == Timing::after) message = message.cwiseProduct(likelihood());
    message = model_.transition().matrix(a) * message;
    if (seen && model_.timing() == Timing::before) message = message.cwiseProduct(likelihood());
    message /= message.maxCoeff();
  }

  void store_checkpoints() {
    const std::size_t n = actions_.size();
    checkpoints_.resize(n / block_ + 1);
    Vector message = Vector::Ones(model_.num_states());
    for (std::size_t t = n;; --t) {
      if (t % block_ == 0) checkpoints_[t / block_] = message;
      if (t == 0) break;
      step_back(t - 1, message);
    }
  }

  void emit(const SmoothedRow& receive) const {
    const std::size_t n = actions_.size();
    BeliefFilter filter(model_);
    std::vector<Vector> messages(block_, Vector(model_.num_states()));
    Vector belief(model_.num_states());
    Vector smoothed(model_.num_states());
    for (std::size_t start = 0; start <= n; start += block_) {
      const std::size_t end = std::min(start + block_, n + 1);
      Vector message = end <= n ? checkpoints_[end / block_] : Vector::Ones(model_.num_states());
      for (std::size_t t = end; t-- > start;) {
        if (t < n) step_back(t, message);
        messages[t - start] = message;
      }
      for (std::size_t t = start; t < end; ++t) {
        belief = VectorView(filter.belief().data(), belief.size());
        smoothed = belief.cwiseProduct(messages[t - start]);
        smoothed /= smoothed.sum();
        const double probability = t < n ? filter.update(actions_[t], observations_[t]) : 1.0;
        receive(t, {belief.data(), static_cast<std::size_t>(belief.size())},
                {smoothed.data(), static_cast<std::size_t>(smoothed.size())}, probability);
      }
    }
  }

  const Pomdp& model_;
  std::span<const Action> actions_;
  std::span<const Observation> observations_;
  std::size_t block_;
  std::vector<bool> possible_;
  std::vector<Vector> checkpoints_;  // the message at t = 0, block, 2 block, …
};

}  // namespace

void smooth(const Pomdp& model, std::span<const Action> actions,
            std::span<const Observation> observations, const SmoothedRow& receive) {
  OAS_REQUIRE(actions.size() == observations.size(), "{} actions and {} observations",
              actions.size(), observations.size());
  Smoother(model, actions, observations).run(receive);
}

}  // namespace oas
