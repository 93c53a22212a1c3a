#include "oas/theory/ergodicity.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/theory/communication.hpp"

namespace oas {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Eigenvalues take 10 n³ operations and wait for memory: 3 s for 1000 states, 30 s for 2000.
constexpr int kMostStates = 1000;
// Numbers that comparing rows may read, about 3 s.
constexpr double kMostCompared = 5e9;

// Half the largest L1 distance between two rows. Stops at 1, as near as rows are known to sum to
// one: sparse matrices, the large ones, have two rows without common support early on. Not known
// when it would read more than `budget` numbers, which it uses up.
double largest_half_distance(const Eigen::Ref<const Matrix>& rows, double& budget) {
  double largest = 0.0;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    budget -= static_cast<double>((rows.rows() - i) * rows.cols());
    if (budget < 0.0) return kUnknown;
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
  return kUnknown;
}

// The largest; 1 when one is 1, since none is larger, else not known when one is not known.
double largest_of(const std::vector<double>& coefficients) {
  double largest = 0.0;
  for (const double coefficient : coefficients) {
    if (coefficient >= 1.0) return 1.0;
    if (!std::isnan(largest) && !(coefficient <= largest)) largest = coefficient;
  }
  return largest;
}

// ρ(T_a), where the budget allows for it.
double action_coefficient(const TransitionModel& transition, Action a, double& budget) {
  const double found = largest_half_distance(transition.matrix(a), budget);
  return std::isnan(found) ? one_or_unknown(transition, a, a) : found;
}

// The same over the rows of all actions; `coefficient` is that over pairs of rows of one action.
double all_rows_coefficient(const TransitionModel& transition, double coefficient, double& budget) {
  if (transition.num_actions() == 1 || coefficient >= 1.0) return coefficient;
  const Eigen::Index num_states = transition.num_states();
  const MatrixView all_rows(transition.values().data(), num_states * transition.num_actions(),
                            num_states);
  const double found = largest_half_distance(all_rows, budget);
  return std::isnan(found)
             ? one_or_unknown(transition, Action{0}, Action{transition.num_actions() - 1})
             : found;
}

void leave_out_spectrum(ErgodicityReport& report) {
  report.complete = false;
  report.second_eigenvalue = kUnknown;
  report.min_stationary = kUnknown;
}

ErgodicityReport analyse_listed(const TransitionModel& transition) {
  ErgodicityReport report;
  report.min_transition = smallest_transition(transition);
  for (Action a{0}; a < transition.num_actions(); ++a) {
    report.action_coefficients.push_back(one_or_unknown(transition, a, a));
  }
  report.coefficient = largest_of(report.action_coefficients);
  report.state_action_coefficient =
      one_or_unknown(transition, Action{0}, Action{transition.num_actions() - 1});
  leave_out_spectrum(report);
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
  double unlimited = std::numeric_limits<double>::infinity();
  return largest_half_distance(stochastic, unlimited);
}

double second_eigenvalue_modulus(const Eigen::Ref<const Matrix>& stochastic) {
  const Eigen::Index n = stochastic.rows();
  OAS_REQUIRE(n > 0 && stochastic.cols() == n, "eigenvalues of a {}x{} matrix", n,
              stochastic.cols());
  OAS_REQUIRE(stochastic.allFinite(), "eigenvalues of a matrix with entries that are not finite");
  if (n == 1) return 0.0;
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(stochastic, /*computeEigenvectors=*/false);
  if (solver.info() != Eigen::Success) return kUnknown;
  Vector moduli = solver.eigenvalues().cwiseAbs();
  std::nth_element(moduli.begin(), moduli.begin() + 1, moduli.end(), std::greater<>());
  return moduli(1);
}

Matrix uniform_policy_chain(const TransitionModel& transition) {
  OAS_REQUIRE(transition.num_states() > 0, "the transition model is empty");
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
  const auto number = [](double value) {
    return std::isnan(value) ? "unknown" : fmt::format("{:.4g}", value);
  };
  if (action_coefficients.empty()) return "mixing not analysed";
  const std::string start =
      fmt::format("epsilon {:.4g}, Dobrushin {}; ", min_transition, number(coefficient));
  if (!complete) return start + "too large for eigenvalues and the stationary distribution";
  return start + fmt::format("uniform policy: Dobrushin {}, second eigenvalue {}, {}",
                             number(state_action_coefficient), number(second_eigenvalue),
                             stationary.empty()
                                 ? "no unique stationary distribution"
                                 : fmt::format("rarest state {:.4g}", min_stationary));
}

ErgodicityReport analyse_ergodicity(const TransitionModel& transition) {
  if (transition.is_listed()) return analyse_listed(transition);
  ErgodicityReport report;
  report.min_transition = smallest_transition(transition);
  double budget = kMostCompared;
  for (Action a{0}; a < transition.num_actions(); ++a) {
    report.action_coefficients.push_back(action_coefficient(transition, a, budget));
  }
  report.coefficient = largest_of(report.action_coefficients);
  report.state_action_coefficient = all_rows_coefficient(transition, report.coefficient, budget);
  if (transition.num_states() > kMostStates) {
    leave_out_spectrum(report);
    return report;
  }
  const Matrix chain = uniform_policy_chain(transition);
  report.second_eigenvalue = second_eigenvalue_modulus(chain);
  report.stationary = stationary_or_empty(transition, chain);
  if (!report.stationary.empty()) {
    report.min_stationary = *std::min_element(report.stationary.begin(), report.stationary.end());
  }
  return report;
}

}  // namespace oas
