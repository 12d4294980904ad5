"""Single precision. Below, "array" means a NumPy array of this precision, C-contiguous; outputs given by the caller must be writable."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Problem", "Policy", "Env", "Snapshot", "Rollout", "Training", "evaluate"]

@final
class Problem:
    def __new__(cls, name: str | PathLike[str], preset: str = "shipped", set: Mapping[str, str] | None = None) -> Problem:
        """`name`: a problem, or the path of a TOML file. `set`: settings and their values, written as in TOML."""

    @staticmethod
    def from_text(text: str, set: Mapping[str, str] | None = None) -> Problem:
        """A problem from the text of all its settings, as `config` gives it, with changes."""

    @staticmethod
    def from_file_text(text: str, set: Mapping[str, str] | None = None) -> Problem:
        """A problem from the text of a problem file, with changes; its data files are in the current folder."""

    @property
    def name(self) -> str: ...
    @property
    def agents(self) -> int: ...
    @property
    def ticks(self) -> int: ...
    @property
    def tick_time(self) -> float: ...
    @property
    def nodes(self) -> tuple[int, ...]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def lengths(self) -> tuple[float, ...]: ...
    @property
    def periodic(self) -> bool: ...
    @property
    def moves(self) -> bool: ...
    @property
    def has_target(self) -> bool: ...
    @property
    def units(self) -> tuple[str, str, list[list[str]], list[list[str]]]:
        """Units of length and time, and names and units of fields and channels; empty where there are none."""

    @property
    def action_width(self) -> int: ...
    @property
    def delay(self) -> int:
        """Ticks from a decision to its effect."""

    @property
    def limits(self) -> list[float]:
        """The largest magnitude of each number of an action."""

    @property
    def terms(self) -> list[str]:
        """Names of the terms of the cost."""

    @property
    def measures(self) -> list[str]:
        """Names of the measures; the first is the score."""

    @property
    def scored_at(self) -> int:
        """The tick after which the score is known."""

    @property
    def view(self) -> tuple[int, ...]:
        """The shape of what one agent sees of the field: (n,) or (height, width, channels)."""

    @property
    def shared_view(self) -> bool:
        """Whether all agents of an instance see the same."""

    @property
    def position(self) -> int:
        """Features of an agent's place and of what else it knows."""

    @property
    def config(self) -> str:
        """Every setting, as TOML."""

    def nodes_along(self, axis: int) -> NDArray[np.float64]:
        """Where the nodes are along an axis."""

    def discs(self, tick: int = 0) -> list[tuple[float, float, float]]:
        """Discs that agents keep out of: x, y, radius."""

    def places(self, agents: int) -> NDArray[Any]:
        """Where agents start, [agents, d]."""

    def draw(self, seed: int, index: int, stream: str = "test") -> tuple[NDArray[Any], NDArray[Any]]:
        """Start and target of an instance of the stream "train", "validation" or "test"."""

    def weights(self, tick: int) -> list[float]:
        """Weight of each term of the cost at a tick (from 1)."""

@final
class Policy:
    @staticmethod
    def load(name: str | PathLike[str]) -> Policy:
        """A shipped model, a file, or a run folder."""

    @staticmethod
    def from_bytes(file: bytes) -> Policy:
        """A model from the bytes of its file."""

    def to_bytes(self) -> bytes:
        """The bytes of a model file. Parameters are written in single precision."""

    @staticmethod
    def fresh(problem: Problem, seed: int = 0) -> Policy:
        """Untrained."""

    def rebuild(self, set: Mapping[str, str]) -> Policy:
        """The same parameters for the problem with other settings (of the physics, the swarm, the task)."""

    @property
    def problem(self) -> Problem: ...
    @property
    def memory(self) -> int:
        """Numbers that each agent remembers."""

    @property
    def noise(self) -> int: ...
    @property
    def clock(self) -> bool: ...
    @property
    def everything(self) -> bool: ...
    @property
    def fixed_agents(self) -> int | None: ...
    @property
    def shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Name and shape of each piece of the parameters."""

    @property
    def params(self) -> NDArray[Any]:
        """All parameters as one vector, a copy: the pieces one after the other."""

    @params.setter
    def params(self, value: NDArray[Any]) -> None: ...
    def act(
        self, observation: NDArray[Any], memory: NDArray[Any] | None = None, held: NDArray[Any] | None = None
    ) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
        """Actions within [-1, 1], [n, agents, k], the next memory, and the valid observations, from observations [n, agents, width] as
        `Env.observe` gives them.

        A number that is not finite or beyond 1e6 in magnitude counts as missing and is replaced by that of `held`, the third result of the last
        call (zeros at first). The strength, the last number, is limited to [0, 1]; a missing one is 0. An inactive agent has action and memory 0;
        a memory that is not finite is reset. Followed by `Env.step` this is what `Env.step_policy` does, to rounding.
        """

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a model file. Parameters are written in single precision."""

