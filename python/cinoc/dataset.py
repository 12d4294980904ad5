"""Episodes as named arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cinoc import fields
from cinoc._native import CinocError
from cinoc.policy import Policy, as_policy
from cinoc.problem import Array, Problem, plain, whole

if TYPE_CHECKING:
    import xarray as xr


def rollout(
    who: Policy | Problem | str | PathLike[str],
    actions: Any = None,
    *,
    seed: int = 3000,
    index: int | Sequence[int] = 0,
    agents: int | None = None,
    start: fields.Field | None = None,
    target: fields.Field | None = None,
    places: Any = None,
    deaths: fields.Deaths | None = None,
    ticks: int | None = None,
) -> xr.Dataset:
    """An episode, or several: field, target, positions, actions, active agents, cost.

    `who`: a policy (or its name), or a problem. A problem is driven by `actions`: an array [ticks, agents, k] or [ticks, n, agents, k] in the
    units of the problem, or a function from observations [n, agents, width] to actions [n, agents, k] within [-1, 1]; without, control is
    zero.

    Instances are test instances: `index` of `seed`, one or a list. Given instead of drawn: `start` and `target` (numbers for each node, a
    function of x or of x and y, or a .npy file; in the plane also a picture), `places`, the initial positions [agents, axes], and `deaths`,
    pairs (tick, agent) of failures. Several fields make several instances. More `ticks` than the problem has extend the episode.
    """
    policy = None if isinstance(who, Problem) else as_policy(who)
    problem = who if isinstance(who, Problem) else policy.problem if policy else None
    assert problem is not None
    if policy and actions is not None:
        raise CinocError("a policy decides alone; give a problem where you give actions, like policy.problem")
    seed, ticks = whole("seed", seed), None if ticks is None else whole("ticks", ticks, 1)
    many: Any = [index] if np.ndim(index) == 0 else index
    index = [whole("index", one) for one in many]
    if not index:
        raise CinocError("index is empty; give the number of an instance, or several")
    if ticks is not None and ticks > problem.ticks:
        longer = {"physics.ticks": ticks}
        policy, problem = (policy.change(longer), problem) if policy else (None, problem.change(longer))
        problem = policy.problem if policy else problem
    agents = _agents(problem, agents, places)
    indices, given = _beginning(problem, index, agents, start, target, places, deaths)
    episodes = _Episodes(problem, agents, indices, seed, given, problem.ticks if ticks is None else ticks)
    episodes.run(policy, _drive(problem, actions, episodes))
    return episodes.dataset(seed, policy)


def _agents(problem: Problem, agents: int | None, places: Any) -> int:
    if agents is None and places is not None and np.ndim(places) > 0:
        shape = np.shape(places)
        agents = shape[-2] if len(shape) > 1 and shape[-1] == problem.dimensions else shape[-1]
    return problem.agents if agents is None else whole("agents", agents, 1)


def _beginning(problem: Problem, index: Any, agents: int, start: Any, target: Any, places: Any, deaths: Any) -> tuple[Any, Any]:
    own = {
        "starts": None if start is None else fields.fields(problem, start, "start"),
        "targets": None if target is None else fields.fields(problem, target, "target"),
        "places": None if places is None else fields.places(problem, places, agents),
    }
    n = max([1] + [len(array) for array in own.values() if array is not None])
    indices = np.atleast_1d(np.asarray(index, np.uint64))
    if len(indices) == 1 and n > 1:
        indices = indices[0] + np.arange(n, dtype=np.uint64)
    given: dict[str, Any] = {key: fields.batch(array, len(indices), {"starts": "start", "targets": "target"}.get(key, key)) for key, array in own.items()}
    given["deaths"] = fields.deaths(deaths, len(indices), agents)
    return indices, given


class _Episodes:
    """Arrays filled tick by tick."""

    def __init__(self, problem: Problem, agents: int, indices: Array, seed: int, given: dict[str, Any], ticks: int) -> None:
        n, width = len(indices), len(problem.components)
        self.problem, self.indices, self.agents, self.ticks = problem, indices, agents, ticks
        self.env = problem.env(n, agents)
        self.env.reset(np.ones(n, bool), np.full(n, seed, np.uint64), indices, "test", **given)

        def room(*shape: int) -> Array:
            return np.zeros(shape, problem.dtype)

        self.z, self.xi = room(ticks + 1, n, *problem.shape), room(ticks + 1, n, agents, problem.dimensions)
        self.action, self.strength = room(ticks, n, agents, width), room(ticks + 1, n, agents)
        self.target, self.cost = room(n, *problem.shape), np.zeros((ticks, n))

    def run(self, policy: Policy | None, drive: Callable[[int], Array]) -> None:
        self.env.targets(self.target)
        for tick in range(self.ticks + 1):
            if tick > 0:
                if policy:
                    self.env.step_policy(policy.native)
                else:
                    self.env.step(drive(tick - 1))
                self.env.actions(self.action[tick - 1])
                self.env.cost(self.cost[tick - 1])
            self.env.fields(self.z[tick])
            self.env.positions(self.xi[tick])
            self.env.strength(self.strength[tick])

    def observation(self) -> Array:
        seen = np.zeros((len(self.indices), self.agents, self.env.width), self.problem.dtype)
        self.env.observe(seen)
        return seen

    def scores(self) -> tuple[Array, Array]:
        n = len(self.indices)
        measures, diverged = np.zeros((n, len(self.problem.measures))), np.zeros(n, bool)
        self.env.measures(measures)
        self.env.diverged(diverged)
        if self.ticks < self.problem.scored_at:
            text = f"the score is NaN: it is taken at tick {self.problem.scored_at}, and this episode has {self.ticks}; ask for more ticks"
            warnings.warn(text, stacklevel=4)
        score = measures[:, 0] if self.ticks >= self.problem.scored_at else np.full(n, np.nan)
        return np.where(diverged, np.inf, score), diverged

    def dataset(self, seed: int, policy: Policy | None) -> xr.Dataset:
        import xarray as xr

        import cinoc

        problem, space = self.problem, self.problem.axes
        field = ("field",) * (len(problem.shape) - len(problem.nodes))
        score, diverged = self.scores()
        times = np.arange(self.ticks + 1) * problem.tick_time
        # Only the first of several fields has a target.
        z, target = (self.z[:, :, 0], self.target[:, 0]) if field else (self.z, self.target)
        error = np.square(z - target, dtype=np.float64).reshape(*self.z.shape[:2], -1).mean(-1)
        aim = "mean-square error" if problem.has_target else "mean square of the field"

        units = problem.units

        def named(dims: Sequence[str], values: Array, name: str, quantity: str = "") -> tuple[Any, ...]:
            return (*dims,), values, {"long_name": name, "units": units.get(quantity, "1")}

        def each_of(dim: str, names: list[str]) -> tuple[Any, ...]:
            return (dim,), np.array([units.get(name, "1") for name in names], object), {"long_name": f"unit of a {dim}"}

        def each(array: Array) -> Array:
            return np.ascontiguousarray(np.moveaxis(array, 1, 0))

        # Arrays of several quantities have their units as a coordinate.
        shown = "field" if field or not problem.fields else problem.fields[0]
        acts = problem.components[0] if len(problem.components) == 1 else ""
        variables = {
            "z": named(["instance", "time", *field, *space], each(self.z), shown, shown),
            "target": named(["instance", *field, *space], self.target, "field to be reached", shown),
            "xi": named(["instance", "time", "agent", "axis"], each(self.xi), "position of an agent", "x"),
            "action": named(["instance", "decision", "agent", "component"], each(self.action), "action as it was carried out", acts),
            "alive": named(["instance", "time", "agent"], each(self.strength) > 0, "whether an agent is active"),
            "cost": named(["instance", "decision"], self.cost.T.copy(), "cost of a tick; they add up to that of the episode"),
            "error": named(["instance", "time"], error.T.copy(), aim),
            "score": named(["instance"], score, f"score ({problem.measures[0]})"),
            "diverged": named(["instance"], diverged, "whether the episode diverged"),
        }
        begins = np.zeros(len(self.indices))
        self.env.begins(begins)
        if begins.any():
            variables["begins"] = named(["instance"], begins, "time of the texts at the start of the episode", "time")
        if problem.discs():
            discs = np.array([problem.discs(tick) for tick in range(self.ticks + 1)])
            variables["discs"] = named(["time", "disc", "part"], discs, "discs that agents keep out of: x, y, radius")
        coordinates: dict[str, Any] = {axis: named([axis], nodes, axis, axis) for axis, nodes in problem.coordinates.items()}
        coordinates |= {
            "instance": (("instance",), self.indices.astype(np.int64), {"long_name": "number of the instance"}),
            "time": named(["time"], times, "time", "time"),
            "decision": named(["decision"], times[:-1], "time at which a decision is taken", "time"),
            "agent": (("agent",), np.arange(self.agents), {"long_name": "agent"}),
            "axis": (("axis",), np.array(space, object), {"long_name": "axis of space"}),
            "component": (("component",), np.array(problem.components, object), {"long_name": "number of an action"}),
        }
        if field and problem.fields:
            coordinates["field"] = (("field",), np.array(problem.fields, object), {"long_name": "field"})
            coordinates["field_units"] = each_of("field", problem.fields)
        if len(problem.components) > 1:
            coordinates["component_units"] = each_of("component", problem.components)
        attributes = {
            "title": f"{problem.name}, {self.agents} agents",
            "problem": problem.name,
            "control": "policy" if policy else "actions",
            "settings": problem.config,
            "seed": int(seed),
            "score": float(score.mean()),
            "periodic": int(problem.periodic),
            "has_target": int(problem.has_target),
            "version": cinoc.__version__,
        }
        return xr.Dataset(variables, coordinates, attributes)


def _drive(problem: Problem, actions: Any, episodes: _Episodes) -> Callable[[int], Array]:
    """From the number of a tick to actions within [-1, 1]."""
    shape = (len(episodes.indices), episodes.agents, len(problem.components))
    if actions is None:
        nothing = np.zeros(shape, problem.dtype)
        return lambda tick: nothing
    if callable(actions):

        def ask(tick: int) -> Array:
            answer = plain(actions(episodes.observation()), problem.dtype)
            if answer.shape != shape:
                raise CinocError(f"your function gave actions of shape {answer.shape}, but {shape} is needed: instances, agents, numbers of an action")
            return answer

        return ask
    given = np.asarray(actions, problem.dtype)
    given = given[:, None] if given.ndim == 3 else given
    if given.ndim != 4 or given.shape[0] < episodes.ticks or given.shape[2:] != shape[1:] or given.shape[1] not in (1, shape[0]):
        one = (episodes.ticks, *shape[1:])
        raise CinocError(
            f"actions have shape {np.shape(actions)}, but {one} is needed: ticks, agents, numbers of an action; or {(one[0], *shape)} with instances"
        )
    units = np.ascontiguousarray(np.broadcast_to(given, (len(given), *shape)) / problem.limits)
    return lambda tick: units[tick]
