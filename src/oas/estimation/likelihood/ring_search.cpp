#include "oas/estimation/likelihood/detail/ring_search.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "oas/core/rng.hpp"

namespace oas::detail {

namespace {

constexpr double kNoises[] = {0.02, 0.001};  // chains that remember 50 rows, and 1,000
constexpr double kLessNoise = 0.2;
constexpr double kLeastNoise = 1e-6;
constexpr int kOrders = 4;  // to start from
constexpr std::uint64_t kOrderSeed = 20'261'119;
constexpr std::size_t kMostShapes = 40;  // all, of four actions

// All choices of steps of -1, 0 and 1 whose first step that is not 0 is 1 (the others are these
// seen the other way round), those with more steps of 1 first: clocks that all actions share, then
// actions that stay, then actions that turn back.
std::vector<std::vector<int>> shapes(int num_states, int num_actions) {
  const int kinds = num_states > 2 ? 3 : 2;
  std::vector<std::vector<int>> all;
  std::vector<int> digits(static_cast<std::size_t>(num_actions), 0);  // 0: on, 1: stay, 2: back
  while (all.size() < kMostShapes) {
    const auto first =
        std::find_if(digits.begin(), digits.end(), [](int digit) { return digit != 1; });
    if (first != digits.end() && *first == 0) {
      std::vector<int> steps;
      for (const int digit : digits) steps.push_back((1 - digit + num_states) % num_states);
      all.push_back(std::move(steps));
    }
    std::size_t a = digits.size();
    while (a > 0 && ++digits[a - 1] == kinds) digits[--a] = 0;
    if (a == 0) break;
  }
  return all;
}

std::vector<int> shuffled(std::vector<int> order, Rng& rng) {
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i],
              order[static_cast<std::size_t>(rng.uniform() * static_cast<double>(i + 1))]);
  }
  return order;
}

class Search {
 public:
  Search(const std::function<double(const TransitionModel&)>& objective, int most)
      : objective_(objective), most_(most) {
    best_.objective = -std::numeric_limits<double>::infinity();
  }

  [[nodiscard]] bool is_over() const { return best_.passes >= most_; }
  [[nodiscard]] RingSearch take() { return std::move(best_); }

  double visit(const Ring& ring) {
    TransitionModel at = ring.model();
    const double value = objective_(at);
    ++best_.passes;
    if (value > best_.objective) {
      best_.objective = value;
      best_.at = std::move(at);
    }
    return value;
  }

  // Exchanges states until no exchange helps.
  void improve(Ring ring) {
    double value = visit(ring);
    const std::size_t n = ring.order.size();
    // The ring can be turned: one state stays where it is.
    std::size_t since = 0;
    while (n > 2 && since < (n - 1) * (n - 2) / 2) {
      for (std::size_t i = 1; i < n; ++i) {
        for (std::size_t j = i + 1; j < n; ++j) {
          if (is_over()) return;
          std::swap(ring.order[i], ring.order[j]);
          const double other = visit(ring);
          if (other > value) {
            value = other;
            since = 0;
          } else {
            std::swap(ring.order[i], ring.order[j]);
            ++since;
          }
        }
      }
    }
    sharpen(ring, value);
  }

 private:
  // Takes noise away as long as that helps.
  void sharpen(Ring ring, double value) {
    while (!is_over() && ring.noise > kLeastNoise) {
      ring.noise *= kLessNoise;
      const double other = visit(ring);
      if (!(other > value)) return;
      value = other;
    }
  }

  const std::function<double(const TransitionModel&)>& objective_;
  int most_;
  RingSearch best_;
};

}  // namespace

TransitionModel Ring::model() const {
  const std::size_t n = order.size();
  std::vector<double> values(steps.size() * n * n, noise / static_cast<double>(n));
  for (std::size_t a = 0; a < steps.size(); ++a) {
    for (std::size_t place = 0; place < n; ++place) {
      const auto from = static_cast<std::size_t>(order[place]);
      const std::size_t next = (place + static_cast<std::size_t>(steps[a])) % n;
      values[(a * n + from) * n + static_cast<std::size_t>(order[next])] += 1.0 - noise;
    }
  }
  return {static_cast<int>(n), static_cast<int>(steps.size()), std::move(values)};
}

RingSearch search_rings(const std::function<double(const TransitionModel&)>& objective,
                        int num_states, int num_actions, int most) {
  Search search(objective, most);
  Rng rng({kOrderSeed, 0, Role::bootstrap});
  std::vector<int> first(static_cast<std::size_t>(num_states));
  std::iota(first.begin(), first.end(), 0);
  for (int start = 0; start < kOrders; ++start) {
    const std::vector<int> order = start == 0 ? first : shuffled(first, rng);
    for (const std::vector<int>& steps : shapes(num_states, num_actions)) {
      for (const double noise : kNoises) {
        if (search.is_over()) return search.take();
        search.improve({order, steps, noise});
      }
    }
  }
  return search.take();
}

}  // namespace oas::detail
