"""Policies: from observations to actions."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from cinoc._native import CinocError
from cinoc.problem import Array, Problem, engine, overlay, plain, whole


class Policy:
    """One network that every agent of a swarm runs, whatever their number.

    `policy(observation)` returns actions within [-1, 1] of the limits. A policy with a memory keeps it from call to
    call, as agents do from tick to tick; call `policy.reset()` before every episode.

    A number of an observation that is NaN, infinite or beyond 1e6 in magnitude counts as missing: the last valid one of that agent is held, 0 before
    the first. The strength, the last number of an observation, is limited to [0, 1], and a missing one is 0: the agent is then inactive.
    """

    def __init__(self, native: Any) -> None:
        self.native = native
        self.problem = Problem(native.problem)
        self._remembered: Array | None = None
        self._held: Array | None = None

    def __call__(self, observation: Any) -> Array:
        """Actions [agents, k] or [n, agents, k] for observations [agents, width] or [n, agents, width]."""
        seen = plain(observation, self.problem.dtype)
        if seen.ndim not in (2, 3):
            raise CinocError(f"observations have shape {seen.shape}, but a policy needs (agents, width) or (n, agents, width)")
        one = seen.ndim == 2
        seen = seen[None] if one else seen
        memory = self._remembered
        if memory is not None and memory.shape[:2] != seen.shape[:2]:
            was, now = memory.shape[:2], seen.shape[:2]
            raise CinocError(f"the policy remembers {was[0]} × {was[1]} agents, but is given {now[0]} × {now[1]}; call policy.reset() first")
        held = self._held if self._held is not None and self._held.shape == seen.shape else None
        action, self._remembered, self._held = self.native.act(seen, memory, held)
        return np.asarray(action[0] if one else action)

    def reset(self) -> None:
        """Forgets: memory and held observations start at zero."""
        self._remembered = self._held = None

    @property
    def kind(self) -> str:
        """Kind of network: "recurrent", "deeponet" and others."""
        return str(self.problem.settings["policy"]["kind"])

    @property
    def memory(self) -> int:
        """Length of each agent's memory."""
        return int(self.native.memory)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of each piece of the parameters, in order."""
        return {name: tuple(shape) for name, shape in self.native.shapes}

    @property
    def params(self) -> Array:
        """All parameters as one vector, a copy. May be set."""
        return np.asarray(self.native.params)

    @params.setter
    def params(self, values: Any) -> None:
        values = plain(values, self.problem.dtype)
        if values.shape != self.params.shape:
            raise CinocError(f"parameters have shape {values.shape}, but this policy has {self.params.shape}")
        self.native.params = values

    def parts(self) -> dict[str, Array]:
        """The parameters by name, each in its shape."""
        rest, found = self.params, {}
        for name, shape in self.shapes.items():
            count = int(np.prod(shape))
            found[name], rest = rest[:count].reshape(shape), rest[count:]
        return found

    def change(self, set: Mapping[str, object] | None = None) -> Policy:
        """A policy with the same parameters for other settings of the physics, the swarm or the task; without any, a copy."""
        return Policy(self.native.rebuild(overlay(set)))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a file that `cinoc.load` and the command `cinoc` read."""
        self.native.save(path)

    def __deepcopy__(self, memo: Any) -> Policy:
        return self.change()

    def __reduce__(self) -> Any:
        return _from_bytes, (bytes(self.native.to_bytes()), self.problem.dtype.name)

    def __repr__(self) -> str:
        return f"<cinoc policy for {self.problem.name}: {self.kind}, {self.params.size} parameters, {self.problem.dtype.name}>"


def load(name: str | PathLike[str], dtype: DTypeLike = "float32") -> Policy:
    """A trained policy: that of a problem (`cinoc.list()` names them), a file, or a run folder."""
    return Policy(engine(dtype).Policy.load(name))


def as_policy(who: Any) -> Policy:
    """A policy, that of a `cinoc.torch.Policy`, or one by its name."""
    if isinstance(who, Policy):
        return who
    return who.to_cinoc() if hasattr(who, "to_cinoc") else load(who)


def _from_bytes(file: bytes, dtype: str) -> Policy:
    return Policy(engine(dtype).Policy.from_bytes(file))


def fresh(problem: Problem, seed: int = 0) -> Policy:
    """An untrained policy of a problem."""
    if not isinstance(problem, Problem):
        raise CinocError(f"fresh needs a problem, not {problem!r}; make one with cinoc.make")
    return Policy(engine(problem.dtype).Policy.fresh(problem.native, whole("seed", seed)))
