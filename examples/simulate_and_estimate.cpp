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
  std::size_t entry = 0;
  for (int action = 0; action < machine.num_actions(); ++action) {
    fmt::print("{}, from each state (row) to each state:\n", machine.actions()[action]);
    for (int from = 0; from < machine.num_states(); ++from) {
      fmt::print("{:>10}", machine.states()[from]);
      for (int to = 0; to < machine.num_states(); ++to, ++entry) {
        const double p = learned.transition(oas::Action{action}, oas::State{from}, oas::State{to});
        fmt::print("  {:.4f} ± {:.4f}", p, learned.standard_error[entry]);
      }
      fmt::print("\n");
    }
  }
  const auto error = oas::transition_error(machine.transition(), learned.transition);
  fmt::print("Frobenius error {:.4f}\n", error.frobenius);
  return error.frobenius < 0.1 ? 0 : 1;
}
