#include "oas/planning/limited_plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/model/label_lookup.hpp"
#include "oas/planning/policies/plan_export.hpp"

namespace oas {

namespace {

constexpr int kSmallRises = 8;
constexpr double kSmallRise = 1.2;
constexpr int kMostDoublings = 20;
constexpr int kProofAfter = 3;  // doublings; then it is time to ask whether any policy can
constexpr int kBisections = 20;
constexpr int kMostTightenings = 6;
constexpr double kCloseMultipliers = 1e-4;  // relative
constexpr std::uint64_t kSearchSteps = 6400;
constexpr double kSearchWork = 0.5;  // of each plan that is refined by work

Pomdp with_rewards(const Pomdp& model, const Matrix& rewards) {
  PomdpParts parts = model.parts();
  parts.reward =
      Reward::by_action_state(std::vector<double>(rewards.data(), rewards.data() + rewards.size()));
  return Pomdp(std::move(parts));
}

// A plan for one penalty, and what its policy graph does in the rewards as given: exact.
struct Penalised {
  Plan plan;
  double multiplier = 0.0;
  double frequency = 0.0;
  double gain = 0.0;
};

class LimitSearch {
 public:
  LimitSearch(const Pomdp& model, const PlanOptions& options, Parallelism parallelism)
      : model_(model),
        limit_(parse_limit(options.limit, model)),
        options_(options),
        parallelism_(parallelism),
        rewards_(model.expected_reward()),
        bad_(Matrix::Zero(model.num_actions(), model.num_states())) {
    options_.limit.clear();
    for (const int s : limit_.states) bad_.col(s).setOnes();
  }

  Plan run() {
    double target = limit_.most;
    double multiplier = 0.0;
    for (int round = 0; round < kMostTightenings; ++round) {
      const Penalised found = search(target);
      multiplier = found.multiplier;
      Plan plan = certified(found);
      if (plan.limited->frequency <= limit_.most) return plan;
      // The plan itself is a little off its graph, or its simulation is.
      target -= 1.2 * (plan.limited->frequency - limit_.most);
      if (target < 0.0) break;
    }
    return with_heavier_penalty(multiplier);
  }

 private:
  // The first penalty under which the plan itself, simulated, keeps the limit.
  Plan with_heavier_penalty(double multiplier) {
    double least = 1.0;
    for (int i = 0; i < kMostDoublings; ++i) {
      // A little more first: the heavier the penalty, the less the plan earns.
      multiplier = i < kSmallRises ? std::max(kSmallRise * multiplier, 0.1 * scale())
                                   : std::max(2.0 * multiplier, scale());
      Plan plan = certified(solve(multiplier));
      if (plan.limited->frequency <= limit_.most) return plan;
      least = std::min(least, plan.limited->frequency);
    }
    refuse_if_impossible();
    refuse(least);
  }

  [[noreturn]] void refuse(double least) const {
    throw InvalidArgument(
        fmt::format("limit: {} could not be kept at or below {:g}; the least that was found is "
                    "{:.4g} of the steps",
                    names(), limit_.most, least));
  }

  [[nodiscard]] std::string names() const {
    std::string text;
    for (const int s : limit_.states) text += (text.empty() ? "" : " or ") + model_.states()[s];
    return text;
  }

  [[nodiscard]] double scale() const {
    return std::max(rewards_.maxCoeff() - rewards_.minCoeff(), 1e-12);
  }

  [[nodiscard]] PlanOptions quick_options(double multiplier) const {
    PlanOptions quick = options_;
    quick.simulation.steps = std::min(quick.simulation.steps, kSearchSteps);
    quick.work = options_.work.value_or(kSearchWork);
    quick.span_tolerance *= 1.0 + multiplier / scale();  // penalties make rewards large
    return quick;
  }

