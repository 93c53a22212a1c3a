#pragma once

#include <Eigen/Core>
#include <Eigen/QR>

#include "oas/counts/pair_counts.hpp"
#include "oas/model/pomdp.hpp"

/// The estimator as the paper writes it: form the block matrix 𝔹 (A²O² × A²S²) and solve least
/// squares. Memory and time explode with the sizes; kept to measure against and to test with.
namespace oas::reference {

/// Returns d̂(a,s,s') summed over a', before clipping and normalising; [a][s][s'].
inline Eigen::VectorXd solve_block_matrix(const PairCounts& counts, const Pomdp& model) {
  const int s = model.num_states();
  const int o = model.num_observations();
  const int num_actions = model.num_actions();
  const Eigen::Index blocks = num_actions * num_actions;
  Eigen::MatrixXd big = Eigen::MatrixXd::Zero(blocks * o * o, blocks * s * s);
  Eigen::VectorXd right(blocks * o * o);
  for (int a = 0; a < num_actions; ++a) {
    const Eigen::MatrixXd first = model.sensors().matrix(Action{a});
    for (int next = 0; next < num_actions; ++next) {
      const Eigen::MatrixXd second = model.sensors().matrix(Action{next});
      const Eigen::Index block = a * num_actions + next;
      for (int i = 0; i < o; ++i) {
        for (int j = 0; j < o; ++j) {
          const Eigen::Index row = block * o * o + i * o + j;
          right(row) =
              static_cast<double>(counts(Action{a}, Action{next}, Observation{i}, Observation{j}));
          for (int k = 0; k < s; ++k) {
            for (int l = 0; l < s; ++l) {
              big(row, block * s * s + k * s + l) = first(i, k) * second(j, l);
            }
          }
        }
      }
    }
  }
  const Eigen::VectorXd solution = big.colPivHouseholderQr().solve(right);
  Eigen::VectorXd summed = Eigen::VectorXd::Zero(num_actions * s * s);
  for (int a = 0; a < num_actions; ++a) {
    for (int next = 0; next < num_actions; ++next) {
      summed.segment(a * s * s, s * s) += solution.segment((a * num_actions + next) * s * s, s * s);
    }
  }
  return summed;
}

}  // namespace oas::reference
