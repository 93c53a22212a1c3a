#include "oas/planning/grid/extended_value_iteration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/model/reward_table.hpp"
#include "oas/planning/grid/detail/optimistic_shift.hpp"
#include "oas/planning/grid/detail/priced_rows.hpp"

namespace oas {

namespace {

using detail::SmallPoint;

constexpr int kSeenSweeps = 2000;

// Σ_o Z R(a,s,s',o): what a transition earns on average.
double transition_reward(const Pomdp& model, const RewardTable& rewards, Action a, State s,
                         State next) {
  const State emitter = model.timing() == Timing::before ? s : next;
  double sum = 0.0;
  for (Observation o{0}; o < model.num_observations(); ++o) {
    sum += model.sensors()(a, emitter, o) * rewards(a, s, next, o);
  }
  return sum;
}

// A×S: the reward part that does not go through q, at its best over each row's ball.
Matrix optimistic_rewards(const ConfidenceSet& set) {
  const Pomdp& model = set.center;
  const bool in_future =
      model.reward().kind() == Reward::Kind::by_observation && model.timing() == Timing::after;
  if (in_future) return Matrix::Zero(model.num_actions(), model.num_states());
  if (model.reward().kind() != Reward::Kind::by_transition) return model.expected_reward();
  const RewardTable rewards =
      model.reward().to_table(model.num_states(), model.num_actions(), model.num_observations());
  Matrix table(model.num_actions(), model.num_states());
  std::vector<double> h(static_cast<std::size_t>(model.num_states()));
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (State s{0}; s < model.num_states(); ++s) {
      for (State next{0}; next < model.num_states(); ++next) {
        h[next] = transition_reward(model, rewards, a, s, next);
      }
      const std::vector<double> row =
          optimistic_row(model.transition().row(a, s), set.radius[a * model.num_states() + s], h);
      table(a.value(), s.value()) =
          VectorView(row.data(), model.num_states()).dot(VectorView(h.data(), model.num_states()));
    }
  }
  return table;
}

// Fills the rows of a BeliefMdp with the optimistic choices at a bias v.
class OptimisticCompiler {
 public:
  OptimisticCompiler(const ConfidenceSet& set, const BeliefGrid& grid, const Matrix& rewards)
      : set_(set), model_(set.center), grid_(grid), n_(model_.num_states()), rewards_(rewards) {}

  void compile_block(std::size_t first, std::size_t points, std::span<const double> bias,
                     BeliefMdp::Block& block) const {
    detail::RowWriter row(block, detail::thread_slots(grid_.size()),
                          2 * static_cast<std::size_t>(n_) * model_.num_observations());
    SmallPoint belief{};
    for (std::size_t i = first; i < first + points; ++i) {
      grid_.point(i, std::span(belief).first(static_cast<std::size_t>(n_)));
      for (Action a{0}; a < model_.num_actions(); ++a) {
        double reward = 0.0;
        for (int s = 0; s < n_; ++s) reward += belief[s] * rewards_(a.value(), s);
        row.begin_row(reward);
        if (model_.timing() == Timing::before) {
          row_before(a, belief, bias, row);
        } else {
          row_after(a, belief, bias, row);
        }
        row.end_row();
      }
    }
    row.finish();
  }

 private:
  // The cell of a point: calls visit(index, weight).
  template <class Visit>
  void visit_cell(const SmallPoint& point, const Visit& visit) const {
    std::array<std::uint32_t, kMaxVertexStates> indices;
    std::array<double, kMaxVertexStates> weights;
    const int count = grid_.interpolate(std::span(point).first(static_cast<std::size_t>(n_)),
                                        indices.data(), weights.data());
    for (int k = 0; k < count; ++k) visit(indices[k], weights[k]);
  }

  [[nodiscard]] double value_at(const SmallPoint& point, std::span<const double> bias) const {
    double value = 0.0;
    visit_cell(point, [&](std::uint32_t i, double weight) { value += weight * bias[i]; });
    return value;
  }

