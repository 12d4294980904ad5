"""Fields, positions and failures that a user gives, checked against a problem."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Union

import numpy as np

from cinoc._native import CinocError
from cinoc.problem import Array, Problem, plain

# Numbers, a function of the coordinates, or a file (.npy; in the plane also .png).
Field = Union[Array, Sequence[Any], Callable[..., Any], str, "PathLike[str]"]
Deaths = Sequence[Any]


def fields(problem: Problem, given: Field, what: str) -> Array:
    """States [n, nodes…] ([n, fields, nodes…] of several fields) from one, several, a function of x (and y), or a file."""
    if callable(given):
        given = _values(problem, given, what)
    elif isinstance(given, (str, PathLike)):
        given = read(problem, Path(given), what)
    return _shaped(given, problem.shape, what, f"{problem.name} needs", "a number for each node", problem)


def _values(problem: Problem, function: Callable[..., Any], what: str) -> Array:
    """The values of a function of the coordinates at all nodes."""
    grid = np.meshgrid(*problem.coordinates.values(), indexing="ij")
    axes = " and ".join(problem.axes)
    try:
        inspect.signature(function).bind(*grid)
    except TypeError:
        example = ", ".join(problem.axes)
        raise CinocError(f"{what} must be a function of {axes} for {problem.name}, like lambda {example}: ...") from None
    except ValueError:
        pass  # some functions of C have no signature
    values = function(*grid)
    try:
        return np.broadcast_to(values, problem.shape)
    except ValueError:
        shape = np.shape(values)
        raise CinocError(f"{what} is a function that gave shape {shape}, but {problem.shape} is needed: a value at each of the given {axes}") from None


def places(problem: Problem, given: Any, agents: int) -> Array:
    """Positions [n, agents, axes]."""
    shape = (agents, problem.dimensions)
    given = np.asarray(given)
    if problem.dimensions == 1 and given.shape[-1:] == (agents,) and given.shape[-2:] != shape:
        given = given[..., None]
    array = _shaped(given, shape, "places", f"{agents} agents of {problem.name} need", "coordinates of each agent", problem)
    outside = ~((array >= 0) & (array <= np.asarray(problem.lengths, array.dtype)))
    if outside.any():
        instance, agent, _ = np.argwhere(outside)[0]
        where = ", ".join(f"{x:g}" for x in array[instance, agent])
        domain = " × ".join(f"[0, {length:g}]" for length in problem.lengths)
        raise CinocError(f"agent {agent} is placed at ({where}), outside the domain {domain} of {problem.name}; give positions inside it")
    return array


def _shaped(given: Any, shape: tuple[int, ...], what: str, who: str, why: str, problem: Problem) -> Array:
    try:
        array = np.asarray(given, problem.dtype)
    except (TypeError, ValueError):
        raise CinocError(f"{what} cannot be read as numbers; {who} an array of shape {shape}") from None
    if array.shape == shape:
        array = array[None]
    if array.shape[1:] != shape or array.ndim != len(shape) + 1:
        several = "(n, " + str(shape)[1:]
        several = several.replace(",)", ")")
        raise CinocError(f"{what} has shape {array.shape}, but {who} {shape}: {why}, or {several} for n instances")
    return plain(array)


def batch(array: Array | None, n: int, what: str) -> Array | None:
    """One array per instance: a single one is repeated for all."""
    if array is None or len(array) == n:
        return array
    if len(array) == 1:
        return np.repeat(array, n, axis=0)
    raise CinocError(f"{what} is given for {len(array)} instances, but there are {n}; give one for all, or {n}")


def deaths(given: Deaths | None, n: int, agents: int) -> list[list[tuple[int, int]]] | None:
    """(tick, agent) pairs of each instance, from one list for all or one for each."""
    if given is None:
        return None
    try:
        flat = all(len(one) == 2 and np.ndim(one[0]) == 0 for one in given)
        each = [[(int(tick), int(agent)) for tick, agent in one] for one in ([given] * n if flat else given)]
    except (TypeError, ValueError):
        raise CinocError("deaths are pairs (tick, agent), like [(150, 0), (150, 3)], or a list of such lists") from None
    if len(each) != n:
        raise CinocError(f"deaths are given for {len(each)} instances, but there are {n}")
    for tick, agent in sum(each, []):
        if tick < 0 or not 0 <= agent < agents:
            raise CinocError(f"agent {agent} fails at tick {tick}, but ticks count from 0 and agents from 0 to {agents - 1}")
    return each


def _loaded(load: Callable[[Path], Any], path: Path, what: str) -> Array:
    try:
        return np.asarray(load(path))
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise CinocError(f"{what} cannot be read from {path} ({error}); give a .npy file of numbers, or a picture such as a .png") from None


def read(problem: Problem, path: Path, what: str) -> Array:
    """A field from a file: numbers of a .npy, or the grey levels (0 to 1) of a picture of the plane, brought to the grid."""
    if not path.exists():
        raise CinocError(f"{what} should be read from {path}, but there is no such file")
    if path.suffix == ".npy":
        return _loaded(np.load, path, what)
    if problem.shape != problem.nodes:
        raise CinocError(f"{what} is a picture, but {problem.name} has several fields; give numbers, a function or a .npy file")
    if problem.dimensions != 2:
        raise CinocError(f"{what} is a picture, but {problem.name} lives on a line; give numbers, a function of x, or a .npy file")
    from matplotlib.image import imread

    image = _loaded(imread, path, what).astype(np.float64)
    if image.ndim == 3:
        image = image[..., :3].mean(-1)
    if image.max() > 1.0:
        image = image / 255.0
    # Rows of a picture go down, y goes up.
    image = image[::-1].T
    for axis, count in enumerate(problem.nodes):
        size = image.shape[axis]
        at = np.linspace(0.0, size - 1.0, count)
        low = np.minimum(at.astype(int), max(size - 2, 0))
        part = (at - low).reshape([-1 if a == axis else 1 for a in range(2)])
        high = np.minimum(low + 1, size - 1)
        image = (1.0 - part) * image.take(low, axis) + part * image.take(high, axis)
    return image
