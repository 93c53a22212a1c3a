#include "oas/planning/horizon/detail/branches.hpp"

namespace oas::detail {

namespace {

using Entry = SparseModel::Rows::InnerIterator;

}  // namespace

Branches::Branches(const Pomdp& model)
    : num_states_(model.num_states()), timing_(model.timing()), model_(model) {
  double moves = 0.0;
  double readings = 0.0;
  for (const auto& rows : model_.transition) moves += static_cast<double>(rows.nonZeros());
  for (const auto& rows : model_.sensors) readings += static_cast<double>(rows.nonZeros());
  const double actions = num_actions();
  cost_ = timing_ == Timing::after ? (moves + readings) / actions
                                   : moves / actions * readings / (actions * num_states_);
}

void Branches::follow(const double* belief, int action, Eigen::MatrixXd& next) const {
  const auto& transition = model_.transition[static_cast<std::size_t>(action)];
  const auto& sensors = model_.sensors[static_cast<std::size_t>(action)];
  next.setZero(num_states_, num_observations());
  if (timing_ == Timing::before) {
    for (Eigen::Index s = 0; s < num_states_; ++s) {
      if (belief[s] == 0.0) continue;
      for (Entry seen(sensors, s); seen; ++seen) {
        const double both = belief[s] * seen.value();
        for (Entry move(transition, s); move; ++move) {
          next(move.col(), seen.col()) += both * move.value();
        }
      }
    }
    return;
  }
  Eigen::VectorXd moved = Eigen::VectorXd::Zero(num_states_);
  for (Eigen::Index s = 0; s < num_states_; ++s) {
    if (belief[s] == 0.0) continue;
    for (Entry move(transition, s); move; ++move) moved[move.col()] += belief[s] * move.value();
  }
  for (Eigen::Index s = 0; s < num_states_; ++s) {
    if (moved[s] == 0.0) continue;
    for (Entry seen(sensors, s); seen; ++seen) next(s, seen.col()) = moved[s] * seen.value();
  }
}

Eigen::VectorXd Branches::expect(int action, const Eigen::MatrixXd& future) const {
  const auto& transition = model_.transition[static_cast<std::size_t>(action)];
  const auto& sensors = model_.sensors[static_cast<std::size_t>(action)];
  Eigen::VectorXd out = Eigen::VectorXd::Zero(num_states_);
  if (timing_ == Timing::before) {
    for (Eigen::Index s = 0; s < num_states_; ++s) {
      for (Entry seen(sensors, s); seen; ++seen) {
        double mean = 0.0;
        for (Entry move(transition, s); move; ++move) {
          mean += move.value() * future(move.col(), seen.col());
        }
        out[s] += seen.value() * mean;
      }
    }
    return out;
  }
  Eigen::VectorXd seen_future = Eigen::VectorXd::Zero(num_states_);
  for (Eigen::Index s = 0; s < num_states_; ++s) {
    for (Entry seen(sensors, s); seen; ++seen) {
      seen_future[s] += seen.value() * future(s, seen.col());
    }
  }
  for (Eigen::Index s = 0; s < num_states_; ++s) {
    for (Entry move(transition, s); move; ++move) out[s] += move.value() * seen_future[move.col()];
  }
  return out;
}

}  // namespace oas::detail
