#include "oas/planning/evaluation/controller_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/controller_chain.hpp"

namespace oas {

// Not without a name: ControllerForecaster has fields of these types.
namespace detail {

// All states in the nodes from which forecasts are asked for, each node once.
class ForecastRoots {
 public:
  ForecastRoots(std::span<const int> nodes, int num_states)
      : num_states_(static_cast<std::size_t>(num_states)) {
    for (const int node : nodes) {
      if (node == Controller::kNone || !first_of_.try_emplace(node, pairs_.size()).second) continue;
      for (std::size_t s = 0; s < num_states_; ++s) {
        pairs_.push_back(static_cast<std::size_t>(node) * num_states_ + s);
      }
    }
  }

  [[nodiscard]] const std::vector<std::size_t>& pairs() const { return pairs_; }
  [[nodiscard]] std::size_t number(int node, std::size_t state) const {
    return first_of_.at(node) + state;
  }
  /// The number of a root in a chain from all of them.
  [[nodiscard]] Eigen::Index in(const ControllerChain& chain, std::size_t root) const {
    const std::size_t pair = pairs_[root];
    return static_cast<Eigen::Index>(
        chain.number(static_cast<int>(pair / num_states_), pair % num_states_));
  }

 private:
  std::size_t num_states_;
  std::map<int, std::size_t> first_of_;  // of a node
  std::vector<std::size_t> pairs_;
};

// A distribution over roots.
using RootLaw = std::vector<std::pair<std::size_t, double>>;

// What is expected of each column of `worth` [pair][·] after 0, 1, … steps from every root: looked
// at from the end, which serves all that start somewhere else.
class LookAheads {
 public:
  LookAheads(const ControllerChain& chain, const ForecastRoots& roots, Matrix worth, int steps)
      : columns_(static_cast<std::size_t>(worth.cols())), roots_(roots.pairs().size()) {
    values_.reserve((static_cast<std::size_t>(steps) + 1) * roots_ * columns_);
    Matrix before;
    for (int k = 0;; ++k) {
      for (std::size_t root = 0; root < roots_; ++root) {
        const auto row = worth.row(roots.in(chain, root));
        values_.insert(values_.end(), row.begin(), row.end());
      }
      if (k == steps) return;
      chain.expect(worth, before);
      std::swap(worth, before);
    }
  }

  [[nodiscard]] double operator()(int k, const RootLaw& law, std::size_t column) const {
    double sum = 0.0;
    for (const auto& [root, mass] : law) {
      sum += mass * values_[(static_cast<std::size_t>(k) * roots_ + root) * columns_ + column];
    }
    return sum;
  }

 private:
  std::size_t columns_;
  std::size_t roots_;
  std::vector<double> values_;  // [step][root][column]
};

}  // namespace detail

struct ControllerForecaster::Chains {
  Chains(Pomdp of_truth, Controller of_controller, ForecastQuestion of_question,
         std::span<const int> nodes)
      : truth(std::move(of_truth)),
        controller(std::move(of_controller)),
        question(std::move(of_question)),
        inside(static_cast<std::size_t>(truth.num_states()), 0),
        roots(nodes, truth.num_states()) {
    controller.check_fits(truth);
    question.schedule = {Action{0}};
    question.validate(truth.num_states(), truth.num_actions());
    for (const State state : question.reach) inside[static_cast<std::size_t>(state)] = 1;
    const detail::ControllerChain free(truth, controller, roots.pairs());
    const std::string missing = free.what_is_missing();
    OAS_REQUIRE(missing.empty(), "the policy stops: {}", missing);
    Matrix state = Matrix::Zero(static_cast<Eigen::Index>(free.num_pairs()), truth.num_states());
    for (std::size_t i = 0; i < free.num_pairs(); ++i) {
      state(static_cast<Eigen::Index>(i), free.state_of(i).value()) = 1.0;
    }
    states.emplace(free, roots, std::move(state), question.steps);
    if (!question.reach.empty()) look_for_reach();
  }

