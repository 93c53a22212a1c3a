#pragma once

#include <Eigen/Core>
#include <optional>
#include <utility>
#include <vector>

#include "oas/model/pomdp.hpp"
#include "oas/planning/points/detail/sparse_model.hpp"
#include "oas/planning/points/point_based.hpp"

namespace oas::detail {

/// At most `most` columns of `pool` by farthest-first traversal: every belief of the pool is near a
/// chosen one (L1).
[[nodiscard]] Eigen::MatrixXd spread_out(const Eigen::MatrixXd& pool, int most);

/// Damped relative value iteration on α-vectors over a set of beliefs. Vector b belongs to belief
/// b; a successor choice names the belief whose vector is used, so it survives the backups.
class PointSolver {
 public:
  struct Outcome {
    bool converged = false;
    int backups = 0;
    double span = 0.0;
    double gain = 0.0;  ///< middle of the increments at the beliefs: no bound on any gain
  };

  PointSolver(const Pomdp& model, double iota, const PointOptions& options);

  /// Vectors to begin with in place of 0, S×K.
  void start_from(Eigen::MatrixXd vectors) { active_ = std::move(vectors); }
  /// Takes a new set of beliefs (columns); vectors start at the best old ones.
  void set_beliefs(Eigen::MatrixXd beliefs);

  Outcome solve();

  /// The vectors that are best at some belief, at most num_vectors, as columns.
  [[nodiscard]] const Eigen::MatrixXd& vectors() const { return active_; }

 private:
  void refresh();
  void choose_dense();
  void choose_sparse();
  // Largest and smallest increment of one backup.
  Eigen::Vector2d backup();
  void prune();
  [[nodiscard]] Eigen::MatrixXd successors(int action, int observation) const;
  void back_up_action(int action);
  void expect_dense(int action);
  void expect_sparse(int action);

  int num_states_;
  int num_actions_;
  int num_observations_;
  Timing timing_;
  double iota_;
  PointOptions options_;
  Matrix rewards_;                           // A×S
  std::vector<Eigen::MatrixXd> transition_;  // per action, S×S
  std::vector<Eigen::MatrixXd> likelihood_;  // per action, O×S
  std::optional<SparseModel> sparse_;        // instead of both where it pays
  Eigen::MatrixXd beliefs_;                  // S×B
  Eigen::MatrixXd alpha_;                    // S×B
  Eigen::MatrixXd active_;                   // S×K
  std::vector<int> active_owner_;            // belief of each active vector
  std::vector<int> choice_;                  // [a][o][b]: belief whose vector follows
  std::vector<Eigen::MatrixXd> backed_up_;   // per action, S×B
  Eigen::MatrixXd values_;                   // A×B
};

}  // namespace oas::detail
