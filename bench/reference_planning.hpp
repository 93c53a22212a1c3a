#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "oas/model/pomdp.hpp"

/// Belief-grid planning as one would write it first: grid points in a map from compositions to
/// indices, next beliefs by nested loops over vectors, the cell of a belief found by sorting and
/// looked up in the map, one list of (index, probability) per observation, undamped loops over all
/// of it. Only a yardstick.
namespace oas::bench {

class ReferenceGridPlanner {
 public:
  ReferenceGridPlanner(const Pomdp& model, int resolution) : model_(model), m_(resolution) {
    std::vector<int> counts(static_cast<std::size_t>(model.num_states()), 0);
    enumerate(counts, 0, m_);
    compile();
  }

  /// Value iteration to the span; returns the middle of the increments.
  double solve(double iota, double tolerance) {
    std::vector<double> v(points_.size(), 0.0);
    for (;;) {
      std::vector<double> next(v.size());
      double low = 1e300;
      double high = -1e300;
      for (std::size_t i = 0; i < v.size(); ++i) {
        std::vector<double> q(static_cast<std::size_t>(model_.num_actions()), 0.0);
        for (std::size_t a = 0; a < q.size(); ++a) {
          q[a] = rewards_[i][a];
          for (const auto& successor : successors_[i][a]) {
            for (const auto& [index, probability] : successor) q[a] += probability * v[index];
          }
        }
        double sum = 0.0;
        for (const double value : q) sum += value;
        const double best = *std::max_element(q.begin(), q.end());
        const double increment =
            (1.0 - iota * static_cast<double>(q.size())) * best + iota * sum - v[i];
        low = std::min(low, increment);
        high = std::max(high, increment);
        next[i] = v[i] + 0.5 * increment;
      }
      v = next;
      if (high - low <= tolerance) return 0.5 * (low + high);
    }
  }

 private:
  using Row = std::vector<std::pair<std::size_t, double>>;

  void enumerate(std::vector<int>& counts, std::size_t at, int left) {
    if (at + 1 == counts.size()) {
      counts[at] = left;
      index_[counts] = points_.size();
      points_.push_back(counts);
      return;
    }
    for (int k = 0; k <= left; ++k) {
      counts[at] = k;
      enumerate(counts, at + 1, left - k);
    }
  }

  [[nodiscard]] Row cell(const std::vector<double>& belief) const {
    const std::size_t n = belief.size();
    std::vector<double> prefix(n, 0.0);
    std::vector<std::pair<double, std::size_t>> fraction;
    std::vector<int> base(n, m_);
    for (std::size_t j = 0; j + 1 < n; ++j) {
      prefix[j] = (j > 0 ? prefix[j - 1] : 0.0) + m_ * belief[j];
      base[j] = static_cast<int>(std::floor(prefix[j] + 1e-12));
      fraction.emplace_back(std::max(0.0, prefix[j] - base[j]), j);
    }
    std::sort(fraction.rbegin(), fraction.rend());
    Row row;
    double previous = 1.0;
    for (std::size_t k = 0; k <= fraction.size(); ++k) {
      const double now = k < fraction.size() ? fraction[k].first : 0.0;
      if (previous - now > 1e-12) {
        std::vector<int> counts(n);
        for (std::size_t j = 0; j < n; ++j) counts[j] = base[j] - (j > 0 ? base[j - 1] : 0);
        row.emplace_back(index_.at(counts), previous - now);
      }
      if (k < fraction.size()) ++base[fraction[k].second];
      previous = now;
    }
    return row;
  }

  void compile() {
    const Matrix rewards = model_.expected_reward();
    for (const std::vector<int>& counts : points_) {
      std::vector<double> gains;
      std::vector<std::vector<Row>> rows;
      for (Action a{0}; a < model_.num_actions(); ++a) {
        double gain = 0.0;
        for (State s{0}; s < model_.num_states(); ++s)
          gain += rewards(a.value(), s.value()) * counts[s] / m_;
        gains.push_back(gain);
        rows.emplace_back();
        for (Observation o{0}; o < model_.num_observations(); ++o) {
          rows.back().push_back(successor(counts, a, o));
        }
      }
      rewards_.push_back(gains);
      successors_.push_back(rows);
    }
  }

  [[nodiscard]] Row successor(const std::vector<int>& counts, Action a, Observation o) const {
    std::vector<double> next(counts.size(), 0.0);
    double probability = 0.0;
    for (State s{0}; s < model_.num_states(); ++s) {
      for (State t{0}; t < model_.num_states(); ++t) {
        const State emitter = model_.timing() == Timing::before ? s : t;
        const double p = static_cast<double>(counts[s]) / m_ * model_.transition()(a, s, t) *
                         model_.sensors()(a, emitter, o);
        next[t] += p;
        probability += p;
      }
    }
    if (!(probability > 0.0)) return {};
    for (double& value : next) value /= probability;
    Row row = cell(next);
    for (auto& entry : row) entry.second *= probability;
    return row;
  }

  const Pomdp& model_;
  int m_;
  std::map<std::vector<int>, std::size_t> index_;
  std::vector<std::vector<int>> points_;
  std::vector<std::vector<double>> rewards_;
  std::vector<std::vector<std::vector<Row>>> successors_;
};

}  // namespace oas::bench
