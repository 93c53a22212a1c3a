#!/usr/bin/env python3
"""A learner for fully observed problems on beliefs: PPO, in the style of CleanRL, in NumPy.

Steps 256 copies of a problem as a Gymnasium vector environment, sees the exact belief of each, and
is compared with the gain that the planner of oas certifies. Takes about a minute a problem.

    python examples/python/ppo_on_beliefs.py [machine-maintenance network-link …]
"""

import sys

import gymnasium
import numpy as np
import oas.gym

import oas

COPIES, HORIZON, UPDATES, EPOCHS, PARTS = 256, 64, 150, 4, 8
DISCOUNT, TRACE, CLIP, ENTROPY, RATE = 0.97, 0.95, 0.2, 0.003, 3e-3


class Network:
    """One hidden layer of tanh, learned by Adam."""

    def __init__(self, inputs, outputs, rng, hidden=64):
        """Draws the weights."""
        self.weights = [
            rng.normal(0, 1 / np.sqrt(inputs), (inputs, hidden)),
            np.zeros(hidden),
            rng.normal(0, 0.01, (hidden, outputs)),
            np.zeros(outputs),
        ]
        self.moments = [(np.zeros_like(w), np.zeros_like(w)) for w in self.weights]
        self.steps = 0

    def __call__(self, inputs):
        """The outputs; keeps what `learn` needs."""
        first, shift, second, last = self.weights
        self.inputs, self.hidden = inputs, np.tanh(inputs @ first + shift)
        return self.hidden @ second + last

    def learn(self, slope, rate):
        """One step of Adam down the slope of a loss by the outputs."""
        inner = (slope @ self.weights[2].T) * (1 - self.hidden**2)
        slopes = [self.inputs.T @ inner, inner.sum(0), self.hidden.T @ slope, slope.sum(0)]
        norm = np.sqrt(sum((s**2).sum() for s in slopes))
        self.steps += 1
        for weight, (mean, square), full in zip(self.weights, self.moments, slopes):
            cut = full * min(1.0, 0.5 / (norm + 1e-12))
            mean += 0.1 * (cut - mean)
            square += 0.001 * (cut**2 - square)
            scaled = mean / (1 - 0.9**self.steps)
            weight -= rate * scaled / (np.sqrt(square / (1 - 0.999**self.steps)) + 1e-8)


def log_softmax(scores):
    """Logarithms of probabilities."""
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


def collect(envs, beliefs, actor, critic, rng):
    """HORIZON steps of all copies: beliefs, actions, log-probabilities, advantages, returns."""
    seen, acted, logs, paid = [], [], [], []
    for _ in range(HORIZON):
        log = log_softmax(actor(beliefs))
        actions = (log + rng.gumbel(size=log.shape)).argmax(axis=1)
        seen.append(beliefs)
        acted.append(actions)
        logs.append(log[np.arange(COPIES), actions])
        beliefs, rewards, *_ = envs.step(actions)
        paid.append(rewards)
    values = critic(np.concatenate([*seen, beliefs])).reshape(HORIZON + 1, COPIES)
    rewards = np.array(paid)
    rewards = rewards - rewards.mean()  # the problem has no end: only differences count
    advantages = np.zeros_like(rewards)
    carried = np.zeros(COPIES)
    for t in reversed(range(HORIZON)):
        error = rewards[t] + DISCOUNT * values[t + 1] - values[t]
        carried = error + DISCOUNT * TRACE * carried
        advantages[t] = carried
    flat = [np.concatenate(part) for part in (seen, acted, logs)]
    return beliefs, [*flat, advantages.ravel(), (advantages + values[:-1]).ravel()]


def improve(actor, critic, batch, rate, rng):
    """EPOCHS passes of clipped policy gradients over what was collected."""
    for _ in range(EPOCHS):
        for part in np.array_split(rng.permutation(COPIES * HORIZON), PARTS):
            beliefs, actions, before, gained, returns = (column[part] for column in batch)
            gained = (gained - gained.mean()) / (gained.std() + 1e-8)
            log = log_softmax(actor(beliefs))
            chosen = np.eye(log.shape[1])[actions]
            ratio = np.exp((log * chosen).sum(1) - before)
            clipped = ((ratio > 1 + CLIP) & (gained > 0)) | ((ratio < 1 - CLIP) & (gained < 0))
            probability = np.exp(log)
            slope = -(np.where(clipped, 0, ratio * gained))[:, None] * (chosen - probability)
            entropy = -(probability * log).sum(1, keepdims=True)
            slope += ENTROPY * probability * (log + entropy)
            actor.learn(slope / len(part), rate)
            error = critic(beliefs) - returns[:, None]
            critic.learn(error / len(part), rate)


def played(envs, actor, steps=2000):
    """The average reward of the greedy policy, after a while."""
    beliefs, _ = envs.reset(seed=999)
    total = 0.0
    for step in range(steps + 200):
        beliefs, rewards, *_ = envs.step(actor(beliefs).argmax(axis=1))
        total += rewards.mean() if step >= 200 else 0.0
    return total / steps


def main(problems):
    """Learns each problem and says what share of the certified gain was reached."""
    for problem in problems:
        plan = oas.plan(problem, gap=1e-2)
        name = next(key for key, value in oas.gym.ids().items() if value == problem)
        envs = oas.gym.BeliefVectorObservation(gymnasium.make_vec(name, num_envs=COPIES))
        rng = np.random.default_rng(1)
        beliefs, _ = envs.reset(seed=1)
        model = plan.model
        actor = Network(model.num_states, model.num_actions, rng)
        critic = Network(model.num_states, 1, rng)
        for update in range(UPDATES):
            beliefs, batch = collect(envs, beliefs, actor, critic, rng)
            improve(actor, critic, batch, RATE * (1 - update / UPDATES), rng)
        gain = played(envs, actor)
        print(
            f"{problem}: PPO earns {gain:.4f} a step after {COPIES * HORIZON * UPDATES:,} steps, "
            f"{100 * gain / plan.gain_upper:.1f} % of the certified gain in "
            f"[{plan.gain_lower:.4f}, {plan.gain_upper:.4f}]",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or ["machine-maintenance", "network-link"])
