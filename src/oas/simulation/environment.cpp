#include "oas/simulation/environment.hpp"

namespace oas {

Environment::Environment(const Pomdp& model, Rng rng)
    : timing_(model.timing()),
      reward_kind_(model.reward().kind()),
      num_states_(model.num_states()),
      num_observations_(model.num_observations()),
      transitions_(model.transition().values(), model.num_states()),
      observations_(model.sensors().values(), model.num_observations()),
      rewards_(model.reward().values().begin(), model.reward().values().end()),
      reward_table_(model.reward().table()),
      rng_(rng),
      state_(sample_categorical(model.start(), rng_)) {}

}  // namespace oas
