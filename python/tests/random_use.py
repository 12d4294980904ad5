"""Random use of everything public, right and wrong: `python random_use.py --minutes 60 --seed 1 --log FILE`.

A driver starts a worker, which writes the number of each case into the log before it begins; `--seed S --case N` runs that one again. Fine are
results and exceptions that say what to do. Faults are the end of the interpreter, a panic, "this is a fault of cinoc", a call without an end, a kind
of exception that nobody expects, an exception without a sentence. The log ends with counts of all distinct messages, to be read.
"""

from __future__ import annotations

import argparse
import collections
import copy
import faulthandler
import gc
import json
import os
import pickle
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, Callable

LIMIT = 60.0  # seconds of one call
SPACE = 6 << 30  # bytes of address space
MEGABYTES = 1500  # that the engine may take
NAMES = ("heat1d", "fkpp1d", "heat2d", "heat2d_obstacles", "ks1d", "ks2d", "turbulence2d", "density2d")
CHAOS = {"data.settle": 1.0, "data.apart": 0.1, "data.per_run": 2, "data.train_states": 4, "data.test_states": 4, "data.validation_states": 4}
CHEAP: dict[str, dict[str, Any]] = {
    "ks1d": CHAOS,
    "ks2d": CHAOS | {"physics.nodes": 32, "physics.substeps": 4},
    "turbulence2d": CHAOS | {"physics.nodes": 32, "data.settle": 0.05, "data.per_run": 1},
}
AGENTS = {"ks2d": 25, "turbulence2d": 16, "heat2d": 9, "heat2d_obstacles": 9}
TINY = {
    "train.batch": 2, "train.shard": 1, "train.agents": [4], "train.updates": 2, "train.validate_agents": [4], "train.validate_instances": 2,
    "train.validate_every": 1, "train.checkpoint_every": 1, "train.warmup": 1,
}
PROVOKED = "provoked"


class Fault(BaseException):
    """Something that must not be."""


def normal(text: str) -> str:
    """A message without what differs from case to case."""
    text = re.sub(r"0x[0-9a-f]+", "0x…", text)
    text = re.sub(r"/tmp/[^\s'\"]*", "/tmp/…", text)
    text = re.sub(r"\([\d, ]+\)", "(#)", text)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text)[:300]