  // p = T̂_aᵀ w / Σ w and t = Σ w r / Σ w; returns Σ w.
  double predict(Action a, const SmallPoint& w, SmallPoint& p, double& t) const {
    double mass = 0.0;
    t = 0.0;
    p.fill(0.0);
    for (State s{0}; s < n_; ++s) {
      mass += w[s];
      t += w[s] * set_.radius[a * n_ + s];
      const auto row = model_.transition().row(a, s);
      for (int next = 0; next < n_; ++next) p[next] += w[s] * row[next];
    }
    if (!(mass > 0.0)) return 0.0;
    for (int next = 0; next < n_; ++next) p[next] /= mass;
    t /= mass;
    return mass;
  }

  void row_before(Action a, const SmallPoint& belief, std::span<const double> bias,
                  detail::RowWriter& row) const {
    const auto value = [&](const SmallPoint& q) { return value_at(q, bias); };
    detail::ShiftSearch search(n_, value);
    for (Observation o{0}; o < model_.num_observations(); ++o) {
      SmallPoint w{};
      SmallPoint p;
      double t = 0.0;
      for (State s{0}; s < n_; ++s) w[s] = belief[s] * model_.sensors()(a, s, o);
      const double probability = predict(a, w, p, t);
      if (!(probability > 0.0)) continue;
      const detail::OptimisticShift shift = search(p, t);
      const auto add = [&](const SmallPoint& q, double share) {
        if (!(share > 0.0)) return;
        visit_cell(
            q, [&](std::uint32_t i, double weight) { row.add(i, probability * share * weight); });
      };
      add(shift.from, 1.0 - shift.share);
      add(shift.to, shift.share);
    }
  }

  // Calls visit(o, P(o), b'_o) for a predicted distribution q.
  template <class Visit>
  void visit_observations(Action a, const SmallPoint& q, const Visit& visit) const {
    for (Observation o{0}; o < model_.num_observations(); ++o) {
      SmallPoint next{};
      double probability = 0.0;
      for (State s{0}; s < n_; ++s) probability += next[s] = q[s] * model_.sensors()(a, s, o);
      if (!(probability > 0.0)) continue;
      for (int s = 0; s < n_; ++s) next[s] /= probability;
      visit(o, probability, next);
    }
  }

  [[nodiscard]] double reward_of(Observation o) const {
    return model_.reward().kind() == Reward::Kind::by_observation ? model_.reward().values()[o]
                                                                  : 0.0;
  }

  void row_after(Action a, const SmallPoint& belief, std::span<const double> bias,
                 detail::RowWriter& row) const {
    const auto value = [&](const SmallPoint& q) {
      double sum = 0.0;
      visit_observations(a, q, [&](Observation o, double probability, const SmallPoint& next) {
        sum += probability * (reward_of(o) + value_at(next, bias));
      });
      return sum;
    };
    detail::ShiftSearch search(n_, value);
    SmallPoint p;
    double t = 0.0;
    predict(a, belief, p, t);
    const detail::OptimisticShift shift = search(p, t);
    const auto add = [&](const SmallPoint& q, double share) {
      if (!(share > 0.0)) return;
      visit_observations(a, q, [&](Observation o, double probability, const SmallPoint& next) {
        row.add_reward(share * probability * reward_of(o));
        visit_cell(next, [&](std::uint32_t i, double weight) {
          row.add(i, share * probability * weight);
        });
      });
    };
    add(shift.from, 1.0 - shift.share);
    add(shift.to, shift.share);
  }

