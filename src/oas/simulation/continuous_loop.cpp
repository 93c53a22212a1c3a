#include "oas/simulation/continuous_loop.hpp"

#include <utility>

#include "oas/simulation/detail/with_policy.hpp"
#include "oas/simulation/policies.hpp"

namespace oas {

ContinuousLoop::ContinuousLoop(const ContinuousPomdp& model, const PolicyOptions& options,
                               std::uint64_t seed, std::uint32_t replication)
    : loop_(detail::with_policy(
          model.chain(), options,
          [&]<Agent<SensorReading> T>(T agent) {
            return Loop(model, std::move(agent), seed, replication);
          },
          [&](const TransitionModel& own, double floor, bool memoryless, const auto& start) {
            return start(LikelihoodPolicy(model.chain(), own, floor, memoryless));
          })) {}

void ContinuousLoop::advance(std::size_t steps, Trajectory& out, std::vector<double>& readings,
                             std::vector<double>* likelihoods) {
  loop_.advance(steps, ReadingRows{out, readings, likelihoods});
}

}  // namespace oas
