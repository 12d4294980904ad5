#!/usr/bin/env python3
"""The regulator of heat1d by python-control, compared with that of `cinoc design`.

    cinoc design heat1d --effort 1e-6 -o lqr.safetensors
    python3 peers/control/lqr.py lqr.safetensors 1e-6       (needs numpy and control: pip install control)

The same tick as matrices written here (Crank–Nicolson between walls, Gaussian pushes of agents that stand), gains by `control.dlqr`, and the
errors that both leave of 200 fields after 300 ticks without limits. One JSON line: the largest difference of gains relative to the largest
gain, and the relative difference of the mean errors.
"""
import json
import struct
import sys

import numpy as np

try:
    import control
except ImportError:
    sys.exit("SKIPPED: python-control is not installed, nothing was compared; install it with: pip install control")

NODES, AGENTS, TICKS, LIMIT = 100, 8, 300, 40.0
NU, TICK, WIDTH = 0.2, 1e-3, 0.1


def plant():
    """A and B of a tick on the inner nodes."""
    x = np.linspace(0, 1, NODES)
    n, r = NODES - 2, 0.5 * NU * TICK / x[1] ** 2
    second = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    implicit = np.eye(n) - r * second
    push = np.exp(-((x[1:-1, None] - np.linspace(0.05, 0.95, AGENTS)) ** 2) / (2 * WIDTH**2))
    return np.linalg.solve(implicit, np.eye(n) + r * second), np.linalg.solve(implicit, TICK * push)


def feedback(path):
    """Gains of a model file from the inner nodes to the pushes, in physical units: -K."""
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    about = json.loads(data[8 : 8 + length])["gain.w"]
    first, last = about["data_offsets"]
    gains = np.frombuffer(data[8 + length :][first:last], "<f4").reshape(about["shape"])
    # Field, target and positions to push and velocity of each agent.
    return -LIMIT * gains[1 : NODES - 1, ::2].T.astype(float)


def left(a, b, k):
    """Mean squared error that is left of random smooth fields, with a target of zero."""
    x = np.linspace(0, 1, NODES)[1:-1]
    waves = np.sin(np.pi * np.outer(x, np.arange(1, 9)))
    z = waves @ np.random.default_rng(0).standard_normal((8, 200))
    for _ in range(TICKS):
        z = a @ z - b @ (k @ z)
    return np.mean(z**2)


def main():
    path, effort = sys.argv[1], float(sys.argv[2])
    a, b = plant()
    k, _, _ = control.dlqr(a, b, np.eye(NODES - 2) / NODES, effort / AGENTS * np.eye(AGENTS))
    ours, peer = feedback(path), np.asarray(k)
    errors = [left(a, b, gains) for gains in (ours, peer)]
    found = {"gains": np.abs(ours - peer).max() / np.abs(peer).max(), "ours": errors[0], "control": errors[1]}
    print(json.dumps({"problem": "heat1d", "effort": effort, **found, "difference": errors[0] / errors[1] - 1}))


if __name__ == "__main__":
    main()
