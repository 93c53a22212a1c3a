#include "oas/counts/pair_moments.hpp"

#include <algorithm>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas {

PairMoments::PairMoments(int states, int actions)
    : num_states(states),
      num_actions(actions),
      sums(static_cast<std::size_t>(states) * static_cast<std::size_t>(states) *
               static_cast<std::size_t>(actions),
           0.0),
      squares(static_cast<std::size_t>(states) * static_cast<std::size_t>(actions), 0.0),
      pairs(static_cast<std::size_t>(actions), 0) {}

void PairMoments::add(const PairMoments& other) {
  OAS_REQUIRE(num_states == other.num_states && num_actions == other.num_actions,
              "moments of {} states, {} actions cannot take in moments of {} and {}", num_states,
              num_actions, other.num_states, other.num_actions);
  std::transform(sums.begin(), sums.end(), other.sums.begin(), sums.begin(), std::plus<>{});
  std::transform(squares.begin(), squares.end(), other.squares.begin(), squares.begin(),
                 std::plus<>{});
  std::transform(pairs.begin(), pairs.end(), other.pairs.begin(), pairs.begin(), std::plus<>{});
}

void PairMoments::clear() {
  std::fill(sums.begin(), sums.end(), 0.0);
  std::fill(squares.begin(), squares.end(), 0.0);
  std::fill(pairs.begin(), pairs.end(), 0);
}

void PairMoments::multiply(double weight) {
  for (double& sum : sums) sum *= weight;
  for (double& square : squares) square *= weight * weight;
}

void PairMoments::save(ByteWriter& out) const {
  out.put_all(sums);
  out.put_all(squares);
  out.put_all(pairs);
}

void PairMoments::load(ByteReader& in) {
  sums = in.get_all<double>(sums.size());
  squares = in.get_all<double>(squares.size());
  pairs = in.get_all<std::int64_t>(pairs.size());
}

std::int64_t PairMoments::total_pairs() const {
  return std::accumulate(pairs.begin(), pairs.end(), std::int64_t{0});
}

double PairMoments::row_mass(std::size_t row) const {
  const auto n = static_cast<std::size_t>(num_states);
  const auto first = sums.begin() + static_cast<std::ptrdiff_t>(row * n);
  return std::accumulate(first, first + num_states, 0.0);
}

double PairMoments::effective_visits(std::size_t row) const {
  const double mass = row_mass(row);
  if (mass <= 0.0) return 0.0;
  const auto most = static_cast<double>(pairs[row / static_cast<std::size_t>(num_states)]);
  return mass * mass < most * squares[row] ? mass * mass / squares[row] : most;
}

void add_pair(PairRow first, PairRow second, double weight, const LeftInverses& inverses,
              Timing timing, PairMoments& moments) {
  const int n = moments.num_states;
  const int learned = timing == Timing::before ? first.action : second.action;
  const double* left = inverses.column(first.action, first.observation);
  const double* right = inverses.column(second.action, second.observation);
  double* sum = moments.sums.data() + static_cast<std::size_t>(learned) * n * n;
  double* square = moments.squares.data() + static_cast<std::size_t>(learned) * n;
  const double total = weight * std::accumulate(right, right + n, 0.0);
  for (int s = 0; s < n; ++s, sum += n) {
    const double scaled = weight * left[s];
    for (int next = 0; next < n; ++next) sum[next] += scaled * right[next];
    square[s] += scaled * total;
  }
  ++moments.pairs[static_cast<std::size_t>(learned)];
}

PairMoments project(const PairCounts& counts, const LeftInverses& inverses, Timing timing) {
  const int num_actions = inverses.num_actions();
  const int num_observations = inverses.num_observations();
  const int num_states = inverses.num_states();
  OAS_REQUIRE(counts.num_actions() == inverses.num_sensors() &&
                  counts.num_observations() == num_observations,
              "counts for {} actions, {} observations where the sensors have {} and {}",
              counts.num_actions(), counts.num_observations(), inverses.num_sensors(),
              num_observations);
  PairMoments moments(num_states, num_actions);
  Matrix block(num_observations, num_observations);
  for (int first = 0; first < inverses.num_sensors(); ++first) {
    for (int second = 0; second < num_actions; ++second) {
      std::int64_t pairs = 0;
      for (int o = 0; o < num_observations; ++o) {
        for (int next = 0; next < num_observations; ++next) {
          const std::int64_t count =
              counts(Action{first}, Action{second}, Observation{o}, Observation{next});
          pairs += count;
          block(o, next) = static_cast<double>(count);
        }
      }
      if (pairs == 0) continue;
      const int learned = timing == Timing::before ? first : second;
      Eigen::Map<Matrix> sum(
          moments.sums.data() + static_cast<std::size_t>(learned) * num_states * num_states,
          num_states, num_states);
      sum += inverses.transposed(first).transpose() * (block * inverses.transposed(second));
      moments.pairs[static_cast<std::size_t>(learned)] += pairs;
    }
  }
  for (std::size_t row = 0; row < moments.squares.size(); ++row) {
    moments.squares[row] = moments.row_mass(row);  // of weight 1
  }
  return moments;
}

}  // namespace oas
