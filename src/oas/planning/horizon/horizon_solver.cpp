#include "oas/planning/horizon/detail/horizon_solver.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "oas/belief/first_beliefs.hpp"
#include "oas/core/interruption.hpp"
#include "oas/planning/grid/belief_mdp.hpp"
#include "oas/planning/points/detail/informed_sweep.hpp"
#include "oas/planning/points/detail/point_solver.hpp"

namespace oas::detail {

namespace {

constexpr int kFinestGrid = 100;
constexpr double kGridProducts = 3e8;  // of value iteration on the grid, over the horizon
constexpr double kGridNumbers = 2e7;   // of its values, over the horizon
constexpr int kTrialsPerRound = 32;
constexpr int kFewestSwept = 32;  // beliefs, doubled round by round
constexpr int kMostSwept = 1024;
constexpr std::size_t kMostMet = 4096;
constexpr double kProductsPerDivision = 4.0;  // in time

// The finest that is affordable; 0: none is.
int grid_resolution(const Pomdp& model, int steps) {
  if (model.num_states() > kMaxGridStates || model.num_states() < 2) return 0;
  const double row =
      static_cast<double>(model.num_actions()) * model.num_states() * model.num_observations();
  int resolution = 0;
  while (resolution < kFinestGrid) {
    check_interrupted();
    const double points = BeliefGrid::num_points(model.num_states(), resolution + 1) * steps;
    if (points > kGridNumbers || points * row > kGridProducts) break;
    ++resolution;
  }
  return resolution;
}

Eigen::VectorXd vector_of(const std::vector<double>& values) {
  return VectorView(values.data(), static_cast<Eigen::Index>(values.size()));
}

// Numbers the conditional plans of one stage in the order in which they are asked for.
class StageNodes {
 public:
  explicit StageNodes(const LowerBound& plans) : plans_(plans) {}

  int node_of(int plan) {
    const auto [place, is_new] = nodes_.try_emplace(plan, static_cast<int>(order_.size()));
    if (is_new) order_.push_back(plan);
    return place->second;
  }

  // What they do; those that follow are asked for in `following`, if any step is left.
  HorizonStage stage(StageNodes* following) const {
    HorizonStage stage;
    for (const int number : order_) {
      const ConditionalPlan& plan = plans_.plan(number);
      stage.actions.push_back(plan.action);
      stage.alpha.insert(stage.alpha.end(), plan.alpha.begin(), plan.alpha.end());
      if (following == nullptr) continue;
      for (const int next : plan.next) stage.next.push_back(following->node_of(next));
    }
    return stage;
  }