  // With a chain that ends there.
  void look_for_reach() {
    detail::ControllerChain until(truth, controller, roots.pairs(), inside);
    const auto pairs = static_cast<Eigen::Index>(until.num_pairs());
    Eigen::MatrixXd there = Eigen::MatrixXd::Zero(pairs, 1);
    for (Eigen::Index i = 0; i < pairs; ++i) {
      const State state = until.state_of(static_cast<std::size_t>(i));
      there(i, 0) = inside[static_cast<std::size_t>(state)] != 0 ? 1.0 : 0.0;
    }
    Vector ever = until.long_run(there).col(0).cwiseMin(1.0).cwiseMax(0.0);
    const Vector steps = until.steps_to_absorption();
    for (Eigen::Index i = 0; i < steps.size(); ++i) {
      if (std::isfinite(steps[i])) ever[i] = 1.0;
    }
    for (std::size_t root = 0; root < roots.pairs().size(); ++root) {
      ever_from.push_back(ever[roots.in(until, root)]);
      steps_from.push_back(steps[roots.in(until, root)]);
    }
    Matrix outside = Matrix::Ones(pairs, 1);
    outside.col(0) -= there.col(0);
    survival.emplace(until, roots, std::move(outside), question.steps);
  }

  [[nodiscard]] detail::RootLaw law(std::span<const double> belief, int node) const {
    detail::RootLaw result;
    for (std::size_t s = 0; s < belief.size(); ++s) {
      result.emplace_back(roots.number(node, s), belief[s]);
    }
    return result;
  }

  [[nodiscard]] detail::RootLaw law(std::span<const double> belief, Action action,
                                    std::span<const int> after_reading) const {
    detail::RootLaw result;
    for (std::size_t s = 0; s < belief.size(); ++s) {
      for (Observation o{0}; o < truth.num_observations(); ++o) {
        const double both = belief[s] * truth.sensors()(action, State{s}, o);
        if (!(both > 0.0)) continue;
        const int node = after_reading[static_cast<std::size_t>(o)];
        OAS_REQUIRE(node != Controller::kNone,
                    "the policy stops: it has no node for observation {}, which can come in state "
                    "{}",
                    truth.observations()[o.value()], truth.states()[static_cast<int>(s)]);
        result.emplace_back(roots.number(node, s), both);
      }
    }
    return result;
  }

  [[nodiscard]] Forecast forecast(const detail::RootLaw& law) const {
    Forecast result;
    for (int k = 0; k <= question.steps; ++k) {
      for (std::size_t s = 0; s < inside.size(); ++s) {
        result.states.push_back((*states)(k, law, s));
      }
      if (survival) result.survival.push_back((*survival)(k, law, 0));
    }
    if (!survival) return result;
    for (const auto& [root, mass] : law) {
      if (!(mass > 0.0)) continue;
      result.ever += mass * ever_from[root];
      result.mean_steps += mass * steps_from[root];
    }
    result.ever = std::min(result.ever, 1.0);
    return result;
  }

  Pomdp truth;
  Controller controller;
  ForecastQuestion question;
  std::vector<char> inside;  // [s]: in `reach`
  detail::ForecastRoots roots;
  std::optional<detail::LookAheads> states;
  std::optional<detail::LookAheads> survival;  // outside of `reach` until then
  std::vector<double> ever_from;               // [root]: of `reach`, and the mean time
  std::vector<double> steps_from;
};

ControllerForecaster::ControllerForecaster(Pomdp truth, Controller controller,
                                           ForecastQuestion question, std::span<const int> nodes)
    : chains_(std::make_unique<Chains>(std::move(truth), std::move(controller), std::move(question),
                                       nodes)) {}
ControllerForecaster::~ControllerForecaster() = default;
ControllerForecaster::ControllerForecaster(ControllerForecaster&&) noexcept = default;
ControllerForecaster& ControllerForecaster::operator=(ControllerForecaster&&) noexcept = default;

Forecast ControllerForecaster::operator()(std::span<const double> belief, int node) const {
  OAS_REQUIRE(belief.size() == chains_->inside.size(), "a belief over {} states for {}",
              belief.size(), chains_->inside.size());
  return chains_->forecast(chains_->law(belief, node));
}

Forecast ControllerForecaster::operator()(std::span<const double> belief, Action action,
                                          std::span<const int> after_reading) const {
  OAS_REQUIRE(belief.size() == chains_->inside.size(), "a belief over {} states for {}",
              belief.size(), chains_->inside.size());
  OAS_REQUIRE(after_reading.size() == static_cast<std::size_t>(chains_->truth.num_observations()),
              "nodes after {} observations of {}", after_reading.size(),
              chains_->truth.num_observations());
  return chains_->forecast(chains_->law(belief, action, after_reading));
}

}  // namespace oas