  const ConfidenceSet& set_;
  const Pomdp& model_;
  const BeliefGrid& grid_;
  int n_;
  const Matrix& rewards_;
};

// Every row moved as far as the set allows towards the states where h is high.
TransitionModel tilted(const ConfidenceSet& set, std::span<const double> h) {
  const Pomdp& model = set.center;
  std::vector<double> values;
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (State s{0}; s < model.num_states(); ++s) {
      const std::vector<double> row =
          optimistic_row(model.transition().row(a, s), set.radius[a * model.num_states() + s], h);
      values.insert(values.end(), row.begin(), row.end());
    }
  }
  return {model.num_states(), model.num_actions(), std::move(values)};
}

// No policy earns more in any member: the gain where the state is seen, by value iteration over the
// balls of the rows. `rewards` as optimistic_rewards().
double seen_state_bound(const ConfidenceSet& set, const Matrix& rewards,
                        const RviOptions& options) {
  const Pomdp& model = set.center;
  const int n = model.num_states();
  const int num_actions = model.num_actions();
  Vector arriving = Vector::Zero(n);  // r(o) of the state that is reached
  Vector v = Vector::Zero(n);
  double least = std::numeric_limits<double>::infinity();
  for (int sweep = 0; sweep < kSeenSweeps; ++sweep) {
    check_interrupted();
    Matrix q = rewards;
    for (Action a{0}; a < num_actions; ++a) {
      if (model.reward().kind() == Reward::Kind::by_observation &&
          model.timing() == Timing::after) {
        arriving = model.sensors().matrix(a).transpose() *
                   VectorView(model.reward().values().data(), model.num_observations());
      }
      const Vector h = v + arriving;
      for (State s{0}; s < n; ++s) {
        const std::vector<double> row =
            optimistic_row(model.transition().row(a, s), set.radius[a * n + s],
                           std::span(h.data(), static_cast<std::size_t>(n)));
        q(a.value(), s.value()) += VectorView(row.data(), n).dot(h);
      }
    }
    const Vector increment = ((1.0 - num_actions * options.iota) * q.colwise().maxCoeff() +
                              options.iota * q.colwise().sum())
                                 .transpose() -
                             v;
    least = std::min(least, increment.maxCoeff());
    if (increment.maxCoeff() - increment.minCoeff() <= options.span_tolerance) break;
    v += 0.5 * increment;
    v.array() -= v(0);
  }
  return least;
}

std::vector<double> corner_values(const BeliefGrid& grid, std::span<const double> bias) {
  std::vector<double> h(static_cast<std::size_t>(grid.num_states()));
  for (int s = 0; s < grid.num_states(); ++s) h[s] = bias[grid.corner(s)];
  return h;
}

// Tries members one by one and keeps the best.
class MemberSearch {
 public:
  MemberSearch(const ConfidenceSet& set, const EviOptions& options, GridSolver& solver,
               EviResult& result)
      : set_(set), options_(options), solver_(solver), result_(result) {}

  // The center, all rows tilted towards reward and towards value, then row by row.
  void run() {
    attempt(set_.center.transition());
    if (!(set_.max_radius() > 0.0)) return;
    const Matrix rewards = set_.center.expected_reward();
    const Vector best_reward = rewards.colwise().maxCoeff().transpose();
    attempt(
        tilted(set_, std::span(best_reward.data(), static_cast<std::size_t>(best_reward.size()))));
    attempt(tilted(set_, corner_values(solver_.grid(), result_.bias)));
    // Where there are too many rows to go through one by one, all move again as the best member
    // values its states.
    if (set_.center.num_states() > kMaxVertexStates) {
      while (left() &&
             attempt(tilted(set_, corner_values(solver_.grid(), result_.member_solution.bias)))) {
        check_interrupted();
      }
      return;
    }
    while (improve_rows() && left()) {
      check_interrupted();
    }
  }

 private:
  [[nodiscard]] bool left() const { return tried_ < options_.max_members; }

  bool attempt(TransitionModel transition) {
    ++tried_;
    const RviResult& found = solver_.solve(set_.center.with_transition(transition), options_.rvi);
    const bool better = result_.member_solution.status == SolveStatus::not_run ||
                        found.gain() > result_.member_solution.gain() + 1e-7;
    if (better) {
      result_.member = std::move(transition);
      result_.member_solution = found;
    }
    return better;
  }

