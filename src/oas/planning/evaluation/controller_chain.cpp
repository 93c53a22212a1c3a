#include "oas/planning/evaluation/detail/controller_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr double kMostCells = 1e8;  // of the table that numbers the pairs
constexpr int kSink = -2;           // while its number is not known
constexpr double kDust = 1e-15;     // numbers of a model below it are what 1 - 0.9 - 0.1 leaves
constexpr double kWeak = 1e-6;      // moves that laws need not show before they seem to settle
constexpr double kRest = 0.1;       // share of the steps in which a law is left as it is
constexpr int kMostLaws = 3000;
constexpr double kSettled = 1e-12;  // estimated distance to the limit

}  // namespace

ControllerChain::ControllerChain(const Pomdp& truth, const Controller& controller,
                                 std::span<const std::size_t> roots,
                                 std::span<const char> absorbing)
    : truth_(truth),
      controller_(controller),
      absorbing_(absorbing),
      num_states_(static_cast<std::size_t>(truth.num_states())) {
  const double cells = static_cast<double>(controller.num_nodes()) * truth.num_states();
  OAS_REQUIRE(cells <= kMostCells, "{} nodes and {} states make more than the limit of {:g} pairs",
              controller.num_nodes(), truth.num_states(), kMostCells);
  numbers_.assign(static_cast<std::size_t>(cells), -1);
  for (const std::size_t pair : roots) {
    number_of(static_cast<int>(pair / num_states_), pair % num_states_);
  }
  for (std::size_t i = 0; i < pairs_.size(); ++i) add_row(pairs_[i]);
  sink_ = static_cast<int>(pairs_.size());
  for (int& target : rows_.targets) target = target == kSink ? sink_ : target;
  rows_.end_row();  // the sink's: none
  chain_.emplace(std::move(rows_));
}

int ControllerChain::num_closed() const {
  return chain_->num_closed() - 1;  // the sink
}

int ControllerChain::number_of(int node, std::size_t state) {
  const std::size_t pair = static_cast<std::size_t>(node) * num_states_ + state;
  if (numbers_[pair] < 0) {
    OAS_REQUIRE(pairs_.size() < kMaxGraphPairs,
                "more than the limit of {} pairs of node and state can be reached", kMaxGraphPairs);
    numbers_[pair] = static_cast<int>(pairs_.size());
    pairs_.push_back(pair);
  }
  return numbers_[pair];
}

void ControllerChain::add_row(std::size_t pair) {
  const auto node = static_cast<int>(pair / num_states_);
  const std::size_t state = pair % num_states_;
  missing_.push_back(-1);
  if (absorbing_.empty() || absorbing_[state] == 0) {
    for (Action a{0}; a < controller_.num_actions; ++a) {
      const double chance = controller_.probability(node, a);
      if (chance > 0.0) add_moves(node, a, State{state}, chance);
    }
  }
  rows_.end_row();
}

void ControllerChain::add_moves(int node, Action action, State state, double chance) {
  const bool before = truth_.timing() == Timing::before;
  truth_.transition().for_each_next(action, state, [&](State next, double move) {
    if (!(move > kDust)) return;
    const auto seen = truth_.sensors().distribution(action, before ? state : next);
    for (int o = 0; o < controller_.num_observations; ++o) {
      const double sight = seen[static_cast<std::size_t>(o)];
      const double p = chance * move * sight;
      if (!(sight > kDust) || !(p > 0.0)) continue;
      const int to = controller_.next_node(node, action, Observation{o});
      if (to == Controller::kNone) missing_.back() = o;
      rows_.targets.push_back(
          to == Controller::kNone ? kSink : number_of(to, static_cast<std::size_t>(next)));
      rows_.weights.push_back(p);
    }
  });
}

