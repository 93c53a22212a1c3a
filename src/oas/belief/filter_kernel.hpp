#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// The one-step belief dynamics, the seam that carries the difference between the two timings:
///   before:  b'(s') ∝ Σ_s b(s) Z_a(o|s) T_a(s,s')      after:  b'(s') ∝ Z_a(o|s') Σ_s b(s)
///   T_a(s,s')
/// N > 0 fixes the number of states at compile time, so that a belief lives in registers; N = 0
/// takes it at run time, and keeps T as lists of its entries where at most a quarter of them is not
/// 0. Beside b' an update gives scores: linear functions c_k·b' (up to one
/// common positive factor) of the next belief, as a greedy policy needs them; in `before` timing
/// they come straight from the posterior over s, without waiting for b'. Cost O(S² + S K) for K
/// scores; no allocation.
template <int N>
class FilterKernel {
 public:
  /// Beliefs and scores are padded to whole pairs and quadruples of doubles; the padding stays 0.
  static constexpr int padded(int size) { return (size + 1) / 2 * 2; }
  static constexpr int kScoreWidth = 4;

  using BeliefStorage =
      std::conditional_t<(N > 0),
                         std::array<double, static_cast<std::size_t>(padded(N > 0 ? N : 1))>,
                         std::vector<double>>;

  /// Sensors and timing from `model`, dynamics from `transition` (which may differ: a wrong model),
  /// `scores` is K×S (K = 0: none).
  FilterKernel(const Pomdp& model, const TransitionModel& transition, const Matrix& scores);

  [[nodiscard]] int num_states() const { return N > 0 ? N : num_states_; }
  [[nodiscard]] int stride() const { return padded(num_states()); }
  [[nodiscard]] int score_storage() const { return num_score_blocks_ * kScoreWidth; }

  /// Replaces `belief` (stride() doubles) by the next one and fills `scores` (score_storage()
  /// doubles). Returns P(o | belief, a). An observation of probability 0 carries no information
  /// under this model: it is skipped (b' = T_aᵀ b) and 0 is returned. `scratch` holds stride()
  /// doubles and is only used when N = 0. Indices are not checked, here and below: BeliefFilter
  /// does that, and knows kMissing.
  double update(double* belief, int action, int observation, double* scores,
                double* scratch = nullptr) const;

  /// b' = T_aᵀ b: a step whose observation was not seen.
  void predict(double* belief, int action, double* scores, double* scratch = nullptr) const;

  /// The scores of a belief as it stands.
  void score(const double* belief, double* scores) const;

 private:
  // A sum of weights below this has no reciprocal, or hardly one.
  static constexpr double kSmallestSum = 1e-290;
  // Divides weights, some of them positive, by the largest; returns their sum.
  static double rescale(double* weights, int n);

  double update_before(double* belief, int action, const double* likelihood, double* scores,
                       double* weighted) const;
  double update_after(double* belief, int action, const double* likelihood, double* scores,
                      double* moved) const;
  // out = Σ_s w(s) T_a(s,·), stride() doubles.
  void combine_rows(const double* weights, int action, double* out) const;
  void list_rows(const TransitionModel& transition);
  // scores = Σ_s w(s) blocks(s), block by block of kScoreWidth.
  void combine_scores(const double* weights, const double* blocks, double* scores) const;

  int num_states_;
  int num_observations_;
  int num_score_blocks_;
  Timing timing_;
  std::vector<double> likelihood_;  // [a][o][stride]: Z_a(o|·)
  std::vector<double> transition_;  // [a][s][stride]; empty when T is listed
  std::vector<ProbabilityEntry> entries_;
  std::vector<std::size_t> entry_starts_;  // [a][s], and the end
  std::vector<double> score_now_;          // [block][s][4]: c_k(s)
  std::vector<double> score_next_;         // [a][block][s][4]: Σ_s' T_a(s,s') c_k(s')
};

/// Whether a list of T's entries is worth while: 64 states or more, at most a quarter not 0.
[[nodiscard]] inline bool mostly_zero(const TransitionModel& transition) {
  if (transition.num_states() < 64) return false;
  return transition.is_listed() || transition.num_entries() <= transition.values().size() / 4;
}

