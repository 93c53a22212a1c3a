#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "oas/planning/hull/detail/hull_chain.hpp"

namespace oas::detail {

/// Refines a HullChain where it costs most. What a mixture costs is told by the bias of a good
/// policy, L = max_k α_k: were L the best bias, the gain of the chain would be above the best gain
/// by exactly Σ P(branch) [Σ_j λ_j L(b_j) - L(b')] over the branches that its best policy meets, so
/// the largest terms are mended first: by a cheaper mixture, by a new point near b' without what is
/// unlikely there, which then serves others too, or by b' itself.
class HullSolver {
 public:
  HullSolver(const Pomdp& model, double iota);

  /// L: S×K.
  void set_bias(Eigen::MatrixXd alpha);

  /// Brings the values up to date and mends. False: L finds nothing to mend.
  bool refine();

  /// No policy has a larger gain from any start.
  [[nodiscard]] double bound() const { return bound_; }
  /// The beliefs that the best policy of the chain meets most, at most so many, as columns.
  [[nodiscard]] Eigen::MatrixXd visited(int most) const;

  [[nodiscard]] const HullChain& chain() const { return chain_; }
  [[nodiscard]] double work() const { return chain_.work() + work_; }

 private:
  struct Leak {
    double cost = 0.0;  ///< in gain
    int point = 0;
    int action = 0;
    int branch = 0;
  };

  [[nodiscard]] double bias(const SparseBelief& belief);
  // What L says that the mixture is worth more than the belief, less what the chain does not pay.
  [[nodiscard]] double leak(const SparseBelief& belief, const Mixture& mixture);
  void collect_leaks(int point, int action, double mass, std::vector<Leak>& out);
  [[nodiscard]] std::vector<Leak> leaks(const std::vector<double>& occupancy);
  bool expand_visited(const std::vector<double>& occupancy);
  void add_point(SparseBelief belief, Mixture home);
  // Whether anything has changed, and a point been added.
  bool mend(const Leak& leak, int& added);

  HullChain chain_;
  Eigen::MatrixXd alpha_;      // K×S
  Eigen::VectorXd scores_;     // [K]
  std::vector<double> bias_;   // L at the points
  std::vector<double> share_;  // of the steps, by point
  double bound_ = std::numeric_limits<double>::infinity();
  double work_ = 0.0;
};

}  // namespace oas::detail
