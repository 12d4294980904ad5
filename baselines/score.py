"""Scores on held-out instances: the numbers of `cinoc eval`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cinoc.envs import Batch

from . import tasks

Array = NDArray[Any]
VALIDATION, TEST = 1000, 5000


@dataclass
class Actor:
    """A deterministic policy: its observation, "local", "global" or none, and its action within [-1, 1]."""

    sees: str
    act: Callable[[Array], Array]
    plain: bool = False
    """True if it observes with the default settings, without those of the task."""
    begin: Callable[[], None] = lambda: None
    """Called before every episode."""


@dataclass
class Scores:
    """Score of each instance; infinite where it diverged."""

    scores: Array
    efforts: Array
    seconds: float
    """Computing time in seconds, per decision and agent."""

    @property
    def diverged(self) -> int:
        """Number of instances."""
        return int(np.isinf(self.scores).sum())


@cache
def _batch(problem: str, instances: int, agents: int | None, plain: bool, changes: tuple[tuple[str, Any], ...]) -> Batch:
    arguments: dict[str, Any] = {"agents": agents, "stream": "test"}
    if plain:
        return Batch(problem, instances, preset="tuned", set=dict(changes), **arguments)
    return tasks.batch(problem, instances, set=dict(changes), **arguments)


def scores(
    problem: str, actor: Actor, instances: int, seed: int, agents: int | None = None, fail: float = 0.0, changes: dict[str, Any] | None = None
) -> Scores:
    """Scores of instances 0, 1, … of a seed of the test stream. `fail`: share of the agents that fail halfway."""
    batch = _batch(problem, instances, agents, actor.plain, tuple((changes or {}).items()))
    batch.seed([seed] * instances, np.random.default_rng, index=np.arange(instances))
    batch.reset()
    actor.begin()
    terms, effort = np.zeros((instances, len(batch.problem.terms))), np.zeros(instances)
    of, ticks, seconds = batch.problem.terms.index("effort"), batch.problem.ticks, 0.0
    idle = np.zeros((instances, *batch.action_shape), np.float32)
    for tick in range(ticks):
        if fail and tick == int(0.5 * batch.problem.scored_at):
            _kill(batch, fail, seed)
        action = idle
        if actor.sees:
            seen = batch.observe() if actor.sees == "local" else tasks.state(batch, problem)
            began = time.process_time()
            action = np.asarray(actor.act(seen)).reshape(idle.shape)
            seconds += time.process_time() - began
        batch.step(action)
        batch.env.terms(terms)
        effort += terms[:, of] / ticks
    measured = batch.measured()[:, 0].copy()
    effort[np.isinf(measured)] = np.inf
    return Scores(measured, effort, seconds / (ticks * instances * batch.agents))


def _kill(batch: Batch, share: float, seed: int) -> None:
    """Draws failing agents: equally many in each instance, different ones in each."""
    failing = round(share * batch.agents)
    for i in range(batch.instances):
        for agent in np.random.default_rng([seed, i]).choice(batch.agents, failing, replace=False):
            batch.env.set_strength(i, int(agent), 0.0)


IDLE = Actor("", lambda seen: seen)


@cache
def uncontrolled(problem: str, instances: int, seed: int) -> tuple[float, ...]:
    """Scores of the same instances, uncontrolled."""
    return tuple(scores(problem, IDLE, instances, seed).scores)


def report(problem: str, actor: Actor, instances: int, seed: int, interval: bool = False, **arguments: Any) -> dict[str, Any]:
    """A line: mean score, its ratio to the mean uncontrolled score, effort."""
    found, free = scores(problem, actor, instances, seed, **arguments), np.array(uncontrolled(problem, instances, seed))
    line: dict[str, Any] = {"score": found.scores.mean(), "ratio": found.scores.mean() / free.mean(), "effort": found.efforts.mean()}
    if interval:
        chosen = np.random.default_rng(seed).integers(instances, size=(2000, instances))
        ratios = np.sort(found.scores[chosen].mean(1) / free[chosen].mean(1))
        line |= {"ratio_95": [ratios[round(0.025 * 1999)], ratios[round(0.975 * 1999)]], "median": np.median(found.scores)}
        line |= {"instances": instances, "diverged": found.diverged, "decision_seconds": found.seconds}
    return line