  // One row of the best member moved towards one state, for all rows and states.
  bool improve_rows() {
    const Pomdp& model = set_.center;
    const auto n = static_cast<std::size_t>(model.num_states());
    bool improved = false;
    for (std::size_t row = 0; row < set_.radius.size(); ++row) {
      for (std::size_t target = 0; target < n && left(); ++target) {
        std::vector<double> h = corner_values(solver_.grid(), result_.member_solution.bias);
        h[target] = std::numeric_limits<double>::infinity();
        std::vector<double> values(result_.member.values().begin(), result_.member.values().end());
        const std::vector<double> moved =
            optimistic_row(model.transition().values().subspan(row * n, n), set_.radius[row], h);
        if (std::equal(moved.begin(), moved.end(), values.begin() + static_cast<long>(row * n))) {
          continue;
        }
        std::copy(moved.begin(), moved.end(), values.begin() + static_cast<long>(row * n));
        improved |= attempt(TransitionModel(model.num_states(), model.num_actions(), values));
      }
    }
    return improved;
  }

  const ConfidenceSet& set_;
  const EviOptions& options_;
  GridSolver& solver_;
  EviResult& result_;
  int tried_ = 0;
};

}  // namespace

void EviOptions::validate(int num_actions) const {
  rvi.validate(num_actions);
  OAS_REQUIRE(max_rounds >= 1, "max_rounds is {}; it must be at least 1", max_rounds);
  OAS_REQUIRE(max_members >= 0, "max_members is {}; it must not be negative", max_members);
}

EviResult extended_value_iteration(const ConfidenceSet& set, const BeliefGrid& grid,
                                   const EviOptions& options, Parallelism parallelism) {
  set.validate();
  options.validate(set.center.num_actions());
  const bool by_price = options.by_price || set.center.num_states() > kMaxVertexStates;
  GridSolver solver(grid, parallelism);
  solver.solve(set.center, options.rvi);  // a good first bias
  const Matrix rewards = optimistic_rewards(set);
  const OptimisticCompiler by_vertex(set, solver.grid(), rewards);
  std::optional<detail::PricedRows> priced;
  if (by_price) priced.emplace(set, solver.grid(), rewards);
  EviResult result;
  RviOptions one_sweep = options.rvi;
  one_sweep.max_sweeps = 1;
  while (result.rounds < options.max_rounds && result.status != SolveStatus::converged) {
    check_interrupted();
    ++result.rounds;
    BeliefMdp& mdp = solver.mdp();
    result.bias = solver.result().bias;
    parallel_for(mdp.num_blocks(), parallelism, [&](std::size_t i) {
      if (priced) {
        priced->compile_block(mdp.first_point(i), mdp.num_block_points(i), result.bias,
                              mdp.block(i));
      } else {
        by_vertex.compile_block(mdp.first_point(i), mdp.num_block_points(i), result.bias,
                                mdp.block(i));
      }
    });
    // The first sweep is the optimistic operator at this very bias: its increments are the bound.
    result.status = solver.iterate(one_sweep).status;
    result.gain_bound = solver.result().largest_increment;
    result.residual = solver.result().residual;
    if (result.status != SolveStatus::converged) solver.iterate(options.rvi);
  }
  if (by_price) {
    result.gain_bound = std::min(result.gain_bound, seen_state_bound(set, rewards, options.rvi));
  }
  result.message = result.status == SolveStatus::converged
                       ? "the span fell to the tolerance"
                       : fmt::format(
                             "the span is {:.3g} after {} rounds, the limit; the bound "
                             "holds all the same",
                             result.residual, result.rounds);
  MemberSearch(set, options, solver, result).run();
  return result;
}

}  // namespace oas
