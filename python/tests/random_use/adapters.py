"""Environments of Gymnasium, PettingZoo, Stable-Baselines3 and TorchRL."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import gymnasium
import numpy as np

import cinoc
import cinoc.envs

from .arguments import AGENTS, NAMES, cheap
from .use import Use


def arguments(use: Use, name: str) -> dict[str, Any]:
    """What an environment is made of: right, then some of it replaced."""
    given: dict[str, Any] = {"set": cheap(name, use.one(2, 3, 5)), "agents": AGENTS.get(name)}
    problem = use.problem("float32", name)
    wrong = {
        "agents": use.number(4, 0.3),
        "set": use.settings(name),
        "preset": use.one("tuned", "paper", "x"),
        "observation": use.one("local", "global", "global", "x", None),
        "dtype": use.kind(),
        "start": use.array(problem.nodes, "float32", 0.4),
        "target": use.array(problem.nodes, "float64", 0.4),
        "places": use.array((given["agents"] or problem.agents, problem.dimensions), "float32", 0.3),
        "deaths": use.one([(0, 0)], [(1, 1), (2, 0)], [(0, 10**9)], [(-1, 0)], 3, [3], "ab", [("a", "b")]),
        "stream": use.one("train", "test", "x", None),
        "diverged_reward": use.real(-5.0, 0.4),
        "pool": use.number(0, 0.3),
        "threads": use.number(use.one(1, 2, 0), 0.2),
        "render_mode": use.one(None, "rgb_array", "human", 3),
        "nothing": 1,
    }
    while use.chance(0.4):
        key = use.one(*wrong)
        given[key] = wrong[key]
    agents = given.get("agents")
    if isinstance(agents, (int, np.integer)) and 200 < agents < 10**9:
        given["agents"] = 4
    return given


def scene_single(use: Use) -> None:
    name = use.one(*NAMES, "heat1d")
    env = use.call(gymnasium.make, f"cinoc/{name}-v0", disable_env_checker=use.one(True, False), **arguments(use, name))
    if env is None:
        return
    for _ in range(10):
        what = use.r.randrange(8)
        if what < 2:
            use.call(env.reset, seed=use.number(1, 0.3), options=use.one(None, {}, {"index": 3}, {"index": use.number(2, 0.9)}, 3))
        elif what < 6:
            use.call(env.step, env.action_space.sample() if use.chance(0.5) else use.array(env.action_space.shape, "float32", 0.4))
        elif what == 6 and use.chance(0.15):
            use.call(env.render)
        else:
            f = use.one(
                env.close, lambda: repr(env), lambda: pickle.loads(pickle.dumps(env.unwrapped)), lambda: copy.deepcopy(env.unwrapped),
                lambda: env.unwrapped.instance.kill(use.number(0, 0.5)), gc.collect, lambda: env.unwrapped.instance.field,
            )
            use.call(f)


def scene_vector(use: Use) -> None:
    name, n = use.one(*NAMES, "heat1d"), use.one(1, 2, 5)
    more = use.one({}, {}, {"autoreset_mode": use.one("NextStep", "SameStep", "Disabled", "x", None)}, {"copy": False})
    envs = use.call(
        gymnasium.make_vec, f"cinoc/{name}-v0", num_envs=use.number(n, 0.1),
        vectorization_mode=use.one("vector_entry_point", "vector_entry_point", "sync"), vector_kwargs=None, **(arguments(use, name) | more),
    )
    if envs is None:
        return
    n = envs.num_envs
    for _ in range(12):
        what = use.r.randrange(8)
        if what < 2:
            seed = use.one(None, 3, [1] * n, [None] * n, use.number(1, 0.5), [1] * (n + 1), ["a"] * n)
            options = use.one(
                None, {}, {"reset_mask": use.array((n,), bool, 0.3)}, {"index": use.number(2, 0.5)}, {"index": [1] * n}, {"index": ["a"] * n},
            )
            use.call(envs.reset, seed=seed, options=options)
        elif what < 7:
            use.call(envs.step, envs.action_space.sample() if use.chance(0.5) else use.array(envs.action_space.shape, "float32", 0.4))
        else:
            use.call(use.one(envs.close, lambda: repr(envs), lambda: pickle.loads(pickle.dumps(envs)), lambda: copy.deepcopy(envs), gc.collect))


def scene_parallel(use: Use) -> None:
    name = use.one(*NAMES, "heat1d")
    env = use.call(cinoc.envs.parallel_env, name if use.chance(0.9) else use.name(1.0), **arguments(use, name))
    if env is None:
        return
    for _ in range(10):
        what = use.r.randrange(9)
        if what < 2:
            use.call(env.reset, seed=use.number(1, 0.3), options=use.one(None, {}, {"index": use.number(2, 0.5)}))
        elif what < 6:
            actions = {agent: use.array(env.action_space(agent).shape, "float32", 0.05) for agent in env.agents}
            if actions and use.chance(0.1):
                actions.pop(use.one(*actions))
            use.call(env.step, actions if use.chance(0.95) else use.one(None, {}, {"agent_99": 0}, [1], np.zeros(3)))
        elif what == 6:
            use.call(env.state)
        elif what == 7:
            use.call(env.kill, use.one(*env.possible_agents, "x", 3, None, []))
        else:
            use.call(use.one(lambda: env.observation_space("x"), lambda: pickle.loads(pickle.dumps(env)), env.close, lambda: repr(env)))


def scene_sb3(use: Use) -> None:
    name, n = use.one(*NAMES, "heat1d"), use.one(1, 2, 4)
    envs = use.call(cinoc.envs.sb3_vec_env, name if use.chance(0.9) else use.name(1.0), use.number(n, 0.1), **arguments(use, name))
    if envs is None:
        return
    n = envs.num_envs
    for _ in range(10):
        what = use.r.randrange(9)
        if what == 0:
            use.call(envs.reset)
        elif what < 5:
            use.call(envs.step, use.array((n, *envs.action_space.shape), "float32", 0.3))
        elif what == 5:
            use.call(envs.seed, use.number(3, 0.4))
        elif what == 6:
            both = {"seed": use.number(1, 0.5), "index": use.number(2, 0.5)}
            use.call(envs.set_options, use.one(None, {}, [{"index": 2}] * n, [both] * n, [], 3))
        elif what == 7:
            name = use.one("field", "target", "positions", "strength", "tick", "nothing", "render_mode", 3)
            use.call(envs.get_attr, name, use.one(None, 0, [0], use.number(0, 0.7)))
        else:
            name = use.one("kill", "render" if use.chance(0.2) else "kill", "nothing")
            use.call(envs.env_method, name, *use.one((), (0,), (use.number(0, 0.6),)), indices=use.one(None, 0, [n]))


def scene_torchrl(use: Use) -> None:
    import torch

    name, n = use.one("heat1d", "ks1d", "density2d", "heat1d"), use.one(1, 2, 4)
    envs = use.call(cinoc.envs.torchrl_env, name, use.number(n, 0.1), **arguments(use, name))
    if envs is None:
        return
    td = None
    for _ in range(8):
        what = use.r.randrange(6)
        if what < 2:
            td = use.call(envs.reset)
        elif what == 2:
            use.call(envs.set_seed, use.number(3, 0.4))
        elif what == 3:
            use.call(envs.rollout, use.one(1, 3, 9))
        elif td is not None:
            action = use.array(tuple(envs.action_spec.shape), "float32", 0.3)
            use.call(lambda: envs.step(td.clone().set("action", torch.as_tensor(action))))
