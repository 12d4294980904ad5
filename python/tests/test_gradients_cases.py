"""Small versions of the eight problems, with smooth fields, for derivatives."""

import numpy as np

import cinoc

EIGHT = ["heat1d", "fkpp1d", "heat2d", "heat2d_obstacles", "ks1d", "ks2d", "turbulence2d", "density2d"]
TICKS = 3

SETTINGS = {
    "heat1d": {"physics.nodes": 12},
    "fkpp1d": {"physics.nodes": 12},
    "heat2d": {"physics.nodes": 7},
    "heat2d_obstacles": {"physics.nodes": 7, "obstacles.orbit": 0.03, "obstacles.orbit_ticks": 50},
    "ks1d": {"physics.nodes": 16},
    "ks2d": {"physics.nodes": 32, "physics.substeps": 2},
    "turbulence2d": {"physics.nodes": 32, "physics.substeps": 2},
    "density2d": {"physics.nodes_x": 8, "physics.nodes_y": 9},
}
# A network of few parameters. Roughness has no derivative.
NETWORK = {"observe.roughness": False, "policy.branch": [3, 3], "policy.trunk": [3, 3], "policy.head": 3, "policy.linear": 2, "policy.memory": 2}
LARGE = ("ks2d", "turbulence2d")


def make(name, **more):
    return cinoc.make(name, agents=3, set={"physics.ticks": TICKS, **SETTINGS[name], **NETWORK, **more}, dtype="float64")


def field(problem, rng):
    """Smooth, zero at walls, positive where it is a density."""
    grid = np.meshgrid(*problem.coordinates.values(), indexing="ij")
    waves = [2.0 * np.pi * x / length for x, length in zip(grid, problem.lengths)]
    if problem.name == "density2d":
        return np.exp(-sum((x / length - rng.uniform(0.4, 0.6)) ** 2 for x, length in zip(grid, problem.lengths)) / 0.05)
    if problem.periodic:
        return sum(rng.normal() * np.cos(k * sum(waves[: 1 + k % len(waves)]) + rng.uniform(0, 6)) for k in (1, 2, 3))
    walls = np.prod([np.sin(0.5 * wave) for wave in waves], axis=0)
    if problem.name == "fkpp1d":
        return walls * (0.5 + 0.3 * np.cos(waves[0] + rng.uniform(0, 6)))
    return walls * (1.0 + rng.normal() * np.cos(sum(waves)))


def scene(problem, n=2, seed=0):
    """Start, target, places, actions."""
    rng = np.random.default_rng(seed)
    start, target = (np.stack([field(problem, rng) for _ in range(n)]) for _ in range(2))
    if not problem.has_target:
        target = np.zeros_like(target)
    lengths = np.array(problem.lengths)
    places = problem.places() + 0.02 * lengths * rng.uniform(-1, 1, (n, 3, problem.dimensions))
    places = np.clip(places, 0.12 * lengths, 0.88 * lengths)
    actions = problem.limits * rng.uniform(-0.6, 0.6, (TICKS, n, 3, len(problem.components)))
    return start, target, places, actions
