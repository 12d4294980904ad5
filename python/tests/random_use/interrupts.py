"""Calls that take long, stopped by Ctrl-C or an alarm."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import cinoc
from cinoc.problem import engine

from .arguments import TINY
from .calls import Fault
from .environments import poke
from .training import texts
from .use import Use

LONG = TINY | {"physics.ticks": 20, "train.updates": 10**6}


def scene_interrupt(use: Use) -> None:
    kind = use.precision()
    policy = use.policy(kind, "heat1d")
    problem = policy.problem
    env = use.must(problem.env, 64, 8, use.one(1, 2))
    use.call(env.reset, np.ones(64, bool), np.zeros(64, np.uint64), np.arange(64, dtype=np.uint64))
    calm = texts(LONG) | {"data.settle": "1e5"}

    def reset() -> None:
        slow = cinoc.make("ks2d", 25, set={"data.settle": 1e4}).env(2)
        slow.reset(np.ones(2, bool), np.array([use.r.randrange(10**9)] * 2, np.uint64), np.zeros(2, np.uint64))

    def training() -> None:
        run = engine(kind).Training("ks1d", "tuned", calm, use.r.randrange(10**9))
        run.step()
        run.step()

    def adapters() -> None:
        envs = cinoc.envs.sb3_vec_env("heat1d", 4, set={"physics.ticks": 5})
        envs.reset()
        while True:
            envs.step(np.zeros((4, *envs.action_space.shape), np.float32))

    long = {
        "step_policy": lambda: env.step_policy(policy.native, 2**60),
        "evaluate": lambda: cinoc.evaluate(policy, 16, 10**6, threads=use.one(1, 2)),
        "train": lambda: cinoc.train("heat1d", set=LONG, progress=False, threads=use.one(1, 2)),
        "folder": lambda: cinoc.train("heat1d", set=LONG, out=Path(use.folder, "long"), progress=False, threads=1),
        "draw": lambda: cinoc.make("ks1d", set={"data.settle": 1e5}).draw(use.r.randrange(10**9)),
        "reset": reset,
        "training": training,
        "adapters": adapters,
    }
    name = use.one(*long)
    if name == "adapters":
        # Torch cannot be loaded again where loading it was stopped halfway.
        import stable_baselines3  # noqa: F401
    begun = time.monotonic()
    wait = use.one(0.01, 0.05, 0.3)
    way = use.one("alarm", "kill")
    use.interrupts = True
    hits: list[float] = []

    def handler(*_: Any) -> None:
        hits.append(time.monotonic())
        raise KeyboardInterrupt("provoked")

    number = signal.SIGALRM if way == "alarm" else signal.SIGINT
    old = signal.signal(number, handler)
    try:
        try:
            if way == "alarm":
                signal.setitimer(signal.ITIMER_REAL, wait)
                use.call(long[name])
            else:
                timer = threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
                use.call(long[name])
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
        signal.signal(number, old)
        use.interrupts = False
    # Everything works as before.
    poke(use, problem, env, 3, 0.0, policy)
    use.must(cinoc.evaluate, policy, 4, 2, threads=1)