 private:
  const LowerBound& plans_;
  std::map<int, int> nodes_;
  std::vector<int> order_;
};

}  // namespace

HorizonSolver::HorizonSolver(const Pomdp& model, const HorizonOptions& options)
    : branches_(model),
      rewards_(model.expected_reward()),
      steps_(options.steps),
      discount_(options.discount),
      rounding_(1e-14 * options.steps * rewards_.cwiseAbs().maxCoeff()),
      lower_(static_cast<std::size_t>(options.steps) + 1) {
  for (const FirstBelief& start : first_beliefs(model)) {
    roots_.push_back({start.first, start.probability, vector_of(start.belief)});
  }
  // Where a first reading is missing, the start is all that is known.
  if (model.reading_first()) roots_.push_back({kMissing, 0.0, vector_of(model.start())});
  const auto actions = static_cast<std::size_t>(branches_.num_actions());
  look_.next.resize(actions);
  add_blind_plans();
  add_informed_bounds(model);
  add_grid_bounds(model);
}

void HorizonSolver::add_blind_plans() {
  for (int to_go = 1; to_go <= steps_; ++to_go) {
    for (int a = 0; a < branches_.num_actions(); ++a) {
      ConditionalPlan plan{rewards_.row(a).transpose(), a, {}};
      if (to_go > 1) {
        plan.next.assign(static_cast<std::size_t>(branches_.num_observations()), a);
        const Eigen::VectorXd& future = lower_at(to_go - 1).plan(a).alpha;
        plan.alpha +=
            discount_ * branches_.expect(a, future.replicate(1, branches_.num_observations()));
      }
      lower_[static_cast<std::size_t>(to_go)].add(std::move(plan));
    }
  }
}

void HorizonSolver::add_informed_bounds(const Pomdp& model) {
  InformedSweep sweep(model, 0.0);
  const Eigen::MatrixXd rewards = rewards_.transpose();
  Eigen::MatrixXd alpha = Eigen::MatrixXd::Zero(rewards.rows(), rewards.cols());
  for (int to_go = 0; to_go <= steps_; ++to_go) {
    upper_.emplace_back(alpha);
    Eigen::MatrixXd future = Eigen::MatrixXd::Zero(rewards.rows(), rewards.cols());
    sweep.add(alpha, future);
    alpha = rewards + discount_ * future;
  }
}

// Interpolation over-estimates convex functions, so that the values of the grid's own decision
// process are at least the true ones.
void HorizonSolver::add_grid_bounds(const Pomdp& model) {
  const int resolution = grid_resolution(model, steps_);
  if (resolution == 0) return;
  const auto grid = std::make_shared<const BeliefGrid>(model.num_states(), resolution);
  BeliefMdp mdp(*grid);
  mdp.compile(model, Parallelism{1});
  std::vector<double> values(grid->size(), 0.0);
  std::vector<double> by_action(static_cast<std::size_t>(model.num_actions()));
  for (int to_go = 1; to_go <= steps_; ++to_go) {
    std::vector<double> following = std::move(values);
    for (double& value : following) value *= discount_;
    values.assign(grid->size(), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      mdp.action_values(i, following, by_action);
      values[i] = *std::max_element(by_action.begin(), by_action.end());
    }
    upper_[static_cast<std::size_t>(to_go)].set_grid(grid, values);
  }
}

double HorizonSolver::lower() const {
  double sum = 0.0;
  for (const Root& root : roots_) {
    sum += root.probability * lower_at(steps_).best(root.belief.data()).value;
  }
  return sum;
}

double HorizonSolver::upper() const {
  double sum = 0.0;
  for (const Root& root : roots_) {
    sum += root.probability * upper_at(steps_).value(root.belief.data());
  }
  return std::max(sum, lower());  // they can cross by rounding only
}

double HorizonSolver::gap_at(const Root& root) const {
  return root.probability * (upper_at(steps_).value(root.belief.data()) -
                             lower_at(steps_).best(root.belief.data()).value);
}

const HorizonSolver::Root& HorizonSolver::widest() const {
  return *std::max_element(roots_.begin(), roots_.end(),
                           [&](const Root& x, const Root& y) { return gap_at(x) < gap_at(y); });
}

int HorizonSolver::solve(double gap, double work) {
  const auto open = [&] { return upper() - lower() > gap && !has_spent(work); };
  const double worth = std::max(rounding_, 0.1 * gap / steps_);
  int trials = 0;
  int swept = kFewestSwept;
  for (bool moved = true; moved && open();) {
    moved = false;
    for (int i = 0; i < kTrialsPerRound && open(); ++i) {
      ++trials;
      if (!trial(widest(), gap)) break;
      moved = true;
    }
    if (!open() || met_.empty()) continue;
    Eigen::MatrixXd pool(branches_.num_states(), static_cast<Eigen::Index>(met_.size()));
    for (std::size_t i = 0; i < met_.size(); ++i) pool.col(static_cast<Eigen::Index>(i)) = met_[i];
    moved = sweep(spread_out(pool, swept), worth, work) || moved;
    swept = std::min(2 * swept, kMostSwept);
  }
  return trials;
}

void HorizonSolver::remember(const Eigen::VectorXd& belief) {
  if (met_.size() < kMostMet) {
    met_.push_back(belief);
  } else {
    met_[met_at_++ % kMostMet] = belief;
  }
}

bool HorizonSolver::sweep(const Eigen::MatrixXd& beliefs, double worth, double work) {
  bool moved = false;
  for (int to_go = 2; to_go <= steps_; ++to_go) {
    for (Eigen::Index b = 0; b < beliefs.cols() && !has_spent(work); ++b) {
      moved = update(beliefs.col(b), to_go, worth) || moved;
    }
  }
  return moved;
}

bool HorizonSolver::trial(const Root& root, double gap) {
  std::vector<Eigen::VectorXd> path{root.belief};
  double allowed = gap;
  int to_go = steps_;
  for (; to_go > 1; --to_go) {
    look_from(path.back(), to_go);
    allowed /= discount_;
    Eigen::Index action = 0;
    look_.best_upper.maxCoeff(&action);
    const int o = widest_observation(static_cast<int>(action), allowed);
    if (o < 0) break;
    const Eigen::MatrixXd& next = look_.next[static_cast<std::size_t>(action)];
    path.emplace_back(next.col(o) / look_.mass(action, o));
    remember(path.back());
  }
  bool moved = false;
  for (std::size_t i = path.size(); i-- > 0;) {
    moved = update(path[i], steps_ - static_cast<int>(i), rounding_) || moved;
  }
  return moved;
}

void HorizonSolver::look_from(const Eigen::VectorXd& belief, int to_go) {
  const int actions = branches_.num_actions();
  const int observations = branches_.num_observations();
  for (Eigen::MatrixXd* table : {&look_.mass, &look_.lower, &look_.upper}) {
    table->setZero(actions, observations);
  }
  look_.plan.setConstant(actions, observations, -1);
  for (int a = 0; a < actions; ++a) {
    Eigen::MatrixXd& next = look_.next[static_cast<std::size_t>(a)];
    branches_.follow(belief.data(), a, next);
    for (int o = 0; o < observations; ++o) {
      look_.mass(a, o) = next.col(o).sum();
      if (!(look_.mass(a, o) > 0.0)) continue;
      const LowerBound::Best best = lower_at(to_go - 1).best(next.col(o).data());
      look_.lower(a, o) = best.value;
      look_.plan(a, o) = best.plan;
      look_.upper(a, o) = upper_at(to_go - 1).value(next.col(o).data());
    }
  }
  const Eigen::VectorXd now = rewards_ * belief;
  look_.best_lower = now + discount_ * look_.lower.rowwise().sum();
  look_.best_upper = now + discount_ * look_.upper.rowwise().sum();
  const double known =
      static_cast<double>(lower_at(to_go - 1).size() + look_.next.size()) * branches_.num_states() +
      kProductsPerDivision * static_cast<double>(upper_at(to_go - 1).num_entries());
  const auto seen = static_cast<double>((look_.mass.array() > 0.0).count());
  spent_ += actions * branches_.cost() + seen * known;
}

int HorizonSolver::widest_observation(int action, double allowed) const {
  int widest = -1;
  double most = 0.0;
  for (int o = 0; o < branches_.num_observations(); ++o) {
    const double excess =
        look_.upper(action, o) - look_.lower(action, o) - look_.mass(action, o) * allowed;
    if (excess > most) {
      most = excess;
      widest = o;
    }
  }
  return widest;
}

bool HorizonSolver::update(const Eigen::VectorXd& belief, int to_go, double worth) {
  if (to_go == 1) return false;  // both bounds are the value itself
  look_from(belief, to_go);
  bool moved = false;
  Eigen::Index action = 0;
  if (look_.best_lower.maxCoeff(&action) > lower_at(to_go).best(belief.data()).value + worth) {
    lower_[static_cast<std::size_t>(to_go)].add(backed_up(static_cast<int>(action), to_go));
    moved = true;
  }
  const double upper = look_.best_upper.maxCoeff();
  if (upper < upper_at(to_go).value(belief.data()) - worth) {
    upper_[static_cast<std::size_t>(to_go)].add(belief, upper);
    moved = true;
  }
  return moved;
}

// An observation that cannot come at this belief, but may in another model, tells nothing here: the
// plan that is best without it follows.
ConditionalPlan HorizonSolver::backed_up(int action, int to_go) const {
  const LowerBound& following = lower_at(to_go - 1);
  const Eigen::VectorXd unseen = look_.next[static_cast<std::size_t>(action)].rowwise().sum();
  const int otherwise = following.best(unseen.data()).plan;
  ConditionalPlan plan{{}, action, {}};
  Eigen::MatrixXd future(branches_.num_states(), branches_.num_observations());
  for (int o = 0; o < branches_.num_observations(); ++o) {
    const int known = look_.plan(action, o);
    plan.next.push_back(known >= 0 ? known : otherwise);
    future.col(o) = following.plan(plan.next.back()).alpha;
  }
  plan.alpha = rewards_.row(action).transpose() + discount_ * branches_.expect(action, future);
  return plan;
}

HorizonPolicy HorizonSolver::policy() const {
  HorizonPolicy policy;
  std::vector<StageNodes> stages;
  for (int to_go = steps_; to_go >= 1; --to_go) stages.emplace_back(lower_at(to_go));
  const bool reading_first = roots_.size() > 1 || roots_.front().first != kMissing;
  if (reading_first) {
    policy.first.assign(static_cast<std::size_t>(branches_.num_observations()),
                        HorizonPolicy::kNone);
  }
  for (const Root& root : roots_) {
    const int node = stages.front().node_of(lower_at(steps_).best(root.belief.data()).plan);
    if (root.first == kMissing) {
      policy.start = node;
    } else {
      policy.first[static_cast<std::size_t>(root.first)] = node;
    }
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    policy.stages.push_back(stages[i].stage(i + 1 < stages.size() ? &stages[i + 1] : nullptr));
  }
  return policy;
}

}  // namespace oas::detail
