#include "oas/planning/hull/detail/point_set.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace oas::detail {

PointSet::PointSet(int num_states)
    : num_states_(num_states), num_words_((static_cast<std::size_t>(num_states) + 63) / 64) {
  for (int s = 0; s < num_states; ++s) add({{s}, {1.0}});
}

// Of states and shares to seven digits: the same belief by two ways may fall on two sides of a
// border and then stands here twice, which costs a point and nothing else.
std::uint64_t PointSet::key_of(const SparseBelief& belief) {
  std::uint64_t key = 1469598103934665603U;
  const auto mix = [&](std::uint64_t value) { key = (key ^ value) * 1099511628211U; };
  for (std::size_t i = 0; i < belief.states.size(); ++i) {
    mix(static_cast<std::uint64_t>(belief.states[i]));
    mix(static_cast<std::uint64_t>(std::llround(belief.shares[i] * 1e7)));
  }
  return key;
}

void PointSet::mark(const SparseBelief& belief, std::uint64_t* words) const {
  for (const int s : belief.states) words[s / 64] |= std::uint64_t{1} << (s % 64);
}

int PointSet::add(SparseBelief belief) {
  const int number = size();
  by_key_.emplace(key_of(belief), number);
  support_.resize(support_.size() + num_words_, 0);
  mark(belief, support_.data() + support_.size() - num_words_);
  points_.push_back(std::move(belief));
  return number;
}

std::optional<int> PointSet::find(const SparseBelief& belief) const {
  const auto same = [](double x, double y) { return std::abs(x - y) <= kSame * y; };
  std::optional<int> found;
  const auto [first, last] = by_key_.equal_range(key_of(belief));
  for (auto entry = first; entry != last; ++entry) {
    const SparseBelief& point = (*this)[entry->second];
    if (point.states == belief.states &&
        std::equal(point.shares.begin(), point.shares.end(), belief.shares.begin(), same) &&
        (!found || entry->second < *found)) {
      found = entry->second;
    }
  }
  return found;
}

void PointSet::collect_within(const SparseBelief& belief, std::vector<int>& out) const {
  out.clear();
  std::vector<std::uint64_t> outside(num_words_, 0);
  mark(belief, outside.data());
  for (std::uint64_t& word : outside) word = ~word;
  for (int i = num_states_; i < size(); ++i) {
    const std::uint64_t* words = support_.data() + static_cast<std::size_t>(i) * num_words_;
    bool within = true;
    for (std::size_t w = 0; w < num_words_ && within; ++w) within = (words[w] & outside[w]) == 0;
    if (within) out.push_back(i);
  }
}

}  // namespace oas::detail
