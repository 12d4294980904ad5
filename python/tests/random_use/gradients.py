"""Derivatives through PyTorch and JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

import cinoc

from .use import Use


def scene_torch(use: Use) -> None:
    import torch

    kind = use.precision()
    problem = use.problem(kind, use.one("heat1d", "density2d", "ks1d", None))
    state = use.call(
        cinoc.torch.begin, problem, use.number(0, 0.1), use.number(0, 0.1), use.one(1, 3) if use.chance(0.9) else use.one(0, -1, None, "x"),
        use.one(None, 1, 4),
    )
    if state is None:
        return
    (n, agents), k = state.xi.shape[:2], len(problem.components)

    def tensor(shape: Any) -> Any:
        found = use.array(shape, kind, 0.1)
        try:
            return torch.from_numpy(np.array(found)).requires_grad_(use.chance(0.6))
        except Exception:
            return found

    def sweep(trajectory: Any) -> None:
        total = sum((x.sum() for x in trajectory if torch.is_tensor(x) and use.chance(0.6)), torch.zeros(()))
        total.backward(retain_graph=use.chance(0.3))
        if use.chance(0.3):
            total.backward()

    ticks = use.one(1, problem.ticks)
    if use.chance(0.5):
        trajectory = use.call(
            cinoc.torch.rollout, problem, tensor(tuple(state.z.shape)), state.target, state.xi, tensor((ticks, n, agents, k)),
            first=use.number(0, 0.1), deaths=use.deaths(n, agents, ticks), threads=use.number(1, 0.1),
        )
        if trajectory is not None:
            use.call(sweep, trajectory)
    else:
        module = use.call(cinoc.torch.Policy, use.policy(kind, problem.name))
        if module is not None:
            trajectory = use.call(module.rollout, state.z, state.target, tensor(tuple(state.xi.shape)), ticks=use.number(ticks, 0.2))
            if trajectory is not None:
                use.call(sweep, trajectory)
            use.call(module.to_cinoc)
            use.call(module, tensor((n, agents, problem.env().width)))
    for _ in range(problem.ticks + 1):
        found = use.call(cinoc.torch.step, problem, state, tensor((n, agents, k)))
        state = state if found is None else found[0]


def scene_jax(use: Use) -> None:
    import jax
    import jax.numpy as jnp

    problem = use.problem("float32", use.one("heat1d", "density2d"))
    state = use.must(cinoc.jax.begin, problem, 0, 0, 2)
    actions = use.array((problem.ticks, *state.xi.shape[:2], len(problem.components)), "float32", 0.2)

    def cost(actions: Any) -> Any:
        return cinoc.jax.rollout(problem, state.z, state.target, state.xi, actions).cost.sum()

    use.call(lambda: jax.block_until_ready(cost(jnp.asarray(actions))))
    use.call(lambda: jax.block_until_ready(jax.grad(cost)(jnp.asarray(actions))))