@final
class Snapshot:
    """The state of all episodes."""

@final
class Env:
    """A batch of episodes, each at its own tick. Each has to be reset before the first step."""

    def __new__(
        cls, problem: Problem, instances: int, agents: int | None = None, threads: int = 1, thorough: bool = False
    ) -> Env:
        """`thorough`: measures that take long are made too, as for reports."""

    @property
    def instances(self) -> int: ...
    @property
    def agents(self) -> int: ...
    @property
    def width(self) -> int:
        """Numbers of one agent's observation: its view, then `position` features, then its strength (1; less in a crowd; 0: failed)."""

    @property
    def width_global(self) -> int:
        """Numbers of the global observation: field, target, positions, strength."""

    @property
    def points(self) -> int:
        """Samples of the field that an agent reads, each with a sensor."""

    def reset(
        self,
        which: NDArray[np.bool_],
        seeds: NDArray[np.uint64],
        indices: NDArray[np.uint64],
        stream: str = "train",
        starts: NDArray[Any] | None = None,
        targets: NDArray[Any] | None = None,
        places: NDArray[Any] | None = None,
        deaths: Sequence[Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        """Resets the marked episodes: each is the instance of its seed and index, except for what is given.

        `starts`, `targets`: [instances, nodes...]; `places`: [instances, agents, d]; `deaths`: for each instance (tick from 0, agent).
        """

    def observe(self, out: NDArray[Any]) -> None:
        """What agents see, [instances, agents, width]."""

    def observe_global(self, out: NDArray[Any]) -> None:
        """Everything there is to see, [instances, width_global]; fields as they are, without the noise of sensors."""

    def step(self, actions: NDArray[Any], out: NDArray[Any] | None = None) -> None:
        """One tick; actions within [-1, 1] of the limits, [instances, agents, k], of any real type. Episodes that are over stay as they are.
        With `out`, the observation after the tick is written to it: faster than `observe`."""

    def report(
        self, rewards: NDArray[np.float64], terminated: NDArray[np.bool_], truncated: NDArray[np.bool_], ticks: NDArray[np.int64]
    ) -> tuple[bool, float]:
        """What the last step gave: minus the costs, which episodes diverged, which ended otherwise, and their ticks. Returns whether any is
        over, and the least reward; minus infinity where one is not a number."""

    def step_policy(self, policy: Policy, ticks: int = 1) -> None:
        """Ticks driven by a policy."""

    def cost(self, out: NDArray[np.float64]) -> None: ...
    def done(self, out: NDArray[np.bool_]) -> None: ...
    def diverged(self, out: NDArray[np.bool_]) -> None: ...
    def terms(self, out: NDArray[np.float64]) -> None:
        """[instances, terms]"""

    def measures(self, out: NDArray[np.float64]) -> None:
        """[instances, measures]"""

    def ticks(self, out: NDArray[np.int64]) -> None: ...
    def begins(self, out: NDArray[np.float64]) -> None:
        """Time of each instance at tick 0."""

    def fields(self, out: NDArray[Any]) -> None: ...
    def targets(self, out: NDArray[Any]) -> None: ...
    def positions(self, out: NDArray[Any]) -> None: ...
    def actions(self, out: NDArray[Any]) -> None:
        """As they were carried out, in physical units."""

    def strength(self, out: NDArray[Any]) -> None:
        """1 for active agents, 0 for failed ones, [instances, agents]."""

    def set_strength(self, instance: int, agent: int, strength: float) -> None:
        """Changes the strength of an agent from the next tick on; 0 makes it fail."""

    def set_sensor(self, instance: int, agent: int, point: int | None = None, works: bool = False) -> None:
        """Switches sensors of an agent off or on: that of sample `point` of its window, or all. A sensor that is switched off reads once more
        in the next tick; then its last reading is held, and an agent without readings for more than 10 ticks rests."""

    def ages(self, out: NDArray[Any]) -> None:
        """Ages of the samples in the next tick, in ticks, [instances, agents, points]; 0 for new readings."""

    def snapshot(self) -> Snapshot:
        """Everything as it is now."""

    def restore(self, snapshot: Snapshot) -> None:
        """Everything as it was then."""

@final
class Rollout:
    """Ticks with their backward sweep. One object per forward pass; `backward` may be called several times.

    A number that is no longer finite makes everything after it NaN for its instance, and all cotangents of that instance.
    """

    def __new__(
        cls,
        problem: Problem,
        start: NDArray[Any],
        target: NDArray[Any],
        places: NDArray[Any],
        ticks: int,
        actions: NDArray[Any] | None = None,
        policy: Policy | None = None,
        params: NDArray[Any] | None = None,
        previous: NDArray[Any] | None = None,
        memory: NDArray[Any] | None = None,
        deaths: Sequence[Sequence[tuple[int, int]]] | None = None,
        first: int = 0,
        gradient: bool = True,
        threads: int = 1,
    ) -> Rollout:
        """`start`, `target`: [n, nodes...]; `places`: [n, agents, d]; either `actions`: [ticks, n, agents, k] in physical units (clamped to
        the limits), or a `policy`, with `params` instead of those of the policy.

        `previous`: [n, agents, k], the action before the first tick (for the price of acceleration); `memory`: [n, agents, h].
        `first`: the tick of the episode that this begins with: weights of the cost and deaths count from there. first + ticks is at most the
        problem's `ticks`; costs of all its parts add up to that of an episode.
        """

    @property
    def z(self) -> NDArray[Any]:
        """[ticks+1, n, nodes...]"""

    @property
    def xi(self) -> NDArray[Any]:
        """[ticks+1, n, agents, d]"""

    @property
    def action(self) -> NDArray[Any]:
        """[ticks, n, agents, k], as carried out."""

    @property
    def cost(self) -> NDArray[np.float64]:
        """[n], the weighted sum."""

    @property
    def memory(self) -> NDArray[Any]:
        """What agents remember at the end, [n, agents, h]."""

    @property
    def diverged(self) -> bool: ...
    def backward(
        self,
        cost: NDArray[Any] | None = None,
        z: NDArray[Any] | None = None,
        xi: NDArray[Any] | None = None,
        action: NDArray[Any] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Cotangents "start", "places", "previous", and "actions" (given ones) or "params" and "memory" (of a policy), from those of the
        cost of each instance, [n], and of the trajectory."""

@final
class Training:
    def __new__(
        cls,
        name: str | PathLike[str],
        preset: str = "tuned",
        set: Mapping[str, str] | None = None,
        seed: int | None = None,
        out: str | PathLike[str] | None = None,
        resume: bool = False,
        threads: int = 0,
    ) -> Training:
        """A run in the folder `out` (as `cinoc train --out`), or in memory only. `seed`: 0 unless given; a resumed run has its own."""

    @staticmethod
    def from_text(
        text: str,
        set: Mapping[str, str] | None = None,
        seed: int | None = None,
        out: str | PathLike[str] | None = None,
        resume: bool = False,
        threads: int = 0,
    ) -> Training:
        """A run with all settings from their text, as `Problem.config` gives it, with changes."""

    @property
    def updates(self) -> int:
        """Updates in all."""

    @property
    def update(self) -> int:
        """Updates done so far."""

    @property
    def finished(self) -> bool: ...
    @property
    def validation(self) -> int | None:
        """Instances of the validation after the next update; None if there is none."""

    @property
    def notices(self) -> list[str]:
        """Notices about how the run was opened."""

    def step(self) -> dict[str, float]:
        """One update: update, cost, each term, gradient, rate, validation (NaN where it was not measured)."""

    def save(self) -> None:
        """Writes the best model, the last one and a checkpoint."""

    def policy(self, best: bool = True) -> Policy:
        """The best policy so far, or the present one."""

def evaluate(
    policy: Policy,
    agents: int | None,
    instances: int,
    seed: int,
    fail: float,
    fail_at: float,
    threads: int,
    starts: NDArray[Any] | None = None,
    targets: NDArray[Any] | None = None,
) -> str:
    """One row of `cinoc eval`, as JSON, with the score of every instance in "scores" and "uncontrolled_scores"."""
