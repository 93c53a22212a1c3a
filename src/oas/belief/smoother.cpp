#include "oas/belief/smoother.hpp"

#include <algorithm>
#include <cmath>

#include "oas/belief/filter.hpp"
#include "oas/belief/likelihood_filter.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"

namespace oas {

namespace {

// Rows with finite observations, or with likelihoods: a filter over them, and what they say.
class FiniteRows {
 public:
  FiniteRows(const Pomdp& model, std::span<const Action> actions,
             std::span<const Observation> observations)
      : model_(model), actions_(actions), observations_(observations), filter_(model) {}

  [[nodiscard]] std::span<const double> belief() const { return filter_.belief(); }
  void reset(RunStart start) { filter_.reset(start); }
  void reset(const Vector& belief) { filter_.reset(Belief({belief.begin(), belief.end()})); }
  double update(std::size_t t) { return filter_.update(actions_[t], observations_[t]); }
  [[nodiscard]] bool seen(std::size_t t) const { return observations_[t] != kMissing; }
  [[nodiscard]] Vector likelihood(std::size_t t) const {
    return model_.sensors().matrix(actions_[t]).row(observations_[t].value()).transpose();
  }

 private:
  const Pomdp& model_;
  std::span<const Action> actions_;
  std::span<const Observation> observations_;
  BeliefFilter filter_;
};

class LikelihoodVectors {
 public:
  LikelihoodVectors(const Pomdp& chain, std::span<const Action> actions,
                    std::span<const double> likelihoods)
      : actions_(actions),
        likelihoods_(likelihoods),
        width_(static_cast<std::size_t>(chain.num_states())),
        filter_(chain) {}

  [[nodiscard]] std::span<const double> belief() const { return filter_.belief(); }
  void reset(RunStart start) { filter_.reset(start); }
  void reset(const Vector& belief) {
    filter_.reset({belief.data(), static_cast<std::size_t>(belief.size())});
  }
  double update(std::size_t t) { return filter_.update(actions_[t], row(t)); }
  [[nodiscard]] static bool seen(std::size_t /*t*/) { return true; }
  [[nodiscard]] Vector likelihood(std::size_t t) const {
    return VectorView(row(t).data(), static_cast<Eigen::Index>(width_));
  }

 private:
  [[nodiscard]] std::span<const double> row(std::size_t t) const {
    return likelihoods_.subspan(t * width_, width_);
  }

  std::span<const Action> actions_;
  std::span<const double> likelihoods_;
  std::size_t width_;
  LikelihoodFilter filter_;
};

// Works with ratios ρ_t(s) = P(s_t | all rows) / P(s_t | rows before t), 0 where the belief is:
// they neither vanish nor explode, however unlikely the rows are, since Σ_s b_t(s) ρ_t(s) = 1.
template <class Rows>
class Smoother {
 public:
  Smoother(const Pomdp& model, std::span<const Action> actions, Rows rows, RunStart start)
      : model_(model),
        actions_(actions),
        run_start_(start),
        block_(std::max<std::size_t>(
            1, static_cast<std::size_t>(std::sqrt(static_cast<double>(actions.size()))))),
        rows_(std::move(rows)),
        beliefs_(block_, Vector(model.num_states())),
        ratios_(block_, Vector(model.num_states())),
        probabilities_(block_) {}

  void run(const SmoothedRow& receive) {
    rows_.reset(run_start_);
    store_beliefs();
    store_ratios();
    rows_.reset(run_start_);
    for (std::size_t start = 0; start <= actions_.size(); start += block_) {
      filter_block(start);
      smooth_block(start);
      emit_block(start, receive);
    }
  }

 private:
  // Blocks are [start, end) of t = 0 … n.
  [[nodiscard]] std::size_t end_of(std::size_t start) const {
    return std::min(start + block_, actions_.size() + 1);
  }

  void store_beliefs() {
    for (std::size_t start = 0; start <= actions_.size(); start += block_) {
      first_beliefs_.emplace_back(VectorView(rows_.belief().data(), model_.num_states()));
      filter_block(start);
    }
  }

