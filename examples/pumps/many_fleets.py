#!/usr/bin/env python3
"""Does the road of the tutorial hold on fleets that nobody has looked at?

    python3 examples/pumps/many_fleets.py OAS [--fleets N] [--first-seed N] [--kind same|changing]
                                          [-o results.csv]

Every fleet has dynamics, sensors and rewards of its own, drawn from its seed. It is taken from the
CSV files to the decision with the commands of the tutorial, and every answer is compared with the
truth: intervals of T, the mean time to failure, the gain of the plan, how much the plan loses
against the best one, and what `oas diagnose` says. One line a fleet goes into the CSV file; a run
that was interrupted goes on where it was.
"""

import argparse
import csv
import datetime
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import make_pumps

LOG = ["pumps.csv", "--columns", "action=cmd,observation=vib+temp,run=pump,time=ts",
       "--step", "1h", "--gaps", "action=run"]
FIELDS = ("seed", "rows", "entries", "entries_held", "flagged_rows", "times", "times_held",
          "gain_held", "gain", "gain_lower", "gain_upper", "best_gain", "loss", "change_found",
          "change_off", "units_found", "drift_found", "sensors_found")


class Fleet:
    """One fleet in a folder, and the program that is asked about it."""

    def __init__(self, oas, folder, seed, changes):
        self.oas, self.folder, self.seed, self.changes = oas, folder, seed, changes
        self.steps = 500 if changes else 300
        draw_truth(random.Random(f"truth {seed}"))
        arguments = ["make_pumps", str(folder), "--seed", str(seed), "--pumps", "20",
                     "--steps", str(self.steps)]
        sys.argv = arguments + ([] if changes else ["--same"])
        make_pumps.main()
        self.truth = json.loads((folder / "true_model.json").read_text(encoding="utf-8"))

    def ask(self, *words, as_json=True):
        words = [str(word) for word in words] + (["--json"] if as_json else ["--quiet"])
        done = subprocess.run([self.oas, *words], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f"seed {self.seed}: oas {' '.join(words)}: {done.stderr}")
        return json.loads(done.stdout) if as_json else None

    def answers(self):
        found = {"seed": self.seed}
        self.ask("calibrate", "labels.csv", "--model", "pumps.json", "--columns",
                 "observation=vib+temp", "-o", "sensors.json", as_json=False)
        self.diagnose(found)
        # The dynamics at the end are what the decision is about.
        since = ["--from", self.change_time()] if self.changes else []
        self.ask("estimate", "sensors.json", *LOG, *since, "--estimator", "gibbs", "--draws", 1000,
                 "-o", "learned.json", as_json=False)
        self.compare_transitions(found)
        self.compare_times(found, since)
        self.compare_gains(found)
        return found

    def change_time(self):
        return json.loads((self.folder / "truth.json").read_text(encoding="utf-8"))["change"]

    def diagnose(self, found):
        said = self.ask("diagnose", "sensors.json", *LOG)
        found["rows"] = said["rows"]
        for answer in said["answers"]:
            if answer["name"] in ("change", "units", "drift", "sensors"):
                found[answer["name"] + "_found"] = int(answer["found"])
        if self.changes and "change" in said:
            found["change_off"] = self.distance_of(said["change"]["place"])

    def distance_of(self, place):
        """Of the place where a change was found, as a share of the log's length."""
        there, here = (datetime.datetime.fromisoformat(time).replace(tzinfo=None)
                       for time in (place, self.change_time()))
        return abs((there - here).total_seconds()) / 3600 / self.steps

    def compare_transitions(self, found):
        learned = json.loads((self.folder / "learned.json").read_text(encoding="utf-8"))
        estimate = learned["estimate"]
        entries = held = flagged = 0
        for a, matrix in enumerate(self.truth["transition"]):
            for s, row in enumerate(matrix):
                if not estimate["determined"][a][s]:
                    flagged += 1
                    continue
                for k, value in enumerate(row):
                    entries += 1
                    lower, upper = (estimate[side][a][s][k] for side in ("lower", "upper"))
                    held += lower - 1e-9 <= value <= upper + 1e-9
        found.update(entries=entries, entries_held=held, flagged_rows=flagged)

    def compare_times(self, found, since):
        """Of the first five units, which are as good as independent given T."""
        asked = [*LOG, *since, "--actions", "run", "--reach", "failed", "--steps", 48]
        said = self.ask("forecast", "learned.json", *asked)
        true = self.ask("forecast", "true_model.json", *asked)
        times = held = 0
        for mine, other in list(zip(said["units"], true["units"]))[:5]:
            limits, value = mine["mean_steps"]["limits"], other["mean_steps"]["value"]
            times += 1
            held += limits[0] - 1e-9 <= value <= limits[1] + 1e-9
        found.update(times=times, times_held=held)

    def compare_gains(self, found):
        self.ask("discretise", "learned.json", "--cells", 8, "--search", "even", "-o", "cells.json",
                 as_json=False)
        plan = self.ask("plan", "cells.json", "-o", "plan.json")
        self.ask("discretise", "true_model.json", "--use", "cells.json", "-o", "true_cells.json",
                 as_json=False)
        gain = self.ask("evaluate", "true_cells.json", "plan.json")["chain"]
        best = self.ask("plan", "true_cells.json")["gain_upper"]
        limits = plan["posterior"]
        found.update(gain=gain, gain_lower=limits["lower"], gain_upper=limits["upper"],
                     gain_held=int(limits["lower"] <= gain <= limits["upper"]), best_gain=best,
                     loss=(best - gain) / best)