template <int N>
FilterKernel<N>::FilterKernel(const Pomdp& model, const TransitionModel& transition,
                              const Matrix& scores)
    : num_states_(model.num_states()),
      num_observations_(model.num_observations()),
      num_score_blocks_((static_cast<int>(scores.rows()) + kScoreWidth - 1) / kScoreWidth),
      timing_(model.timing()) {
  const int num_actions = model.num_actions();
  const auto width = static_cast<std::size_t>(stride());
  likelihood_.assign(width * static_cast<std::size_t>(num_actions * num_observations_), 0.0);
  if (N == 0 && mostly_zero(transition)) {
    list_rows(transition);
  } else {
    transition_.assign(width * static_cast<std::size_t>(num_actions * num_states_), 0.0);
  }
  const auto block = static_cast<std::size_t>(num_states_) * kScoreWidth;
  score_now_.assign(block * static_cast<std::size_t>(num_score_blocks_), 0.0);
  score_next_.assign(score_now_.size() * static_cast<std::size_t>(num_actions), 0.0);
  const auto pack = [&](const Matrix& table, double* out) {  // table is S×K
    for (Eigen::Index k = 0; k < table.cols(); ++k) {
      for (int s = 0; s < num_states_; ++s) {
        out[static_cast<std::size_t>(k / kScoreWidth) * block +
            static_cast<std::size_t>(s * kScoreWidth + k % kScoreWidth)] = table(s, k);
      }
    }
  };
  pack(scores.transpose(), score_now_.data());
  for (int a = 0; a < num_actions; ++a) {
    pack(transition.mean_next(Action{a}, Matrix(scores.transpose())),
         score_next_.data() + static_cast<std::size_t>(a) * score_now_.size());
    for (int s = 0; s < num_states_; ++s) {
      if (!transition_.empty()) {
        const auto row = static_cast<std::size_t>(a * num_states_ + s) * width;
        transition.for_each_next(Action{a}, State{s}, [&](State next, double p) {
          transition_[row + static_cast<std::size_t>(next)] = p;
        });
      }
      for (int o = 0; o < num_observations_; ++o) {
        likelihood_[static_cast<std::size_t>(a * num_observations_ + o) * width +
                    static_cast<std::size_t>(s)] =
            model.sensors()(Action{a}, State{s}, Observation{o});
      }
    }
  }
}

template <int N>
void FilterKernel<N>::list_rows(const TransitionModel& transition) {
  entry_starts_.push_back(0);
  for (Action a{0}; a < transition.num_actions(); ++a) {
    for (State s{0}; s < num_states_; ++s) {
      transition.for_each_next(a, s, [&](State next, double p) { entries_.push_back({next, p}); });
      entry_starts_.push_back(entries_.size());
    }
  }
}

template <int N>
inline void FilterKernel<N>::combine_rows(const double* weights, int action, double* out) const {
  if constexpr (N > 0) {
    constexpr int kStride = padded(N);
    const double* rows = transition_.data() + static_cast<std::ptrdiff_t>(action) * N * kStride;
    double sum[kStride];
    for (int j = 0; j < kStride; ++j) sum[j] = weights[0] * rows[j];
    for (int s = 1; s < N; ++s) {
      for (int j = 0; j < kStride; ++j) sum[j] += weights[s] * rows[s * kStride + j];
    }
    std::copy_n(sum, kStride, out);
  } else {
    const int width = stride();
    std::fill_n(out, width, 0.0);
    if (!entry_starts_.empty()) {
      const std::size_t* starts =
          entry_starts_.data() + static_cast<std::ptrdiff_t>(action) * num_states_;
      for (int s = 0; s < num_states_; ++s) {
        if (weights[s] == 0.0) continue;
        for (std::size_t k = starts[s]; k < starts[s + 1]; ++k) {
          out[entries_[k].outcome] += weights[s] * entries_[k].probability;
        }
      }
      return;
    }
    const double* rows =
        transition_.data() + static_cast<std::ptrdiff_t>(action) * num_states_ * width;
    for (int s = 0; s < num_states_; ++s, rows += width) {
      const double weight = weights[s];
      for (int j = 0; j < width; ++j) out[j] += weight * rows[j];
    }
  }
}

