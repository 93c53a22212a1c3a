#include "oas/planning/evaluation/controller_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/planning/evaluation/detail/controller_chain.hpp"

namespace oas {

namespace {

// All states in these nodes.
std::vector<std::size_t> pairs_in(std::span<const int> nodes, int num_states) {
  std::vector<std::size_t> pairs;
  const auto states = static_cast<std::size_t>(num_states);
  for (const int node : nodes) {
    if (node == Controller::kNone) continue;
    for (std::size_t s = 0; s < states; ++s) {
      pairs.push_back(static_cast<std::size_t>(node) * states + s);
    }
  }
  return pairs;
}

}  // namespace

struct ControllerForecaster::Chains {
  Chains(Pomdp of_truth, Controller of_controller, ForecastQuestion of_question,
         std::span<const int> nodes)
      : truth(std::move(of_truth)),
        controller(std::move(of_controller)),
        question(std::move(of_question)),
        inside(static_cast<std::size_t>(truth.num_states()), 0) {
    controller.check_fits(truth);
    question.schedule = {Action{0}};
    question.validate(truth.num_states(), truth.num_actions());
    for (const State state : question.reach) inside[static_cast<std::size_t>(state)] = 1;
    const std::vector<std::size_t> roots = pairs_in(nodes, truth.num_states());
    free = std::make_unique<detail::ControllerChain>(truth, controller, roots);
    const std::string missing = free->what_is_missing();
    OAS_REQUIRE(missing.empty(), "the policy stops: {}", missing);
    if (question.reach.empty()) return;
    until = std::make_unique<detail::ControllerChain>(truth, controller, roots, inside);
    Eigen::MatrixXd there = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(until->num_pairs()), 1);
    for (std::size_t i = 0; i < until->num_pairs(); ++i) {
      there(static_cast<Eigen::Index>(i), 0) = is_inside(*until, i) ? 1.0 : 0.0;
    }
    ever = until->long_run(there).col(0).cwiseMin(1.0).cwiseMax(0.0);
    steps = until->steps_to_absorption();
    for (Eigen::Index i = 0; i < steps.size(); ++i) {
      if (std::isfinite(steps[i])) ever[i] = 1.0;
    }
  }

  template <class LawOn>
  [[nodiscard]] Forecast forecast(const LawOn& law_on) const {
    Forecast result;
    add_states(law_on(*free), result);
    if (until) add_survival(law_on(*until), result);
    return result;
  }

  [[nodiscard]] bool is_inside(const detail::ControllerChain& chain, std::size_t pair) const {
    return inside[static_cast<std::size_t>(chain.state_of(pair))] != 0;
  }

  static Vector law(const detail::ControllerChain& chain, std::span<const double> belief,
                    int node) {
    Vector result = Vector::Zero(static_cast<Eigen::Index>(chain.num_pairs()));
    for (std::size_t s = 0; s < belief.size(); ++s) {
      result[static_cast<Eigen::Index>(chain.number(node, s))] = belief[s];
    }
    return result;
  }

  [[nodiscard]] Vector law(const detail::ControllerChain& chain, std::span<const double> belief,
                           Action action, std::span<const int> after_reading) const {
    Vector result = Vector::Zero(static_cast<Eigen::Index>(chain.num_pairs()));
    for (std::size_t s = 0; s < belief.size(); ++s) {
      for (Observation o{0}; o < truth.num_observations(); ++o) {
        const double both = belief[s] * truth.sensors()(action, State{s}, o);
        if (!(both > 0.0)) continue;
        const int node = after_reading[static_cast<std::size_t>(o)];
        OAS_REQUIRE(node != Controller::kNone,
                    "the policy stops: it has no node for observation {}, which can come in state "
                    "{}",
                    truth.observations()[o.value()], truth.states()[static_cast<int>(s)]);
        result[static_cast<Eigen::Index>(chain.number(node, s))] += both;
      }
    }
    return result;
  }

  void add_states(Vector law, Forecast& forecast) const {
    const auto width = static_cast<std::size_t>(truth.num_states());
    Vector next;
    for (int k = 0;; ++k) {
      const std::size_t first = forecast.states.size();
      forecast.states.resize(first + width, 0.0);
      for (std::size_t i = 0; i < free->num_pairs(); ++i) {
        forecast.states[first + static_cast<std::size_t>(free->state_of(i))] +=
            law[static_cast<Eigen::Index>(i)];
      }
      if (k == question.steps) return;
      free->advance(law, next);
      std::swap(law, next);
    }
  }

  void add_survival(Vector law, Forecast& forecast) const {
    for (Eigen::Index i = 0; i < law.size(); ++i) {
      if (!(law[i] > 0.0)) continue;
      forecast.ever += law[i] * ever[i];
      forecast.mean_steps += law[i] * steps[i];
    }
    forecast.ever = std::min(forecast.ever, 1.0);
    Vector next;
    for (int k = 0;; ++k) {
      double outside = 0.0;
      for (std::size_t i = 0; i < until->num_pairs(); ++i) {
        if (!is_inside(*until, i)) outside += law[static_cast<Eigen::Index>(i)];
      }
      forecast.survival.push_back(outside);
      if (k == question.steps) return;
      until->advance(law, next);
      std::swap(law, next);
    }
  }

  Pomdp truth;
  Controller controller;
  ForecastQuestion question;
  std::vector<char> inside;                        // [s]: in `reach`
  std::unique_ptr<detail::ControllerChain> free;   // nothing ends it
  std::unique_ptr<detail::ControllerChain> until;  // ends in `reach`
  Vector ever;                                     // by pair of `until`
  Vector steps;
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
  return chains_->forecast(
      [&](const detail::ControllerChain& chain) { return Chains::law(chain, belief, node); });
}

Forecast ControllerForecaster::operator()(std::span<const double> belief, Action action,
                                          std::span<const int> after_reading) const {
  OAS_REQUIRE(belief.size() == chains_->inside.size(), "a belief over {} states for {}",
              belief.size(), chains_->inside.size());
  OAS_REQUIRE(after_reading.size() == static_cast<std::size_t>(chains_->truth.num_observations()),
              "nodes after {} observations of {}", after_reading.size(),
              chains_->truth.num_observations());
  return chains_->forecast([&](const detail::ControllerChain& chain) {
    return chains_->law(chain, belief, action, after_reading);
  });
}

}  // namespace oas
