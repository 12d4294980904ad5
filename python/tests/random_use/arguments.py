"""Random arguments of cinoc, right and wrong: names, precisions, settings, deaths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import cinoc

from .draws import Draws

NAMES = ("heat1d", "fkpp1d", "heat2d", "heat2d_obstacles", "ks1d", "ks2d", "turbulence2d", "density2d")
CHAOS = {"data.settle": 1.0, "data.apart": 0.1, "data.per_run": 2, "data.train_states": 4, "data.test_states": 4, "data.validation_states": 4}
CHEAP: dict[str, dict[str, Any]] = {
    "ks1d": CHAOS,
    "ks2d": CHAOS | {"physics.nodes": 32, "physics.substeps": 4},
    "turbulence2d": CHAOS | {"physics.nodes": 32, "data.settle": 0.05, "data.per_run": 1},
}
AGENTS = {"ks2d": 25, "turbulence2d": 16, "heat2d": 9, "heat2d_obstacles": 9}
TINY = {
    "train.batch": 2, "train.shard": 1, "train.agents": [4], "train.updates": 2, "train.validate_agents": [4], "train.validate_instances": 2,
    "train.validate_every": 1, "train.checkpoint_every": 1, "train.warmup": 1,
}


def cheap(name: str, ticks: int) -> dict[str, Any]:
    """Settings of a problem that takes little time."""
    return CHEAP.get(name, {}) | {"physics.ticks": ticks}


def tiny(name: str, ticks: int) -> dict[str, Any]:
    """Settings of a training that takes little time."""
    return CHEAP.get(name, {}) | TINY | {"physics.ticks": ticks}


class Arguments(Draws):
    """What calls are given."""

    def name(self, share: float = 0.1) -> Any:
        if self.chance(share):
            return self.one(
                "", "heat3d", "HEAT1D", "heat1d ", None, 3, b"heat1d", "../heat1d", "/nonexistent.toml", "x.toml", "/", "/dev/null", "\0", "\ud800",
                "a" * 5000, Path("heat1d"), "heat1d\n", "/tmp", "/proc/self/mem", object(), [], cinoc,
            )
        return self.one(*NAMES, "heat1d", "heat1d", "heat1d", "fkpp1d")

    def precision(self) -> Any:
        """One that the engine knows."""
        return self.one("float32", "float64")

    def kind(self, share: float = 0.06) -> Any:
        """A precision, or now and then something else in its place."""
        if self.chance(share):
            return self.one(
                "float16", "int32", "bool", "complex64", "object", "f", "d", ">f4", "x", None, float, np.float32, 7, "S3", [("a", "f4")], "float128",
            )
        return self.precision()

    def deaths(self, n: int, agents: int, ticks: int) -> Any:
        if self.chance(0.6):
            return None
        good = [[(self.r.randrange(ticks + 1), self.r.randrange(agents)) for _ in range(self.r.randrange(3))] for _ in range(n)]
        if self.chance(0.6):
            return good
        return self.one(
            [], [[]], good[1:], [[(0, agents)]] * n, [[(-1, 0)]] * n, [[(2**64, 0)]] * n, [[(2**63, 0)]] * n, [(0, 0)], [(0, 0), (1, 0)], "deaths", 3,
            [[(0,)]] * n, [[(0, 0, 0)]] * n, [[("a", 0)]] * n, [[(0.5, 0)]] * n, [None] * n, np.zeros((n, 1, 2), int), {"a": 1},
        )

    def settings(self, name: str, share: float = 0.3) -> dict[str, Any]:
        found = cheap(name, self.one(2, 3, 5, 8, 12))
        while self.chance(share):
            key = self.one(
                "physics.ticks", "physics.dt", "physics.nodes", "physics.nodes_x", "physics.nu", "physics.length", "swarm.agents", "swarm.sigma",
                "swarm.u_limit", "swarm.v_limit", "swarm.kernel", "swarm.crowd", "swarm.start_margin", "observe.points", "observe.window",
                "observe.gain", "observe.gaps", "observe.target", "observe.view", "policy.kind", "policy.branch", "policy.head", "policy.memory",
                "policy.memory_ticks", "policy.linear", "cost.track", "cost.radius", "cost.effort", "data.settle", "data.per_run",
                "data.train_states", "data.start_length", "data.amplitude", "train.rate", "train.batch", "train.agents", "train.updates",
                "train.schedule", "train.shard", "train.segment", "train.strength", "physics.substeps", "physics.scheme", "no.such", "physics", "",
                "a.b.c", "physics.ticks ", "=", "physics.ticks=3", "[physics]", 3, None, "é.ü", "physics.\nticks",
            )
            small = self.one(
                0, 1, 2, 3, 8, 16, 33, 0.5, 1.0, 0.01, 1e-9, True, False, [4], [4, 8], [1.0, 2.0], "peak", "deeponet", "recurrent", "backward",
            )
            wild = self.one(
                -1, 2**31, 2**63, 2**64, 10**30, -(10**12), 1e300, -1e300, float("nan"), float("inf"), "", "x", "3", "1\n2", '"', "[", [], [[]],
                [[1], 2], ["a"], {}, None, object(), b"x", 1j, np.float32(0.5), np.array([1, 2]), np.int64(3), (1, 2), "\0", "\ud800",
            )
            found[key] = small if self.chance(0.6) else wild
        return found
