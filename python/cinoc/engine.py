"""Differentiable episodes in NumPy, shared by `cinoc.torch` and `cinoc.jax`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cinoc import fields
from cinoc._native import CinocError
from cinoc.problem import Array, Problem, engine, plain


@dataclass
class Given:
    """The inputs of an episode that are not differentiated."""

    problem: Problem
    policy: Any
    target: Array
    ticks: int | None
    deaths: Any
    first: int
    sizes: tuple[int, ...]  # instances, agents
    shape: tuple[int, ...] | None  # of actions
    threads: int

    def __post_init__(self) -> None:
        """Checks the inputs before the engine is called."""
        problem, (n, agents) = self.problem, self.sizes
        if (self.policy is None) == (self.shape is None):
            raise CinocError("an episode needs either actions or a policy")
        if self.policy is not None and self.policy.problem.dtype != problem.dtype:
            raise CinocError(f"the policy is of {self.policy.problem.dtype}, the problem of {problem.dtype}; load it with dtype={problem.dtype.name!r}")
        width = len(problem.components)
        if self.shape is not None and (len(self.shape) != 4 or self.shape[1:] != (n, agents, width)):
            raise CinocError(f"actions have shape {self.shape}, but (ticks, {n}, {agents}, {width}) is needed: ticks, instances, agents, numbers of an action")
        most = problem.ticks - self.first
        self.ticks = self.shape[0] if self.shape is not None else most if self.ticks is None else self.ticks
        if not 1 <= self.ticks <= most:
            raise CinocError(f"{self.ticks} ticks are asked for after {self.first}, but an episode has {problem.ticks}; set physics.ticks for longer ones")
        if self.target.shape != (n, *problem.shape):
            raise CinocError(f"the target has shape {self.target.shape}, but {(n, *problem.shape)} is needed: instances, nodes")
        self.deaths = fields.deaths(self.deaths, n, agents)

    def run(self, inputs: dict[str, Any], gradient: bool) -> Any:
        """The episode, of arrays by name."""
        problem, (n, agents) = self.problem, self.sizes
        for name, shape in (("start", (n, *problem.shape)), ("places", (n, agents, problem.dimensions))):
            if inputs[name].shape != shape:
                raise CinocError(f"{name} has shape {inputs[name].shape}, but {shape} is needed")
        inputs = {name: None if x is None else plain(x, problem.dtype) for name, x in inputs.items()}
        return engine(problem.dtype).Rollout(
            problem.native,
            inputs["start"],
            self.target,
            inputs["places"],
            self.ticks,
            inputs["actions"],
            None if self.policy is None else self.policy.native,
            inputs["params"],
            inputs["previous"],
            None,
            self.deaths,
            self.first,
            gradient,
            self.threads,
        )

    def outputs(self, run: Any) -> tuple[Array, Array, Array, Array]:
        """Field, positions, actions, cost."""
        kind = self.problem.dtype
        return np.asarray(run.z), np.asarray(run.xi), np.asarray(run.action), np.asarray(run.cost).astype(kind)

    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the outputs."""
        problem, (n, agents) = self.problem, self.sizes
        ticks = self.ticks or 0
        field, swarm = (ticks + 1, n, *problem.shape), (ticks + 1, n, agents, problem.dimensions)
        return [field, swarm, (ticks, n, agents, len(problem.components)), (n,)]


def draw(problem: Problem, seed: int, index: int, instances: int, agents: int | None, stream: str) -> tuple[Array, Array, Array, Array]:
    """Starts, targets, positions and a zero action before the first, of instances from `index` on."""
    drawn = [problem.draw(seed, index + i, stream) for i in range(instances)]
    places = np.repeat(problem.places(agents)[None], instances, axis=0)
    nothing = np.zeros((*places.shape[:2], len(problem.components)), problem.dtype)
    return np.stack([one.start for one in drawn]), np.stack([one.target for one in drawn]), places, nothing
