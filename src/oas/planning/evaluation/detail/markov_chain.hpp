#pragma once

#include <cstddef>
#include <vector>

#include "oas/core/linear_algebra.hpp"

namespace oas::detail {

/// A finite Markov chain by what is not 0, with its classes: what the long run brings from each
/// state, by linear systems, however rarely a class is left. A row without moves stays where it is.
class MarkovChain {
 public:
  struct Rows {
    std::vector<std::size_t> offsets = {0};  ///< of each row, and the end
    std::vector<int> targets;                ///< several entries for one target add up
    std::vector<double> weights;

    void end_row() { offsets.push_back(targets.size()); }
    [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  };

  explicit MarkovChain(Rows rows);

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] int class_of(std::size_t state) const { return class_of_[state]; }
  [[nodiscard]] const std::vector<bool>& closed() const { return closed_; }
  [[nodiscard]] bool is_passing(std::size_t state) const {
    return !closed_[static_cast<std::size_t>(class_of_[state])];
  }
  [[nodiscard]] int num_closed() const;
  /// Whether there would be more closed classes without moves of probability up to `weak`.
  [[nodiscard]] bool hangs_on_moves(double weak) const;
  /// The states of each class, ascending.
  [[nodiscard]] std::vector<std::vector<int>> classes() const;
  /// By class: whether one of the marked classes can be reached.
  [[nodiscard]] std::vector<bool> leads_to(std::vector<bool> marked) const;

  /// The long-run mean of each column of `worth` [state][·] from every state.
  [[nodiscard]] Eigen::MatrixXd long_run(const Eigen::MatrixXd& worth);
  /// The same over the states of one closed class.
  [[nodiscard]] Eigen::RowVectorXd class_mean(const std::vector<int>& members,
                                              const Eigen::MatrixXd& worth);
  /// Given the rows of `mean` in closed classes, the others: what is expected where they lead.
  void solve_passing(Eigen::MatrixXd& mean);
  /// Solves (I - P restricted to `members`) x = right, transposed or not.
  [[nodiscard]] Eigen::MatrixXd solve(const std::vector<int>& members, bool transposed,
                                      const Eigen::MatrixXd& right);
  /// Largest relative error of the linear systems so far.
  [[nodiscard]] double residual() const { return residual_; }

 private:
  struct Classes {
    std::vector<int> of;       // by state
    std::vector<bool> closed;  // by class
  };
  [[nodiscard]] Classes find_classes(double weakest) const;
  [[nodiscard]] std::vector<int> places_of(const std::vector<int>& members) const;
  [[nodiscard]] Eigen::MatrixXd solve_slow(const std::vector<int>& members, bool transposed,
                                           const Eigen::MatrixXd& right) const;
  void close_class(int root, double weakest, std::vector<int>& open, Classes& found) const;

  Rows rows_;
  std::vector<int> class_of_;
  std::vector<bool> closed_;
  double residual_ = 0.0;
};

}  // namespace oas::detail
