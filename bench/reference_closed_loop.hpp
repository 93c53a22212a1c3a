#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <random>
#include <vector>

#include "oas/model/pomdp.hpp"

/// The closed loop as one would first write it: dynamic Eigen matrices, std::mt19937_64, inversion
/// sampling. What the library's loop is measured against.
namespace oas::reference {

class ClosedLoop {
 public:
  ClosedLoop(const Pomdp& model, double floor)
      : floor_(floor), generator_(1), reward_(model.expected_reward()) {
    for (int a = 0; a < model.num_actions(); ++a) {
      transition_.emplace_back(model.transition().matrix(Action{a}));
      sensors_.emplace_back(model.sensors().matrix(Action{a}));
    }
    belief_ = Eigen::VectorXd::Constant(model.num_states(), 1.0 / model.num_states());
    state_ = 0;
  }

  void advance(std::size_t steps, std::vector<int>& actions, std::vector<int>& observations,
               std::vector<double>& propensities) {
    const auto num_actions = static_cast<int>(transition_.size());
    for (std::size_t t = 0; t < steps; ++t) {
      const Eigen::VectorXd scores = reward_ * belief_;
      int greedy = 0;
      scores.maxCoeff(&greedy);
      Eigen::VectorXd policy = Eigen::VectorXd::Constant(num_actions, floor_);
      policy(greedy) = 1.0 - (num_actions - 1) * floor_;
      const int action = sample(policy);
      const int observation = sample(sensors_[action].col(state_));
      state_ = sample(transition_[action].row(state_).transpose());
      const Eigen::VectorXd weighted =
          belief_.cwiseProduct(sensors_[action].row(observation).transpose());
      belief_ = transition_[action].transpose() * weighted;
      belief_ /= belief_.sum();
      actions.push_back(action);
      observations.push_back(observation);
      propensities.push_back(policy(action));
    }
  }

 private:
  int sample(const Eigen::VectorXd& probabilities) {
    double u = uniform_(generator_);
    for (Eigen::Index i = 0; i < probabilities.size(); ++i) {
      u -= probabilities(i);
      if (u < 0.0) return static_cast<int>(i);
    }
    return static_cast<int>(probabilities.size()) - 1;
  }

  double floor_;
  std::mt19937_64 generator_;
  std::uniform_real_distribution<double> uniform_;
  Eigen::MatrixXd reward_;
  std::vector<Eigen::MatrixXd> transition_;
  std::vector<Eigen::MatrixXd> sensors_;
  Eigen::VectorXd belief_;
  int state_;
};

}  // namespace oas::reference
