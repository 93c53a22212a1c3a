#include "oas/planning/uncertain/worst_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/planning/grid/detail/rewards_by_target.hpp"

namespace oas {

namespace {

constexpr int kMostSweeps = 20'000;
constexpr double kWorstSpan = 1e-9;      // of the rewards: converged
constexpr double kRoundingPart = 1e-10;  // of the rewards: taken off the promise
constexpr double kStillFalling = 0.999;
constexpr int kFirstLook = 1024;

// Total variation between rows of two models.
double row_distance(std::span<const double> x, std::span<const double> y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::abs(x[i] - y[i]);
  return 0.5 * sum;
}

// Nature's decision process against one controller.
class Adversary {
 public:
  Adversary(const ConfidenceSet& set, const Controller& controller)
      : set_(set),
        model_(set.center),
        controller_(controller),
        num_states_(model_.num_states()),
        rewards_(detail::rewards_by_target(set.center)),
        h_(Vector::Zero(controller.num_nodes() * num_states_)),
        follow_(static_cast<std::size_t>(num_states_)),
        minus_(follow_.size()) {
    double largest = 0.0;
    for (const Matrix& table : rewards_) {
      largest = std::max(largest, table.cwiseAbs().maxCoeff());
    }
    scale_ = std::max(largest, std::numeric_limits<double>::min());
    find_pairs();
  }

  WorstCase run() {
    WorstCase result;
    result.promise = -std::numeric_limits<double>::infinity();
    double checked = std::numeric_limits<double>::infinity();
    Vector next = h_;
    while (result.status == SolveStatus::not_run) {
      const double span = sweep(next, result.promise);
      ++result.iterations;
      std::swap(h_, next);
      h_.array() -= h_[pairs_.front()];
      const bool look = (result.iterations & (result.iterations - 1)) == 0;
      if (span <= kWorstSpan * scale_) {
        result.status = SolveStatus::converged;
      } else if (look && result.iterations >= kFirstLook && span > kStillFalling * checked) {
        result.status = SolveStatus::stalled;
      } else if (result.iterations == kMostSweeps) {
        result.status = SolveStatus::sweep_limit;
      }
      if (look) checked = span;
    }
    result.promise -= kRoundingPart * scale_;
    result.member = member();
    result.attained = evaluate_controller(model_.with_transition(result.member), controller_).gain;
    return result;
  }

 private:
  [[nodiscard]] int pair(int node, int state) const { return node * num_states_ + state; }

  // All pairs that a member of the set can lead to.
  void find_pairs() {
    std::vector<char> met(static_cast<std::size_t>(h_.size()), 0);
    const auto meet = [&](int number) {
      if (std::exchange(met[static_cast<std::size_t>(number)], 1) == 0) pairs_.push_back(number);
    };
    for (const StartPair& one : start_law(model_, controller_)) meet(static_cast<int>(one.pair));
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const int node = pairs_[i] / num_states_;
      const State s{pairs_[i] % num_states_};
      for (Action a{0}; a < model_.num_actions(); ++a) {
        if (!(controller_.probability(node, a) > 0.0)) continue;
        for (State next{0}; next < num_states_; ++next) {
          if (radius(a, s) > 0.0 || model_.transition()(a, s, next) > 0.0) {
            for_each_node(node, a, s, next, [&](int to, double) { meet(pair(to, next.value())); });
          }
        }
      }
    }
  }

  [[nodiscard]] double radius(Action a, State s) const {
    return set_.radius[static_cast<std::size_t>(a * num_states_ + s)];
  }

  // The nodes that may follow when a in s leads to `next`, with their probabilities.
  template <class Visit>
  void for_each_node(int node, Action a, State s, State next, const Visit& visit) const {
    const auto seen =
        model_.sensors().distribution(a, model_.timing() == Timing::before ? s : next);
    for (Observation o{0}; o < model_.num_observations(); ++o) {
      const double chance = seen[static_cast<std::size_t>(o)];
      if (!(chance > 0.0)) continue;
      const int to = controller_.next_node(node, a, o);
      OAS_REQUIRE(to != Controller::kNone,
                  "node {} has no next node for observation {}, which can come in state {}", node,
                  model_.observations()[o.value()], model_.states()[next.value()]);
      visit(to, chance);
    }
  }

  // w(s'), into follow_.
  void look_ahead(int node, Action a, State s) {
    for (State next{0}; next < num_states_; ++next) {
      double value = rewards_[static_cast<std::size_t>(next)](a.value(), s.value());
      for_each_node(node, a, s, next,
                    [&](int to, double chance) { value += chance * h_[pair(to, next.value())]; });
      follow_[static_cast<std::size_t>(next)] = value;
    }
  }

