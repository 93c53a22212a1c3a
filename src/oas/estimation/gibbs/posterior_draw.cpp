#include "oas/estimation/gibbs/posterior_draw.hpp"

#include "oas/core/contracts.hpp"
#include "oas/estimation/gibbs/gibbs_chain.hpp"
#include "oas/estimation/gibbs/transition_prior.hpp"

namespace oas {

std::optional<TransitionModel> draw_from_posterior(const TransitionLikelihood& rows,
                                                   const TransitionModel& start, int sweeps,
                                                   Rng rng) {
  const int num_states = rows.num_states();
  const int num_actions = rows.num_actions();
  OAS_REQUIRE(start.num_states() == num_states && start.num_actions() == num_actions,
              "a start of {} states and {} actions for rows of {} and {}", start.num_states(),
              start.num_actions(), num_states, num_actions);
  OAS_REQUIRE(sweeps >= 1, "sweeps is {}; a draw takes at least 1", sweeps);
  const detail::TransitionPrior prior(num_states, num_actions, {}, std::nullopt);
  detail::GibbsChain chain(rows, prior, start.values(), rng);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    if (!chain.sweep()) return std::nullopt;
  }
  return TransitionModel(num_states, num_actions, chain.transition(), "draw");
}

}  // namespace oas
