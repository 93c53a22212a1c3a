#include "oas/estimation/gibbs/transition_prior.hpp"

#include <algorithm>
#include <array>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"

namespace oas::detail {

TransitionPrior::TransitionPrior(int num_states, int num_actions,
                                 const TransitionStructure& structure,
                                 std::optional<double> concentration)
    : states_(static_cast<std::size_t>(num_states)),
      num_actions_(num_actions),
      chosen_(concentration.has_value()) {
  const bool nothing_known = structure.empty();
  OAS_REQUIRE(nothing_known ||
                  (structure.num_states() == num_states && structure.num_actions() == num_actions),
              "a structure of {} states and {} actions for {} and {}", structure.num_states(),
              structure.num_actions(), num_states, num_actions);
  for (std::size_t r = 0; r < states_ * static_cast<std::size_t>(num_actions); ++r) {
    Row& row = rows_.emplace_back();
    row.leader = nothing_known ? r : structure.leader(r);
    row.mass = nothing_known ? static_cast<double>(states_ > 1) : structure.mass_left(r);
    for (std::size_t next = 0; next < states_; ++next) {
      const std::size_t entry = r * states_ + next;
      const bool free = row.mass > 0.0 && (nothing_known || structure.is_free(entry));
      free_.push_back(static_cast<char>(free));
      const double known = nothing_known ? 1.0 : structure.fixed_value(entry);
      fixed_.push_back(free ? 0.0 : known);
      if (free) row.open.push_back(next);
    }
    if (row.mass > 0.0) {
      row.concentration = concentration.value_or(1.0 / static_cast<double>(row.open.size()));
    }
  }
}

double TransitionPrior::weight(std::size_t row) const {
  return rows_[row].concentration * static_cast<double>(rows_[row].open.size());
}

TransitionModel TransitionPrior::mean() const {
  std::vector<double> values = fixed_;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (const std::size_t next : rows_[r].open) {
      values[r * states_ + next] = rows_[r].mass / static_cast<double>(rows_[r].open.size());
    }
  }
  return {static_cast<int>(states_), num_actions_, std::move(values)};
}

void TransitionPrior::pool(std::span<const double> counts, std::span<double> pooled) const {
  std::fill(pooled.begin(), pooled.end(), 0.0);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (const std::size_t next : rows_[r].open) {
      pooled[rows_[r].leader * states_ + next] += counts[r * states_ + next];
    }
  }
}

void TransitionPrior::draw(std::span<const double> counts, std::span<double> transition,
                           Rng& rng) const {
  std::vector<double> pooled(counts.size());
  pool(counts, pooled);
  std::copy(fixed_.begin(), fixed_.end(), transition.begin());
  std::vector<double> concentration;
  std::vector<double> shares;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    if (row.mass == 0.0) continue;
    if (row.leader != r) {  // it stands before
      const auto first = transition.begin() + static_cast<std::ptrdiff_t>(row.leader * states_);
      std::copy_n(first, states_, transition.begin() + static_cast<std::ptrdiff_t>(r * states_));
      continue;
    }
    concentration.clear();
    for (const std::size_t next : row.open) {
      concentration.push_back(row.concentration + pooled[r * states_ + next]);
    }
    shares.resize(row.open.size());
    sample_dirichlet(concentration, shares, rng);
    for (std::size_t k = 0; k < shares.size(); ++k) {
      transition[r * states_ + row.open[k]] = row.mass * shares[k];
    }
  }
}

double TransitionPrior::draw_entry(std::size_t row, double hits, double visits, Rng& rng) const {
  constexpr double kJeffreys = 0.5;
  const double hit = chosen_ ? rows_[row].concentration : kJeffreys;
  const auto others = static_cast<double>(rows_[row].open.size() - 1);
  const double miss = chosen_ ? hit * others : kJeffreys;
  std::array<double, 2> shares;
  sample_dirichlet(std::array{hit + hits, miss + visits - hits}, shares, rng);
  return shares[0];
}

}  // namespace oas::detail