  void store_ratios() {
    first_ratios_.resize(first_beliefs_.size());
    for (std::size_t block = first_beliefs_.size(); block-- > 0;) {
      const Vector belief = first_beliefs_[block] / first_beliefs_[block].sum();
      rows_.reset(belief);
      filter_block(block * block_);
      smooth_block(block * block_);
      first_ratios_[block] = ratios_[0];
    }
  }

  // Fills beliefs_ and probabilities_ from where the filter stands and moves it to the next block.
  void filter_block(std::size_t start) {
    for (std::size_t t = start; t < end_of(start); ++t) {
      beliefs_[t - start] = VectorView(rows_.belief().data(), model_.num_states());
      probabilities_[t - start] = t < actions_.size() ? rows_.update(t) : 1.0;
    }
  }

  // Fills ratios_ from beliefs_ and the first ratio of the next block.
  void smooth_block(std::size_t start) {
    const std::size_t end = end_of(start);
    Vector ratio = Vector::Ones(model_.num_states());
    if (end <= actions_.size()) ratio = first_ratios_[end / block_];
    for (std::size_t t = end; t-- > start;) {
      if (t < actions_.size()) step_back(t, probabilities_[t - start] > 0.0, ratio);
      const Vector& belief = beliefs_[t - start];
      ratio = (belief.array() > 0.0).select(ratio, 0.0);
      ratio /= belief.dot(ratio);
      ratios_[t - start] = ratio;
    }
  }

  // ρ_t from ρ_{t+1}, up to a factor. An observation of probability 0 is skipped by the filter, and
  // must be here.
  void step_back(std::size_t t, bool possible, Vector& ratio) const {
    const Action a = actions_[t];
    const bool seen = rows_.seen(t) && possible;
    if (seen && model_.timing() == Timing::after) ratio = ratio.cwiseProduct(rows_.likelihood(t));
    ratio = model_.transition().mean_next(a, ratio);
    if (seen && model_.timing() == Timing::before) ratio = ratio.cwiseProduct(rows_.likelihood(t));
  }

  void emit_block(std::size_t start, const SmoothedRow& receive) {
    const auto size = static_cast<std::size_t>(model_.num_states());
    for (std::size_t t = start; t < end_of(start); ++t) {
      const Vector& belief = beliefs_[t - start];
      Vector& smoothed = ratios_[t - start];
      smoothed = belief.cwiseProduct(smoothed);
      receive(t, {belief.data(), size}, {smoothed.data(), size}, probabilities_[t - start]);
    }
  }

  const Pomdp& model_;
  std::span<const Action> actions_;
  RunStart run_start_;
  std::size_t block_;
  Rows rows_;
  std::vector<Vector> beliefs_;  // of one block
  std::vector<Vector> ratios_;
  std::vector<double> probabilities_;
  std::vector<Vector> first_beliefs_;  // at t = 0, block, 2 block, …
  std::vector<Vector> first_ratios_;
};

}  // namespace

void smooth(const Pomdp& model, std::span<const Action> actions,
            std::span<const Observation> observations, const SmoothedRow& receive, RunStart start) {
  OAS_REQUIRE(actions.size() == observations.size(), "{} actions and {} observations",
              actions.size(), observations.size());
  Smoother(model, actions, FiniteRows(model, actions, observations), start).run(receive);
}

void smooth_likelihoods(const Pomdp& chain, std::span<const Action> actions,
                        std::span<const double> likelihoods, const SmoothedRow& receive,
                        RunStart start) {
  OAS_REQUIRE(actions.size() * static_cast<std::size_t>(chain.num_states()) == likelihoods.size(),
              "{} actions and {} likelihoods for {} states", actions.size(), likelihoods.size(),
              chain.num_states());
  Smoother(chain, actions, LikelihoodVectors(chain, actions, likelihoods), start).run(receive);
}

}  // namespace oas
