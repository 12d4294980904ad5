"""Episodes as differentiable functions of JAX.

Everything is [ticks, instances, agents or nodes…]; actions are in the units of the problem. Derivatives are the engine's own backward sweep, in reverse
mode and once. There is none by the target: it is zero. For float64, `jax.config.update("jax_enable_x64", True)` comes first.

    problem = cinoc.make("heat1d")
    scene = cinoc.jax.begin(problem, seed=0, instances=4)
    cost = lambda actions: cinoc.jax.rollout(problem, scene.z, scene.target, scene.xi, actions).cost.sum()
    jax.jit(jax.grad(cost))(jax.numpy.zeros((300, 4, 8, 2)))

`jax.vmap` calls the engine once per member (`vmap_method="sequential"`); instances side by side, the second axis, are faster.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from cinoc._native import CinocError
from cinoc.engine import Given, draw
from cinoc.fields import Deaths
from cinoc.problem import Problem, plain

__all__ = ["State", "Trajectory", "begin", "rollout", "step"]

# What a result looks like before it is there.
_shape: Any = jax.ShapeDtypeStruct

NAMES = ("start", "places", "actions", "params", "previous")


class Trajectory(NamedTuple):
    """An episode."""

    z: jax.Array  # [ticks+1, n, nodes…]
    xi: jax.Array  # [ticks+1, n, agents, axes]
    action: jax.Array  # [ticks, n, agents, k], as carried out
    cost: jax.Array  # [n], of the whole


class State(NamedTuple):
    """What a tick begins with."""

    z: jax.Array  # [n, nodes…]
    xi: jax.Array  # [n, agents, axes]
    target: jax.Array  # [n, nodes…]
    previous: jax.Array  # [n, agents, k], the action of the tick before
    tick: int  # ticks made so far


class _Kept:
    """The last few forward passes, so that a backward sweep need not repeat its own. Forgetting one costs time only."""

    most = 4

    def __init__(self) -> None:
        self.lock, self.runs = threading.Lock(), OrderedDict[bytes, Any]()

    def key(self, which: int, arrays: list[Any]) -> bytes:
        found = hashlib.blake2b(str(which).encode(), digest_size=16)
        for array in arrays:
            found.update(repr((array.shape, array.dtype.str)).encode() + np.ascontiguousarray(array).tobytes())
        return found.digest()

    def put(self, key: bytes, run: Any) -> None:
        with self.lock:
            self.runs[key] = run
            while len(self.runs) > self.most:
                self.runs.popitem(last=False)

    def take(self, key: bytes) -> Any:
        with self.lock:
            return self.runs.pop(key, None)


_kept, _calls = _Kept(), itertools.count()


def rollout(
    problem: Problem,
    start: Any,
    target: Any,
    places: Any,
    actions: Any = None,
    *,
    policy: Any = None,
    params: Any = None,
    ticks: int | None = None,
    deaths: Deaths | None = None,
    previous: Any = None,
    first: int = 0,
    threads: int = 1,
) -> Trajectory:
    """An episode, differentiable by `start` [n, nodes…], `places` [n, agents, axes], and by `actions` or `params`.

    Either `actions` [ticks, n, agents, k] are given, in the units of the problem (the engine holds them to its limits), or a `policy` (a
    `cinoc.Policy`) decides with `params`, a vector like `policy.params`, instead of those of the policy. `first` is the number of the tick that this begins
    with, `previous` the action before it, which the price of acceleration compares with. `threads` share the
    instances. Noise of sensors and actuators (`swarm.sensor_noise`, `swarm.actuator_noise`) is drawn by the number of the instance: the same in every call.
    """
    kind = problem.dtype
    if kind == np.float64 and not getattr(jax.config, "jax_enable_x64", False):
        raise CinocError('the problem is of float64; call jax.config.update("jax_enable_x64", True) first, or take float32')
    if policy is not None and params is None:
        params = policy.params
    inputs = {"start": start, "places": places, "actions": actions, "params": params if policy is not None else None, "previous": previous}
    inputs = {name: jnp.asarray(x, kind) for name, x in inputs.items() if x is not None}
    target = jax.lax.stop_gradient(jnp.asarray(target, kind))
    # Shapes are checked now; the target itself is known only when the engine is called.
    shape = None if actions is None else tuple(inputs["actions"].shape)
    blank = np.broadcast_to(kind.type(0), target.shape)
    sizes = tuple(inputs["places"].shape[:2])
    plan = Given(problem, policy, blank, ticks, deaths, first, sizes, shape, threads)
    fixed = None if plan.deaths is None else tuple(map(tuple, plan.deaths))
    episode = _episode(problem, policy, tuple(inputs), plan.ticks, fixed, sizes, shape, target.shape, threads)
    return Trajectory(*episode(target, jnp.asarray(first, kind), *inputs.values()))


@functools.lru_cache(maxsize=64)
def _episode(
    problem: Problem, policy: Any, names: Any, ticks: int, deaths: Any, sizes: Any, shape: Any, nodes: Any, threads: int
) -> Any:
    """The function of target, first tick and inputs. JAX compiles each that it meets and keeps what it compiled, so this is the same one for all
    ticks of an episode."""
    kind, which = problem.dtype, next(_calls)
    deaths = None if deaths is None else [[*each] for each in deaths]

    def plan(target: Any, first: int) -> Given:
        return Given(problem, policy, target, ticks, deaths, first, sizes, shape, threads)

    results = tuple(_shape(one, kind) for one in plan(np.broadcast_to(kind.type(0), nodes), 0).shapes())

    def compute(arrays: Any, gradient: bool) -> tuple[Given, Any]:
        target, first, *rest = (np.asarray(x) for x in arrays)
        given = plan(plain(target), int(first))
        return given, given.run({**dict.fromkeys(NAMES), **dict(zip(names, rest))}, gradient)

    def forward(*arrays: Any) -> Any:
        given, run = compute(arrays, False)
        return given.outputs(run)

    def forward_kept(*arrays: Any) -> Any:
        given, run = compute(arrays, True)
        _kept.put(_kept.key(which, [np.asarray(x) for x in arrays]), run)
        return given.outputs(run)

    def backward(bars: Any, *arrays: Any) -> Any:
        run = _kept.take(_kept.key(which, [np.asarray(x) for x in arrays])) or compute(arrays, True)[1]
        z, xi, action, cost = (plain(bar) for bar in bars)
        found = run.backward(cost=cost.astype(np.float64), z=z, xi=xi, action=action)
        return tuple(np.asarray(found[name], kind).reshape(x.shape) for name, x in zip(names, arrays[2:]))

    @jax.custom_vjp
    def episode(*arrays: Any) -> Any:
        return jax.pure_callback(forward, results, *arrays, vmap_method="sequential")

    def there(*arrays: Any) -> Any:
        return jax.pure_callback(forward_kept, results, *arrays, vmap_method="sequential"), arrays

    def back(arrays: Any, bars: Any) -> Any:
        wanted = tuple(_shape(x.shape, kind) for x in arrays[2:])
        found = jax.pure_callback(backward, wanted, tuple(bars), *arrays, vmap_method="sequential")
        return (jnp.zeros_like(arrays[0]), jnp.zeros_like(arrays[1]), *found)

    episode.defvjp(there, back)
    return episode


def begin(
    problem: Problem, seed: int = 0, index: int = 0, instances: int = 1, agents: int | None = None, stream: str = "train"
) -> State:
    """Drawn instances from `index` on, with agents at their first places."""
    start, target, places, previous = (jnp.asarray(x) for x in draw(problem, seed, index, instances, agents, stream))
    return State(start, places, target, previous, 0)


def step(problem: Problem, state: State, action: Any) -> tuple[State, jax.Array]:
    """One tick: the state after it, and its cost [n]. `action` [n, agents, k] is in the units of the problem; `state.previous` is it as carried out.

    Under `jit`, `state.tick` must be a plain number: loop in Python, or give whole episodes to `rollout`, which is faster.
    """
    if problem.native.delay:
        raise CinocError("ticks cannot be made one by one with swarm.delay: what is pending would be lost; give the whole episode to rollout")
    z, xi, done, cost = rollout(
        problem, state.z, state.target, state.xi, jnp.asarray(action)[None], previous=state.previous, first=state.tick
    )
    return State(z[1], xi[1], state.target, done[0], state.tick + 1), cost
