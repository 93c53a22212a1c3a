"""Your own sensors and your own log: a pump that is fine or leaking, watched by a noisy gauge. The
dynamics are unknown; the log is a CSV file with readings that are missing at times."""

import oas

pump = oas.Pomdp(  # no transition model: that is what we want to know
    timing="before",  # the gauge shows the state in which the action was taken
    states=["fine", "leaking"],
    actions=["pump", "flush"],
    observations=["normal", "low", "alarm"],
    observation=[
        [[0.85, 0.13, 0.02], [0.20, 0.50, 0.30]],  # pump: fine, leaking
        [[0.70, 0.25, 0.05], [0.10, 0.40, 0.50]],  # flush: fine, leaking
    ],
)

# Stand-in for the real pump and its data logger, which loses every 50th reading.
real_pump = oas.Pomdp(
    observation=pump.observation,
    transition=[[[0.97, 0.03], [0.10, 0.90]], [[0.99, 0.01], [0.60, 0.40]]],
    states=pump.states,
    actions=pump.actions,
    observations=pump.observations,
)
rows = oas.simulate(real_pump, "uniform", steps=200_000, seed=3).to_dataframe()
rows.loc[::50, "observation"] = None
rows[["action", "observation", "propensity"]].to_csv("pump.csv", index=False)

learned = oas.estimate(pump, "pump.csv")
learned.save("pump_learned.json")
print(f"{learned}; {learned.missing} rows had no reading")

model = oas.load("pump_learned.json").model  # an estimate is a model
leaks, error = model.transition[0, 0, 1], learned.standard_error[0, 0, 1]
print(f"P(leaking | fine, pump) = {leaks:.3f} ± {error:.3f}, truly 0.03")
assert abs(leaks - 0.03) < 5 * error
