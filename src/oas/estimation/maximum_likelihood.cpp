#include "oas/estimation/maximum_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

double log_prior(const TransitionModel& transition, double prior) {
  if (prior == 0.0) return 0.0;
  double sum = 0.0;
  for (const double value : transition.values()) sum += std::log(value);
  return prior * sum;
}

// A point met on the way: model, pass, and what expectation-maximisation makes of it.
struct Point {
  TransitionModel transition;
  LikelihoodPass pass;
  double objective = 0.0;
  TransitionModel next;
  double to_gain = 0.0;
};

class Climb {
 public:
  Climb(const LikelihoodFunction& likelihood, const LikelihoodOptions& options)
      : likelihood_(likelihood), options_(options) {}

  LikelihoodEstimate run(const TransitionModel& start) {
    Point best = visit(start);
    LikelihoodEstimate estimate;
    estimate.start_log_likelihood = best.pass.log_likelihood;
    estimate.status = LikelihoodStatus::impossible;
    if (best.pass.possible()) {
      estimate.status = LikelihoodStatus::pass_limit;
      while (passes_ < options_.max_passes) {
        if (best.to_gain <= options_.tolerance) {
          estimate.status = LikelihoodStatus::converged;
          break;
        }
        best = options_.accelerate ? squared_step(std::move(best)) : visit(best.next);
        ++estimate.steps;
      }
    }
    estimate.passes = passes_;
    estimate.to_gain = best.to_gain;
    estimate.transition = std::move(best.transition);
    estimate.pass = std::move(best.pass);
    return estimate;
  }

 private:
  Point visit(const TransitionModel& transition) {
    ++passes_;
    Point point;
    point.transition = transition;
    point.pass = likelihood_(transition, {});
    point.objective = point.pass.log_likelihood + log_prior(transition, options_.prior);
    maximize_expectation(point);
    return point;
  }

  // T(s,·) ∝ expected counts (+ prior); a row without any stays as it is.
  void maximize_expectation(Point& point) const {
    const TransitionModel& transition = point.transition;
    const auto n = static_cast<std::size_t>(transition.num_states());
    std::vector<double> values(transition.values().begin(), transition.values().end());
    for (std::size_t start = 0; start < values.size(); start += n) {
      double total = 0.0;
      for (std::size_t i = start; i < start + n; ++i) total += point.pass.counts[i];
      total += options_.prior * static_cast<double>(n);
      if (!(total > 0.0)) continue;
      for (std::size_t i = start; i < start + n; ++i) {
        const double value = (point.pass.counts[i] + options_.prior) / total;
        if (value > 0.0 && values[i] > 0.0) {
          point.to_gain += total * value * std::log(value / values[i]);
        }
        values[i] = value;
      }
    }
    point.next =
        TransitionModel(transition.num_states(), transition.num_actions(), std::move(values));
  }

  // Two steps of expectation-maximisation and an extrapolation along them (SQUAREM, scheme S3 of
  // Varadhan and Roland 2008); kept only where the likelihood does not fall.
  Point squared_step(Point from) {
    Point middle = visit(from.next);
    const auto t0 = from.transition.values();
    const auto t1 = middle.transition.values();
    const auto t2 = middle.next.values();
    double r_square = 0.0;
    double v_square = 0.0;
    for (std::size_t i = 0; i < t0.size(); ++i) {
      const double r = t1[i] - t0[i];
      const double v = t2[i] - t1[i] - r;
      r_square += r * r;
      v_square += v * v;
    }
    double alpha = v_square > 0.0 ? -std::sqrt(r_square / v_square) : -1.0;
    std::vector<double> values(t0.size());
    while (alpha < -1.0) {
      bool inside = true;
      for (std::size_t i = 0; i < t0.size(); ++i) {
        const double r = t1[i] - t0[i];
        const double v = t2[i] - t1[i] - r;
        values[i] = t0[i] - 2.0 * alpha * r + alpha * alpha * v;
        inside = inside && values[i] >= 0.0 && (values[i] > 0.0 || t0[i] == 0.0);
      }
      if (inside) {
        Point far = visit(normalised(from.transition, values));
        if (far.objective >= middle.objective) return far;
        break;
      }
      alpha = 0.5 * (alpha - 1.0);
      if (alpha > -1.01) break;
    }
    return visit(middle.next);
  }

  static TransitionModel normalised(const TransitionModel& like, std::vector<double> values) {
    const auto n = static_cast<std::ptrdiff_t>(like.num_states());
    for (auto row = values.begin(); row != values.end(); row += n) {
      const double sum = std::accumulate(row, row + n, 0.0);
      std::for_each(row, row + n, [&](double& value) { value /= sum; });
    }
    return {like.num_states(), like.num_actions(), std::move(values)};
  }

  const LikelihoodFunction& likelihood_;
  const LikelihoodOptions& options_;
  int passes_ = 0;
};

const char* name(LikelihoodStatus status) {
  switch (status) {
    case LikelihoodStatus::not_run:
      return "not run";
    case LikelihoodStatus::converged:
      return "converged";
    case LikelihoodStatus::pass_limit:
      return "stopped at the limit of passes";
    case LikelihoodStatus::impossible:
      return "impossible under the start model";
  }
  return "";
}

}  // namespace

void LikelihoodOptions::validate() const {
  OAS_REQUIRE(prior >= 0.0 && std::isfinite(prior), "prior is {}; it must not be negative", prior);
  OAS_REQUIRE(tolerance > 0.0 && std::isfinite(tolerance), "tolerance is {}; it must be positive",
              tolerance);
  OAS_REQUIRE(max_passes >= 1, "max_passes is {}; at least 1 is needed", max_passes);
}

std::string LikelihoodEstimate::brief() const {
  if (status == LikelihoodStatus::not_run) return "not run";
  return fmt::format("{} after {} passes, log-likelihood {:.6g}", name(status), passes,
                     pass.log_likelihood);
}

LikelihoodEstimate maximize_likelihood(const LikelihoodFunction& likelihood,
                                       const TransitionModel& start,
                                       const LikelihoodOptions& options) {
  options.validate();
  return Climb(likelihood, options).run(start);
}

LikelihoodEstimate maximize_likelihood(const TransitionLikelihood& likelihood,
                                       const TransitionModel& start,
                                       const LikelihoodOptions& options, Parallelism parallelism) {
  return maximize_likelihood(
      [&](const TransitionModel& transition, const PassOptions& pass) {
        return likelihood.pass(transition, pass, parallelism);
      },
      start, options);
}

TransitionModel mixed_with_uniform(const TransitionModel& transition, double share) {
  OAS_REQUIRE(share >= 0.0 && share <= 1.0, "share is {}; it must lie in [0, 1]", share);
  std::vector<double> values(transition.values().begin(), transition.values().end());
  for (double& value : values) value = (1.0 - share) * value + share / transition.num_states();
  return {transition.num_states(), transition.num_actions(), std::move(values)};
}

}  // namespace oas
