"""Tasks of all methods: problems, rewards, units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import cinoc
import numpy as np
from numpy.typing import NDArray

from cinoc.envs import Batch

Array = NDArray[Any]

TRACKING = {"cost.track": 20.0, "cost.effort": 0.001, "cost.bound": 100.0, "cost.collide": 1.0, "cost.accel": 0.0}
TRACKING |= {"cost.final_log": 0.0, "cost.final_root": 0.0}


@dataclass(frozen=True)
class Task:
    """One problem, equal for all methods. The reward of a tick is minus the weighted terms of `cost`."""

    cost: dict[str, float]
    unit: float
    """Factor on the reward, so that an uncontrolled tick costs about 0.1."""
    field: float
    """The field of a global observation is divided by this, about its size."""
    noise: tuple[float, float]
    """Noise of sensors and actuators in the test: a hundredth of the field's size and of the largest push, as in experiments/final_test.py."""
    instances: int = 200
    """Number of test instances."""
    seeds: tuple[int, ...] = (0, 1, 2)
    local: tuple[tuple[str, Any], ...] = ()
    """Settings of observations, besides the default ones."""
    hidden: tuple[int, ...] = (256, 256)
    """Layers of an MLP shared by all agents."""


PLANE = TRACKING | {"cost.collide": 20.0}
POSITION = (("observe.position", True),)
TASKS = {
    "heat1d": Task(TRACKING, 0.01, 1.0, (0.01, 0.4)),
    "fkpp1d": Task(TRACKING, 0.04, 0.5, (0.01, 0.4)),
    "ks1d": Task({"cost.track": 0.1, "cost.effort": 1e-5, "cost.last": 0.0, "cost.last_log": 0.0}, 0.7, 1.3, (0.013, 0.01), 50, local=POSITION),
    "heat2d": Task(PLANE, 0.025, 1.0, (0.01, 0.4), seeds=(0,), local=POSITION),
    "heat2d_obstacles": Task(PLANE, 0.025, 1.0, (0.01, 0.4), seeds=(0,), local=POSITION),
    "ks2d": Task(
        {"cost.track": 0.1, "cost.effort": 1e-7, "cost.last": 0.0, "cost.last_log": 0.0}, 0.1, 3.7, (0.035, 0.1), 50, (0,), POSITION, (64, 64)
    ),
    "turbulence2d": Task(
        {"cost.track": 0.01, "cost.effort": 1e-7, "cost.last": 0.0, "cost.last_log": 0.0}, 0.15, 10.0, (0.07, 0.75), 50, (0,), POSITION, (64, 64)
    ),
}
CRASH = -10.0
"""Reward, in units, of a step after which numbers are no longer finite, and the least of any step: a hundred uncontrolled ticks."""


def batch(problem: str, instances: int, **arguments: Any) -> Batch:
    """Parallel episodes of a problem, with the settings of its task."""
    own = settings(problem)
    own["set"] |= arguments.pop("set", {})
    return Batch(problem, instances, **own, **arguments)


def settings(problem: str) -> dict[str, Any]:
    """Arguments that turn an environment into the task."""
    task = TASKS[problem]
    return {"preset": "tuned", "set": task.cost | dict(task.local), "diverged_reward": CRASH / scale(problem)}


@cache
def scale(problem: str) -> float:
    """Converts the engine's rewards, which sum to a mean over ticks, to those of the task."""
    return cinoc.make(problem).ticks * TASKS[problem].unit


def see(seen: Array, made: Batch, problem: str) -> Array:
    """A global observation of the engine, or several, in the units of the task: field, target if there is one, positions as shares of the domain."""
    nodes, d = int(np.prod(made.problem.nodes)), made.problem.dimensions
    unit, lengths = TASKS[problem].field, np.tile(np.asarray(made.problem.lengths, np.float32), made.agents)
    fields = seen[..., : 2 * nodes if made.problem.has_target else nodes] / np.float32(unit)
    return np.concatenate([fields, seen[..., 2 * nodes : 2 * nodes + made.agents * d] / lengths], -1, dtype=np.float32)


def width(made: Batch) -> int:
    """Width of `see`."""
    return int(np.prod(made.problem.nodes)) * (1 + made.problem.has_target) + made.agents * made.problem.dimensions


def state(made: Batch, problem: str) -> Array:
    """Global observations, [instances, width]."""
    return see(made.observe_global(), made, problem)


def window(made: Batch) -> int:
    """Number of observation components of the field around an agent; those of its position follow."""
    points, axes = made.problem.settings["observe"]["points"], made.problem.dimensions
    return int(points**axes * (1 + axes))
