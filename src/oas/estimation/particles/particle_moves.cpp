// What happens to the particles of a posterior when their weights have become uneven: resampling
// and the moves.

#include <algorithm>
#include <cmath>
#include <utility>

#include "oas/core/sampling.hpp"
#include "oas/estimation/particles/particle_posterior.hpp"

namespace oas {

namespace {

// Entries of T that jitter has brought to 0 must be able to come back.
constexpr double kJitterOffset = 0.1;
// Proposals are a little wider than the particles: an independent proposal must cover its target.
constexpr double kProposalWidening = 1.3;

}  // namespace

void ParticlePosterior::resample(Rng& rng) {
  sample_systematic(weights_.values(), parents_, rng);
  const auto gather = [&](double* values) {
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      gathered_[i] = values[static_cast<std::size_t>(parents_[i])];
    }
    std::copy(gathered_.begin(), gathered_.end(), values);
  };
  const std::size_t stride = filter_.stride();
  for (std::size_t start = 0; start < population_.transition.size(); start += stride) {
    gather(population_.transition.data() + start);
  }
  for (std::size_t start = 0; start < population_.belief.size(); start += stride) {
    gather(population_.belief.data() + start);
  }
  for (std::size_t i = 0; i < parents_.size(); ++i) {
    parent_lineage_[i] = lineage_[static_cast<std::size_t>(parents_[i])];
  }
  std::swap(lineage_, parent_lineage_);
  weights_.set_equal();
  ++report_.resamplings;
  count_models();
}

void ParticlePosterior::count_models() {
  std::copy(lineage_.begin(), lineage_.end(), parent_lineage_.begin());
  std::sort(parent_lineage_.begin(), parent_lineage_.end());
  report_.distinct = static_cast<int>(std::unique(parent_lineage_.begin(), parent_lineage_.end()) -
                                      parent_lineage_.begin());
  collapsed_ = report_.distinct == 1;
}

void ParticlePosterior::jitter(Rng& rng) {
  const double kappa = options_.kappa0 + static_cast<double>(report_.rows) / options_.rate;
  const std::size_t states = row_.size();
  const std::size_t stride = filter_.stride();
  for (std::size_t i = 0; i < lineage_.size(); ++i) {
    double* entries = population_.transition.data() + i;
    for (std::size_t start = 0; start < past_.concentration().size(); start += states) {
      double* row = entries + start * stride;
      for (std::size_t j = 0; j < states; ++j) row_[j] = kappa * row[j * stride] + kJitterOffset;
      detail::sample_row(row_, values_, row, stride, rng);
    }
    lineage_[i] = next_lineage_++;
  }
  count_models();
}

void ParticlePosterior::filter_window(detail::Population& population, detail::LogProducts& logs) {
  logs.reset();
  filter_.set_beliefs(window_start_, population);
  for (const Row& row : rows_) {
    if (row.action == kNewRun) {
      filter_.set_beliefs(belief_after(row.observation), population);
      continue;
    }
    filter_.update(population, row.action, row.observation, probabilities_);
    if (row.observation != kMissing) logs.multiply(probabilities_);
  }
  logs.fold();
}

void ParticlePosterior::move_on_window(detail::RowMoments* pooled, Rng& rng) {
  last_move_ = report_.rows;
  detail::RowMoments moments(filter_);
  moments.add(population_, weights_.values());
  const auto proposal = detail::DirichletRows::matched(moments, kProposalWidening, past_,
                                                       static_cast<double>(rows_.size()));
  resample(rng);
  filter_window(population_, logs_);
  proposal_.transition = population_.transition;
  for (int sweep = 0; sweep < options_.sweeps; ++sweep) {
    for (int a = 0; a < filter_.num_actions(); ++a) metropolis(proposal, a, rng);
    if (pooled != nullptr) pooled->add(population_, weights_.values());
  }
  count_models();
}

void ParticlePosterior::metropolis(const detail::DirichletRows& proposal, int action, Rng& rng) {
  for (std::size_t i = 0; i < lineage_.size(); ++i) proposal.sample(proposal_, action, i, rng);
  filter_window(proposal_, proposal_logs_);
  for (std::size_t i = 0; i < lineage_.size(); ++i) {
    const double log_ratio =
        proposal_logs_.sums()[i] - logs_.sums()[i] + past_.log_density(proposal_, action, i) -
        past_.log_density(population_, action, i) + proposal.log_density(population_, action, i) -
        proposal.log_density(proposal_, action, i);
    ++report_.proposed;
    const bool accepted = std::log1p(-rng.uniform()) < log_ratio;
    if (accepted) {
      ++report_.accepted;
      lineage_[i] = next_lineage_++;
      logs_.sums()[i] = proposal_logs_.sums()[i];
      for (std::size_t at = i; at < population_.belief.size(); at += filter_.stride()) {
        population_.belief[at] = proposal_.belief[at];
      }
    }
    const detail::Population& kept = accepted ? proposal_ : population_;
    detail::Population& replaced = accepted ? population_ : proposal_;
    const std::size_t end = filter_.entry(action + 1, 0, 0);
    for (std::size_t at = filter_.entry(action, 0, 0) + i; at < end; at += filter_.stride()) {
      replaced.transition[at] = kept.transition[at];
    }
  }
}

void ParticlePosterior::summarise(Rng& rng) {
  detail::RowMoments pooled(filter_);
  move_on_window(&pooled, rng);
  past_ = detail::DirichletRows::matched(pooled, 1.0, past_, static_cast<double>(rows_.size()));
  mean_belief(window_start_);
  rows_.clear();
  ++report_.summaries;
}

}  // namespace oas