def draw_truth(rng):
    """Other pumps, other sensors, other prices; written where make_pumps looks for them."""
    def wear(worn, failed):
        return ((1 - worn, worn, 0.0), (0.0, 1 - failed, failed), (0.0, 0.0, 1.0))

    def service():
        mended, replaced = rng.uniform(0.6, 0.98), rng.uniform(0.4, 0.9)
        return ((1.0, 0.0, 0.0), (mended, 1 - mended, 0.0),
                (replaced, (1 - replaced) / 2, (1 - replaced) / 2))

    serviced = service()
    old = {"run": wear(rng.uniform(0.015, 0.06), rng.uniform(0.03, 0.12)), "service": serviced}
    new = {"run": wear(rng.uniform(0.015, 0.06), rng.uniform(0.03, 0.12)), "service": service()}
    make_pumps.KINDS = {"old": old, "new": new}
    make_pumps.FASTER = {"run": wear(rng.uniform(0.08, 0.15), rng.uniform(0.12, 0.25)),
                         "service": serviced}
    first, second = rng.uniform(0.4, 0.8), rng.uniform(0.6, 1.1)
    make_pumps.VIBRATION = {"good": (0.0, 0.25), "worn": (first, 0.30),
                            "failed": (first + second, 0.35)}
    warmer, hot = rng.uniform(2.0, 6.0), rng.uniform(4.0, 9.0)
    make_pumps.TEMPERATURE = {"good": (60.0, 3.0), "worn": (60.0 + warmer, 3.5),
                              "failed": (60.0 + warmer + hot, 5.0)}
    make_pumps.REWARD = {"run": (10.0, rng.uniform(6.0, 9.0), 0.0),
                         "service": (rng.uniform(1.0, 4.0),) * 2 + (0.0,)}


def share(rows, held, trials):
    hits, number = (sum(int(row[name] or 0) for row in rows) for name in (held, trials))
    return f"{hits} of {number} ({100 * hits / max(number, 1):.1f} %)"


def summary(rows):
    losses = sorted(float(row["loss"]) for row in rows)
    found = {name: sum(int(row[name + "_found"] or 0) for row in rows)
             for name in ("change", "units", "drift", "sensors")}
    return "\n".join([
        f"{len(rows)} fleets",
        f"entries of T inside their intervals   {share(rows, 'entries_held', 'entries')}",
        f"mean times to failure                 {share(rows, 'times_held', 'times')}",
        f"gains of plans                        {sum(int(r['gain_held']) for r in rows)} of "
        f"{len(rows)}",
        f"loss of plans                         median {losses[len(losses) // 2]:.4f}, "
        f"largest {losses[-1]:.4f}, above 1 %: {sum(loss > 0.01 for loss in losses)}",
        "found by diagnose                     " + ", ".join(
            f"{name} {number}" for name, number in found.items())])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("oas", type=pathlib.Path, help="the program")
    parser.add_argument("--fleets", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--kind", choices=("same", "changing"), default="same")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("fleets.csv"))
    args = parser.parse_args()
    if not args.output.exists():
        args.output.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    with open(args.output, encoding="utf-8") as file:
        done = {int(row["seed"]) for row in csv.DictReader(file)}
    for seed in range(args.first_seed, args.first_seed + args.fleets):
        if seed in done:
            continue
        with tempfile.TemporaryDirectory() as folder:
            fleet = Fleet(args.oas.resolve(), pathlib.Path(folder), seed, args.kind == "changing")
            found = fleet.answers()
        with open(args.output, "a", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, FIELDS, lineterminator="\n").writerow(found)
    with open(args.output, encoding="utf-8") as file:
        print(summary(list(csv.DictReader(file))))


if __name__ == "__main__":
    main()
