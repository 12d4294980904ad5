"""Policies: from what agents see to what they do."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from cinoc._native import CinocError
from cinoc.problem import Array, Problem, engine, overlay, plain, whole


class Policy:
    """One network that every agent of a swarm runs, whatever their number.

    `policy(observation)` gives actions within [-1, 1] of the limits. A policy with a memory remembers from call to call, as its agents do from tick
    to tick; `policy.reset()` forgets, and belongs before every episode.
    """

    def __init__(self, native: Any) -> None:
        self.native = native
        self.problem = Problem(native.problem)
        self._remembered: Array | None = None

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
            raise CinocError(f"the policy remembers {was[0]} × {was[1]} agents, but is shown {now[0]} × {now[1]}; call policy.reset() first")
        action, self._remembered = self.native.act(seen, memory)
        return np.asarray(action[0] if one else action)

    def reset(self) -> None:
        """Forgets."""
        self._remembered = None

    @property
    def kind(self) -> str:
        """Of network: "recurrent", "deeponet" and others."""
        return str(self.problem.settings["policy"]["kind"])

    @property
    def memory(self) -> int:
        """Numbers that each agent remembers."""
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
        """Into a file that `cinoc.load` and the command `cinoc` read."""
        self.native.save(str(path))

    def __deepcopy__(self, memo: Any) -> Policy:
        return self.change()

    def __reduce__(self) -> Any:
        with TemporaryDirectory() as folder:
            path = Path(folder, "policy.safetensors")
            self.save(path)
            return _from_bytes, (path.read_bytes(), self.problem.dtype.name)

    def __repr__(self) -> str:
        return f"<cinoc policy for {self.problem.name}: {self.kind}, {self.params.size} parameters, {self.problem.dtype.name}>"


def load(name: str | PathLike[str], dtype: DTypeLike = "float32") -> Policy:
    """A trained policy: that of a problem (`cinoc.list()` names them), a file, or a run folder."""
    return Policy(engine(dtype).Policy.load(str(name)))


def as_policy(who: Any) -> Policy:
    """A policy, that of a `cinoc.torch.Policy`, or one by its name."""
    if isinstance(who, Policy):
        return who
    return who.to_cinoc() if hasattr(who, "to_cinoc") else load(who)


def _from_bytes(file: bytes, dtype: str) -> Policy:
    with TemporaryDirectory() as folder:
        path = Path(folder, "policy.safetensors")
        path.write_bytes(file)
        return load(path, dtype)


def fresh(problem: Problem, seed: int = 0) -> Policy:
    """An untrained policy of a problem."""
    if not isinstance(problem, Problem):
        raise CinocError(f"fresh needs a problem, not {problem!r}; make one with cinoc.make")
    return Policy(engine(problem.dtype).Policy.fresh(problem.native, whole("seed", seed)))
