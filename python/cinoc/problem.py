"""Problems: an equation, its agents and their task."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from operator import index
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cinoc import _native
from cinoc._native import CinocError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Array = NDArray[Any]


def engine(dtype: DTypeLike) -> Any:
    """The engine of a precision."""
    name = np.dtype(dtype).name
    if name not in ("float32", "float64"):
        raise CinocError(f"dtype is {name}, but the engine computes in float32 or float64; choose one of them")
    return _native.f32 if name == "float32" else _native.f64


def plain(array: Any, dtype: DTypeLike | None = None) -> Array:
    """The numbers as the engine reads them: C-contiguous, aligned, native byte order."""
    return np.require(array, dtype, ["C", "A", "E"])


def whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number that the engine can take."""
    try:
        number = index(value)
    except TypeError:
        raise CinocError(f"{name} is {value!r}, but must be a whole number") from None
    if not least <= number < 2**64:
        raise CinocError(f"{name} is {number}, but must be from {least} to 2**64 - 1")
    return number


def toml(value: object) -> str:
    """A Python value as TOML writes it."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    if isinstance(value, (str, PathLike)):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key), ensure_ascii=False)} = {toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml(part) for part in value) + "]"
    raise CinocError(f"{value!r} cannot be a setting; give a number, True or False, a string, or a list or dict of these")


def overlay(settings: Mapping[str, object] | None, **more: object) -> dict[str, str]:
    """Settings as TOML text; `more` are those that are arguments, left out where None."""
    every = {**(settings or {}), **{key.replace("__", "."): value for key, value in more.items() if value is not None}}
    return {key: toml(value) for key, value in every.items()}


class Instance(NamedTuple):
    """Initial field and target field of an episode."""

    start: Array
    target: Array


class Problem:
    """An equation with its swarm and task. Made by `cinoc.make`; `policy.problem` is one too."""

    def __init__(self, native: Any) -> None:
        self.native = native
        self.dtype: np.dtype[Any] = native.places(1).dtype

    name: str = property(lambda self: self.native.name)  # type: ignore[assignment]
    agents: int = property(lambda self: self.native.agents)  # type: ignore[assignment]
    ticks: int = property(lambda self: self.native.ticks)  # type: ignore[assignment]
    tick_time: float = property(lambda self: self.native.tick_time)  # type: ignore[assignment]
    periodic: bool = property(lambda self: self.native.periodic)  # type: ignore[assignment]
    moves: bool = property(lambda self: self.native.moves)  # type: ignore[assignment]
    has_target: bool = property(lambda self: self.native.has_target)  # type: ignore[assignment]
    scored_at: int = property(lambda self: self.native.scored_at)  # type: ignore[assignment]
    config: str = property(lambda self: self.native.config)  # type: ignore[assignment]

    @property
    def nodes(self) -> tuple[int, ...]:
        """Shape of a field: nodes along x, or along x and y."""
        return tuple(self.native.nodes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a state: that of a field, or with several fields their number and the shape of one."""
        return tuple(self.native.shape)

    @property
    def lengths(self) -> tuple[float, ...]:
        """Lengths of the domain along its axes."""
        return tuple(self.native.lengths)

    @property
    def dimensions(self) -> int:
        """Number of space dimensions."""
        return len(self.nodes)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes of space."""
        return ("x", "y", "z")[: self.dimensions]

    @property
    def coordinates(self) -> dict[str, NDArray[np.float64]]:
        """Coordinates of the nodes along each axis."""
        return {name: np.asarray(self.native.nodes_along(axis)) for axis, name in enumerate(self.axes)}

    @property
    def limits(self) -> Array:
        """Largest magnitude of each number of an action, in the units of the problem."""
        return np.asarray(self.native.limits, self.dtype)

    @property
    def units(self) -> dict[str, str]:
        """Units by name: of x, y and z, time, and the fields and channels of a problem file; only those that have one."""
        length, time, fields, channels = self.native.units
        velocities = {f"velocity_{axis}": f"{length}/{time}" for axis in self.axes if self.moves and length and time}
        named = dict.fromkeys(self.axes, length) | {"time": time} | velocities | dict(fields) | dict(channels)
        return {name: unit for name, unit in named.items() if unit}

    @property
    def fields(self) -> list[str]:
        """Names of the fields of a problem file."""
        return [name for name, _ in self.native.units[2]]

    @property
    def components(self) -> list[str]:
        """Names of the components of an action."""
        width, d = self.native.action_width, self.dimensions
        velocities = [f"velocity_{axis}" for axis in self.axes] if self.moves else []
        if channels := self.native.units[3]:
            return [name for name, _ in channels] + velocities
        return (["push"] + velocities if width == len(velocities) + 1 else velocities)[:width] if d else []

    @property
    def terms(self) -> list[str]:
        """Terms of the cost."""
        return [*self.native.terms]

    @property
    def measures(self) -> list[str]:
        """Names of the measures; the first is the score."""
        return [*self.native.measures]

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting: `problem.settings["physics"]["ticks"]`."""
        return tomllib.loads(self.config)

    def draw(self, seed: int = 3000, index: int = 0, stream: str = "test") -> Instance:
        """Start and target of an instance. Streams: "train", "validation", "test".

        States of chaotic problems come from uncontrolled runs, which take a while the first time.
        """
        return Instance(*self.native.draw(whole("seed", seed), whole("index", index), stream))

    def places(self, agents: int | None = None) -> Array:
        """Initial positions, [agents, axes]."""
        return np.asarray(self.native.places(self.agents if agents is None else whole("agents", agents)))

    def discs(self, tick: int = 0) -> list[tuple[float, float, float]]:
        """Discs (x, y, radius) that agents keep out of."""
        return [*self.native.discs(whole("tick", tick))]

    def env(self, instances: int = 1, agents: int | None = None, threads: int = 1) -> Any:
        """A batch of episodes, without a framework around them (`cinoc.envs` has those); its methods fill arrays that you give."""
        count = None if agents is None else whole("agents", agents, 1)
        return engine(self.dtype).Env(self.native, whole("instances", instances, 1), count, whole("threads", threads))

    def change(self, set: Mapping[str, object]) -> Problem:
        """The same problem with other settings."""
        return _from_settings(self.config, self.dtype.name, set)

    def __deepcopy__(self, memo: Any) -> Problem:
        """A problem is immutable."""
        return self

    def __reduce__(self) -> Any:
        return _from_settings, (self.config, self.dtype.name)

    def __repr__(self) -> str:
        size = " × ".join(map(str, self.nodes))
        kind = "mobile agents" if self.moves else "agents in place"
        end = self.ticks * self.tick_time
        return f"<cinoc problem {self.name}: {size} nodes, {self.agents} {kind}, {self.ticks} ticks (time {end:g}), {self.dtype.name}>"