  Penalised solve(double multiplier) {
    const PlanOptions quick = quick_options(multiplier);
    Penalised result{
        make_plan(with_rewards(model_, rewards_ - multiplier * bad_), quick, parallelism_),
        multiplier};
    const ControllerValue value =
        evaluate_controller(model_, acting_controller(result.plan).controller);
    result.gain = value.gain;
    for (const int s : limit_.states) {
      result.frequency += value.frequencies[static_cast<std::size_t>(s)];
    }
    bound_ = std::min(bound_, result.plan.gain_upper + multiplier * limit_.most);
    return result;
  }

  // The policy of the smallest penalty that keeps the frequency at or below the target.
  Penalised search(double target) {
    Penalised low = solve(0.0);
    if (low.frequency <= target) return low;
    double multiplier = scale();
    Penalised high = solve(multiplier);
    for (int i = 0; high.frequency > target; ++i) {
      if (i == kProofAfter) refuse_if_impossible();
      if (i == kMostDoublings) refuse(high.frequency);
      multiplier *= 2.0;
      low = std::exchange(high, solve(multiplier));
    }
    for (int i = 0; i < kBisections; ++i) {
      if (high.multiplier - low.multiplier <= kCloseMultipliers * high.multiplier) break;
      Penalised middle = solve(0.5 * (low.multiplier + high.multiplier));
      (middle.frequency <= target ? high : low) = std::move(middle);
    }
    return high;
  }

  void refuse_if_impossible() const {
    const double least =
        -make_plan(with_rewards(model_, -bad_), quick_options(0.0), parallelism_).gain_upper;
    OAS_REQUIRE(least <= limit_.most,
                "limit: {} cannot be kept at or below {:g}: under every policy it takes at least "
                "{:.4g} of the steps",
                names(), limit_.most, least);
  }

  // The plan with its own numbers from a full simulation.
  Plan certified(const Penalised& found) {
    Plan plan = found.plan;
    certify(plan, options_.simulation, parallelism_);
    SimulationOptions counting = options_.simulation;
    const GainInterval gain =
        evaluate_by_simulation(model_, plan, plan.model, counting, parallelism_);
    counting.control_variate = false;  // the plan's bias is about rewards
    const GainInterval frequency = evaluate_by_simulation(with_rewards(model_, bad_), plan,
                                                          plan.model, counting, parallelism_);
    LimitedStates limited;
    for (const int s : limit_.states) limited.states.push_back(model_.states()[s]);
    limited.most = limit_.most;
    limited.multiplier = found.multiplier;
    limited.frequency = frequency.mean;
    limited.frequency_upper = std::clamp(frequency.upper_limit, frequency.mean, 1.0);
    limited.gain_upper = bound_;
    limited.gain_lower = std::min(std::max(gain.lower_limit, rewards_.minCoeff()), bound_);
    plan.limited = std::move(limited);
    return plan;
  }

  const Pomdp& model_;
  StateLimit limit_;
  PlanOptions options_;
  Parallelism parallelism_;
  Matrix rewards_;  // A×S, as given
  Matrix bad_;      // A×S: 1 in the limited states
  double bound_ = std::numeric_limits<double>::infinity();
};

}  // namespace

StateLimit parse_limit(const std::string& text, const Pomdp& model) {
  const auto equals = text.rfind('=');
  OAS_REQUIRE(equals != std::string::npos && equals > 0,
              "limit is '{}'; it must read STATE=SHARE, such as failed=0.01", text);
  StateLimit limit;
  limit.states =
      elements_named(std::string_view(text).substr(0, equals), model.states(), "state", "limit");
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, limit.most);
  OAS_REQUIRE(error == std::errc() && stop == end && limit.most >= 0.0 && limit.most <= 1.0,
              "limit: '{}' is not a share between 0 and 1", text.substr(equals + 1));
  return limit;
}

Plan limited_plan(const Pomdp& model, const PlanOptions& options, Parallelism parallelism) {
  options.validate(model);
  return LimitSearch(model, options, parallelism).run();
}

}  // namespace oas
