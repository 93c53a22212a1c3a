#include "oas/learning/likelihood_set.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"

namespace oas {

namespace {

using Numbers = std::vector<double>;

constexpr double kDifference = 0.25;  // standard deviations
constexpr int kHalvings = 10;
constexpr int kTurns = 3;

void scale_to(Numbers& z, double length) {
  double squares = 0.0;
  for (const double value : z) squares += value * value;
  if (squares == 0.0) return;
  for (double& value : z) value *= length / std::sqrt(squares);
}

class Search {
 public:
  Search(const LikelihoodFunction& likelihood, const LaplacePosterior& posterior, double drop,
         const std::function<double(const TransitionModel&)>& gain)
      : likelihood_(likelihood),
        posterior_(posterior),
        gain_(gain),
        least_(log_likelihood(posterior.mode()) - drop),
        length_(std::sqrt(2.0 * drop)) {
    best_.transition = posterior.mode();
    best_.log_likelihood = least_ + drop;
    best_.gain = gain_of(best_.transition);
  }

  // From z to the edge in the direction of the largest rise, again and again; less far round where
  // that was too far.
  void climb(Numbers z, int moves) {
    double here = gain_of(posterior_.at(z));
    for (int move = 0; move < moves; ++move) {
      Numbers there = slope(z, here);
      if (!to_edge(there)) return;
      double gain = visit(there);
      for (int turn = 0; turn < kTurns && gain <= here; ++turn) {
        for (std::size_t i = 0; i < z.size(); ++i) there[i] = 0.5 * (z[i] + there[i]);
        if (!to_edge(there)) return;
        gain = visit(there);
      }
      if (gain <= here) return;
      z = std::move(there);
      here = gain;
    }
  }

  // A random place at the edge; the mode where there is no edge.
  [[nodiscard]] Numbers somewhere(Rng& rng) {
    Numbers z(posterior_.size());
    for (double& value : z) value = sample_normal(rng);
    if (!to_edge(z)) z.assign(posterior_.size(), 0.0);
    return z;
  }

  [[nodiscard]] OptimisticMember finish() { return std::move(best_); }

 private:
  [[nodiscard]] double log_likelihood(const TransitionModel& model) const {
    return likelihood_(model, {}).log_likelihood;
  }
  double gain_of(const TransitionModel& model) {
    ++best_.solves;
    return gain_(model);
  }

  [[nodiscard]] Numbers slope(Numbers z, double here) {
    Numbers rise(z.size());
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double before = std::exchange(z[i], z[i] + kDifference);
      rise[i] = gain_of(posterior_.at(z)) - here;
      z[i] = before;
    }
    return rise;
  }

  // Makes z as long as the set allows in its direction, up to twice what a quadratic would; the
  // likelihood falls on the way, but for what at() cuts off. False: it has no direction.
  bool to_edge(Numbers& z) const {
    scale_to(z, 2.0 * length_);
    bool any = false;
    for (const double value : z) any = any || value != 0.0;
    if (!any) return false;
    double inside = 0.0;
    double outside = 1.0;
    const auto member = [&](double share) {
      Numbers shorter = z;
      for (double& value : shorter) value *= share;
      return log_likelihood(posterior_.at(shorter)) >= least_;
    };
    if (member(1.0)) return true;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = 0.5 * (inside + outside);
      (member(middle) ? inside : outside) = middle;
    }
    for (double& value : z) value *= inside;
    return inside > 0.0;
  }

  double visit(const Numbers& z) {
    TransitionModel model = posterior_.at(z);
    const double gain = gain_of(model);
    if (gain > best_.gain) {
      best_.log_likelihood = log_likelihood(model);
      best_.transition = std::move(model);
      best_.gain = gain;
    }
    return gain;
  }

  const LikelihoodFunction& likelihood_;
  const LaplacePosterior& posterior_;
  const std::function<double(const TransitionModel&)>& gain_;
  double least_;
  double length_;  // of z at the edge, were the likelihood quadratic
  OptimisticMember best_;
};

}  // namespace

double likelihood_drop(double degrees, double delta) {
  OAS_REQUIRE(degrees > 0.0 && delta > 0.0 && delta < 1.0, "{} degrees of freedom, delta {}",
              degrees, delta);
  const boost::math::chi_squared law(degrees);
  return 0.5 * boost::math::quantile(boost::math::complement(law, delta));
}

OptimisticMember most_optimistic_member(const LikelihoodFunction& likelihood,
                                        const LaplacePosterior& posterior, double drop,
                                        const std::function<double(const TransitionModel&)>& gain,
                                        const LikelihoodSetSearch& options, Rng rng) {
  OAS_REQUIRE(drop > 0.0, "drop is {}; it must be positive", drop);
  Search search(likelihood, posterior, drop, gain);
  search.climb(Numbers(posterior.size(), 0.0), options.moves);
  for (int i = 0; i < options.starts; ++i) search.climb(search.somewhere(rng), options.moves);
  return search.finish();
}

}  // namespace oas