Eigen::MatrixXd ControllerChain::long_run(const Eigen::MatrixXd& worth) {
  Eigen::MatrixXd with_sink = Eigen::MatrixXd::Zero(worth.rows() + 1, worth.cols());
  with_sink.topRows(worth.rows()) = worth;
  Eigen::MatrixXd mean = chain_->long_run(with_sink);
  std::vector<bool> sink(chain_->closed().size(), false);
  sink[class_of(static_cast<std::size_t>(sink_))] = true;
  const std::vector<bool> broken = chain_->leads_to(std::move(sink));
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (broken[class_of(i)]) {
      mean.row(static_cast<Eigen::Index>(i)).setConstant(std::numeric_limits<double>::quiet_NaN());
    }
  }
  return mean.topRows(worth.rows());
}

Vector ControllerChain::steps_to_absorption() {
  std::vector<bool> elsewhere = chain_->closed();
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (absorbing_[pairs_[i] % num_states_] != 0) elsewhere[class_of(i)] = false;
  }
  const std::vector<bool> may_stick = chain_->leads_to(std::move(elsewhere));
  Vector steps = Vector::Zero(static_cast<Eigen::Index>(pairs_.size()));
  std::vector<int> passing;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    if (may_stick[class_of(i)]) {
      steps[static_cast<Eigen::Index>(i)] = std::numeric_limits<double>::infinity();
    } else if (absorbing_[pairs_[i] % num_states_] == 0) {
      passing.push_back(static_cast<int>(i));
    }
  }
  if (passing.empty()) return steps;
  const Eigen::MatrixXd found = chain_->solve(
      passing, false, Eigen::MatrixXd::Ones(static_cast<Eigen::Index>(passing.size()), 1));
  for (std::size_t i = 0; i < passing.size(); ++i) {
    steps[passing[i]] = found(static_cast<Eigen::Index>(i), 0);
  }
  return steps;
}

std::optional<Vector> ControllerChain::settled_law(Vector start) const {
  if (chain_->hangs_on_moves(kWeak)) return std::nullopt;
  // What has not left the classes that are passed through will do so one day, however late.
  const auto has_arrived = [&] {
    double passing = 0.0;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (chain_->is_passing(i)) passing += start[static_cast<Eigen::Index>(i)];
    }
    return passing <= kSettled;
  };
  Vector next;
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kMostLaws; ++i) {
    advance(start, next);
    next = (1.0 - kRest) * next + kRest * start;
    const double change = (next - start).lpNorm<1>();
    std::swap(start, next);
    // Changes shrink by a constant factor in the end: what is still to come is a geometric series.
    const double ratio = change / before;
    before = change;
    if (change == 0.0 || (i > 10 && ratio < 0.99 && change * ratio / (1.0 - ratio) <= kSettled)) {
      return has_arrived() ? std::optional(std::move(start)) : std::nullopt;
    }
  }
  return std::nullopt;
}

void ControllerChain::advance(const Vector& law, Vector& next) const {
  const MarkovChain::Rows& rows = chain_->rows();
  next.setZero(static_cast<Eigen::Index>(pairs_.size()));
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double mass = law[static_cast<Eigen::Index>(i)];
    if (!(mass > 0.0)) continue;
    if (rows.offsets[i] == rows.offsets[i + 1])
      next[static_cast<Eigen::Index>(i)] += mass;  // stays
    for (std::size_t k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
      if (rows.targets[k] != sink_) next[rows.targets[k]] += mass * rows.weights[k];
    }
  }
}

void ControllerChain::expect(const Matrix& worth, Matrix& before) const {
  const MarkovChain::Rows& rows = chain_->rows();
  before.setZero(worth.rows(), worth.cols());
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    if (rows.offsets[i] == rows.offsets[i + 1]) before.row(row) = worth.row(row);  // stays
    for (std::size_t k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
      if (rows.targets[k] != sink_) before.row(row) += rows.weights[k] * worth.row(rows.targets[k]);
    }
  }
}

std::string ControllerChain::what_is_missing() const {
  const MarkovChain::Rows& rows = chain_->rows();
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    for (std::size_t k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
      if (rows.targets[k] != sink_) continue;
      return fmt::format("node {} has no next node for observation {}, which can come in state {}",
                         node_of(i), truth_.observations()[missing_[i]],
                         truth_.states()[state_of(i).value()]);
    }
  }
  return "";
}

}  // namespace oas::detail
