#include "oas/counts/triple_counts.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "oas/core/contracts.hpp"

namespace oas {

TripleCounts::TripleCounts(int num_blocks, std::array<int, 3> sizes)
    : num_blocks_(num_blocks), sizes_(sizes) {
  OAS_REQUIRE(num_blocks >= 1 && sizes[0] >= 1 && sizes[1] >= 1 && sizes[2] >= 1,
              "counts of triples for {} blocks of {}x{}x{}", num_blocks, sizes[0], sizes[1],
              sizes[2]);
  const double cells = static_cast<double>(num_blocks) * sizes[0] * sizes[1] * sizes[2];
  OAS_REQUIRE(cells <= static_cast<double>(kMaxCells),
              "{:.3g} different triples of rows are too many to count; at most {} are", cells,
              kMaxCells);
  counts_.assign(static_cast<std::size_t>(cells), 0);
}

void TripleCounts::merge(const TripleCounts& other) {
  OAS_REQUIRE(num_blocks_ == other.num_blocks_ && sizes_ == other.sizes_,
              "counts of triples of different sizes cannot be merged");
  std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                 std::plus<>{});
}

void TripleCounts::clear() { std::fill(counts_.begin(), counts_.end(), 0); }

std::span<const std::int64_t> TripleCounts::block(int block) const {
  const std::size_t cells = counts_.size() / static_cast<std::size_t>(num_blocks_);
  return std::span(counts_).subspan(static_cast<std::size_t>(block) * cells, cells);
}

std::int64_t TripleCounts::total(int block) const {
  const auto cells = this->block(block);
  return std::accumulate(cells.begin(), cells.end(), std::int64_t{0});
}

std::int64_t TripleCounts::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
}

void TripleCounts::set_values(std::span<const std::int64_t> values) {
  OAS_REQUIRE(values.size() == counts_.size(), "{} counts of triples where {} are expected",
              values.size(), counts_.size());
  std::copy(values.begin(), values.end(), counts_.begin());
}

TripleFolder::TripleFolder(int num_actions, int num_observations)
    : num_actions_(num_actions),
      num_observations_(num_observations),
      counts_(num_actions * num_actions,
              {num_actions * num_observations, num_observations, num_observations}) {}

void TripleFolder::start_run() {
  first_.reset();
  second_.reset();
  ++runs_;
}

void TripleFolder::add(std::span<const Action> actions, std::span<const Observation> observations) {
  OAS_REQUIRE(actions.size() == observations.size(), "{} actions and {} observations",
              actions.size(), observations.size());
  for (std::size_t t = 0; t < actions.size(); ++t) add(actions[t], observations[t]);
}

void TripleFolder::add(Action action, Observation observation) {
  if (runs_ == 0) start_run();
  ++rows_;
  if (observation == kMissing) {
    ++missing_;
    first_.reset();
    second_.reset();
    return;
  }
  if (first_ && second_) {
    counts_.add(second_->action * num_actions_ + action,
                first_->action * num_observations_ + first_->observation, second_->observation,
                observation);
  }
  first_ = second_;
  second_ = Row{action, observation};
}

void TripleFolder::clear() {
  counts_.clear();
  first_.reset();
  second_.reset();
  rows_ = runs_ = missing_ = 0;
}

void TripleFolder::merge(const TripleFolder& other) {
  counts_.merge(other.counts_);
  rows_ += other.rows_;
  runs_ += other.runs_;
  missing_ += other.missing_;
}

std::vector<int> TripleFolder::pending() const {
  std::vector<int> rows;
  for (const auto& row : {first_, second_}) {
    if (!row) continue;
    rows.push_back(row->action);
    rows.push_back(row->observation);
  }
  return rows;
}

void TripleFolder::restore(std::span<const std::int64_t> counts, std::span<const int> pending) {
  OAS_REQUIRE(pending.size() <= 4 && pending.size() % 2 == 0,
              "{} numbers for at most two rows of action and observation", pending.size());
  clear();
  start_run();
  counts_.set_values(counts);
  for (std::size_t i = 0; i < pending.size(); i += 2) {
    OAS_REQUIRE(pending[i] >= 0 && pending[i] < num_actions_ && pending[i + 1] >= 0 &&
                    pending[i + 1] < num_observations_,
                "action {} of {}, observation {} of {}", pending[i], num_actions_, pending[i + 1],
                num_observations_);
    first_ = second_;
    second_ = Row{Action{pending[i]}, Observation{pending[i + 1]}};
  }
}

void TripleFolder::save(ByteWriter& out) const {
  out.put_all(counts_.values());
  out.put_all(pending());
  for (const std::int64_t value : {rows_, runs_, missing_}) out.put(value);
}

void TripleFolder::load(ByteReader& in) {
  const auto counts = in.get_all<std::int64_t>(counts_.values().size());
  restore(counts, in.get_all<int>());
  for (std::int64_t* value : {&rows_, &runs_, &missing_}) {
    *value = in.get_integer(0, std::int64_t{1} << 60);
  }
}

}  // namespace oas
