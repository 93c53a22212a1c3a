#include "oas/theory/ergodicity.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <functional>
#include <limits>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/theory/communication.hpp"

namespace oas {

namespace {

// Half the largest L1 distance between two rows. Stops at 1, as near as rows are known to sum to
// one: sparse matrices, the large ones, have two rows without common support early on.
double largest_half_distance(const Eigen::Ref<const Matrix>& rows) {
  double largest = 0.0;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    for (Eigen::Index j = i + 1; j < rows.rows(); ++j) {
      largest = std::max(largest, 0.5 * (rows.row(i) - rows.row(j)).lpNorm<1>());
    }
    if (largest >= 1.0 - kStochasticTolerance) return 1.0;
  }
  return largest;
}

// 1 when some row of the actions first … last has no next state in common with the first row, else
// NaN: not known.
double one_or_unknown(const TransitionModel& transition, Action first, Action last) {
  std::vector<bool> common(static_cast<std::size_t>(transition.num_states()));
  transition.for_each_next(
      first, State{0}, [&](State next, double) { common[static_cast<std::size_t>(next)] = true; });
  for (Action a = first; a <= last; ++a) {
    for (State s{0}; s < transition.num_states(); ++s) {
      bool meets = false;
      transition.for_each_next(a, s, [&](State next, double) {
        meets = meets || common[static_cast<std::size_t>(next)];
      });
      if (!meets) return 1.0;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

ErgodicityReport analyse_listed(const TransitionModel& transition) {
  ErgodicityReport report;
  report.complete = false;
  report.min_transition = smallest_transition(transition);
  report.coefficient = 0.0;
  for (Action a{0}; a < transition.num_actions(); ++a) {
    report.action_coefficients.push_back(one_or_unknown(transition, a, a));
    if (!(report.coefficient >= 1.0)) report.coefficient = report.action_coefficients.back();
  }
  report.state_action_coefficient =
      one_or_unknown(transition, Action{0}, Action{transition.num_actions() - 1});
  report.second_eigenvalue = std::numeric_limits<double>::quiet_NaN();
  report.min_stationary = std::numeric_limits<double>::quiet_NaN();
  return report;
}

std::vector<double> stationary_or_empty(const TransitionModel& transition, const Matrix& chain) {
  const std::vector<double> anywhere(static_cast<std::size_t>(chain.rows()), 1.0);
  if (analyse_communication(transition, anywhere).num_closed_classes() != 1) return {};
  const Vector distribution = stationary_distribution(chain);
  return {distribution.begin(), distribution.end()};
}

}  // namespace

double smallest_transition(const TransitionModel& transition) {
  OAS_REQUIRE(transition.num_states() > 0, "the transition model is empty");
  double smallest = 1.0;
  for (Action a{0}; a < transition.num_actions(); ++a) {
    for (State s{0}; s < transition.num_states(); ++s) {
      int entries = 0;
      transition.for_each_next(a, s, [&](State, double p) {
        smallest = std::min(smallest, p);
        ++entries;
      });
      if (entries < transition.num_states()) return 0.0;
    }
  }
  return smallest;
}

double dobrushin_coefficient(const Eigen::Ref<const Matrix>& stochastic) {
  OAS_REQUIRE(stochastic.size() > 0, "Dobrushin's coefficient of an empty {}x{} matrix",
              stochastic.rows(), stochastic.cols());
  for (Eigen::Index i = 0; i < stochastic.rows(); ++i) {
    const Vector row = stochastic.row(i);
    check_simplex({row.data(), static_cast<std::size_t>(row.size())},
                  fmt::format("stochastic[{}]", i));
  }
  return largest_half_distance(stochastic);
}

double second_eigenvalue_modulus(const Eigen::Ref<const Matrix>& stochastic) {
  const Eigen::Index n = stochastic.rows();
  OAS_REQUIRE(n > 0 && stochastic.cols() == n, "eigenvalues of a {}x{} matrix", n,
              stochastic.cols());
  if (n == 1) return 0.0;
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(stochastic, /*computeEigenvectors=*/false);
  if (solver.info() != Eigen::Success) return std::numeric_limits<double>::quiet_NaN();
  Vector moduli = solver.eigenvalues().cwiseAbs();
  std::nth_element(moduli.begin(), moduli.begin() + 1, moduli.end(), std::greater<>());
  return moduli(1);
}

Matrix uniform_policy_chain(const TransitionModel& transition) {
  Matrix chain = Matrix::Zero(transition.num_states(), transition.num_states());
  for (int a = 0; a < transition.num_actions(); ++a) chain += transition.matrix(Action{a});
  return chain / transition.num_actions();
}

double contraction_bound(int num_states, int num_actions, double min_transition,
                         double min_action_probability) {
  // Floors given as 1/S or 1/A may exceed it by rounding.
  constexpr double kRounding = 1e-12;
  const double state_share = num_states * min_transition;
  const double action_share = num_actions * min_action_probability;
  OAS_REQUIRE(num_states >= 1 && min_transition >= 0.0 && state_share <= 1.0 + kRounding,
              "min_transition is {}; it must lie in [0, 1/{}]", min_transition, num_states);
  OAS_REQUIRE(num_actions >= 1 && min_action_probability >= 0.0 && action_share <= 1.0 + kRounding,
              "min_action_probability is {}; it must lie in [0, 1/{}]", min_action_probability,
              num_actions);
  return std::max(0.0, 1.0 - state_share * action_share);
}

std::string ErgodicityReport::brief() const {
  if (action_coefficients.empty()) return "mixing not analysed";
  if (!complete) {
    return fmt::format(
        "epsilon {:.4g}, Dobrushin {:.4g}; too large for eigenvalues and the "
        "stationary distribution",
        min_transition, coefficient);
  }
  return fmt::format(
      "epsilon {:.4g}, Dobrushin {:.4g}; uniform policy: Dobrushin {:.4g}, second eigenvalue "
      "{:.4g}, {}",
      min_transition, coefficient, state_action_coefficient, second_eigenvalue,
      stationary.empty() ? "no unique stationary distribution"
                         : fmt::format("rarest state {:.4g}", min_stationary));
}

ErgodicityReport analyse_ergodicity(const TransitionModel& transition) {
  if (transition.is_listed()) return analyse_listed(transition);
  ErgodicityReport report;
  report.min_transition = smallest_transition(transition);
  report.coefficient = 0.0;
  for (int a = 0; a < transition.num_actions(); ++a) {
    report.action_coefficients.push_back(largest_half_distance(transition.matrix(Action{a})));
    report.coefficient = std::max(report.coefficient, report.action_coefficients.back());
  }
  const Eigen::Index num_states = transition.num_states();
  const MatrixView all_rows(transition.values().data(), num_states * transition.num_actions(),
                            num_states);
  report.state_action_coefficient = largest_half_distance(all_rows);
  const Matrix chain = uniform_policy_chain(transition);
  report.second_eigenvalue = second_eigenvalue_modulus(chain);
  report.stationary = stationary_or_empty(transition, chain);
  if (!report.stationary.empty()) {
    report.min_stationary = *std::min_element(report.stationary.begin(), report.stationary.end());
  }
  return report;
}

}  // namespace oas
