// Your own sensors and your own log: a pump that is fine or leaking, watched by a noisy gauge. The
// dynamics are unknown; the log is a CSV file with readings that are missing at times.

#include <fmt/format.h>

#include <oas/oas.hpp>

int main() {
  oas::PomdpParts parts;
  parts.timing = oas::Timing::before;  // the gauge shows the state in which the action was taken
  parts.states = oas::Labels({"fine", "leaking"}, "state");
  parts.actions = oas::Labels({"pump", "flush"}, "action");
  parts.observations = oas::Labels({"normal", "low", "alarm"}, "observation");
  parts.sensors = oas::ObservationModel(2, 2, 3,
                                        {
                                            0.85, 0.13, 0.02,  // pump, fine: normal, low, alarm
                                            0.20, 0.50, 0.30,  // pump, leaking
                                            0.70, 0.25, 0.05,  // flush, fine
                                            0.10, 0.40, 0.50,  // flush, leaking
                                        });
  const oas::Pomdp pump(parts);  // no transition model: that is what we want to know

  // Stand-in for the real pump and its data logger, which loses every 50th reading.
  const oas::TransitionModel truth(2, 2, {0.97, 0.03, 0.10, 0.90, 0.99, 0.01, 0.60, 0.40});
  oas::ClosedLoop real_pump(pump.with_transition(truth), {.name = "uniform"}, /*seed=*/3);
  oas::Trajectory rows;
  real_pump.advance(200'000, rows);
  for (std::size_t t = 0; t < rows.size(); t += 50) rows.observations[t] = oas::kMissing;
  oas::LogWriter log("pump.csv", pump, {});
  log.write(rows, /*run=*/0);
  log.commit();

  const std::vector<std::string> files = {"pump.csv"};
  const oas::TransitionEstimate learned = oas::estimate_from_logs(pump, files, {});
  oas::write_estimate("pump_learned.json", pump, learned);
  fmt::print("{}; {} rows had no reading\n", learned.brief(), learned.missing);
  for (const std::string& warning : learned.warnings) fmt::print("warning: {}\n", warning);

  const oas::Pomdp model = oas::read_model("pump_learned.json");  // an estimate is a model
  const double leaks = model.transition()(oas::Action{0}, oas::State{0}, oas::State{1});
  fmt::print("P(leaking | fine, pump) = {:.3f} ± {:.3f}, truly 0.03\n", leaks,
             learned.standard_error[1]);
  return std::abs(leaks - 0.03) < 5 * learned.standard_error[1] ? 0 : 1;
}