class Use:
    """The calls of a worker."""

    def __init__(self, log: Any) -> None:
        self.log = log
        self.calls = self.returned = 0
        self.said: collections.Counter[str] = collections.Counter()
        self.slowest: list[tuple[float, str]] = []
        self.kept: dict[Any, Any] = {}
        self.lock = threading.Lock()
        self.interrupts = False
        self.scene = self.last = ""

    # -- what is random ----------------------------------------------------------------------------------------------------------------

    def begin(self, seed: int, case: int) -> None:
        self.r = random.Random(f"{seed} {case}")
        self.np = np.random.default_rng([seed % 2**63, case])

    def chance(self, share: float) -> bool:
        return self.r.random() < share

    def one(self, *choices: Any) -> Any:
        return self.r.choice(choices)

    def number(self, good: int, share: float = 0.15) -> Any:
        """A number, or now and then something else in its place."""
        if not self.chance(share):
            return good
        return self.one(
            -1, 0, 1, -(2**31), 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -(10**30), 10**9, 1.5, float("nan"), float("inf"), "3", None,
            True, [], np.int8(-3), np.uint64(2**64 - 1), np.float32(2.0), np.array(3), np.array([1, 2]), b"1", 3 + 1j, object(),
        )

    def real(self, good: float, share: float = 0.15) -> Any:
        if not self.chance(share):
            return good
        return self.one(-1.0, 0.0, 2.0, 1e300, -1e300, 1e-300, float("nan"), float("inf"), -float("inf"), "x", None, [], np.float16(0.5), 10**400)

    def array(self, shape: tuple[int, ...], kind: Any, share: float = 0.25, scale: float = 1.0) -> Any:
        """An array, or now and then one that does not fit."""
        kind = np.dtype(kind)
        shape = tuple(int(n) for n in shape)

        def fill(shape: tuple[int, ...], kind: Any) -> Any:
            kind = np.dtype(kind)
            if kind.kind == "b":
                return self.np.random(shape) < 0.7
            if kind.kind in "iu":
                return self.np.integers(0, 5, shape).astype(kind)
            return np.asarray(scale * self.np.uniform(-1, 1, shape)).astype(kind)

        good = fill(shape, kind)
        if not self.chance(share):
            return good
        what = self.r.randrange(30)
        if what == 0:
            return fill(shape, self.one("int32", "int64", "uint8", "bool", "float16", "complex64", "float32", "float64", "longdouble"))
        if what == 1:
            return good.astype(object)
        if what == 2:
            return good.astype(str)
        if what == 3:
            return good.astype(kind.newbyteorder(">"))
        if what == 4:
            return good.tolist()
        if what == 5:
            return self.one(None, 0, 1.0, "array", b"", (), [], {}, object(), np.float32(1), range(3), fill, [[1], [2, 3]])
        if what == 6:
            return np.asfortranarray(good)
        if what == 7:
            return np.repeat(good, 2, axis=-1)[..., ::2] if good.ndim else good
        if what == 8:
            return good[::-1]if good.ndim else good
        if what == 9:
            return good[..., ::-1] if good.ndim else good
        if what == 10:
            good.flags.writeable = False
            return good
        if what == 11 and shape:
            at = self.r.randrange(len(shape))
            return fill(tuple(0 if i == at else n for i, n in enumerate(shape)), kind)
        if what == 12 and shape:
            at = self.r.randrange(len(shape))
            return fill(tuple(max(n + self.one(-1, 1, 3), 0) if i == at else n for i, n in enumerate(shape)), kind)
        if what == 13:
            return fill(shape[1:], kind)
        if what == 14:
            return fill((1, *shape), kind)
        if what == 15:
            return fill((*shape, 1), kind)
        if what == 16:
            return np.zeros((0,) * self.r.randrange(1, 8), kind)
        if what in (17, 18, 19) and kind.kind == "f" and good.size:
            good.reshape(-1)[self.r.randrange(good.size)] = self.one(np.nan, np.inf, -np.inf, 1e300 if kind.itemsize > 4 else 3e38, -3e38, 1e-40)
            return good
        if what == 20 and kind.kind == "f":
            return good * self.one(1e3, 1e6, 1e12, 1e20, 1e30)
        if what == 21:
            # As large as can be, without memory.
            return np.broadcast_to(np.zeros((), kind), self.one((2**40,), (2**20, 2**20, 2**18), (1, 2**45), (2**30, 1, 2)))
        if what == 22:
            return np.broadcast_to(good.reshape(-1)[:1].reshape((1,) * len(shape)), shape) if good.size else good
        if what == 23:
            return np.ma.masked_array(good)
        if what == 24 and good.size:
            # At an odd address.
            raw = np.zeros(good.nbytes + 1, np.uint8)
            odd = raw[1:].view(kind).reshape(shape)
            odd[...] = good
            return odd
        if what == 25 and kind.kind == "b":
            return (2 * fill(shape, "uint8") + 2).view(np.bool_) if shape else good
        if what == 26 and kind.kind == "u":
            return fill(shape, kind) - kind.type(3)
        if what == 27:
            return np.zeros(shape, [("a", kind), ("b", "i1")])
        if what == 28:
            return memoryview(good) if good.ndim else good
        if what == 29:
            class Own(np.ndarray):
                """A kind of one's own."""

            return good.view(Own)
        return good

    def deaths(self, n: int, agents: int, ticks: int) -> Any:
        if self.chance(0.6):
            return None
        good = [[(self.r.randrange(ticks + 1), self.r.randrange(agents)) for _ in range(self.r.randrange(3))] for _ in range(n)]
        if self.chance(0.6):
            return good
        return self.one(
            [], [[]], good[1:], [[(0, agents)]] * n, [[(-1, 0)]] * n, [[(2**64, 0)]] * n, [[(2**63, 0)]] * n, [(0, 0)], [(0, 0), (1, 0)], "deaths", 3,
            [[(0,)]] * n, [[(0, 0, 0)]] * n, [[("a", 0)]] * n, [[(0.5, 0)]] * n, [None] * n, np.zeros((n, 1, 2), int), {"a": 1},
        )

    def settings(self, name: str, share: float = 0.3) -> dict[str, Any]:
        found = dict(CHEAP.get(name, {})) | {"physics.ticks": self.one(2, 3, 5, 8, 12)}
        while self.chance(share):
            key = self.one(
                "physics.ticks", "physics.dt", "physics.nodes", "physics.nodes_x", "physics.nu", "physics.length", "swarm.agents", "swarm.sigma", "swarm.u_limit",
                "swarm.v_limit", "swarm.kernel", "swarm.crowd", "swarm.start_margin", "observe.points", "observe.window", "observe.gain", "observe.gaps", "observe.target",
                "observe.view", "policy.kind", "policy.branch", "policy.head", "policy.memory", "policy.memory_ticks", "policy.linear", "cost.track", "cost.radius", "cost.effort",
                "data.settle", "data.per_run", "data.train_states", "data.start_length", "data.amplitude", "train.rate", "train.batch", "train.agents",
                "train.updates", "train.schedule", "train.shard", "train.segment", "train.strength", "physics.substeps", "physics.scheme", "no.such", "physics", "", "a.b.c", "physics.ticks ",
                "=", "physics.ticks=3", "[physics]", 3, None, "é.ü", "physics.\nticks",
            )
            small = self.one(0, 1, 2, 3, 8, 16, 33, 0.5, 1.0, 0.01, 1e-9, True, False, [4], [4, 8], [1.0, 2.0], "peak", "deeponet", "recurrent", "backward")
            wild = self.one(
                -1, 2**31, 2**63, 2**64, 10**30, -(10**12), 1e300, -1e300, float("nan"), float("inf"), "", "x", "3", "1\n2", '"', "[", [], [[]], [[1], 2], ["a"], {}, None,
                object(), b"x", 1j, np.float32(0.5), np.array([1, 2]), np.int64(3), (1, 2), "\0", "\ud800",
            )
            found[key] = small if self.chance(0.6) else wild
        return found

    # -- calls -------------------------------------------------------------------------------------------------------------------------

    def call(self, f: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """What a call gives; None where it raised what it may."""
        name = getattr(f, "__qualname__", None) or type(f).__name__
        main = threading.current_thread() is threading.main_thread()
        if main:
            faulthandler.dump_traceback_later(LIMIT, exit=True, file=self.log)
        begun = time.monotonic()
        try:
            with warnings.catch_warnings() if main else _Nothing():
                if main:
                    warnings.simplefilter("ignore")
                found = f(*arguments, **more)
            self.returned += 1
            return found
        except BaseException as error:
            self.judge(name, error)
            return None
        finally:
            took = time.monotonic() - begun
            self.calls += 1
            if main:
                faulthandler.cancel_dump_traceback_later()
            if took > 5.0:
                self.slowest.append((round(took, 1), f"{self.scene}: {name}"))

    def judge(self, name: str, error: BaseException) -> None:
        """Notes what was said, and raises what must not be."""
        if isinstance(error, Fault):
            raise error
        kind, text = type(error), str(error)
        self.last = repr(error)
        if isinstance(error, KeyboardInterrupt):
            if not self.interrupts:
                raise Fault(f"{name}: KeyboardInterrupt that nobody provoked")
            self.note(kind, text, error)
            return
        self.note(kind, text, error)
        fine = (
            cinoc.CinocError, ValueError, TypeError, KeyError, IndexError, RuntimeError, OverflowError, AttributeError, MemoryError, NotImplementedError,
            *OTHERS,
        )
        whole = "".join(traceback.format_exception(error))
        if "PanicException" in whole or "fault of cinoc" in text or not isinstance(error, fine):
            raise Fault(f"{name}: {whole}")
        if not text.strip() and not isinstance(error, MemoryError):
            raise Fault(f"{name}: an exception without a sentence: {whole}")

    def note(self, kind: type, text: str, error: BaseException) -> None:
        at = error.__traceback__
        place = ""
        while at is not None:
            file = at.tb_frame.f_code.co_filename
            where = Path(file)
            place = "native" if where.name == "random_use.py" else f"{'/'.join(where.parts[-2:])}:{at.tb_lineno}"
            at = at.tb_next
        with self.lock:
            self.said[f"{kind.__name__} [{place}] {normal(text)}"] += 1

    def must(self, f: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """A call that has to succeed."""
        found = self.call(f, *arguments, **more)
        if found is None:
            raise Fault(f"{getattr(f, '__qualname__', f)} of {arguments} {more} should have given something: {self.last}")
        return found

    # -- things to use -----------------------------------------------------------------------------------------------------------------

    def name(self, share: float = 0.1) -> Any:
        if self.chance(share):
            return self.one(
                "", "heat3d", "HEAT1D", "heat1d ", None, 3, b"heat1d", "../heat1d", "/nonexistent.toml", "x.toml", "/", "/dev/null", "\0", "\ud800", "a" * 5000, Path("heat1d"),
                "heat1d\n", "/tmp", "/proc/self/mem", object(), [], cinoc,
            )
        return self.one(*NAMES, "heat1d", "heat1d", "heat1d", "fkpp1d")

    def kind(self, share: float = 0.06) -> Any:
        if self.chance(share):
            return self.one("float16", "int32", "bool", "complex64", "object", "f", "d", ">f4", "x", None, float, np.float32, 7, "S3", [("a", "f4")], "float128")
        return self.one("float32", "float64")

    def problem(self, kind: str, name: str | None = None) -> Any:
        """One that is right, made once."""
        name = name or self.one(*NAMES, "heat1d", "heat1d")
        ticks = self.one(2, 6, 9)
        key = ("problem", name, kind, ticks)
        if key not in self.kept:
            self.kept[key] = self.must(cinoc.make, name, AGENTS.get(name), CHEAP.get(name, {}) | {"physics.ticks": ticks}, dtype=kind)
        return self.kept[key]

    def policy(self, kind: str, name: str | None = None) -> Any:
        """A new one: parameters may be changed."""
        name = name or self.one(*NAMES, "heat1d", "heat1d")
        key = ("policy", name, kind)
        if key not in self.kept:
            more = {"swarm.agents": AGENTS[name]} if name in AGENTS else {}
            self.kept[key] = self.must(self.must(cinoc.load, name, kind).change, CHEAP.get(name, {}) | {"physics.ticks": 6} | more)
        return self.must(self.kept[key].change)

    def env(self, kind: str, instances: int | None = None, threads: int | None = None, name: str | None = None) -> Any:
        problem = self.problem(kind, name)
        n = instances or self.one(1, 2, 3, 9)
        env = self.must(problem.env, n, self.one(None, 1, 4, 7), self.one(1, 1, 2, 0) if threads is None else threads)
        if self.chance(0.8):
            self.call(env.reset, np.ones(n, bool), self.np.integers(0, 3, n).astype(np.uint64), self.np.integers(0, 4, n).astype(np.uint64), "train")
        return problem, env

    def poke(self, problem: Any, env: Any, steps: int = 6, wrong: float = 0.2, policy: Any = None) -> None:
        """A few calls of a native environment."""
        n, agents, k, kind = env.instances, env.agents, len(problem.components), problem.dtype
        d, nodes = problem.dimensions, problem.nodes
        outs = {
            "observe": ((n, agents, env.width), kind), "observe_global": ((n, env.width_global), kind), "cost": ((n,), float), "done": ((n,), bool),
            "diverged": ((n,), bool), "terms": ((n, len(problem.terms)), float), "measures": ((n, len(problem.measures)), float), "ticks": ((n,), np.int64),
            "fields": ((n, *nodes), kind), "targets": ((n, *nodes), kind), "positions": ((n, agents, d), kind), "actions": ((n, agents, k), kind),
            "strength": ((n, agents), kind),
        }
        for _ in range(steps):
            what = self.r.randrange(10)
            if what < 3:
                self.call(env.step, self.array((n, agents, k), kind, wrong))
            elif what < 6:
                name = self.one(*outs)
                self.call(getattr(env, name), self.array(*outs[name], wrong))
            elif what == 6:
                given: dict[str, Any] = {}
                for key, shape in (("starts", (n, *nodes)), ("targets", (n, *nodes)), ("places", (n, agents, d))):
                    if self.chance(0.3):
                        given[key] = self.array(shape, kind, wrong)
                self.call(
                    env.reset, self.array((n,), bool, wrong), self.array((n,), np.uint64, wrong), self.array((n,), np.uint64, wrong),
                    self.one("train", "validation", "test", "train", "nothing" if wrong else "test"), deaths=self.deaths(n, agents, problem.ticks) if wrong else None, **given,
                )
            elif what == 7 and policy is not None:
                self.call(env.step_policy, policy.native if self.chance(0.9) else policy, self.one(0, 1, 2, 20))
            elif what == 8:
                self.call(env.set_strength, self.number(0, wrong), self.number(0, wrong), self.real(0.5, wrong))
            else:
                snapshot = self.call(env.snapshot)
                self.call(env.step, np.zeros((n, agents, k), kind))
                if wrong and self.chance(0.3):
                    other = self.env(self.one("float32", "float64"))[1]
                    snapshot = self.call(other.snapshot)
                self.call(env.restore, snapshot if self.chance(0.95) else self.one(None, 3, env))

    # -- scenes ------------------------------------------------------------------------------------------------------------------------

    def scene_make(self) -> None:
        name = self.name()
        good = name if isinstance(name, str) and name in NAMES else "heat1d"
        self.call(cinoc.list)
        problem = self.call(
            cinoc.make, name, self.number(5, 0.2) if self.chance(0.3) else None, self.settings(good) if self.chance(0.9) else self.one(None, [], 3, "physics.ticks=3", {1: 2}),
            self.one("tuned", "tuned", "paper", "none" if self.chance(0.2) else "tuned"), self.kind(),
        )
        if problem is None:
            return
        for key in ("name", "agents", "ticks", "tick_time", "periodic", "moves", "has_target", "scored_at", "config", "nodes", "lengths", "axes", "coordinates",
                    "limits", "components", "terms", "measures", "settings"):
            self.call(getattr, problem, key)
        for key in ("view", "shared_view", "position", "action_width"):
            self.call(getattr, problem.native, key)
        self.call(repr, problem)
        self.call(repr, problem.native)
        big = int(np.prod([float(n) for n in problem.nodes])) > 10**5
        if not big:
            self.call(problem.draw, self.number(1), self.number(2), self.one("train", "validation", "test", "x", 3))
        self.call(problem.places, self.number(3, 0.4))
        self.call(problem.discs, self.number(0, 0.4))
        self.call(problem.native.weights, self.number(1, 0.5))
        self.call(problem.native.nodes_along, self.number(0, 0.5))
        again = self.call(pickle.loads, self.call(pickle.dumps, problem) or b"")
        self.call(copy.copy, problem)
        self.call(copy.deepcopy, problem)
        self.call(copy.deepcopy, problem.native)
        self.call(pickle.dumps, problem.native)
        self.call(problem.change, self.settings(good))
        self.call(setattr, problem, self.one("name", "native", "x", "dtype"), self.one(None, 3, "x"))
        if again is not None and not big and again.ticks <= 20 and again.agents <= 200:
            policy = self.call(cinoc.fresh, again, self.number(0))
            if policy is not None:
                env = self.call(again.env, 2)
                if env is not None:
                    self.poke(again, env, 4, 0.1, policy)
                    self.call(cinoc.evaluate, policy, instances=2, threads=1)
                    self.call(cinoc.rollout, policy)

    def scene_policy(self) -> None:
        kind = self.one("float32", "float64")
        self.call(cinoc.load, self.name(0.5), self.kind())
        policy = self.policy(kind)
        problem, width = policy.problem, None
        env = self.must(problem.env, 1)
        width = env.width
        for _ in range(6):
            what = self.r.randrange(12)
            shape = (self.one(1, 2, 40), self.one(1, 4, 9), width)
            if what < 3:
                self.call(policy, self.array(shape[self.one(0, 0, 1):], kind, 0.3))
            elif what == 3:
                self.call(policy.native.act, self.array(shape, kind, 0.3), self.array((*shape[:2], policy.memory), kind, 0.3) if self.chance(0.6) else None)
            elif what == 4:
                self.call(policy.reset)
            elif what == 5:
                self.call(setattr, policy, "params", self.array(policy.params.shape, kind, 0.6))
            elif what == 6:
                self.call(setattr, policy.native, "params", self.array(policy.params.shape, kind, 0.6))
            elif what == 7:
                self.call(policy.change, self.settings(problem.name))
            elif what == 8:
                for key in ("kind", "memory", "shapes", "params", "native", "problem"):
                    self.call(getattr, policy, key)
                for key in ("noise", "clock", "everything", "fixed_agents", "shapes", "nothing"):
                    self.call(getattr, policy.native, key)
                self.call(policy.parts)
                self.call(repr, policy)
            elif what == 9:
                for f in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: pickle.dumps(x.native)):
                    self.call(f, policy)
            elif what == 10:
                self.call(cinoc.fresh, self.one(problem, problem, problem.native, None, "heat1d"), self.number(0, 0.5))
            else:
                self.file(policy, kind)

    def file(self, policy: Any, kind: str) -> None:
        """Model files that are whole, and such that are not."""
        path = Path(self.folder, "policy.safetensors")
        self.call(policy.save, self.one(path, path, path, "/nonexistent/x", "", self.folder, None, 3, "\0"))
        self.call(policy.save, path)
        data = bytearray(path.read_bytes())
        for _ in range(self.r.randrange(4)):
            what = self.r.randrange(5)
            if what == 0:
                data = data[: self.r.randrange(len(data) + 1)]
            elif what == 1 and data:
                # Most of what can go wrong is in the beginning.
                data[self.r.randrange(min(len(data), self.one(8, 200, 3000, 10**9)))] = self.r.randrange(256)
            elif what == 2:
                data += bytes(self.r.randrange(100))
            elif what == 3:
                data = bytearray(re.sub(rb"\d+", lambda m: m[0] if self.chance(0.9) else str(self.one(0, 1, -1, 2**64, 7, 10**30)).encode(), bytes(data[:4000])) + bytes(data[4000:]))
            else:
                at = self.r.randrange(len(data) + 1)
                data[at:at] = self.r.randbytes(3)
        path.write_bytes(data)
        loaded = self.call(cinoc.load, path, kind)
        if loaded is not None and loaded.problem.agents < 300 and loaded.problem.ticks < 100:
            self.call(cinoc.rollout, loaded, ticks=1)

    def scene_env(self) -> None:
        kind = self.one("float32", "float64")
        problem = self.problem(kind)
        native = problem.native
        self.call(
            self.one(_native.f32, _native.f64).Env, self.one(native, native, native, problem, None, 3), self.number(2, 0.5), self.one(None, self.number(3, 0.5)), self.number(1, 0.4),
            *self.one((), (), (True,), (None,), (3,)),
        )
        problem, env = self.env(kind)
        self.poke(problem, env, 16, 0.25, self.policy(kind, problem.name if self.chance(0.7) else None))
        if self.chance(0.3):
            self.call(pickle.dumps, env)
            self.call(copy.copy, env)
            self.call(copy.deepcopy, env)
            self.call(repr, env)
        if self.chance(0.5):
            # Shared rooms, and actions that are also the room.
            n, agents, k = env.instances, env.agents, len(problem.components)
            room = np.zeros((n, agents, k), kind)
            self.call(env.actions, room)
            self.call(env.step, room)
            whole = np.zeros(2 * n)
            self.call(env.cost, whole[:n])
            self.call(env.cost, whole[1 : n + 1])

    def rolled(self, kind: str, wrong: float) -> Any:
        problem = self.problem(kind)
        native, n, agents = problem.native, self.one(1, 2, 9, 17), self.one(1, 3, 8)
        d, k, nodes = problem.dimensions, len(problem.components), problem.nodes
        first = self.one(0, 0, 0, 1, problem.ticks - 1)
        ticks = max(1, min(self.one(1, 2, 5), problem.ticks - first))
        given: dict[str, Any] = {}
        policy = None
        if self.chance(0.5):
            policy = self.policy(kind, problem.name)
            given["policy"] = policy.native
            if self.chance(0.3):
                given["params"] = self.array(policy.params.shape, kind, wrong, 0.3)
        else:
            given["actions"] = self.array((ticks, n, agents, k), kind, wrong)
        if self.chance(0.3):
            given["previous"] = self.array((n, agents, k), kind, wrong)
        if self.chance(0.2):
            given["memory"] = self.array((n, agents, policy.memory if policy else 0), kind, wrong)
        if self.chance(0.2) and wrong:
            given["deaths"] = self.deaths(n, agents, ticks)
        if self.chance(0.1) and wrong:
            given.pop(self.one(*given))
        if self.chance(0.05) and wrong:
            kind = self.one("float32", "float64")
        run = self.call(
            engine(kind).Rollout, native, self.array((n, *nodes), kind, wrong), self.array((n, *nodes), kind, wrong), np.abs(self.array((n, agents, d), kind, 0)) * problem.lengths[0] * 0.9 if not self.chance(wrong) else
            self.array((n, agents, d), kind, 0.8), self.number(ticks, wrong), first=self.number(first, wrong / 3), gradient=self.one(True, True, False), threads=self.number(self.one(1, 2, 0), wrong / 3), **given,
        )
        return problem, run, (n, agents, ticks, d, k)

    def scene_rollout(self) -> None:
        kind = self.one("float32", "float64")
        problem, run, (n, agents, ticks, d, k) = self.rolled(kind, self.one(0.0, 0.05, 0.2))
        if run is None:
            return
        for key in ("z", "xi", "action", "cost", "memory", "diverged", "nothing"):
            self.call(getattr, run, key)
        ticks = run.action.shape[0]
        for _ in range(self.r.randrange(4)):
            bars: dict[str, Any] = {}
            for key, shape in (("cost", (n,)), ("z", (ticks + 1, n, *problem.nodes)), ("xi", (ticks + 1, n, agents, d)), ("action", (ticks, n, agents, k))):
                if self.chance(0.6):
                    bars[key] = self.array(shape, kind if key != "cost" else self.one("float64", kind), 0.15)
            self.call(run.backward, **bars)
        self.call(pickle.dumps, run)
        self.call(copy.deepcopy, run)
        z = run.z
        del run
        gc.collect()
        # What was given lives on.
        float(z.sum())

    def scene_torch(self) -> None:
        import torch

        kind = self.one("float32", "float64")
        problem = self.problem(kind, self.one("heat1d", "density2d", "ks1d", None))
        state = self.call(cinoc.torch.begin, problem, self.number(0, 0.1), self.number(0, 0.1), self.one(1, 3) if self.chance(0.9) else self.one(0, -1, None, "x"), self.one(None, 1, 4))
        if state is None:
            return
        n, agents, k = *state.xi.shape[:2], len(problem.components)

        def tensor(shape: Any) -> Any:
            found = self.array(shape, kind, 0.1)
            try:
                return torch.from_numpy(np.array(found)).requires_grad_(self.chance(0.6))
            except Exception:
                return found

        def sweep(trajectory: Any) -> None:
            total = sum((x.sum() for x in trajectory if torch.is_tensor(x) and self.chance(0.6)), torch.zeros(()))
            total.backward(retain_graph=self.chance(0.3))
            if self.chance(0.3):
                total.backward()

        ticks = self.one(1, problem.ticks)
        if self.chance(0.5):
            trajectory = self.call(
                cinoc.torch.rollout, problem, tensor(tuple(state.z.shape)), state.target, state.xi, tensor((ticks, n, agents, k)), first=self.number(0, 0.1), deaths=self.deaths(n, agents, ticks),
                threads=self.number(1, 0.1),
            )
            if trajectory is not None:
                self.call(sweep, trajectory)
        else:
            module = self.call(cinoc.torch.Policy, self.policy(kind, problem.name))
            if module is not None:
                trajectory = self.call(module.rollout, state.z, state.target, tensor(tuple(state.xi.shape)), ticks=self.number(ticks, 0.2))
                if trajectory is not None:
                    self.call(sweep, trajectory)
                self.call(module.to_cinoc)
                self.call(module, tensor((n, agents, problem.env().width)))
        for _ in range(problem.ticks + 1):
            found = self.call(cinoc.torch.step, problem, state, tensor((n, agents, k)))
            state = state if found is None else found[0]

    def scene_jax(self) -> None:
        import jax
        import jax.numpy as jnp

        problem = self.problem("float32", self.one("heat1d", "density2d"))
        state = self.must(cinoc.jax.begin, problem, 0, 0, 2)
        actions = self.array((problem.ticks, *state.xi.shape[:2], len(problem.components)), "float32", 0.2)

        def cost(actions: Any) -> Any:
            return cinoc.jax.rollout(problem, state.z, state.target, state.xi, actions).cost.sum()

        self.call(lambda: jax.block_until_ready(cost(jnp.asarray(actions))))
        self.call(lambda: jax.block_until_ready(jax.grad(cost)(jnp.asarray(actions))))

    def scene_train(self) -> None:
        name, kind = self.one("heat1d", "heat1d", "ks1d", "density2d"), self.one("float32", "float64")
        set = CHEAP.get(name, {}) | TINY | {"physics.ticks": self.one(2, 4)}
        if self.chance(0.4):
            set |= {key: value for key, value in self.settings(name, 0.5).items() if key not in ("train.updates", "physics.ticks", "train.batch", "train.agents", "swarm.agents")}
        small = self.one(
            {}, {}, {"updates": self.one(1, 2)}, {"agents": self.number(4, 0.2)}, {"seed": self.number(0, 0.5)}, {"threads": self.number(1, 0.6)}, {"dtype": self.kind(0.5)},
            {"out": Path(self.folder, "run")}, {"out": Path(self.folder, "run"), "resume": True}, {"resume": True}, {"out": self.one("/nonexistent/x", "/dev/null", "", 3, "\0", self.folder)},
            {"preset": self.one("paper", "x", 3)},
        )
        if isinstance(small.get("agents"), int) and 100 < small["agents"] < 10**8:
            small = {}
        more = {"seed": self.r.randrange(3), "progress": False, "threads": self.one(1, 2), "dtype": kind} | small
        what = name if self.chance(0.9) else self.call(self.problem(kind, name).change, set)
        trained = self.call(cinoc.train, name if what is None else what, set=set, **more)
        if "out" in more and trained is not None and isinstance(more["out"], (str, Path)):
            run = Path(more["out"])
            if self.chance(0.5):
                # A run folder that was damaged.
                for path in sorted(run.rglob("*")):
                    if path.is_file() and self.chance(0.4):
                        data = bytearray(path.read_bytes())
                        if self.chance(0.2):
                            path.unlink()
                            continue
                        if data and self.chance(0.5):
                            data = data[: self.r.randrange(len(data))]
                        elif data:
                            for _ in range(5):
                                data[self.r.randrange(min(len(data), 2000))] = self.r.randrange(256)
                        path.write_bytes(data)
            more.pop("seed")
            self.call(cinoc.train, name, set=set if self.chance(0.7) else self.one(None, {"train.updates": 3}), **(more | {"resume": True}))
            self.call(cinoc.load, run, kind)
        run = self.call(engine(kind).Training, name, "tuned", {key: toml(value) for key, value in (CHEAP.get(name, {}) | TINY | {"physics.ticks": 2}).items()}, self.number(0, 0.2), None, False, self.one(1, 2))
        if run is not None:
            for _ in range(4):
                self.call(self.one(run.step, run.save, lambda: run.policy(self.one(True, False, 3)), lambda: (run.updates, run.update, run.finished, run.notices), lambda: pickle.dumps(run)))
            self.call(run.policy, False)

    def scene_evaluate(self) -> None:
        kind = self.one("float32", "float64")
        policy = self.policy(kind)
        problem = policy.problem
        n = self.one(1, 2, 4)
        agents = self.one(None, 4, [4, 8], self.number(4, 0.5), [], [self.number(4, 0.5)], (3, 5), "44", np.array([4, 2]))
        fields: dict[str, Any] = {}
        for key in ("start", "target"):
            if self.chance(0.25):
                fields[key] = self.field(problem, n)
        self.call(
            cinoc.evaluate, policy if self.chance(0.9) else self.name(1.0), agents, self.number(n, 0.2) if self.chance(0.5) else n, self.number(3000, 0.1), self.real(0.2, 0.2), self.real(0.5, 0.2),
            threads=self.number(1, 0.1), **fields,
        )

    def field(self, problem: Any, n: int) -> Any:
        nodes = problem.nodes
        return self.one(
            self.array(nodes, problem.dtype, 0.4), self.array((n, *nodes), problem.dtype, 0.4), lambda *x: sum(x), lambda *x: 1.0, lambda x: np.ones(3), lambda: None, "nothing.npy", "/dev/null",
            3.0, None, Path("x.png"), "", object(),
        )

    def scene_dataset(self) -> None:
        kind = self.one("float32", "float64")
        policy = self.policy(kind)
        problem, n, agents = policy.problem, self.one(1, 1, 2), self.one(None, 3, 5)
        given: dict[str, Any] = {}
        count = agents or problem.agents
        for key, value in (
            ("seed", self.number(3000, 0.3)), ("index", self.one(0, [0, 1], [], -1, self.number(1, 0.3), np.array([1, 2]), "1", [2**64])), ("agents", agents), ("start", self.field(problem, n)), ("target", self.field(problem, n)),
            ("places", self.array((count, problem.dimensions), kind, 0.4)), ("deaths", self.one([(1, 0)], [(0, 0), (2, 1)], self.deaths(n, count, 5))), ("ticks", self.number(self.one(1, 3, 6, 9), 0.3)),
        ):
            if self.chance(0.3):
                given[key] = value
        if isinstance(given.get("ticks"), (int, np.integer)) and given["ticks"] > 10**4:
            given["ticks"] = self.one(2**63, 2**64, 10**30)
        who: Any = policy
        actions: Any = None
        if self.chance(0.5):
            who = problem
            shape = (problem.ticks, count, len(problem.components))
            actions = self.one(None, self.array(shape, kind, 0.3), policy, lambda seen: np.zeros(3), lambda seen: None, lambda seen: np.zeros((*seen.shape[:2], shape[-1])), lambda: 3, self.array((problem.ticks, n, *shape[1:]), kind), "x")
        if self.chance(0.05):
            who = self.name(1.0)
        episode = self.call(cinoc.rollout, who, actions, **given)
        if episode is not None and self.chance(0.06):
            self.call(cinoc.show, episode, **self.one({}, {}, {"instance": self.number(0, 0.5)}, {"agents": 3}))
            if self.chance(0.2):
                film = self.call(cinoc.animate, episode, frames=self.number(3, 0.3), fps=self.number(10, 0.3), instance=self.number(0, 0.2))
                if film is not None and self.chance(0.5):
                    self.call(film.save, Path(self.folder, "film.gif"))
        if self.chance(0.03):
            self.call(cinoc.show, self.one(None, 3, "heat3d", problem, policy))

    def arguments(self, name: str, batched: bool) -> dict[str, Any]:
        given: dict[str, Any] = {"set": CHEAP.get(name, {}) | {"physics.ticks": self.one(2, 3, 5)}, "agents": AGENTS.get(name)}
        problem = self.problem("float32", name)
        wrong = {
            "agents": self.number(4, 0.3), "set": self.settings(name), "preset": self.one("tuned", "paper", "x"), "observation": self.one("local", "global", "global", "x", None), "dtype": self.kind(), "start": self.array(problem.nodes, "float32", 0.4),
            "target": self.array(problem.nodes, "float64", 0.4), "places": self.array((given["agents"] or problem.agents, problem.dimensions), "float32", 0.3), "deaths": self.one([(0, 0)], [(1, 1), (2, 0)], [(0, 10**9)], [(-1, 0)], 3, [3], "ab", [("a", "b")]),
            "stream": self.one("train", "test", "x", None), "diverged_reward": self.real(-5.0, 0.4), "pool": self.number(0, 0.3), "threads": self.number(self.one(1, 2, 0), 0.2), "render_mode": self.one(None, "rgb_array", "human", 3), "nothing": 1,
        }
        while self.chance(0.4):
            key = self.one(*wrong)
            given[key] = wrong[key]
        agents = given.get("agents")
        if isinstance(agents, (int, np.integer)) and 200 < agents < 10**9:
            given["agents"] = 4
        return given

    def scene_single(self) -> None:
        import gymnasium

        name = self.one(*NAMES, "heat1d")
        env = self.call(gymnasium.make, f"cinoc/{name}-v0", disable_env_checker=self.one(True, False), **self.arguments(name, False))
        if env is None:
            return
        for _ in range(10):
            what = self.r.randrange(8)
            if what < 2:
                self.call(env.reset, seed=self.number(1, 0.3), options=self.one(None, {}, {"index": 3}, {"index": self.number(2, 0.9)}, 3))
            elif what < 6:
                self.call(env.step, env.action_space.sample() if self.chance(0.5) else self.array(env.action_space.shape, "float32", 0.4))
            elif what == 6 and self.chance(0.15):
                self.call(env.render)
            else:
                self.call(self.one(env.close, lambda: repr(env), lambda: pickle.loads(pickle.dumps(env.unwrapped)), lambda: copy.deepcopy(env.unwrapped), lambda: env.unwrapped.instance.kill(self.number(0, 0.5)), gc.collect,
                                   lambda: env.unwrapped.instance.field))

    def scene_vector(self) -> None:
        import gymnasium

        name, n = self.one(*NAMES, "heat1d"), self.one(1, 2, 5)
        more = self.one({}, {}, {"autoreset_mode": self.one("NextStep", "SameStep", "Disabled", "x", None)}, {"copy": False})
        envs = self.call(gymnasium.make_vec, f"cinoc/{name}-v0", num_envs=self.number(n, 0.1), vectorization_mode=self.one("vector_entry_point", "vector_entry_point", "sync"), vector_kwargs=None, **(self.arguments(name, True) | more))
        if envs is None:
            return
        n = envs.num_envs
        for _ in range(12):
            what = self.r.randrange(8)
            if what < 2:
                seed = self.one(None, 3, [1] * n, [None] * n, self.number(1, 0.5), [1] * (n + 1), ["a"] * n)
                self.call(envs.reset, seed=seed, options=self.one(None, {}, {"reset_mask": self.array((n,), bool, 0.3)}, {"index": self.number(2, 0.5)}, {"index": [1] * n}, {"index": ["a"] * n}))
            elif what < 7:
                self.call(envs.step, envs.action_space.sample() if self.chance(0.5) else self.array(envs.action_space.shape, "float32", 0.4))
            else:
                self.call(self.one(envs.close, lambda: repr(envs), lambda: pickle.loads(pickle.dumps(envs)), lambda: copy.deepcopy(envs), gc.collect))

    def scene_parallel(self) -> None:
        name = self.one(*NAMES, "heat1d")
        env = self.call(cinoc.envs.parallel_env, name if self.chance(0.9) else self.name(1.0), **self.arguments(name, False))
        if env is None:
            return
        for _ in range(10):
            what = self.r.randrange(9)
            if what < 2:
                self.call(env.reset, seed=self.number(1, 0.3), options=self.one(None, {}, {"index": self.number(2, 0.5)}))
            elif what < 6:
                actions = {agent: self.array(env.action_space(agent).shape, "float32", 0.05) for agent in env.agents}
                if actions and self.chance(0.1):
                    actions.pop(self.one(*actions))
                self.call(env.step, actions if self.chance(0.95) else self.one(None, {}, {"agent_99": 0}, [1], np.zeros(3)))
            elif what == 6:
                self.call(env.state)
            elif what == 7:
                self.call(env.kill, self.one(*env.possible_agents, "x", 3, None, []))
            else:
                self.call(self.one(lambda: env.observation_space("x"), lambda: pickle.loads(pickle.dumps(env)), env.close, lambda: repr(env)))

    def scene_sb3(self) -> None:
        name, n = self.one(*NAMES, "heat1d"), self.one(1, 2, 4)
        envs = self.call(cinoc.envs.sb3_vec_env, name if self.chance(0.9) else self.name(1.0), self.number(n, 0.1), **self.arguments(name, True))
        if envs is None:
            return
        n = envs.num_envs
        for _ in range(10):
            what = self.r.randrange(9)
            if what == 0:
                self.call(envs.reset)
            elif what < 5:
                self.call(envs.step, self.array((n, *envs.action_space.shape), "float32", 0.3))
            elif what == 5:
                self.call(envs.seed, self.number(3, 0.4))
            elif what == 6:
                self.call(envs.set_options, self.one(None, {}, [{"index": 2}] * n, [{"seed": self.number(1, 0.5), "index": self.number(2, 0.5)}] * n, [], 3))
            elif what == 7:
                self.call(envs.get_attr, self.one("field", "target", "positions", "strength", "tick", "nothing", "render_mode", 3), self.one(None, 0, [0], self.number(0, 0.7)))
            else:
                self.call(envs.env_method, self.one("kill", "render" if self.chance(0.2) else "kill", "nothing"), *self.one((), (0,), (self.number(0, 0.6),)), indices=self.one(None, 0, [n]))

    def scene_torchrl(self) -> None:
        import torch

        name, n = self.one("heat1d", "ks1d", "density2d", "heat1d"), self.one(1, 2, 4)
        envs = self.call(cinoc.envs.torchrl_env, name, self.number(n, 0.1), **self.arguments(name, True))
        if envs is None:
            return
        td = None
        for _ in range(8):
            what = self.r.randrange(6)
            if what < 2:
                td = self.call(envs.reset)
            elif what == 2:
                self.call(envs.set_seed, self.number(3, 0.4))
            elif what == 3:
                self.call(envs.rollout, self.one(1, 3, 9))
            elif td is not None:
                action = self.array(tuple(envs.action_spec.shape), "float32", 0.3)
                self.call(lambda: envs.step(td.clone().set("action", torch.as_tensor(action))))

    def scene_threads(self) -> None:
        kind = self.one("float32", "float64")
        policy = self.policy(kind, "heat1d")
        problem, env = self.env(kind, name=self.one("heat1d", "density2d", "ks1d"))
        n, agents, k = env.instances, env.agents, len(problem.components)
        what = self.r.randrange(6)
        faults: list[BaseException] = []
        seeds = [self.r.random() for _ in range(4)]
        shared = np.zeros((n, agents, env.width), kind)
        run = self.call(
            engine(kind).Rollout, problem.native, np.zeros((3, *problem.nodes), kind), np.ones((3, *problem.nodes), kind), np.full((3, 2, problem.dimensions), 0.4, kind), 1, np.ones((1, 3, 2, k), kind), threads=2,
        )
        owns = [self.must(problem.env, n, agents, self.one(1, 2)) for _ in range(4)]

        def work(number: int) -> None:
            own, mine = random.Random(seeds[number]), owns[number]
            try:
                for _ in range(25):
                    if what == 0:
                        own.choice([lambda: self.call(env.step, np.zeros((n, agents, k), kind)), lambda: self.call(env.observe, shared), lambda: self.call(env.snapshot)])()
                    elif what == 1:
                        self.call(mine.reset, np.ones(n, bool), np.zeros(n, np.uint64), np.arange(n, dtype=np.uint64))
                        self.call(mine.step, np.zeros((n, agents, k), kind))
                        self.call(mine.observe, np.zeros_like(shared))
                    elif what == 2:
                        own.choice([lambda: self.call(policy, np.zeros((2, 4, policy.problem.env().width), kind)), lambda: self.call(setattr, policy, "params", policy.params * 0.9), lambda: self.call(cinoc.rollout, policy, ticks=1), policy.reset])()
                    elif what == 3:
                        self.call(run.backward, np.ones(3))
                    elif what == 4:
                        self.call(env.reset, np.ones(n, bool), np.full(n, own.randrange(3), np.uint64), np.zeros(n, np.uint64))
                        self.call(env.step, np.zeros((n, agents, k), kind))
                    else:
                        made = self.call(problem.env, 2, 2, own.choice([1, 2]))
                        self.call(made.snapshot)
                        del made
                        gc.collect()
            except BaseException as error:
                faults.append(error)

        threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(4)]
        faulthandler.dump_traceback_later(LIMIT, exit=True, file=self.log)
        for thread in threads:
            thread.start()
        if self.chance(0.3):
            self.fork(lambda: self.poke(problem, env, 4, 0.0))
        for thread in threads:
            faulthandler.dump_traceback_later(LIMIT, exit=True, file=self.log)
            thread.join()
        faulthandler.cancel_dump_traceback_later()
        for fault in faults:
            raise fault if isinstance(fault, Fault) else Fault("".join(traceback.format_exception(fault)))
        self.poke(problem, env, 4, 0.0)

    def fork(self, work: Callable[[], Any]) -> None:
        """Work in a child, which has to come back."""
        self.log.flush()
        faulthandler.cancel_dump_traceback_later()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            # A child without an end is ended by this.
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(int(LIMIT))
            code = 0
            try:
                work()
            except BaseException as error:
                self.log.write(f"in a child: {''.join(traceback.format_exception(error))}\n")
                self.log.flush()
                code = 3
            os._exit(code)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise Fault(f"a child ended with {status} (signal {status & 127}, code {status >> 8})")

    def scene_fork(self) -> None:
        kind = self.one("float32", "float64")
        problem, env = self.env(kind, self.one(2, 9), self.one(1, 2, 0))
        policy = self.policy(kind, problem.name)
        self.poke(problem, env, 3, 0.0, policy)

        def work() -> None:
            self.poke(problem, env, 5, 0.0, policy)
            self.call(cinoc.evaluate, policy, instances=2, threads=2)
            other = self.must(problem.env, 2, None, 2)
            self.poke(problem, other, 3, 0.0, policy)
            del other
            gc.collect()

        self.fork(work)
        self.poke(problem, env, 3, 0.0, policy)
        if self.chance(0.3):
            self.fork(lambda: self.fork(work))
        del env
        gc.collect()

    def scene_processes(self) -> None:
        import multiprocessing

        way = self.one("fork", "fork", "spawn")
        if way == "spawn" and self.chance(0.6):
            way = "fork"
        policy = self.policy("float32", "heat1d")
        faulthandler.dump_traceback_later(2 * LIMIT, exit=True, file=self.log)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            context = multiprocessing.get_context(way)
            with context.Pool(2) as pool:
                found = pool.map(elsewhere, [(policy, i) for i in range(3)])
        faulthandler.cancel_dump_traceback_later()
        self.calls += 3
        if len(found) != 3 or not np.isfinite(found).all():
            raise Fault(f"processes gave {found}")

    def scene_interrupt(self) -> None:
        kind = self.one("float32", "float64")
        policy = self.policy(kind, "heat1d")
        problem, env = policy.problem, None
        env = self.must(problem.env, 64, 8, self.one(1, 2))
        self.call(env.reset, np.ones(64, bool), np.zeros(64, np.uint64), np.arange(64, dtype=np.uint64))
        calm = {key: toml(value) for key, value in (TINY | {"physics.ticks": 20, "train.updates": 10**6}).items()}
        long = {
            "step_policy": lambda: env.step_policy(policy.native, 2**60),
            "evaluate": lambda: cinoc.evaluate(policy, 16, 10**6, threads=self.one(1, 2)),
            "train": lambda: cinoc.train("heat1d", set=TINY | {"physics.ticks": 20, "train.updates": 10**6}, progress=False, threads=self.one(1, 2)),
            "folder": lambda: cinoc.train("heat1d", set=TINY | {"physics.ticks": 20, "train.updates": 10**6}, out=Path(self.folder, "long"), progress=False, threads=1),
            "draw": lambda: cinoc.make("ks1d", set={"data.settle": 1e5}).draw(self.r.randrange(10**9)),
            "reset": lambda: cinoc.make("ks2d", 25, set={"data.settle": 1e4}).env(2).reset(np.ones(2, bool), np.array([self.r.randrange(10**9)] * 2, np.uint64), np.zeros(2, np.uint64)),
            "training": lambda: [step() for step in [engine(kind).Training("ks1d", "tuned", calm | {"data.settle": "1e5"}, self.r.randrange(10**9)).step] * 2],
            "adapters": lambda: _forever(cinoc.envs.sb3_vec_env("heat1d", 4, set={"physics.ticks": 5})),
        }
        name = self.one(*long)
        begun = time.monotonic()
        wait = self.one(0.01, 0.05, 0.3)
        way = self.one("alarm", "kill")
        self.interrupts = True
        hits: list[float] = []

        def handler(*_: Any) -> None:
            hits.append(time.monotonic())
            raise KeyboardInterrupt(PROVOKED)

        old = signal.signal(signal.SIGALRM if way == "alarm" else signal.SIGINT, handler)
        try:
            try:
                if way == "alarm":
                    signal.setitimer(signal.ITIMER_REAL, wait)
                    self.call(long[name])
                else:
                    timer = threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT))
                    timer.start()
                    self.call(long[name])
                    timer.join()
                    time.sleep(0.001)
            except KeyboardInterrupt:
                pass
            late = time.monotonic() - begun - wait
            if late > 20.0:
                raise Fault(f"{name} was stopped only {late:.1f} s after it was asked to")
            if not hits:
                raise Fault(f"{name} ended before it was interrupted")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM if way == "alarm" else signal.SIGINT, old)
            self.interrupts = False
        # Everything works as before.
        self.poke(problem, env, 3, 0.0, policy)
        self.must(cinoc.evaluate, policy, 4, 2, threads=1)

    def scene_gone(self) -> None:
        """Things that are gone while others still use what they gave."""
        kind = self.one("float32", "float64")
        problem = self.must(cinoc.make, "heat1d", None, {"physics.ticks": 3}, dtype=kind)
        policy = self.must(cinoc.fresh, problem)
        env, native = self.must(problem.env, 3, 4, self.one(1, 2)), policy.native
        self.call(env.reset, np.ones(3, bool), np.zeros(3, np.uint64), np.zeros(3, np.uint64))
        snapshot = env.snapshot()
        if self.chance(0.5):
            del problem
        del policy
        gc.collect()
        self.call(env.step_policy, native)
        del native
        self.call(env.step, np.zeros((3, 4, 2), kind))
        self.call(env.restore, snapshot)
        again = self.call(self.policy(kind, "heat1d").problem.env, 3, 4)
        del env
        gc.collect()
        self.call(again.restore, snapshot)
        for _ in range(3):
            _, run, _ = self.rolled(kind, 0.0)
            if run is not None:
                z, back = run.z, self.call(run.backward, np.ones(run.cost.shape))
                del run
                gc.collect()
                float(z.sum())
                if back is not None:
                    sum(float(np.sum(value)) for value in back.values())

    SCENES = {
        "make": 10, "policy": 8, "env": 14, "rollout": 12, "torch": 3, "jax": 0.5, "train": 4, "evaluate": 6, "dataset": 7, "single": 5, "vector": 6, "parallel": 4, "sb3": 4, "torchrl": 2, "threads": 4,
        "fork": 2, "processes": 0.15, "interrupt": 1.2, "gone": 3,
    }

    def case(self, seed: int, case: int, only: str | None = None) -> None:
        """One case; the same one for the same numbers."""
        self.begin(seed, case)
        self.scene = only or self.r.choices([*self.SCENES], [*self.SCENES.values()])[0]
        self.log.write(f"seed {seed} case {case} {self.scene} at {time.strftime('%H:%M:%S')}\n")
        self.log.flush()
        self.folder = tempfile.mkdtemp(dir=os.environ["CINOC_SCRATCH"])
        os.chdir(self.folder)
        try:
            getattr(self, "scene_" + self.scene)()
        except (Fault, KeyboardInterrupt):
            raise
        except Exception as error:
            raise Fault("of the test itself: " + "".join(traceback.format_exception(error))) from None
        finally:
            os.chdir("/")
            shutil.rmtree(self.folder, ignore_errors=True)
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
        if self.chance(0.05):
            gc.collect()


