"""Can this model be learned, and with how much data? What `oas check` does, as a function."""

import oas

patient = oas.problem("patient-treatment")
report = oas.check(patient, target_error=0.05, trial=3, policy="uniform", steps=50_000, runs=3)
for name, value in report.items():
    print(name, value)