  [[nodiscard]] std::vector<double> worst_row(Action a, State s, std::span<const double> follow) {
    for (std::size_t i = 0; i < follow.size(); ++i) minus_[i] = -follow[i];
    return optimistic_row(model_.transition().row(a, s), radius(a, s), minus_);
  }

  // One damped sweep into `next`; raises `promise`. Returns the span of the increments.
  double sweep(Vector& next, double& promise) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const int number : pairs_) {
      const int node = number / num_states_;
      const State s{number % num_states_};
      double value = 0.0;
      for (Action a{0}; a < model_.num_actions(); ++a) {
        const double chance = controller_.probability(node, a);
        if (!(chance > 0.0)) continue;
        look_ahead(node, a, s);
        const std::vector<double> row = worst_row(a, s, follow_);
        for (std::size_t i = 0; i < row.size(); ++i) value += chance * row[i] * follow_[i];
      }
      const double increment = value - h_[number];
      least = std::min(least, increment);
      most = std::max(most, increment);
      next[number] = h_[number] + 0.5 * increment;
    }
    promise = std::max(promise, least);
    return most - least;
  }

  // One model for all nodes: rows that are bad on average over them. Rows that are never used stay.
  [[nodiscard]] TransitionModel member() {
    const auto states = static_cast<std::size_t>(num_states_);
    const auto rows = static_cast<std::size_t>(model_.num_actions()) * states;
    std::vector<double> follow(rows * states, 0.0);
    std::vector<char> used(rows, 0);
    for (const int number : pairs_) {
      const int node = number / num_states_;
      const State s{number % num_states_};
      for (Action a{0}; a < model_.num_actions(); ++a) {
        const double chance = controller_.probability(node, a);
        if (!(chance > 0.0)) continue;
        look_ahead(node, a, s);
        const auto row = static_cast<std::size_t>(a * num_states_ + s);
        used[row] = 1;
        for (std::size_t i = 0; i < states; ++i) follow[row * states + i] += chance * follow_[i];
      }
    }
    std::vector<double> values(model_.transition().values().begin(),
                               model_.transition().values().end());
    for (std::size_t row = 0; row < rows; ++row) {
      if (used[row] == 0) continue;
      const std::vector<double> worst = worst_row(Action{row / states}, State{row % states},
                                                  std::span(follow).subspan(row * states, states));
      std::copy(worst.begin(), worst.end(),
                values.begin() + static_cast<std::ptrdiff_t>(row * states));
    }
    return {num_states_, model_.num_actions(), std::move(values)};
  }

  const ConfidenceSet& set_;
  const Pomdp& model_;
  const Controller& controller_;
  int num_states_;
  std::vector<Matrix> rewards_;  // by next state
  double scale_ = 1.0;
  std::vector<int> pairs_;
  Vector h_;
  std::vector<double> follow_;  // work space
  std::vector<double> minus_;
};

}  // namespace

ConfidenceSet credible_set(const Pomdp& center, std::span<const TransitionModel> draws,
                           double level) {
  OAS_REQUIRE(!draws.empty(), "no draws of the transition model");
  OAS_REQUIRE(level > 0.0 && level <= 1.0, "the level is {}; it must lie in (0, 1]", level);
  const int states = center.num_states();
  const auto rows = static_cast<std::size_t>(center.num_actions() * states);
  ConfidenceSet set = ConfidenceSet::uniform(center, 0.0);
  std::vector<double> factor(draws.size(), 0.0);
  std::vector<double> sorted(draws.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const Action a{row / static_cast<std::size_t>(states)};
    const State s{row % static_cast<std::size_t>(states)};
    std::vector<double> distances;
    for (const TransitionModel& draw : draws) {
      distances.push_back(row_distance(center.transition().row(a, s), draw.row(a, s)));
    }
    sorted = distances;
    std::sort(sorted.begin(), sorted.end());
    // A row that half of the draws leave as it is has no scale of its own: its largest distance.
    const double median = sorted[sorted.size() / 2];
    set.radius[row] = median > 0.0 ? median : sorted.back();
    if (!(set.radius[row] > 0.0)) continue;
    for (std::size_t i = 0; i < draws.size(); ++i) {
      factor[i] = std::max(factor[i], distances[i] / set.radius[row]);
    }
  }
  std::sort(factor.begin(), factor.end());
  const double needed = std::ceil(level * static_cast<double>(factor.size()) - 1e-9);
  const auto last = static_cast<std::size_t>(std::max(needed, 1.0)) - 1;
  for (double& radius : set.radius) {
    radius = std::min(radius * factor[last] * (1.0 + 1e-12), 1.0);
  }
  return set;
}

WorstCase worst_case(const ConfidenceSet& set, const Controller& controller) {
  set.validate();
  controller.check_fits(set.center);
  return Adversary(set, controller).run();
}

}  // namespace oas
