#pragma once

#include <cstddef>
#include <vector>

#include "oas/estimation/transition_structure.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"

namespace oas::test {

/// The posterior of T by a sum over all hidden paths of all runs, T integrated out: products of
/// Dirichlet-multinomials over the distinct rows of a structure, times what is fixed. An entry by
/// itself has the prior Beta(hit, miss) and sees those paths.
class PathEnumeration {
 public:
  /// Beforehand the entries that are left to a row are Dirichlet(concentration, …); 0: 1 in all. An
  /// empty structure leaves everything open.
  PathEnumeration(const Pomdp& model, const std::vector<Trajectory>& runs,
                  const TransitionStructure& structure, double concentration, double hit,
                  double miss);

  std::vector<double> mean;    ///< [a][s][s']
  std::vector<double> centre;  ///< of each entry by itself
  std::vector<double> second;  ///< of its square

  [[nodiscard]] double deviation(std::size_t entry) const;

 private:
  [[nodiscard]] double seen(std::size_t run, std::size_t t, std::size_t s) const;
  [[nodiscard]] bool is_free(std::size_t entry) const;
  [[nodiscard]] double known(std::size_t entry) const;
  [[nodiscard]] double mass(std::size_t row) const;
  [[nodiscard]] std::size_t leader(std::size_t row) const;
  void start(std::size_t run, double weight);
  // State s at row t, before its action.
  void go(std::size_t run, std::size_t t, std::size_t s, double weight);
  void finish(double weight);

  const Pomdp& model_;
  const std::vector<Trajectory>& runs_;
  const TransitionStructure& structure_;
  double concentration_;
  double hit_;
  double miss_;
  std::size_t states_;
  std::vector<int> counts_;
  double sum_ = 0.0;
};

}  // namespace oas::test
