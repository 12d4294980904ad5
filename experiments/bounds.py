"""What linear-quadratic-Gaussian control reaches on heat1d, for the scorecard: results/bounds.jsonl.

    python3 experiments/bounds.py

Eight immobile agents on the usual lattice, the exact model (Crank–Nicolson, 40 of its 98 sine modes), sensor noise on
every node and the prior that instances are drawn from. Two controllers with a cost on the final error and a small one
on the effort:

- `centralised`: one Kalman filter that reads every window and drives all agents, knows the whole target and is optimal
  for immobile agents. Its expected relative error is computed from covariances; pushes are unlimited (rms 2, limit 40).
- `decentralised`: each agent has a Kalman filter of its own window, knows the target in it and guesses the pushes of
  the others from its own estimate. It is constructed, not optimal: another decentralised controller may do better. Its
  two parameters are chosen on other instances than those it is scored on.
"""

import itertools

import numpy as np

from cases import commit
from tables import write

NODES, MODES, AGENTS, TICKS = 100, 40, 8, 300
NU, TICK, WIDTH, WINDOW, LIMIT = 0.2, 1e-3, 0.1, 0.14, 40.0
START_LENGTH, TARGET_LENGTH = 0.2, 0.4
DISTURBANCES = [(0, 0), (0.001, 0), (0.01, 0), (0.03, 0), (0, 1), (0, 2), (0, 5), (0, 7), (0.01, 5), (0.03, 5)]
CENTRAL_EFFORT = 1e-10
"""Weight of the effort of the centralised controller, relative to the final error; less changes little."""
LOCAL_EFFORT, LOCAL_DOUBT = (1e-8, 3e-8, 1e-7, 3e-7), (1.0, 4.0)
"""Effort weights, and standard deviations of the pushes of others, that the decentralised one is tuned over."""
INSTANCES = 200

X = np.linspace(0, 1, NODES)
INNER, DX = X[1:-1], X[1]
POSITIONS = np.linspace(0.05, 0.95, AGENTS)
ORDERS = np.arange(1, MODES + 1)
SINES = np.sqrt(2 / (NODES - 1)) * np.sin(np.pi * np.outer(np.arange(1, NODES - 1), ORDERS) / (NODES - 1))
DECAY = NU * (2 - 2 * np.cos(np.pi * ORDERS / (NODES - 1))) / DX**2
A = np.diag((1 - 0.5 * TICK * DECAY) / (1 + 0.5 * TICK * DECAY))
B = (TICK / (1 + 0.5 * TICK * DECAY))[:, None] * (
    SINES.T @ np.exp(-((INNER[:, None] - POSITIONS) ** 2) / (2 * WIDTH**2))
)
ONE, NONE = np.eye(MODES), np.zeros((MODES, MODES))


def prior(length):
    """Covariance of the modes of a Gaussian random field that is pinned at both walls."""
    kernel = np.exp(-0.5 * ((X[:, None] - X) / length) ** 2)
    pin = np.eye(NODES)
    pin[:, 0] -= 1 - X
    pin[:, -1] -= X
    return SINES.T @ (pin @ kernel @ pin.T)[1:-1, 1:-1] @ SINES


START, TARGET = prior(START_LENGTH), prior(TARGET_LENGTH)
FREE = np.linalg.matrix_power(A, TICKS)


def gains(effort, delay, along=0.0):
    """Feedback of field and target at each tick; `along` weighs the error on the way."""
    both = np.block([[A, NONE], [NONE, ONE]])
    push = np.vstack([B, np.zeros((MODES, AGENTS))])
    final = np.block([[ONE, -ONE], [-ONE, ONE]]) / NODES
    cost, out = final, [None] * TICKS
    for k in reversed(range(TICKS)):
        if k >= delay:
            out[k] = np.linalg.solve(push.T @ cost @ push + effort * np.eye(AGENTS), push.T @ cost @ both)
            cost = both.T @ cost @ (both - push @ out[k])
        else:
            cost = both.T @ cost @ both
        cost = 0.5 * (cost + cost.T) + along * final / TICKS
    return out


