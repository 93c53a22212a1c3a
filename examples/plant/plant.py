#!/usr/bin/env python3
"""A simulated plant that asks an agent over HTTP what to do: pumps that wear and can be serviced.

    python3 examples/plant/plant.py --model plant.json           what an engineer knows, as a model
    python3 examples/plant/plant.py --steps N [--pumps N] [--http URL] [--token-file FILE]
                                    [--seed N] [--pause SECONDS]

Every hour each pump gives a reading of its vibration (quiet, loud, screaming, sometimes none), and
the agent says whether to run or to service it in the next one. The plant is a process of its own:
it keeps nothing but where its pumps stand, in plant-state.json, and may be killed and started again
like the agent. When an answer does not come it asks the same again, which the agent answers the
same.
"""

import argparse
import http.client
import json
import pathlib
import random
import time
import urllib.parse

STATES = ("good", "worn", "failed")
ACTIONS = ("run", "service")
READINGS = ("quiet", "loud", "screaming")
SENSOR = {"good": (0.85, 0.13, 0.02), "worn": (0.25, 0.60, 0.15), "failed": (0.05, 0.15, 0.80)}
TRUTH = {  # what nobody knows: [action][state][next]
    "run": ((0.95, 0.05, 0.00), (0.00, 0.90, 0.10), (0.00, 0.00, 1.00)),
    "service": ((1.00, 0.00, 0.00), (0.80, 0.20, 0.00), (0.60, 0.20, 0.20))}
REWARD = {"run": (10.0, 8.0, 0.0), "service": (2.0, 2.0, -5.0)}  # an hour in [state]
LOST = 0.02  # readings that do not arrive


def model():
    """States, sensors and rewards; no transition, which the agent is to learn."""
    return {"format": "oas-model/1", "timing": "after", "states": STATES, "actions": ACTIONS,
            "observations": READINGS, "start": [1, 0, 0],
            "observation": [[SENSOR[state] for state in STATES] for _ in ACTIONS],
            "reward": [REWARD[action] for action in ACTIONS]}


class Agent:
    """The other process. Asks again when it is not there, since that changes nothing."""

    def __init__(self, url, token):
        self.url = urllib.parse.urlsplit(url)
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.connection = None

    def ask(self, call, **request):
        for _ in range(600):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(self.url.netloc, timeout=10)
                self.connection.request("POST", f"/v1/{call}", json.dumps(request), self.headers)
                reply = self.connection.getresponse()
                answer = json.loads(reply.read())
                if reply.status not in (429, 503):
                    break
            except (OSError, http.client.HTTPException):
                self.connection = None
            time.sleep(0.1)
        else:
            raise SystemExit(f"plant.py: {self.url.geturl()} does not answer")
        if not answer["ok"]:
            raise SystemExit(f"plant.py: {call} of {request.get('unit')}: {answer['error']}")
        return answer


class Plant:
    """Where the pumps stand, in a file that is replaced whole."""

    def __init__(self, pumps, seed):
        self.file = pathlib.Path("plant-state.json")
        self.pumps = [{"unit": f"pump-{i + 1:02}", "state": 0, "step": 0, "action": None}
                      for i in range(pumps)]
        self.earned, self.hours = 0.0, 0
        self.rng = random.Random(seed)
        if self.file.exists():
            kept = json.loads(self.file.read_text())
            self.pumps, self.earned, self.hours = kept["pumps"], kept["earned"], kept["hours"]
            self.rng = random.Random(f"{seed} {self.hours}")

    def keep(self):
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps({"pumps": self.pumps, "earned": self.earned,
                                   "hours": self.hours}))
        new.replace(self.file)

    def hour(self, pump):
        """One hour under the action that was chosen; what the sensor says at its end."""
        action, state = pump["action"], pump["state"]
        self.earned += REWARD[action][state]
        pump["state"] = self.rng.choices(range(3), TRUTH[action][state])[0]
        if self.rng.random() < LOST:
            return None
        return self.rng.choices(READINGS, SENSOR[STATES[pump["state"]]])[0]

    def step(self, agent):
        """Every pump works for an hour; what it showed is told, and kept until it was taken."""
        if "seen" not in self.pumps[0]:  # else it was killed before all was taken
            for pump in self.pumps:
                if pump["action"] is None:
                    pump["action"] = agent.ask("act", unit=pump["unit"], step=0)["action"]
                pump["seen"] = self.hour(pump)
            self.hours += 1
            self.keep()
        for pump in self.pumps:
            answer = agent.ask("step", unit=pump["unit"], step=pump["step"],
                               observation=pump.pop("seen"))
            pump["action"], pump["step"] = answer["action"], answer["step"]
        self.keep()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", help="write what an engineer knows to this file, and stop")
    parser.add_argument("--http", default="http://127.0.0.1:8080")
    parser.add_argument("--token-file")
    parser.add_argument("--pumps", type=int, default=12)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two hours")
    given = parser.parse_args()
    if given.model:
        pathlib.Path(given.model).write_text(json.dumps(model(), indent=1) + "\n")
        print(f"{given.model}: written")
        return
    token = ""
    if given.token_file:
        token = pathlib.Path(given.token_file).read_text().split()[0]
    agent, plant = Agent(given.http, token), Plant(given.pumps, given.seed)
    before = plant.earned
    for _ in range(given.steps):
        plant.step(agent)
        time.sleep(given.pause)
    hours = given.steps * len(plant.pumps)
    print(f"{len(plant.pumps)} pumps, {given.steps} hours more, {plant.hours} in all")
    print(f"earned {(plant.earned - before) / hours:.2f} per pump and hour")


if __name__ == "__main__":
    main()
