#pragma once

#include <limits>
#include <string>
#include <vector>

#include "oas/estimation/diagnosis/row_order.hpp"
#include "oas/estimation/diagnosis/score_tests.hpp"

namespace oas {

/// Another order of the rows than the one that the model says.
struct OrderRival {
  RowOrder order = RowOrder::before;
  bool impossible = false;  ///< the rows cannot happen in it
  /// Log-likelihood in this order less that in the model's, each with the dynamics that fit it
  /// best, and the standard error of the difference from stretches of rows. Actions count too: an
  /// action that was chosen with the row's own reading tells something about it, which `after`
  /// would take for an effect of the action. So `reading_first`, and `before` where it has the same
  /// likelihood, may explain actions by the row's own reading, all by the row before (tables with
  /// half a count in each cell, learned on the way: Krichevsky and Trofimov 1981).
  double difference = 0.0;
  double standard_error = 0.0;
  /// P-value of "the model's order is right" against this one. Both have the same number of
  /// parameters (Vuong 1989); never below exp(-difference). That bounds how often a true model
  /// loses by so much to one that was fixed beforehand. Here both dynamics are fitted, so that it
  /// is no bound but a guard for short logs, in which the normal law of Vuong's test is too sure.
  double p_value = 1.0;
  FittedDynamics fitted;  ///< the dynamics in this order

  /// The other way round: "this order is right", against the model's.
  [[nodiscard]] double p_value_of_rival() const;
};

/// Which state do the readings come from, and which action do they belong to?
struct TimingTest {
  std::string why_not;  ///< it was not tested
  RowOrder own = RowOrder::before;
  std::vector<OrderRival> rivals;  ///< those that likelihood can tell from the model's order
  /// P-value of "the model's order is right" against all of them (Bonferroni).
  double p_value = std::numeric_limits<double>::quiet_NaN();

  [[nodiscard]] bool tested() const { return !rivals.empty(); }
  /// The rival that fits best.
  [[nodiscard]] const OrderRival& best() const;
};

/// `fitted` to the rows in the order that the model says. Not tested where states are known, since
/// they are read with the timing. First readings take part where it is known how they come about.
[[nodiscard]] TimingTest test_timing(const AnyModel& model, const DiagnosedRows& rows,
                                     const FittedDynamics& fitted, Parallelism parallelism);

/// Do actions depend on the reading of their own row, given the rows before? Then it was read first
/// and the action chosen with it. With b the belief before the row and b' that after its reading,
/// the sum over rows of (1[a_t = a] - share of a) (b'(s) - b(s)) has mean 0 in timing `before` when
/// the action was chosen first, whatever else it depends on; replicates draw the reading anew.
/// Needs timing `before`, sensors that do not depend on the action, several actions that occur, and
/// readings that can be drawn: else it is not tested.
struct ReactionTest {
  ScoreTest test;
  std::string why_not;  ///< it was not tested
  /// The smallest difference of P(state | reading) - P(state) between the rows of an action and all
  /// rows that is shown with probability `power` at a level, over actions and states.
  [[nodiscard]] double smallest(double level, double power) const;
  std::vector<double> unit_information;  ///< of (action, state): information about that difference
};
[[nodiscard]] ReactionTest test_reaction(const AnyModel& model, const DiagnosedRows& rows,
                                         const FittedDynamics& fitted, int replicates,
                                         std::uint64_t seed, Parallelism parallelism);

}  // namespace oas
