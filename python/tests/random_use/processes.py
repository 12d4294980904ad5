"""Several threads, children and other processes."""

from __future__ import annotations

import faulthandler
import gc
import multiprocessing
import os
import random
import signal
import threading
import traceback
import warnings
from typing import Any, Callable

import numpy as np

import cinoc
from cinoc.problem import engine

from .calls import Fault
from .environments import poke
from .limits import LIMIT
from .use import Use


def scene_threads(use: Use) -> None:
    kind = use.precision()
    policy = use.policy(kind, "heat1d")
    problem, env = use.env(kind, name=use.one("heat1d", "density2d", "ks1d"))
    n, agents, k = env.instances, env.agents, len(problem.components)
    what = use.r.randrange(6)
    faults: list[BaseException] = []
    seeds = [use.r.random() for _ in range(4)]
    shared = np.zeros((n, agents, env.width), kind)
    run = use.call(
        engine(kind).Rollout, problem.native, np.zeros((3, *problem.nodes), kind), np.ones((3, *problem.nodes), kind),
        np.full((3, 2, problem.dimensions), 0.4, kind), 1, np.ones((1, 3, 2, k), kind), threads=2,
    )
    owns = [use.must(problem.env, n, agents, use.one(1, 2)) for _ in range(4)]

    def step(env: Any) -> None:
        use.call(env.step, np.zeros((n, agents, k), kind))

    def one_env(own: random.Random, mine: Any) -> None:
        own.choice([lambda: step(env), lambda: use.call(env.observe, shared), lambda: use.call(env.snapshot)])()

    def own_env(own: random.Random, mine: Any) -> None:
        use.call(mine.reset, np.ones(n, bool), np.zeros(n, np.uint64), np.arange(n, dtype=np.uint64))
        step(mine)
        use.call(mine.observe, np.zeros_like(shared))

    def one_policy(own: random.Random, mine: Any) -> None:
        own.choice([
            lambda: use.call(policy, np.zeros((2, 4, policy.problem.env().width), kind)),
            lambda: use.call(setattr, policy, "params", policy.params * 0.9),
            lambda: use.call(cinoc.rollout, policy, ticks=1),
            policy.reset,
        ])()

    def one_run(own: random.Random, mine: Any) -> None:
        use.call(run.backward, np.ones(3))

    def one_reset(own: random.Random, mine: Any) -> None:
        use.call(env.reset, np.ones(n, bool), np.full(n, own.randrange(3), np.uint64), np.zeros(n, np.uint64))
        step(env)

    def new_envs(own: random.Random, mine: Any) -> None:
        made = use.call(problem.env, 2, 2, own.choice([1, 2]))
        use.call(made.snapshot)
        del made
        gc.collect()

    task = (one_env, own_env, one_policy, one_run, one_reset, new_envs)[what]

    def work(number: int) -> None:
        own = random.Random(seeds[number])
        try:
            for _ in range(25):
                task(own, owns[number])
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(4)]
    use.watch()
    for thread in threads:
        thread.start()
    if use.chance(0.3):
        fork(use, lambda: poke(use, problem, env, 4, 0.0))
    for thread in threads:
        use.watch()
        thread.join()
    faulthandler.cancel_dump_traceback_later()
    for fault in faults:
        raise fault if isinstance(fault, Fault) else Fault("".join(traceback.format_exception(fault)))
    poke(use, problem, env, 4, 0.0)


def fork(use: Use, work: Callable[[], Any]) -> None:
    """Work in a child, which has to come back."""
    use.log.flush()
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
            use.log.write(f"in a child: {''.join(traceback.format_exception(error))}\n")
            use.log.flush()
            code = 3
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise Fault(f"a child ended with {status} (signal {status & 127}, code {status >> 8})")


def scene_fork(use: Use) -> None:
    kind = use.precision()
    problem, env = use.env(kind, use.one(2, 9), use.one(1, 2, 0))
    policy = use.policy(kind, problem.name)
    poke(use, problem, env, 3, 0.0, policy)

    def work() -> None:
        poke(use, problem, env, 5, 0.0, policy)
        use.call(cinoc.evaluate, policy, instances=2, threads=2)
        other = use.must(problem.env, 2, None, 2)
        poke(use, problem, other, 3, 0.0, policy)
        del other
        gc.collect()

    fork(use, work)
    poke(use, problem, env, 3, 0.0, policy)
    if use.chance(0.3):
        fork(use, lambda: fork(use, work))
    del env
    gc.collect()


def elsewhere(given: tuple[Any, int]) -> float:
    """Work of another process."""
    policy, index = given
    return float(cinoc.rollout(policy, index=index, ticks=3).cost.sum())


def scene_processes(use: Use) -> None:
    way = use.one("fork", "fork", "spawn")
    if way == "spawn" and use.chance(0.6):
        way = "fork"
    policy = use.policy("float32", "heat1d")
    use.watch(2 * LIMIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context = multiprocessing.get_context(way)
        with context.Pool(2) as pool:
            found = pool.map(elsewhere, [(policy, i) for i in range(3)])
    faulthandler.cancel_dump_traceback_later()
    use.calls += 3
    if len(found) != 3 or not np.isfinite(found).all():
        raise Fault(f"processes gave {found}")
