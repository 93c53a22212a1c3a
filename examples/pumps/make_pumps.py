#!/usr/bin/env python3
"""Makes the fleet of the tutorial: forty pumps, as an engineer would find them.

    python3 examples/pumps/make_pumps.py FOLDER [--seed N] [--pumps N] [--steps N] [--same]

writes into FOLDER
    pumps.csv    what was logged: ts,pump,cmd,vib,temp; one row an hour, units mixed
    labels.csv   800 readings in a laboratory, where somebody knew the state: state,vib,temp
    pumps.json   what the engineer knows: states, actions, what running and servicing earn
    truth.json   what nobody knows: the dynamics of both kinds of pumps, before and after the change
    true_model.json   the true sensors and the dynamics at the end, as a model

Every hour the operator reads vibration and temperature, then chooses what to do. The readings
depend on the state of the pump alone; a reading gets lost now and then, and the logger is silent
for some hours. There are two kinds of pumps, and half way through a new supplier's bearings wear
out faster. With --same there are neither: one kind, no change.
"""

import argparse
import datetime
import json
import pathlib
import random

STATES = ("good", "worn", "failed")
ACTIONS = ("run", "service")
KINDS = {  # [action][state][next]
    "old": {"run": ((0.97, 0.03, 0.00), (0.00, 0.95, 0.05), (0.00, 0.00, 1.00)),
            "service": ((1.00, 0.00, 0.00), (0.80, 0.20, 0.00), (0.60, 0.20, 0.20))},
    "new": {"run": ((0.98, 0.02, 0.00), (0.00, 0.90, 0.10), (0.00, 0.00, 1.00)),
            "service": ((1.00, 0.00, 0.00), (0.95, 0.05, 0.00), (0.90, 0.05, 0.05))},
}
FASTER = {"run": ((0.93, 0.07, 0.00), (0.00, 0.885, 0.115), (0.00, 0.00, 1.00)),
          "service": KINDS["old"]["service"]}  # either kind, after the change
VIBRATION = {"good": (0.0, 0.25), "worn": (0.5, 0.30), "failed": (1.4, 0.35)}  # log-normal
TEMPERATURE = {"good": (60.0, 3.0), "worn": (64.0, 3.5), "failed": (70.0, 5.0)}  # normal
REWARD = {"run": (10.0, 8.0, 0.0), "service": (2.0, 2.0, 0.0)}  # an hour in [state]
HOUR = datetime.timedelta(hours=1)


def readings(rng, state):
    return rng.lognormvariate(*VIBRATION[state]), rng.gauss(*TEMPERATURE[state])


def chosen(rng, vibration, temperature):
    """What an operator does who has read both: the worse it looks, the more likely a service."""
    alarm = (vibration is not None and vibration > 2.2) + (temperature is not None and
                                                           temperature > 67)
    return "service" if rng.random() < (0.03, 0.35, 0.8)[alarm] else "run"


def next_state(rng, dynamics, action, state):
    row = dynamics[action][STATES.index(state)]
    return rng.choices(STATES, weights=row)[0]


def rows_of(rng, kind, steps, change):
    """One pump: (hour, action, vibration, temperature), without the hours nobody logged."""
    state, silent = "good", 0
    for hour in range(steps):
        vibration, temperature = readings(rng, state)
        if rng.random() < 0.02:
            vibration = None
        if rng.random() < 0.02:
            temperature = None
        action = "run" if silent else chosen(rng, vibration, temperature)
        if silent:
            silent -= 1
        else:
            yield hour, action, vibration, temperature
            if action == "run" and rng.random() < 0.004:
                silent = rng.randrange(2, 9)
        state = next_state(rng, FASTER if hour >= change else KINDS[kind], action, state)


def number(value, digits):
    return "" if value is None else f"{value:.{digits}f}"


def fleet(args, folder, rng):
    start = datetime.datetime(2026, 3, 1)
    change = args.steps if args.same else args.steps // 2
    rows = []
    for pump in range(args.pumps):
        kind = "old" if args.same or pump % 2 == 0 else "new"
        for hour, action, vibration, temperature in rows_of(rng, kind, args.steps, change):
            rows.append((hour, f"P{pump + 1:02d}", action, vibration, temperature))
    rows.sort(key=lambda row: row[:2])
    with open(folder / "pumps.csv", "w", encoding="utf-8") as file:
        print("ts,pump,cmd,vib,temp", file=file)
        for hour, pump, action, vibration, temperature in rows:
            print(f"{start + hour * HOUR:%Y-%m-%d %H:%M}", pump, action, number(vibration, 3),
                  number(temperature, 1), sep=",", file=file)
    return len(rows), start + change * HOUR


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pumps", type=int, default=40)
    parser.add_argument("--steps", type=int, default=500, help="hours of each pump")
    parser.add_argument("--labels", type=int, default=800, help="labelled readings")
    parser.add_argument("--same", action="store_true", help="one kind of pump, no change")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(args.seed)
    rows, change = fleet(args, args.folder, rng)
    with open(args.folder / "labels.csv", "w", encoding="utf-8") as file:
        print("state,vib,temp", file=file)
        for _ in range(args.labels):
            state = rng.choices(STATES, weights=(5, 3, 2))[0]
            vibration, temperature = readings(rng, state)
            print(state, number(vibration, 3), number(temperature, 1), sep=",", file=file)
    known = {"format": "oas-model/1", "timing": "after", "rows": "reading-first",
             "states": STATES, "actions": ACTIONS, "observations": {"dimension": 2},
             "reward": [REWARD[action] for action in ACTIONS]}
    (args.folder / "pumps.json").write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    truth = {"change": None if args.same else f"{change:%Y-%m-%d %H:%M}",
             "old": KINDS["old"], "new": None if args.same else KINDS["new"],
             "after the change": None if args.same else FASTER,
             "vibration (mean and sd of its logarithm)": VIBRATION,
             "temperature (mean and sd)": TEMPERATURE}
    (args.folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")
    end = KINDS["old"] if args.same else FASTER
    true_model = {**known, "transition": [end[action] for action in ACTIONS],
                  "density": [[{"kind": "lognormal", "log_mean": VIBRATION[state][0],
                                "log_sd": VIBRATION[state][1]},
                               {"kind": "gaussian", "mean": TEMPERATURE[state][0],
                                "sd": TEMPERATURE[state][1]}] for state in STATES]}
    (args.folder / "true_model.json").write_text(json.dumps(true_model, indent=1) + "\n",
                                                 encoding="utf-8")
    print(f"{args.folder}: {args.pumps} pumps, {rows} rows, {args.labels} labelled readings")


if __name__ == "__main__":
    main()
