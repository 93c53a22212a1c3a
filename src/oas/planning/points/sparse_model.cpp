#include <algorithm>
#include <utility>

#include "oas/belief/filter_kernel.hpp"
#include "oas/planning/points/detail/sparse_model.hpp"

namespace oas::detail {

namespace {

SparseModel::Rows rows_of(const TransitionModel& transition, Action action) {
  std::vector<Eigen::Triplet<double>> entries;
  for (State s{0}; s < transition.num_states(); ++s) {
    transition.for_each_next(action, s,
                             [&](State next, double p) { entries.emplace_back(s, next, p); });
  }
  SparseModel::Rows rows(transition.num_states(), transition.num_states());
  rows.setFromTriplets(entries.begin(), entries.end());
  return rows;
}

}  // namespace

SparseModel::SparseModel(const Pomdp& model) : num_observations(model.num_observations()) {
  for (Action a{0}; a < model.num_actions(); ++a) {
    transition.push_back(rows_of(model.transition(), a));
    sensors.emplace_back(model.sensors().matrix(a).transpose().sparseView());
  }
}

bool SparseModel::pays(const Pomdp& model) {
  return model.timing() == Timing::after && mostly_zero(model.transition());
}

void successor_scores(const SparseModel& model, int action, const double* belief,
                      const Eigen::MatrixXd& alpha, SuccessorScores& out) {
  const auto& transition = model.transition[static_cast<std::size_t>(action)];
  const auto& sensors = model.sensors[static_cast<std::size_t>(action)];
  out.moved.resize(static_cast<std::size_t>(alpha.cols()), 0.0);
  out.scores.resize(alpha.rows(), model.num_observations);
  out.support.clear();
  out.observed.clear();
  for (Eigen::Index s = 0; s < alpha.cols(); ++s) {
    if (belief[s] == 0.0) continue;
    for (SparseModel::Rows::InnerIterator entry(transition, s); entry; ++entry) {
      double& mass = out.moved[static_cast<std::size_t>(entry.col())];
      if (mass == 0.0) out.support.push_back(static_cast<int>(entry.col()));
      mass += belief[s] * entry.value();
    }
  }
  for (const int next : out.support) {
    const double mass = std::exchange(out.moved[static_cast<std::size_t>(next)], 0.0);
    for (SparseModel::Rows::InnerIterator entry(sensors, next); entry; ++entry) {
      const auto o = static_cast<int>(entry.col());
      auto column = out.scores.col(o);
      if (std::find(out.observed.begin(), out.observed.end(), o) == out.observed.end()) {
        out.observed.push_back(o);
        column = (mass * entry.value()) * alpha.col(next);
      } else {
        column += (mass * entry.value()) * alpha.col(next);
      }
    }
  }
}

}  // namespace oas::detail
