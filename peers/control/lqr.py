#!/usr/bin/env python3
"""The regulators of heat1d and heat2d by python-control, compared with those of `cinoc design`.

    cinoc design heat1d --effort 1e-6 -o lqr.safetensors
    python3 peers/control/lqr.py heat1d lqr.safetensors 1e-6       (needs numpy and control: pip install control)

The same tick as matrices written here (Crank–Nicolson or Peaceman–Rachford between walls, Gaussian pushes of agents that
do not move), gains by `control.dlqr`, and the errors of both on 200 smooth fields at the scored tick without limits. One
JSON line: the largest difference of gains relative to the largest gain, and the relative difference of the mean errors.
On heat2d, with 900 states, python-control takes some minutes.
"""

import json
import struct
import sys

import numpy as np

try:
    import control
except ImportError:
    sys.exit("SKIPPED: python-control is not installed, nothing was compared; install it with: pip install control")

LIMIT, NU, TICK = 40.0, 0.2, 1e-3
NODES = {"heat1d": 100, "heat2d": 32}
TICKS = {"heat1d": 300, "heat2d": 100}


def axis(nodes):
    """Inner nodes of an axis and half a tick of diffusion along it."""
    x = np.linspace(0, 1, nodes)
    n = nodes - 2
    second = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    return x[1:-1], 0.5 * NU * TICK / x[1] ** 2 * second


def bump(x, centres, width):
    """Values of Gaussian pushes."""
    return np.exp(-((x[:, None] - centres) ** 2) / (2 * width**2))


def plant(problem):
    """A and B of a tick on the inner nodes."""
    x, half = axis(NODES[problem])
    one = np.eye(len(x))
    if problem == "heat1d":
        push = bump(x, np.linspace(0.05, 0.95, 8), 0.1)
        return np.linalg.solve(one - half, one + half), np.linalg.solve(one - half, TICK * push)
    along_x, along_y, all_ones = np.kron(half, one), np.kron(one, half), np.eye(len(x) ** 2)
    shapes = bump(x, (np.arange(4) + 0.5) / 4, 0.15)
    push = np.kron(shapes, shapes)
    first = np.linalg.solve(all_ones - along_x, np.hstack([all_ones + along_y, 0.5 * TICK * push]))
    n = len(all_ones)
    field, pushed = first[:, :n], first[:, n:]
    field = np.linalg.solve(all_ones - along_y, (all_ones + along_x) @ field)
    return field, np.linalg.solve(all_ones - along_y, (all_ones + along_x) @ pushed + 0.5 * TICK * push)


def feedback(path, problem):
    """Gains of a model file from the inner nodes to the pushes, in physical units: -K."""
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    about = json.loads(data[8 : 8 + length])["gain.w"]
    first, last = about["data_offsets"]
    gains = np.frombuffer(data[8 + length :][first:last], "<f4").reshape(about["shape"])
    # Field, target and positions to push and velocity of each agent.
    nodes, dimensions = NODES[problem], int(problem[-2])
    inner = np.pad(np.ones((nodes - 2,) * dimensions, bool), 1).ravel()
    return -LIMIT * gains[: inner.size][inner, :: 1 + dimensions].T.astype(float)


def error(problem, a, b, k):
    """Mean squared error of random smooth fields at the scored tick, with a target of zero."""
    x, _ = axis(NODES[problem])
    waves = np.sin(np.pi * np.outer(x, np.arange(1, 9)))
    waves = waves if problem == "heat1d" else np.kron(waves[:, :4], waves[:, :4])
    z = waves @ np.random.default_rng(0).standard_normal((waves.shape[1], 200))
    for _ in range(TICKS[problem]):
        z = a @ z - b @ (k @ z)
    return np.mean(z**2)


def main():
    problem, path, effort = sys.argv[1], sys.argv[2], float(sys.argv[3])
    a, b = plant(problem)
    nodes, agents = NODES[problem] ** int(problem[-2]), b.shape[1]
    k, _, _ = control.dlqr(a, b, np.eye(len(a)) / nodes, effort / agents * np.eye(agents))
    ours, peer = feedback(path, problem), np.asarray(k)
    errors = [error(problem, a, b, gains) for gains in (ours, peer)]
    found = {"gains": np.abs(ours - peer).max() / np.abs(peer).max(), "ours": errors[0], "control": errors[1]}
    print(json.dumps({"problem": problem, "effort": effort, **found, "difference": errors[0] / errors[1] - 1}))


if __name__ == "__main__":
    main()
