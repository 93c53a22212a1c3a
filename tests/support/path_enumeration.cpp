#include "support/path_enumeration.hpp"

#include <vector>

namespace oas::test {

namespace {

class Enumeration {
 public:
  Enumeration(const Pomdp& model, std::span<const Action> actions,
              std::span<const Observation> observations)
      : model_(model), actions_(actions), observations_(observations), path_(actions.size() + 1) {
    result_.states = Matrix::Zero(static_cast<Eigen::Index>(path_.size()), model.num_states());
  }

  PathPosterior run() {
    for (int s = 0; s < model_.num_states(); ++s) {
      path_[0] = State{s};
      extend(0, model_.start()[static_cast<std::size_t>(s)]);
    }
    if (result_.likelihood > 0.0) result_.states /= result_.likelihood;
    return result_;
  }

 private:
  void extend(std::size_t t, double weight) {
    if (weight == 0.0) return;
    if (t == actions_.size()) {
      result_.likelihood += weight;
      for (std::size_t i = 0; i < path_.size(); ++i) {
        result_.states(static_cast<Eigen::Index>(i), path_[i].value()) += weight;
      }
      return;
    }
    for (int next = 0; next < model_.num_states(); ++next) {
      path_[t + 1] = State{next};
      extend(t + 1, weight * step_probability(t));
    }
  }

  // P(s_{t+1}, o_t | s_t, a_t).
  [[nodiscard]] double step_probability(std::size_t t) const {
    const Action a = actions_[t];
    const double moved = model_.transition()(a, path_[t], path_[t + 1]);
    if (observations_[t] == kMissing) return moved;
    const State emitter = model_.timing() == Timing::before ? path_[t] : path_[t + 1];
    return moved * model_.sensors()(a, emitter, observations_[t]);
  }

  const Pomdp& model_;
  std::span<const Action> actions_;
  std::span<const Observation> observations_;
  std::vector<State> path_;
  PathPosterior result_;
};

}  // namespace

PathPosterior enumerate_paths(const Pomdp& model, std::span<const Action> actions,
                              std::span<const Observation> observations) {
  return Enumeration(model, actions, observations).run();
}

}  // namespace oas::test
