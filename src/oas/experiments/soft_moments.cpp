#include "oas/experiments/detail/soft_moments.hpp"

#include "oas/experiments/log_likelihood.hpp"

namespace oas::detail {

SoftMoments::SoftMoments(const ContinuousPomdp& model, const FoldOptions& fold,
                         std::size_t memory_limit)
    : model_(model),
      folder_(model.num_states(), model.num_actions(), model.timing(), fold),
      sample_(model.num_states(), model.num_actions(), memory_limit) {}

bool SoftMoments::fits(const ContinuousPomdp& model) {
  return static_cast<long>(model.num_states()) * model.num_actions() <= SoftFolder::kMaxSymbols;
}

void SoftMoments::add(const LogBlock& block, std::span<const double> propensities) {
  const auto n = static_cast<std::size_t>(model_.num_states());
  const std::span<const Action> actions(block.rows.actions);
  const std::span<const Observation> observations(block.rows.observations);
  const std::span<const double> likelihoods(block.likelihoods);
  by_runs(
      block, [&] { folder_.start_run(); },
      [&](std::size_t first, std::size_t count) {
        folder_.add(actions.subspan(first, count), observations.subspan(first, count),
                    likelihoods.subspan(first * n, count * n),
                    propensities.empty() ? propensities : propensities.subspan(first, count));
      });
  // Densities say what the means are; likelihoods alone do not.
  if (block.readings.empty()) sample_rows(block);
}

Pomdp SoftMoments::soft_model() const {
  return model_.with_sensors(sample_.rows() > 0 ? sample_.sensors()
                                                : soft_sensors(model_.sensors()));
}

MomentSeries SoftMoments::finish(const LeftInverses& inverses) { return folder_.finish(inverses); }

void SoftMoments::sample_rows(const LogBlock& block) {
  const auto n = static_cast<std::size_t>(model_.num_states());
  for (std::size_t t = 0; t < block.rows.size(); ++t) {
    if (block.rows.observations[t] == kMissing) continue;
    const auto row = block.likelihoods.begin() + static_cast<std::ptrdiff_t>(t * n);
    features_.assign(row, row + static_cast<std::ptrdiff_t>(n));
    to_soft_features(features_);
    sample_.add(block.rows.actions[t], features_);
  }
}

}  // namespace oas::detail
