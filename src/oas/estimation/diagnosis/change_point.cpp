#include "oas/estimation/diagnosis/change_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace oas {

namespace {

constexpr int kRefits = 3;

// Log-likelihood of a split behind each row, in order, up to a constant; only between places.
struct SplitProfile {
  std::vector<double> values;
  std::size_t best = 0;
};

SplitProfile profile_of(const DiagnosedRows& rows, const std::vector<std::size_t>& order,
                        const std::vector<double>& before, const std::vector<double>& after) {
  SplitProfile profile;
  profile.values.assign(order.size(), -std::numeric_limits<double>::infinity());
  const std::size_t margin = std::max<std::size_t>(order.size() / 50, 1);
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    sum += before[order[i]] - after[order[i]];
    const bool between = rows.place[order[i]] < rows.place[order[i + 1]];
    if (!between || i + 1 < margin || i + 1 > order.size() - margin) continue;
    profile.values[i] = sum;
    if (profile.best == 0 || sum > profile.values[profile.best - 1]) profile.best = i + 1;
  }
  return profile;
}

std::vector<std::size_t> rank_of(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

// Log-likelihood of each unit under some dynamics.
std::vector<double> by_unit(const DiagnosedRows& rows, const std::vector<int>& unit,
                            const std::vector<double>& logs) {
  std::vector<double> sums(rows.units.size(), 0.0);
  for (std::size_t t = 0; t < logs.size(); ++t) sums[static_cast<std::size_t>(unit[t])] += logs[t];
  return sums;
}

class Grouping {
 public:
  Grouping(const AnyModel& model, const DiagnosedRows& rows, Parallelism parallelism)
      : model_(model), rows_(rows), parallelism_(parallelism), unit_(rows.unit_of_row()) {}

  // Fits and assigns in turn; false when a group lost all its units.
  bool settle(UnitGroups& groups, int count) const {
    for (int turn = 0; turn < 8; ++turn) {
      groups.dynamics.clear();
      std::vector<std::vector<double>> fits;
      for (int g = 0; g < count; ++g) {
        if (std::count(groups.of_unit.begin(), groups.of_unit.end(), g) == 0) return false;
        groups.dynamics.push_back(fit_rows(
            model_, rows_,
            [&](std::size_t row) {
              return groups.of_unit[static_cast<std::size_t>(unit_[row])] == g;
            },
            parallelism_));
        fits.push_back(by_unit(rows_, unit_,
                               log_predictions(model_, rows_, groups.dynamics.back().transition)));
      }
      if (!assign(fits, groups)) break;
    }
    return true;
  }

 private:
  // False: nothing changed.
  static bool assign(const std::vector<std::vector<double>>& fits, UnitGroups& groups) {
    bool changed = false;
    groups.log_likelihood_gain = 0.0;
    groups.margin.assign(groups.of_unit.size(), std::numeric_limits<double>::infinity());
    for (std::size_t u = 0; u < groups.of_unit.size(); ++u) {
      int best = groups.of_unit[u];
      for (std::size_t g = 0; g < fits.size(); ++g) {
        if (fits[g][u] > fits[static_cast<std::size_t>(best)][u]) best = static_cast<int>(g);
      }
      changed = changed || best != groups.of_unit[u];
      groups.of_unit[u] = best;
      for (std::size_t g = 0; g < fits.size(); ++g) {
        if (static_cast<int>(g) == best) continue;
        const double lead = fits[static_cast<std::size_t>(best)][u] - fits[g][u];
        groups.margin[u] = std::min(groups.margin[u], lead);
      }
      groups.log_likelihood_gain += fits[static_cast<std::size_t>(best)][u];
    }
    return changed;
  }

  const AnyModel& model_;
  const DiagnosedRows& rows_;
  Parallelism parallelism_;
  std::vector<int> unit_;
};

// Cuts group `which` in two along the direction in which its scores differ most.
std::vector<int> cut_group(const std::vector<int>& of_unit, int which, int fresh,
                           const Matrix& scores) {
  std::vector<Eigen::Index> members;
  for (std::size_t u = 0; u < of_unit.size(); ++u) {
    if (of_unit[u] == which) members.push_back(static_cast<Eigen::Index>(u));
  }
  Matrix own(static_cast<Eigen::Index>(members.size()), scores.cols());
  for (std::size_t i = 0; i < members.size(); ++i) {
    own.row(static_cast<Eigen::Index>(i)) = scores.row(members[i]);
  }
  own.rowwise() -= Eigen::RowVectorXd(own.colwise().mean());
  const SymmetricEigen eigen = symmetric_eigen(Matrix(own.transpose() * own));
  const Vector along = own * eigen.vectors.col(eigen.vectors.cols() - 1);
  std::vector<int> cut = of_unit;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (along(static_cast<Eigen::Index>(i)) > 0.0) {
      cut[static_cast<std::size_t>(members[i])] = fresh;
    }
  }
  return cut;
}

