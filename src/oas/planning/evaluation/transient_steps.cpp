#include <algorithm>
#include <limits>

#include "oas/planning/evaluation/detail/transient_steps.hpp"

namespace oas::detail {

TransientSteps::TransientSteps(const Pomdp& model, const CommunicationReport& report)
    : num_states_(static_cast<std::size_t>(model.num_states())) {
  if (report.num_closed_classes() == report.num_classes()) return;
  const auto class_of = [&](State s) {
    return static_cast<std::size_t>(report.class_of[static_cast<std::size_t>(s.value())]);
  };
  const Matrix rewards = model.expected_reward();
  least_ = std::numeric_limits<double>::infinity();
  most_ = -least_;
  leaves_.assign(static_cast<std::size_t>(model.num_actions()) * num_states_, 0);
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (State s{0}; s < model.num_states(); ++s) {
      if (report.class_closed[class_of(s)]) {
        least_ = std::min(least_, rewards(a.value(), s.value()));
        most_ = std::max(most_, rewards(a.value(), s.value()));
        continue;
      }
      model.transition().for_each_next(a, s, [&](State next, double probability) {
        if (probability > 0.0 && class_of(next) != class_of(s)) {
          leaves_[static_cast<std::size_t>(a.value()) * num_states_ +
                  static_cast<std::size_t>(s.value())] = 1;
        }
      });
    }
  }
}

}  // namespace oas::detail
