"""What all scenes use: calls with random arguments, and things that are right."""

from __future__ import annotations

from typing import Any

import numpy as np

import cinoc

from .arguments import AGENTS, NAMES, Arguments, cheap
from .calls import Calls


class Use(Arguments, Calls):
    """The use that a worker makes."""

    def __init__(self, log: Any) -> None:
        super().__init__(log)
        self.kept: dict[Any, Any] = {}
        self.folder = ""

    def problem(self, kind: str, name: str | None = None) -> Any:
        """One that is right, made once."""
        name = name or self.one(*NAMES, "heat1d", "heat1d")
        ticks = self.one(2, 6, 9)
        key = ("problem", name, kind, ticks)
        if key not in self.kept:
            self.kept[key] = self.must(cinoc.make, name, AGENTS.get(name), cheap(name, ticks), dtype=kind)
        return self.kept[key]

    def policy(self, kind: str, name: str | None = None) -> Any:
        """A new one: parameters may be changed."""
        name = name or self.one(*NAMES, "heat1d", "heat1d")
        key = ("policy", name, kind)
        if key not in self.kept:
            more = {"swarm.agents": AGENTS[name]} if name in AGENTS else {}
            self.kept[key] = self.must(self.must(cinoc.load, name, kind).change, cheap(name, 6) | more)
        return self.must(self.kept[key].change)

    def env(self, kind: str, instances: int | None = None, threads: int | None = None, name: str | None = None) -> Any:
        """A problem and a native environment of it, mostly after a reset."""
        problem = self.problem(kind, name)
        n = instances or self.one(1, 2, 3, 9)
        env = self.must(problem.env, n, self.one(None, 1, 4, 7), self.one(1, 1, 2, 0) if threads is None else threads)
        if self.chance(0.8):
            seeds, indices = self.np.integers(0, 3, n).astype(np.uint64), self.np.integers(0, 4, n).astype(np.uint64)
            self.call(env.reset, np.ones(n, bool), seeds, indices, "train")
        return problem, env
