#include "oas/belief/first_beliefs.hpp"

#include "oas/model/run_start.hpp"

namespace oas {

std::vector<FirstBelief> first_beliefs(const Pomdp& model) {
  if (!model.reading_first()) return {{kMissing, 1.0, model.start()}};
  std::vector<FirstBelief> beliefs;
  const ObservationModel& sensor = *model.first_observation();
  for (Observation o{0}; o < model.num_observations(); ++o) {
    if (!(sensor.matrix(Action{0}).row(o.value()).array() > 0.0).any()) continue;
    FirstBelief one{o, 0.0, std::vector<double>(model.start().size())};
    one.probability = RunStart().with(first_reading(sensor, o)).belief(model.start(), one.belief);
    beliefs.push_back(std::move(one));
  }
  return beliefs;
}

}  // namespace oas
