"""An agent for a real system: it acts, is told what was seen, and loses nothing when it ends."""

import shutil

import oas

shutil.rmtree("pumps", ignore_errors=True)  # begin anew
choice = None
for _day in range(2):  # the second day is another process, as it were
    with oas.LiveAgent("machine-maintenance", "pumps") as agent:
        # Asked again, it says again which step is to come and which action was chosen for it.
        choice = agent.act("pump-7", choice.step if choice else 0)
        for hour in range(24):
            reading = 1 if hour % 3 == 0 else 0  # in place of your sensor
            choice = agent.step("pump-7", choice.step, reading)
        print(f"step {choice.step}: {choice.action}")
assert choice.step == 48