template <int N>
inline void FilterKernel<N>::combine_scores(const double* weights, const double* blocks,
                                            double* scores) const {
  const int n = num_states();
  for (int k = 0; k < num_score_blocks_; ++k, blocks += n * kScoreWidth) {
    double sum[kScoreWidth] = {0.0, 0.0, 0.0, 0.0};
    for (int s = 0; s < n; ++s) {
      for (int j = 0; j < kScoreWidth; ++j) sum[j] += weights[s] * blocks[s * kScoreWidth + j];
    }
    std::copy_n(sum, kScoreWidth, scores + k * kScoreWidth);
  }
}

template <int N>
inline double FilterKernel<N>::rescale(double* weights, int n) {
  const double largest = *std::max_element(weights, weights + n);
  double sum = 0.0;
  for (int s = 0; s < n; ++s) sum += weights[s] /= largest;
  return sum;
}

template <int N>
inline double FilterKernel<N>::update_before(double* belief, int action, const double* likelihood,
                                             double* scores, double* weighted) const {
  double probability = 0.0;
  const int n = num_states();
  for (int s = 0; s < n; ++s) probability += weighted[s] = belief[s] * likelihood[s];
  double sum = probability;
  if (!(sum > kSmallestSum)) [[unlikely]] {
    if (!(sum > 0.0)) return 0.0;
    sum = rescale(weighted, n);
  }
  combine_scores(weighted,
                 score_next_.data() + static_cast<std::size_t>(action) * score_now_.size(), scores);
  combine_rows(weighted, action, belief);
  const double scale = 1.0 / sum;
  for (int s = 0; s < n; ++s) belief[s] *= scale;
  return probability;
}

template <int N>
inline double FilterKernel<N>::update_after(double* belief, int action, const double* likelihood,
                                            double* scores, double* moved) const {
  const int n = num_states();
  combine_rows(belief, action, moved);
  double probability = 0.0;
  for (int s = 0; s < n; ++s) probability += moved[s] *= likelihood[s];
  double sum = probability;
  if (!(sum > kSmallestSum)) [[unlikely]] {
    if (!(sum > 0.0)) return 0.0;
    sum = rescale(moved, n);
  }
  combine_scores(moved, score_now_.data(), scores);
  const double scale = 1.0 / sum;
  for (int s = 0; s < n; ++s) belief[s] = moved[s] * scale;
  return probability;
}

template <int N>
inline double FilterKernel<N>::update(double* belief, int action, int observation, double* scores,
                                      double* scratch) const {
  double local[N > 0 ? padded(N > 0 ? N : 1) : 1];
  double* work = N > 0 ? local : scratch;
  const double* likelihood =
      likelihood_.data() +
      static_cast<std::ptrdiff_t>(action * num_observations_ + observation) * stride();
  const double probability = timing_ == Timing::before
                                 ? update_before(belief, action, likelihood, scores, work)
                                 : update_after(belief, action, likelihood, scores, work);
  if (!(probability > 0.0)) [[unlikely]]
    predict(belief, action, scores, scratch);
  return probability;
}

template <int N>
inline void FilterKernel<N>::predict(double* belief, int action, double* scores,
                                     double* scratch) const {
  double local[N > 0 ? padded(N > 0 ? N : 1) : 1];
  double* moved = N > 0 ? local : scratch;
  const int n = num_states();
  combine_rows(belief, action, moved);
  double sum = 0.0;
  for (int s = 0; s < n; ++s) sum += moved[s];
  for (int s = 0; s < n; ++s) belief[s] = moved[s] / sum;  // rounding must not accumulate
  score(belief, scores);
}

template <int N>
inline void FilterKernel<N>::score(const double* belief, double* scores) const {
  combine_scores(belief, score_now_.data(), scores);
}

/// Calls visitor(std::integral_constant<int, N>) with N = num_states where a kernel of that fixed
/// size exists, and with N = 0 otherwise; returns what the visitor returns.
template <class Visitor>
decltype(auto) with_fixed_size(int num_states, Visitor&& visitor) {
  switch (num_states) {
    case 2:
      return visitor(std::integral_constant<int, 2>{});
    case 3:
      return visitor(std::integral_constant<int, 3>{});
    case 4:
      return visitor(std::integral_constant<int, 4>{});
    case 5:
      return visitor(std::integral_constant<int, 5>{});
    case 6:
      return visitor(std::integral_constant<int, 6>{});
    case 8:
      return visitor(std::integral_constant<int, 8>{});
    case 10:
      return visitor(std::integral_constant<int, 10>{});
    default:
      return visitor(std::integral_constant<int, 0>{});
  }
}

}  // namespace oas
