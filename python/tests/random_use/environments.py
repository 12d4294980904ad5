"""Native environments."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from cinoc import _native

from .use import Use


def poke(use: Use, problem: Any, env: Any, steps: int = 6, wrong: float = 0.2, policy: Any = None) -> None:
    """A few calls of a native environment."""
    n, agents, k, kind = env.instances, env.agents, len(problem.components), problem.dtype
    d, nodes = problem.dimensions, problem.nodes
    outs = {
        "observe": ((n, agents, env.width), kind), "observe_global": ((n, env.width_global), kind), "cost": ((n,), float), "done": ((n,), bool),
        "diverged": ((n,), bool), "terms": ((n, len(problem.terms)), float), "measures": ((n, len(problem.measures)), float),
        "ticks": ((n,), np.int64), "fields": ((n, *nodes), kind), "targets": ((n, *nodes), kind), "positions": ((n, agents, d), kind),
        "actions": ((n, agents, k), kind), "strength": ((n, agents), kind), "ages": ((n, agents, env.points), kind),
    }
    for _ in range(steps):
        what = use.r.randrange(10)
        if what < 3:
            use.call(env.step, use.array((n, agents, k), kind, wrong))
        elif what < 6:
            name = use.one(*outs)
            use.call(getattr(env, name), use.array(*outs[name], wrong))
        elif what == 6:
            given: dict[str, Any] = {}
            for key, shape in (("starts", (n, *nodes)), ("targets", (n, *nodes)), ("places", (n, agents, d))):
                if use.chance(0.3):
                    given[key] = use.array(shape, kind, wrong)
            use.call(
                env.reset, use.array((n,), bool, wrong), use.array((n,), np.uint64, wrong), use.array((n,), np.uint64, wrong),
                use.one("train", "validation", "test", "train", "nothing" if wrong else "test"),
                deaths=use.deaths(n, agents, problem.ticks) if wrong else None, **given,
            )
        elif what == 7 and policy is not None:
            use.call(env.step_policy, policy.native if use.chance(0.9) else policy, use.one(0, 1, 2, 20))
        elif what == 8:
            use.call(env.set_strength, use.number(0, wrong), use.number(0, wrong), use.real(0.5, wrong))
            use.call(env.set_sensor, use.number(0, wrong), use.number(0, wrong), use.one(None, use.number(0, wrong)), use.chance(0.5))
        else:
            snapshot = use.call(env.snapshot)
            use.call(env.step, np.zeros((n, agents, k), kind))
            if wrong and use.chance(0.3):
                other = use.env(use.precision())[1]
                snapshot = use.call(other.snapshot)
            use.call(env.restore, snapshot if use.chance(0.95) else use.one(None, 3, env))


def scene_env(use: Use) -> None:
    kind = use.precision()
    problem = use.problem(kind)
    native = problem.native
    use.call(
        use.one(_native.f32, _native.f64).Env, use.one(native, native, native, problem, None, 3), use.number(2, 0.5),
        use.one(None, use.number(3, 0.5)), use.number(1, 0.4), *use.one((), (), (True,), (None,), (3,)),
    )
    problem, env = use.env(kind)
    poke(use, problem, env, 16, 0.25, use.policy(kind, problem.name if use.chance(0.7) else None))
    if use.chance(0.3):
        for f in (pickle.dumps, copy.copy, copy.deepcopy, repr):
            use.call(f, env)
    if use.chance(0.5):
        # Shared rooms, and actions that are also the room.
        n, agents, k = env.instances, env.agents, len(problem.components)
        room = np.zeros((n, agents, k), kind)
        use.call(env.actions, room)
        use.call(env.step, room)
        whole = np.zeros(2 * n)
        use.call(env.cost, whole[:n])
        use.call(env.cost, whole[1 : n + 1])