// Groups in the order of their first units.
void renumber(UnitGroups& groups) {
  std::vector<int> number(groups.dynamics.size(), -1);
  std::vector<FittedDynamics> sorted;
  for (int& group : groups.of_unit) {
    int& fresh = number[static_cast<std::size_t>(group)];
    if (fresh < 0) {
      fresh = static_cast<int>(sorted.size());
      sorted.push_back(groups.dynamics[static_cast<std::size_t>(group)]);
    }
    group = fresh;
  }
  groups.dynamics = std::move(sorted);
}

}  // namespace

ChangePoint locate_change(const AnyModel& model, const DiagnosedRows& rows, std::size_t guess,
                          const FittedDynamics& pooled, Parallelism parallelism) {
  const std::vector<std::size_t> order = rows.in_order();
  const std::vector<std::size_t> rank = rank_of(order);
  ChangePoint change;
  change.rows_before = guess;
  SplitProfile profile;
  std::vector<double> after;
  for (int turn = 0; turn < kRefits; ++turn) {
    const std::size_t cut = change.rows_before;
    change.before = fit_rows(
        model, rows, [&](std::size_t row) { return rank[row] < cut; }, parallelism);
    change.after = fit_rows(
        model, rows, [&](std::size_t row) { return rank[row] >= cut; }, parallelism);
    after = log_predictions(model, rows, change.after.transition);
    profile =
        profile_of(rows, order, log_predictions(model, rows, change.before.transition), after);
    if (profile.best == 0) break;  // no place lies between
    change.rows_before = profile.best;
    if (change.rows_before == cut) break;
  }
  change.lower = change.upper = change.rows_before;
  if (profile.best == 0) return change;
  const double top = profile.values[profile.best - 1];
  for (std::size_t i = 0; i < profile.values.size(); ++i) {
    if (profile.values[i] < top - kPlaceFall) continue;
    change.lower = std::min(change.lower, i + 1);
    change.upper = std::max(change.upper, i + 1);
  }
  const std::vector<double> one = log_predictions(model, rows, pooled.transition);
  change.log_likelihood_gain = top + std::accumulate(after.begin(), after.end(), 0.0) -
                               std::accumulate(one.begin(), one.end(), 0.0);
  return change;
}

UnitGroups find_groups(const AnyModel& model, const DiagnosedRows& rows, const Matrix& scores,
                       const FittedDynamics& pooled, Parallelism parallelism) {
  const Grouping grouping(model, rows, parallelism);
  const std::vector<double> one = log_predictions(model, rows, pooled.transition);
  const double alone = std::accumulate(one.begin(), one.end(), 0.0);
  const double price =
      0.5 * static_cast<double>(scores.cols()) * std::log(static_cast<double>(rows.size())) +
      static_cast<double>(rows.units.size()) * std::log(2.0);
  UnitGroups best;
  best.of_unit.assign(rows.units.size(), 0);
  best.dynamics.push_back(pooled);
  for (int count = 2; count <= kMostGroups; ++count) {
    UnitGroups found;
    for (int which = 0; which < count - 1; ++which) {
      if (std::count(best.of_unit.begin(), best.of_unit.end(), which) < 2) continue;
      UnitGroups tried;
      tried.of_unit = cut_group(best.of_unit, which, count - 1, scores);
      if (!grouping.settle(tried, count)) continue;
      tried.log_likelihood_gain -= alone;
      if (found.of_unit.empty() || tried.log_likelihood_gain > found.log_likelihood_gain) {
        found = std::move(tried);
      }
    }
    if (found.of_unit.empty()) break;
    const bool worth = found.log_likelihood_gain > best.log_likelihood_gain + price;
    if (!worth && count > 2) break;
    found.clear = worth;
    best = std::move(found);
    if (!worth) break;
  }
  renumber(best);
  return best;
}

}  // namespace oas