class _Nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: Any) -> None: ...


def _forever(envs: Any) -> None:
    envs.reset()
    while True:
        envs.step(np.zeros((4, *envs.action_space.shape), np.float32))


def elsewhere(given: tuple[Any, int]) -> float:
    """Work of another process."""
    import cinoc

    policy, index = given
    return float(cinoc.rollout(policy, index=index, ticks=3).cost.sum())


def resident() -> float:
    """Megabytes that this process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def prepare() -> None:
    """Imports, within the limits of a worker."""
    global cinoc, np, _native, engine, toml, OTHERS
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import gymnasium
    import matplotlib
    import numpy as np
    import pandas  # noqa: F401
    import xarray  # noqa: F401

    matplotlib.use("Agg")
    import cinoc
    import cinoc.envs
    from cinoc import _native
    from cinoc.problem import engine, toml

    warnings.simplefilter("ignore")
    gymnasium.logger.min_level = 50
    OTHERS = (gymnasium.error.Error,)


def worker(arguments: argparse.Namespace) -> int:
    """Cases one after the other; 0 at the end, 3 after a fault."""
    log = open(arguments.log, "a")
    prepare()
    if arguments.minutes > 2.0:
        # All libraries at once, so that what grows later is not theirs.
        import cinoc.jax
        import cinoc.torch
        import matplotlib.pyplot
        import stable_baselines3
        import torchrl  # noqa: F401
    faulthandler.enable(log)
    use = Use(log)
    end = time.monotonic() + 60.0 * arguments.minutes
    code, first = 0, arguments.case if arguments.case is not None else arguments.first
    case, begun, sizes = first, time.monotonic(), []
    while True:
        try:
            use.case(arguments.seed, case, arguments.only)
        except (Fault, KeyboardInterrupt) as fault:
            log.write(f"FAULT seed {arguments.seed} case {case} {use.scene}: {fault!r}\n{fault}\n")
            log.flush()
            code = 3
        case += 1
        if (case - first) % 20 == 0:
            sizes.append((round(time.monotonic() - begun), round(resident(), 1)))
        if arguments.case is not None or time.monotonic() > end:
            break
    state = {"cases": case - first, "next": case, "calls": use.calls, "returned": use.returned, "said": use.said, "slowest": use.slowest, "sizes": sizes}
    Path(arguments.log + ".part").write_text(json.dumps(state))
    log.close()
    # Threads that hang on at the end are not waited for.
    os._exit(code)


def drive(arguments: argparse.Namespace) -> int:
    """Workers one after the other, each until it falls or the time is over."""
    log = Path(arguments.log).resolve()
    log.write_text("")
    scratch = tempfile.mkdtemp(prefix="cinoc-random-")
    environment = os.environ | {
        "CINOC_CACHE": str(Path(scratch, "cache")), "CINOC_SCRATCH": scratch, "CINOC_MEMORY_MB": str(MEGABYTES), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        "JAX_PLATFORMS": "cpu", "MPLCONFIGDIR": str(Path(scratch, "mpl")), "PYTHONFAULTHANDLER": "", "TMPDIR": scratch, "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    }
    end = time.monotonic() + 60.0 * arguments.minutes
    total: dict[str, Any] = {"cases": 0, "calls": 0, "returned": 0, "slowest": [], "sizes": []}
    said: collections.Counter[str] = collections.Counter()
    faults, first = [], 0
    part = Path(str(log) + ".part")
    try:
        while (left := (end - time.monotonic()) / 60.0) > 0.0:
            part.unlink(missing_ok=True)
            command = [sys.executable, __file__, "--worker", "--seed", str(arguments.seed), "--log", str(log), "--first", str(first), "--minutes", str(left)]
            if arguments.case is not None:
                command += ["--case", str(arguments.case)]
            if arguments.only:
                command += ["--only", arguments.only]
            with open(str(log) + ".output", "ab") as output:
                process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True)
                try:
                    code: int | str = process.wait(60.0 * left + 5 * LIMIT)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    code = "a hang that no watch noticed"
            lines = [line for line in log.read_text(errors="replace").splitlines() if line.startswith("seed ")]
            last = lines[-1] if lines else "no case"
            if code not in (0, 3):
                faults.append(f"the worker ended with {code} in: {last}")
                with log.open("a") as file:
                    file.write(f"FAULT the worker ended with {code} in: {last}\n")
            if part.exists():
                state = json.loads(part.read_text())
                said.update(state["said"])
                for key in total:
                    total[key] += state[key]
                first = state["next"]
            elif lines:
                first = int(last.split()[3]) + 1
                total["cases"] += 1
            if arguments.case is not None or not lines:
                break
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    faults += [line for line in log.read_text(errors="replace").splitlines() if line.startswith("FAULT seed")]
    sizes = total.pop("sizes")
    summary = total | {"distinct": len(said), "faults": len(faults), "resident": sizes[:: max(1, len(sizes) // 40)]}
    with log.open("a") as file:
        file.write("\nmessages:\n")
        for text, count in said.most_common():
            file.write(f"{count:6} {text}\n")
        file.write("\nfaults:\n" + "\n".join(faults) + "\n\nSUMMARY " + json.dumps(summary) + "\n")
    part.unlink(missing_ok=True)
    print(json.dumps(summary))
    print(*faults, sep="\n")
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", default="random_use.log")
    parser.add_argument("--case", type=int, help="this case only")
    parser.add_argument("--only", help="this scene only")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    return worker(arguments) if arguments.worker else drive(arguments)


if __name__ == "__main__":
    sys.exit(main())
