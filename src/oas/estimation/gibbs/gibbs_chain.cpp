#include "oas/estimation/gibbs/gibbs_chain.hpp"

#include <algorithm>

namespace oas::detail {

void GibbsDraws::thin(std::size_t apart, std::size_t warm_up) {
  if (sweeps.empty()) return;
  const std::size_t entries = counts.size() / sweeps.size();
  std::size_t kept = 0;
  for (std::size_t d = 0; d < sweeps.size(); ++d) {
    if (sweeps[d] <= warm_up || sweeps[d] % apart != 0) continue;
    for (std::vector<double>* values : {&transition, &counts}) {
      std::copy_n(values->data() + d * entries, entries, values->data() + kept * entries);
    }
    sweeps[kept++] = sweeps[d];
  }
  sweeps.resize(kept);
  transition.resize(kept * entries);
  counts.resize(kept * entries);
}

GibbsChain::GibbsChain(const TransitionLikelihood& rows, const TransitionPrior& prior, Rng rng)
    : GibbsChain(rows, prior, std::vector<double>(prior.entries()), rng) {
  prior_.draw(counts_, transition_, rng_);
}

GibbsChain::GibbsChain(const TransitionLikelihood& rows, const TransitionPrior& prior,
                       std::span<const double> transition, Rng rng)
    : rows_(rows),
      prior_(prior),
      rng_(rng),
      sampler_(rows),
      counts_(prior.entries(), 0.0),
      transition_(transition.begin(), transition.end()) {}

bool GibbsChain::draw(std::size_t keep, std::size_t apart, const RowsRead& progress) {
  const std::size_t warm_up = keep / kWarmUp * apart;
  draws_.thin(apart, warm_up);
  draws_.transition.reserve(keep * counts_.size());
  draws_.counts.reserve(keep * counts_.size());
  while (sweeps_ < warm_up + keep * apart) {
    if (!sweep()) return false;
    if (progress) progress(static_cast<std::int64_t>(rows_.rows()));
    if (sweeps_ <= warm_up || sweeps_ % apart != 0) continue;
    draws_.transition.insert(draws_.transition.end(), transition_.begin(), transition_.end());
    draws_.counts.insert(draws_.counts.end(), counts_.begin(), counts_.end());
    draws_.sweeps.push_back(sweeps_);
  }
  return true;
}

bool GibbsChain::sweep() {
  bool possible = sampler_.sample(transition_, rng_, counts_);
  if (!possible && sweeps_ == 0) {
    // A sparse prior draws probabilities that are 0 to the machine, and a start that others chose
    // may have learned too little. Any start will do.
    possible = sampler_.sample(prior_.mean().values(), rng_, counts_);
  }
  if (!possible) return false;
  prior_.draw(counts_, transition_, rng_);
  ++sweeps_;
  return true;
}

}  // namespace oas::detail
