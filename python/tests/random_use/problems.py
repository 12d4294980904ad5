"""Problems: made, read, copied and changed."""

from __future__ import annotations

import copy
import pickle

import numpy as np

import cinoc

from .arguments import NAMES
from .environments import poke
from .use import Use


def scene_make(use: Use) -> None:
    name = use.name()
    good = name if isinstance(name, str) and name in NAMES else "heat1d"
    use.call(cinoc.list)
    problem = use.call(
        cinoc.make, name, use.number(5, 0.2) if use.chance(0.3) else None,
        use.settings(good) if use.chance(0.9) else use.one(None, [], 3, "physics.ticks=3", {1: 2}),
        use.one("tuned", "tuned", "paper", "none" if use.chance(0.2) else "tuned"), use.kind(),
    )
    if problem is None:
        return
    use.read(
        problem, "name", "agents", "ticks", "tick_time", "periodic", "moves", "has_target", "scored_at", "config", "nodes", "lengths", "axes",
        "coordinates", "limits", "components", "terms", "measures", "settings",
    )
    use.read(problem.native, "view", "shared_view", "position", "action_width")
    use.call(repr, problem)
    use.call(repr, problem.native)
    big = int(np.prod([float(n) for n in problem.nodes])) > 10**5
    if not big:
        use.call(problem.draw, use.number(1), use.number(2), use.one("train", "validation", "test", "x", 3))
    use.call(problem.places, use.number(3, 0.4))
    use.call(problem.discs, use.number(0, 0.4))
    use.call(problem.native.weights, use.number(1, 0.5))
    use.call(problem.native.nodes_along, use.number(0, 0.5))
    again = use.call(pickle.loads, use.call(pickle.dumps, problem) or b"")
    use.call(copy.copy, problem)
    use.call(copy.deepcopy, problem)
    use.call(copy.deepcopy, problem.native)
    use.call(pickle.dumps, problem.native)
    use.call(problem.change, use.settings(good))
    use.call(setattr, problem, use.one("name", "native", "x", "dtype"), use.one(None, 3, "x"))
    if again is None or big or again.ticks > 20 or again.agents > 200:
        return
    policy = use.call(cinoc.fresh, again, use.number(0))
    env = use.call(again.env, 2) if policy is not None else None
    if env is not None:
        poke(use, again, env, 4, 0.1, policy)
        use.call(cinoc.evaluate, policy, instances=2, threads=1)
        use.call(cinoc.rollout, policy)
