// Simulate a machine that wears out unseen, then learn its dynamics from what was seen.

#include <fmt/format.h>

#include <oas/oas.hpp>

int main() {
  const oas::Pomdp machine = oas::machine_maintenance();

  // One run of a policy that is greedy on its belief and explores a little.
  oas::ClosedLoop loop(machine, {.name = "belief"}, /*seed=*/1);
  oas::Trajectory log;
  loop.advance(1'000'000, log);

  // Show it to an estimator. Only the sensors of `machine` are used from here on.
  oas::Evidence evidence = oas::make_evidence("oas-ml", machine);
  evidence.add(log);
  const oas::TransitionEstimate learned = evidence.estimate();

  fmt::print("{}\n", learned.brief());
  for (int next = 0; next < machine.num_states(); ++next) {
    const auto index = static_cast<std::size_t>(next);  // row (run, new) comes first
    fmt::print("P({:8} | new, run) = {:.4f} ± {:.4f}\n", machine.states()[next],
               learned.transition(oas::Action{0}, oas::State{0}, oas::State{next}),
               learned.standard_error[index]);
  }
  const auto error = oas::transition_error(machine.transition(), learned.transition);
  fmt::print("Frobenius error {:.4f}\n", error.frobenius);
  return error.frobenius < 0.1 ? 0 : 1;
}