def centralised(noise, delay):
    """Expected relative error."""
    both, push = np.block([[A, NONE], [NONE, ONE]]), np.vstack([B, np.zeros((MODES, AGENTS))])
    feedback, doubt, filtered = gains(CENTRAL_EFFORT, delay), START.copy(), []
    for _ in range(TICKS):
        after = doubt @ np.linalg.inv(doubt + noise**2 * ONE) * noise**2 if noise else NONE
        filtered.append(0.5 * (after + after.T))
        doubt = A @ filtered[-1] @ A.T
    state = np.block([[START, NONE], [NONE, TARGET]])
    for k in range(TICKS):
        if k >= delay:
            unknown = filtered[k - delay]
            for _ in range(delay):
                unknown = A @ unknown @ A.T
            known = state.copy()
            known[:MODES, :MODES] -= unknown
            moved = both @ known @ feedback[k].T @ push.T
            state = both @ state @ both.T - moved - moved.T + push @ (feedback[k] @ known @ feedback[k].T) @ push.T
        else:
            state = both @ state @ both.T
        state = 0.5 * (state + state.T)
    error = state[:MODES, :MODES] - state[:MODES, MODES:] - state[MODES:, :MODES] + state[MODES:, MODES:]
    return np.trace(error) / (np.trace(FREE @ START @ FREE.T) + np.trace(TARGET))


def decentralised(noise, delay, effort, doubt, seed):
    """Mean relative error over instances."""
    rng = np.random.default_rng(seed)
    draw = lambda covariance: np.linalg.cholesky(covariance + 1e-12 * ONE) @ rng.standard_normal((MODES, INSTANCES))
    start, target = draw(START), draw(TARGET)
    seen = [SINES[np.abs(INNER - position) <= 0.5 * WINDOW + DX] for position in POSITIONS]
    windows = [np.abs(INNER - position) <= 0.5 * WINDOW + DX for position in POSITIONS]
    feedback, read = gains(effort, 0, along=1.0), max(noise, 1e-4)
    targets, filters = [], []
    for i, sines in enumerate(seen):
        size = np.eye(len(sines))
        targets.append(TARGET @ sines.T @ np.linalg.solve(sines @ TARGET @ sines.T + 1e-6 * size, sines @ target))
        others = np.delete(B, i, axis=1)
        unknown, own = START.copy(), []
        for _ in range(TICKS):
            gain = np.linalg.solve(sines @ unknown @ sines.T + read**2 * size, sines @ unknown).T
            own.append(gain)
            left = ONE - gain @ sines
            unknown = A @ (left @ unknown @ left.T + read**2 * gain @ gain.T) @ A.T + doubt**2 * others @ others.T
        filters.append(own)
    field, estimates = start.copy(), [np.zeros((MODES, INSTANCES)) for _ in range(AGENTS)]
    pending = [np.zeros((AGENTS, INSTANCES))] * delay
    guesses = [list(pending) for _ in range(AGENTS)]
    for k in range(TICKS):
        readings = SINES @ field + noise * rng.standard_normal((NODES - 2, INSTANCES))
        pushes = np.zeros((AGENTS, INSTANCES))
        for i in range(AGENTS):
            estimates[i] = estimates[i] + filters[i][k] @ (readings[windows[i]] - seen[i] @ estimates[i])
            ahead = estimates[i]
            for guess in guesses[i]:
                ahead = A @ ahead + B @ guess
            decided = -feedback[min(k + delay, TICKS - 1)] @ np.vstack([ahead, targets[i]])
            guesses[i].append(np.clip(decided, -LIMIT, LIMIT))
            pushes[i] = guesses[i][-1][i]
            estimates[i] = A @ estimates[i] + B @ guesses[i].pop(0)
        pending = [*pending, pushes]
        field = A @ field + B @ pending[0]
        pending = pending[1:]
    return np.mean(np.sum((field - target) ** 2, 0)) / np.mean(np.sum((FREE @ start - target) ** 2, 0))


def main():
    lines = []
    for noise, delay in DISTURBANCES:
        tuned = min(
            itertools.product(LOCAL_EFFORT, LOCAL_DOUBT), key=lambda pair: decentralised(noise, delay, *pair, seed=1000)
        )
        found = {
            "centralised": {"ratio": centralised(noise, delay), "effort_weight": CENTRAL_EFFORT},
            "decentralised": {
                "ratio": decentralised(noise, delay, *tuned, seed=4000),
                "effort_weight": tuned[0],
                "push_of_others": tuned[1],
                "instances": INSTANCES,
                "seed": 4000,
            },
        }
        for kind, result in found.items():
            line = {"run": f"heat1d/{kind}", "commit": commit(), "problem": "heat1d", "sensor_noise": noise, "delay": delay}
            lines.append(line | {key: float(value) for key, value in result.items()})
            print(f"{kind}, noise {noise}, delay {delay}: {result['ratio']:.2g}", flush=True)
    write("bounds", lines)


if __name__ == "__main__":
    main()
