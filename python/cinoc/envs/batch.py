"""Episodes side by side, as arrays: what every adapter sits on."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ..problem import make, plain

DIVERGED = -1e6
"""Reward of a step after which a number is no longer finite, and the least reward of any step."""

STREAMS = ("train", "validation", "test")


def one_of(name: str, value: Any, choices: Sequence[str]) -> str:
    """The value, if it is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not known; write one of {', '.join(map(repr, choices))}.")
    return str(value)


class Batch:
    """`instances` episodes of one problem.

    problem: a name of `cinoc.list()`, or the path of a TOML file.
    agents: how many there are in each episode; the problem's own number if not given.
    set: settings to change, like {"physics.ticks": 100}.
    observation: "local", what each agent sees, (agents, width); or "global", field, target, positions and strengths as one vector.
    dtype: "float32" or "float64", of the whole computation.
    start, target: fields, the same in every episode or with a first axis over instances; drawn if not given.
    places: where agents begin, (agents, d), or with a first axis over instances; evenly spread if not given.
    deaths: pairs (tick, agent): that agent fails at that tick (the first is 0).
    stream: "train", "validation" or "test": instances of different streams never coincide.
    diverged_reward: reward of a step that ends an episode because a number is no longer finite; no step has less. The default, -1e6, is
        below what whole episodes cost; one nearer to what your episodes return is kinder to running means.
    pool: chaotic problems start from states of long uncontrolled runs, which differ by seed; the first time they take seconds (`ks1d`)
        to a third of a minute (`ks2d`, `turbulence2d`) per seed, then they are on disk. With pool=0 all seeds share those of seed 0.
    threads: that step the episodes.
    """

    def __init__(
        self,
        problem: str | os.PathLike[str],
        instances: int = 1,
        *,
        agents: int | None = None,
        set: Mapping[str, Any] | None = None,
        preset: str = "shipped",
        observation: str = "local",
        dtype: DTypeLike = "float32",
        start: ArrayLike | None = None,
        target: ArrayLike | None = None,
        places: ArrayLike | None = None,
        deaths: Iterable[tuple[int, int]] = (),
        stream: str = "train",
        diverged_reward: float = DIVERGED,
        pool: int | None = None,
        threads: int = 1,
    ) -> None:
        if set is not None and not isinstance(set, Mapping):
            raise TypeError(f'set={set!r} is not a dictionary; write set={{"physics.ticks": 100}}.')
        if isinstance(instances, bool) or not isinstance(instances, (int, np.integer)) or instances < 1:
            raise ValueError(f"{instances!r} environments cannot be made; ask for 1 or more.")
        if agents is not None and (not isinstance(agents, (int, np.integer)) or agents < 1):
            raise ValueError(f"agents={agents!r} cannot be made; write a whole number from 1 on, or leave it out.")
        if not (math.isfinite(diverged_reward) and diverged_reward <= 0):
            raise ValueError(f"diverged_reward={diverged_reward!r} would reward divergence; write a finite number below 0.")
        self.observation = one_of("observation", observation, ("local", "global"))
        self.stream = one_of("stream", stream, STREAMS)
        self.dtype = np.dtype(one_of("dtype", np.dtype(dtype).name, ("float32", "float64")))
        deaths = [(int(tick), int(agent)) for tick, agent in deaths]
        self.arguments: dict[str, Any] = dict(
            problem=os.fspath(problem), instances=int(instances), agents=agents, set=dict(set or {}), preset=preset, observation=observation,
            dtype=self.dtype.name, start=start, target=target, places=places, deaths=deaths, stream=stream,
            diverged_reward=diverged_reward, pool=pool, threads=threads,
        )
        self.problem = make(problem, agents, set, preset, self.dtype)
        self.env = self.problem.env(int(instances), threads=threads)
        self.instances: int = self.env.instances
        self.agents: int = self.env.agents
        self.measures = self.problem.measures

        n, nodes = self.instances, self.problem.shape
        self._starts = self._given("start", start, nodes)
        self._targets = self._given("target", target, nodes)
        self._places = self._given("places", places, (self.agents, self.problem.dimensions))
        self._deaths = [self._checked(deaths)] * n if deaths else None
        self._diverged_reward = float(diverged_reward)

        self.shape = (self.agents, self.env.width) if observation == "local" else (self.env.width_global,)
        self.observations = np.zeros((n, *self.shape), self.dtype)
        self.rewards = np.zeros(n)
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self.ticks = np.zeros(n, np.int64)
        self.begun = np.zeros(n, np.bool_)
        self._ready = False
        self._all = np.ones(n, np.bool_)
        self._none = np.zeros(n, np.bool_)
        self.action_shape = (self.agents, len(self.problem.limits))
        self._actions = np.zeros((n, *self.action_shape), self.dtype)
        self.any_over = False
        self._wild = np.zeros(n, np.bool_)
        self._any_wild = False
        self._measured = np.zeros((n, len(self.measures)))
        self._pool = pool
        self._seeds = np.full(n, pool or 0, np.uint64)
        self._base = np.zeros(n, np.uint64)
        self._next = np.zeros(n, np.uint64)
        self._seeded = np.zeros(n, np.bool_)
        self._scale: list[float | None] = [None] * n

    def _given(self, name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[Any] | None:
        if value is None:
            return None
        array = np.asarray(value, self.dtype)
        if array.shape == shape:
            array = np.broadcast_to(array, (self.instances, *shape))
        if array.shape != (self.instances, *shape):
            raise ValueError(f"{name} of shape {array.shape} does not fit; give it the shape {shape} or {(self.instances, *shape)}.")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds numbers that are not finite; give finite ones.")
        return plain(array)

    def _checked(self, deaths: list[tuple[int, int]]) -> list[tuple[int, int]]:
        for tick, agent in deaths:
            if not (0 <= agent < self.agents and 0 <= tick < self.problem.ticks):
                raise ValueError(
                    f"the failure {(tick, agent)} cannot happen; write (tick, agent) with a tick from 0 to "
                    f"{self.problem.ticks - 1} and an agent from 0 to {self.agents - 1}."
                )
        return deaths

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made from the same arguments, and have to be reset."""
        return _again, (self.arguments,)

    @property
    def over(self) -> NDArray[np.bool_]:
        """Marks of episodes that have ended and not been reset."""
        return self.terminated | self.truncated

    def seed(
        self,
        seeds: Sequence[int | None],
        random: Callable[[], np.random.Generator],
        index: int | Sequence[int | None] | NDArray[Any] | None = None,
        which: NDArray[np.bool_] | None = None,
    ) -> None:
        """Says which instances come next. With a seed: number 0 of that seed, then 1, 2 …; without one: as before, or, if there never was
        one, a random number and those after it. `index`: that number instead."""
        numbers = [index] * len(seeds) if index is None or isinstance(index, (int, np.integer)) else list(index)
        if len(numbers) != len(seeds):
            raise ValueError(f"{len(numbers)} indices for {len(seeds)} environments; give one each, or a single number.")
        for i, (seed, number) in enumerate(zip(seeds, numbers, strict=True)):
            if which is not None and not which[i]:
                continue
            for what, value in (("seed", seed), ("index", number)):
                if value is not None and not isinstance(value, (int, np.integer)):
                    raise ValueError(f"the {what} {value!r} is no whole number; take one from 0 on.")
            if number is not None and not 0 <= number < 2**64:
                raise ValueError(f"there is no instance {number}; take one from 0 to 2**64 - 1.")
            if seed is not None:
                if seed < 0:
                    raise ValueError(f"the seed {seed} is negative; take one from 0 on.")
                whose = (int(seed), 0) if self._pool is None else (self._pool, int(seed) << 32)
                self._seeds[i], self._base[i] = (number % 2**64 for number in whose)
            elif not self._seeded[i]:
                # Of seed 0: no free runs of chaotic problems are made just for this.
                self._base[i] = random().integers(2**62)
            if seed is not None or not self._seeded[i]:
                self._next[i], self._seeded[i] = self._base[i], True
            if number is not None:
                self._next[i] = self._base[i] + np.uint64(number)

    def reset(self, which: NDArray[np.bool_] | None = None) -> None:
        """Resets the marked episodes, or all; call `seed` before the first time, and `observe` afterwards."""
        mask = np.ones(self.instances, np.bool_) if which is None else plain(which, np.bool_)
        if not mask.any():
            return
        self.env.reset(
            mask, self._seeds, self._next, self.stream, starts=self._starts, targets=self._targets, places=self._places,
            deaths=self._deaths,
        )
        self._next[mask] += np.uint64(1)
        for flags in (self.terminated, self.truncated, self._wild):
            flags[mask] = False
        self.begun[mask] = True
        self._ready = bool(self.begun.all())
        self.ticks[mask] = 0
        self.rewards[mask] = 0.0
        self.any_over = bool(self.over.any())
        for i in np.flatnonzero(mask):
            self._scale[i] = None

    def step(self, actions: ArrayLike, out: NDArray[Any] | None = None) -> None:
        """One tick. Actions are cut to [-1, 1]. Episodes that are over stay as they are, at no reward. What is seen afterwards is in `out` if it
        is given; else call `observe`."""
        if not self._ready:
            raise RuntimeError("an episode has not begun; call reset() before the first step().")
        given = np.asarray(actions)
        if given.dtype.kind not in "fiub":
            raise ValueError(f"actions of {given.dtype} cannot be carried out; give real numbers within [-1, 1].")
        if given.shape != self._actions.shape:
            if given.size != self._actions.size:
                raise ValueError(f"actions of shape {given.shape} do not fit; give them the shape {self._actions.shape}.")
            given = given.reshape(self._actions.shape)
        if given.dtype != self.dtype or not given.flags.carray:
            # Cut before it is rounded. What needs no copy the engine cuts.
            given = np.clip(given, -1.0, 1.0, out=self._actions, casting="same_kind")
        before, wild = self.over if self.any_over else None, self._any_wild
        local = self.observation == "local"
        self.env.step(given, out if local else None)
        self.any_over, least = self.env.report(self.rewards, self.terminated, self.truncated, self.ticks)
        # Hardly ever.
        self._any_wild = least <= self._diverged_reward or (self.any_over and bool(self.terminated.any()))
        if self._any_wild:
            self.rewards[self.terminated] = self._diverged_reward
            np.fmax(self.rewards, self._diverged_reward, out=self.rewards)
            np.less_equal(self.rewards, self._diverged_reward, out=self._wild)
            if before is not None:
                self.rewards[before] = 0.0
        elif wild:
            self._wild[:] = False
        if out is not None:
            if not local:
                self.env.observe_global(out)
            self._tidy(out)

    def observe(self, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """What is seen now, in the array given or in the buffer `observations`. Of a diverged episode only finite numbers are left."""
        out = self.observations if out is None else out
        if self.observation == "local":
            self.env.observe(out)
        else:
            self.env.observe_global(out)
        self._tidy(out)
        return out

    def observe_global(self) -> NDArray[Any]:
        """Field, target, positions and strengths, [instances, width_global], in a new array."""
        out = np.zeros((self.instances, self.env.width_global), self.dtype)
        self.env.observe_global(out)
        self._tidy(out)
        return out

    def _tidy(self, array: NDArray[Any]) -> None:
        if self._any_wild:
            wild = self._wild | self.terminated
            array[wild] = np.nan_to_num(array[wild], nan=0.0, posinf=0.0, neginf=0.0)

    def info(self, i: int) -> dict[str, Any]:
        """Of an instance: "tick"; once its episode is over also "score", "measures" (the first is the score) and "diverged". The score of
        a diverged episode is infinite."""
        info: dict[str, Any] = {"tick": int(self.ticks[i])}
        if self.terminated[i] or self.truncated[i]:
            measured = self.measured()[i]
            info["score"] = float(measured[0])
            info["measures"] = dict(zip(self.measures, measured.tolist(), strict=True))
            info["diverged"] = bool(self.terminated[i])
        return info

    def infos(self, which: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        """The same of all instances, or of those marked, in the form of Gymnasium's vector environments: arrays, and beside each, whose
        entries count."""
        if which is None:
            out: dict[str, Any] = {"tick": self.ticks.copy(), "_tick": self._all.copy()}
            over = self.over if self.any_over else self._none
        elif not which.any():
            return {}
        else:
            out = {"tick": np.where(which, self.ticks, 0), "_tick": which.copy()}
            over = which & self.over
        if np.count_nonzero(over):
            measured = np.where(over[:, None], self.measured(), 0.0)
            each: dict[str, Any] = {}
            for name, column in zip(self.measures, measured.T, strict=True):
                each[name], each["_" + name] = column.copy(), over.copy()
            out |= {"score": measured[:, 0].copy(), "_score": over.copy(), "measures": each, "_measures": over.copy()}
            out |= {"diverged": over & self.terminated, "_diverged": over.copy()}
        return out

    def measured(self) -> NDArray[np.float64]:
        """What was measured, [instances, measures]. Of diverged episodes the score is infinite and the rest unknown."""
        self.env.measures(self._measured)
        if self.terminated.any():
            self._measured[self.terminated] = np.nan
            self._measured[self.terminated, 0] = np.inf
        return self._measured

    def fields(self) -> NDArray[Any]:
        """The fields now, [instances, nodes…]."""
        return self._read(self.env.fields, self.problem.shape)

    def targets(self) -> NDArray[Any]:
        """The fields to be reached, [instances, nodes…]."""
        return self._read(self.env.targets, self.problem.shape)

    def positions(self) -> NDArray[Any]:
        """Where agents are, [instances, agents, d]."""
        return self._read(self.env.positions, (self.agents, self.problem.dimensions))

    def strength(self) -> NDArray[Any]:
        """0 for failed agents, [instances, agents]."""
        return self._read(self.env.strength, (self.agents,))

    def ages(self) -> NDArray[Any]:
        """Ages of the readings in the next tick, in ticks, [instances, agents, points]; 0 for new ones."""
        return self._read(self.env.ages, (self.agents, self.env.points))

    def _read(self, read: Callable[[NDArray[Any]], None], shape: tuple[int, ...]) -> NDArray[Any]:
        out = np.zeros((self.instances, *shape), self.dtype)
        read(out)
        return out

    def render(self, i: int) -> NDArray[np.uint8]:
        """An image of an instance, (height, width, 3)."""
        from .render import frame

        if not self.begun[i]:
            raise RuntimeError("there is nothing to draw yet; call reset() before render().")
        field, target = self.fields()[i], self.targets()[i]
        if self._scale[i] is None:
            # Held for the episode: films do not flicker.
            self._scale[i] = max(float(np.abs(np.nan_to_num([field, target])).max()), 1e-12)
        return frame(self.problem, field, target, self.positions()[i], self.strength()[i], int(self.ticks[i]), self._scale[i] or 1.0)


class Instance:
    """One episode of a batch, for whoever looks at them one by one."""

    def __init__(self, batch: Batch, i: int) -> None:
        self._batch, self._i = batch, i

    @property
    def field(self) -> NDArray[Any]:
        """The field now."""
        return np.asarray(self._batch.fields()[self._i])

    @property
    def target(self) -> NDArray[Any]:
        """The field to be reached."""
        return np.asarray(self._batch.targets()[self._i])

    @property
    def positions(self) -> NDArray[Any]:
        """Where agents are, (agents, d)."""
        return np.asarray(self._batch.positions()[self._i])

    @property
    def strength(self) -> NDArray[Any]:
        """0 for failed agents."""
        return np.asarray(self._batch.strength()[self._i])

    @property
    def ages(self) -> NDArray[Any]:
        """Ages of the readings in the next tick, in ticks, (agents, points); 0 for new ones."""
        return np.asarray(self._batch.ages()[self._i])

    @property
    def tick(self) -> int:
        """Ticks made."""
        return int(self._batch.ticks[self._i])

    def kill(self, agent: int) -> None:
        """Makes an agent fail: it is inactive from the next tick on."""
        if not 0 <= agent < self._batch.agents:
            raise ValueError(f"there is no agent {agent}; take one from 0 to {self._batch.agents - 1}.")
        self._batch.env.set_strength(self._i, agent, 0.0)

    def blind(self, agent: int, point: int | None = None, works: bool = False) -> None:
        """Switches sensors of an agent off, or on again if `works`: that of one sample of its window, or all. The last reading of a sensor is
        that of the next tick; it is held, and an agent without readings for more than 10 ticks rests until a sensor works again."""
        for what, number, count in (("agent", agent, self._batch.agents), ("sensor", point or 0, self._batch.env.points)):
            if not 0 <= number < count:
                raise ValueError(f"there is no {what} {number}; take one from 0 to {count - 1}.")
        self._batch.env.set_sensor(self._i, agent, point, works)

    def render(self) -> NDArray[np.uint8]:
        """An image."""
        return self._batch.render(self._i)


def _again(arguments: dict[str, Any]) -> Batch:
    return Batch(**arguments)