def make(
    problem: str | PathLike[str] | Mapping[str, object],
    agents: int | None = None,
    set: Mapping[str, object] | None = None,
    preset: str = "shipped",
    dtype: DTypeLike = "float32",
) -> Problem:
    """A problem by its name, from a TOML file, or from a dict with the sections of a problem file.

    In a dict, data files are in the current folder, and an array can be a map: {"maps": {"k": {"values": array}}, ...}.
    `agents`: their number. `set`: other settings, like {"physics.ticks": 50}; `cinoc.make("heat1d").config` has all of them.
    `preset`: "shipped" (that of the default policy), "tuned" (that of `PROBLEM:sharp`), "robust" or "paper". `dtype`: "float32", or
    "float64" to check derivatives.
    """
    chosen = {**(set or {}), **({} if agents is None else {"swarm.agents": agents})}
    if isinstance(problem, Mapping):
        text = "\n".join(f"{key} = {value}" for key, value in overlay(problem).items())
        return Problem(engine(dtype).Problem.from_file_text(text, overlay(chosen)))
    return Problem(engine(dtype).Problem(problem, preset, overlay(chosen)))


def _from_settings(config: str, dtype: str, set: Mapping[str, object] | None = None) -> Problem:
    return Problem(engine(dtype).Problem.from_text(config, overlay(set)))
