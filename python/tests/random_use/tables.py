"""Tables, datasets, figures and films."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import cinoc

from .use import Use


def field(use: Use, problem: Any, n: int) -> Any:
    """A start or a target, right or wrong."""
    nodes = problem.nodes
    return use.one(
        use.array(nodes, problem.dtype, 0.4), use.array((n, *nodes), problem.dtype, 0.4), lambda *x: sum(x), lambda *x: 1.0, lambda x: np.ones(3),
        lambda: None, "nothing.npy", "/dev/null", 3.0, None, Path("x.png"), "", object(),
    )


def scene_evaluate(use: Use) -> None:
    policy = use.policy(use.precision())
    n = use.one(1, 2, 4)
    agents = use.one(None, 4, [4, 8], use.number(4, 0.5), [], [use.number(4, 0.5)], (3, 5), "44", np.array([4, 2]))
    fields = {key: field(use, policy.problem, n) for key in ("start", "target") if use.chance(0.25)}
    use.call(
        cinoc.evaluate, policy if use.chance(0.9) else use.name(1.0), agents, use.number(n, 0.2) if use.chance(0.5) else n, use.number(3000, 0.1),
        use.real(0.2, 0.2), use.real(0.5, 0.2), threads=use.number(1, 0.1), **fields,
    )


def scene_dataset(use: Use) -> None:
    kind = use.precision()
    policy = use.policy(kind)
    problem, n, agents = policy.problem, use.one(1, 1, 2), use.one(None, 3, 5)
    count = agents or problem.agents
    all = {
        "seed": use.number(3000, 0.3),
        "index": use.one(0, [0, 1], [], -1, use.number(1, 0.3), np.array([1, 2]), "1", [2**64]),
        "agents": agents,
        "start": field(use, problem, n),
        "target": field(use, problem, n),
        "places": use.array((count, problem.dimensions), kind, 0.4),
        "deaths": use.one([(1, 0)], [(0, 0), (2, 1)], use.deaths(n, count, 5)),
        "ticks": use.number(use.one(1, 3, 6, 9), 0.3),
    }
    given = {key: value for key, value in all.items() if use.chance(0.3)}
    if isinstance(given.get("ticks"), (int, np.integer)) and given["ticks"] > 10**4:
        given["ticks"] = use.one(2**63, 2**64, 10**30)
    who: Any = policy
    actions: Any = None
    if use.chance(0.5):
        who = problem
        shape = (problem.ticks, count, len(problem.components))
        actions = use.one(
            None, use.array(shape, kind, 0.3), policy, lambda seen: np.zeros(3), lambda seen: None,
            lambda seen: np.zeros((*seen.shape[:2], shape[-1])), lambda: 3, use.array((problem.ticks, n, *shape[1:]), kind), "x",
        )
    if use.chance(0.05):
        who = use.name(1.0)
    episode = use.call(cinoc.rollout, who, actions, **given)
    if episode is not None and use.chance(0.06):
        use.call(cinoc.show, episode, **use.one({}, {}, {"instance": use.number(0, 0.5)}, {"agents": 3}))
        if use.chance(0.2):
            film = use.call(cinoc.animate, episode, frames=use.number(3, 0.3), fps=use.number(10, 0.3), instance=use.number(0, 0.2))
            if film is not None and use.chance(0.5):
                use.call(film.save, Path(use.folder, "film.gif"))
    if use.chance(0.03):
        use.call(cinoc.show, use.one(None, 3, "heat3d", problem, policy))
