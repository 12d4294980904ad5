"""Ticks and episodes as functions with a derivative."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from cinoc._native import CinocError
from cinoc.engine import Given, draw
from cinoc.fields import Deaths
from cinoc.problem import Problem

# By what a derivative is taken, in the order of the function's arguments.
NAMES = ("start", "places", "actions", "params", "previous")


class Trajectory(NamedTuple):
    """An episode."""

    z: Tensor  # [ticks+1, n, nodes…]
    xi: Tensor  # [ticks+1, n, agents, axes]
    action: Tensor  # [ticks, n, agents, k], as carried out
    cost: Tensor  # [n], of the whole


class State(NamedTuple):
    """What a tick begins with."""

    z: Tensor  # [n, nodes…]
    xi: Tensor  # [n, agents, axes]
    target: Tensor  # [n, nodes…]
    previous: Tensor  # [n, agents, k], the action of the tick before
    tick: int  # ticks made so far


class _Episode(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, given: Given, *inputs: Optional[Tensor]) -> tuple[Tensor, ...]:
        arrays = {name: None if x is None else x.detach().cpu().contiguous().numpy() for name, x in zip(NAMES, inputs)}
        ctx.run = given.run(arrays, gradient=any(ctx.needs_input_grad))
        ctx.shapes = [None if x is None else (x.shape, x.device) for x in inputs]
        ctx.set_materialize_grads(False)
        first = inputs[0]
        assert first is not None
        z, xi, action, cost = (torch.from_numpy(x) for x in given.outputs(ctx.run))
        return tuple(x.to(first.device) for x in (z, xi, action, cost))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *bars: Optional[Tensor]) -> tuple[Any, ...]:
        z, xi, action, cost = (None if bar is None else bar.detach().cpu().contiguous().numpy() for bar in bars)
        found = ctx.run.backward(cost=None if cost is None else cost.astype("float64"), z=z, xi=xi, action=action)
        result: list[Any] = [None]
        for name, shape, wanted in zip(NAMES, ctx.shapes, ctx.needs_input_grad[1:]):
            result.append(torch.as_tensor(found[name]).reshape(shape[0]).to(shape[1]) if wanted else None)
        return tuple(result)


def _dtype(problem: Problem) -> torch.dtype:
    return torch.float32 if problem.dtype == "float32" else torch.float64


def rollout(
    problem: Problem,
    start: Tensor,
    target: Tensor,
    places: Tensor,
    actions: Tensor | None = None,
    *,
    policy: Any = None,
    params: Tensor | None = None,
    ticks: int | None = None,
    deaths: Deaths | None = None,
    previous: Tensor | None = None,
    first: int = 0,
    threads: int = 1,
) -> Trajectory:
    """An episode, differentiable by `start` [n, nodes…], `places` [n, agents, axes], and by `actions` or `params`.

    Either `actions` [ticks, n, agents, k] are given, in the units of the problem (the engine holds them to its limits), or a `policy` decides: a
    `cinoc.Policy`, whose parameters are then `params`, or a `cinoc.torch.Policy`, whose own parameters get the derivative. `first` is the number of
    the tick that this begins with, `previous` the action before it, which the price of acceleration compares with. `threads` share the
    instances. Noise of sensors and actuators (`swarm.sensor_noise`, `swarm.actuator_noise`) is drawn by the number of the instance: the same in every call.
    """
    if target.requires_grad:
        raise CinocError("there is no derivative by the target; give target.detach()")
    if policy is not None and hasattr(policy, "flat"):
        params = policy.flat() if params is None else params
        policy = policy.policy
    if policy is not None and params is None:
        params = torch.from_numpy(policy.params)
    kind = _dtype(problem)
    inputs = [None if x is None else x.to(kind) for x in (start, places, actions, params if policy is not None else None, previous)]
    fixed = target.detach().to(kind).cpu().contiguous().numpy()
    given = Given(problem, policy, fixed, ticks, deaths, first, tuple(places.shape[:2]), None if actions is None else tuple(actions.shape), threads)
    return Trajectory(*_Episode.apply(given, *inputs))


def begin(
    problem: Problem, seed: int = 0, index: int = 0, instances: int = 1, agents: int | None = None, stream: str = "train"
) -> State:
    """Drawn instances from `index` on, with agents at their first places."""
    start, target, places, previous = (torch.from_numpy(x) for x in draw(problem, seed, index, instances, agents, stream))
    return State(start, places, target, previous, 0)


def step(problem: Problem, state: State, action: Tensor) -> tuple[State, Tensor]:
    """One tick: the state after it, and its cost [n]. `action` [n, agents, k] is in the units of the problem; `state.previous` is it as carried out.

    Differentiable by field, positions, action and the action before, so any network may decide between two ticks. Whole episodes are faster with
    `rollout`. Costs of all ticks add up to that of the episode.
    """
    if problem.native.delay:
        raise CinocError("ticks cannot be made one by one with swarm.delay: what is pending would be lost; give the whole episode to rollout")
    z, xi, done, cost = rollout(
        problem, state.z, state.target, state.xi, action[None], previous=state.previous, first=state.tick
    )
    return State(z[1], xi[1], state.target, done[0], state.tick + 1), cost
