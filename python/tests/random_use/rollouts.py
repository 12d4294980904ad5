"""Native rollouts and their derivatives, and what they give after they are gone."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import numpy as np

import cinoc
from cinoc.problem import engine

from .use import Use


def rolled(use: Use, kind: str, wrong: float) -> Any:
    """A problem, a rollout of it if there is one, and its sizes."""
    problem = use.problem(kind)
    n, agents = use.one(1, 2, 9, 17), use.one(1, 3, 8)
    d, k, nodes = problem.dimensions, len(problem.components), problem.nodes
    first = use.one(0, 0, 0, 1, problem.ticks - 1)
    ticks = max(1, min(use.one(1, 2, 5), problem.ticks - first))
    given: dict[str, Any] = {}
    policy = None
    if use.chance(0.5):
        policy = use.policy(kind, problem.name)
        given["policy"] = policy.native
        if use.chance(0.3):
            given["params"] = use.array(policy.params.shape, kind, wrong, 0.3)
    else:
        given["actions"] = use.array((ticks, n, agents, k), kind, wrong)
    if use.chance(0.3):
        given["previous"] = use.array((n, agents, k), kind, wrong)
    if use.chance(0.2):
        given["memory"] = use.array((n, agents, policy.memory if policy else 0), kind, wrong)
    if use.chance(0.2) and wrong:
        given["deaths"] = use.deaths(n, agents, ticks)
    if use.chance(0.1) and wrong:
        given.pop(use.one(*given))
    if use.chance(0.05) and wrong:
        kind = use.precision()
    start, target = use.array((n, *nodes), kind, wrong), use.array((n, *nodes), kind, wrong)
    if use.chance(wrong):
        places = use.array((n, agents, d), kind, 0.8)
    else:
        places = np.abs(use.array((n, agents, d), kind, 0)) * problem.lengths[0] * 0.9
    run = use.call(
        engine(kind).Rollout, problem.native, start, target, places, use.number(ticks, wrong), first=use.number(first, wrong / 3),
        gradient=use.one(True, True, False), threads=use.number(use.one(1, 2, 0), wrong / 3), **given,
    )
    return problem, run, (n, agents, d, k)


def scene_rollout(use: Use) -> None:
    kind = use.precision()
    problem, run, (n, agents, d, k) = rolled(use, kind, use.one(0.0, 0.05, 0.2))
    if run is None:
        return
    use.read(run, "z", "xi", "action", "cost", "memory", "diverged", "nothing")
    ticks = run.action.shape[0]
    shapes = {"cost": (n,), "z": (ticks + 1, n, *problem.nodes), "xi": (ticks + 1, n, agents, d), "action": (ticks, n, agents, k)}
    for _ in range(use.r.randrange(4)):
        bars: dict[str, Any] = {}
        for key, shape in shapes.items():
            if use.chance(0.6):
                bars[key] = use.array(shape, kind if key != "cost" else use.one("float64", kind), 0.15)
        use.call(run.backward, **bars)
    use.call(pickle.dumps, run)
    use.call(copy.deepcopy, run)
    z = run.z
    del run
    gc.collect()
    # What was given lives on.
    float(z.sum())


def scene_gone(use: Use) -> None:
    """Things that are gone while others still use what they gave."""
    kind = use.precision()
    problem = use.must(cinoc.make, "heat1d", None, {"physics.ticks": 3}, dtype=kind)
    policy = use.must(cinoc.fresh, problem)
    env, native = use.must(problem.env, 3, 4, use.one(1, 2)), policy.native
    use.call(env.reset, np.ones(3, bool), np.zeros(3, np.uint64), np.zeros(3, np.uint64))
    snapshot = env.snapshot()
    if use.chance(0.5):
        del problem
    del policy
    gc.collect()
    use.call(env.step_policy, native)
    del native
    use.call(env.step, np.zeros((3, 4, 2), kind))
    use.call(env.restore, snapshot)
    again = use.call(use.policy(kind, "heat1d").problem.env, 3, 4)
    del env
    gc.collect()
    use.call(again.restore, snapshot)
    for _ in range(3):
        _, run, _ = rolled(use, kind, 0.0)
        if run is not None:
            z, back = run.z, use.call(run.backward, np.ones(run.cost.shape))
            del run
            gc.collect()
            float(z.sum())
            if back is not None:
                sum(float(np.sum(value)) for value in back.values())
