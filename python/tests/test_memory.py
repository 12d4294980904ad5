"""Nothing is left behind by use: memory stays flat over a million steps of environments, and over hundreds of everything else."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any, Callable

import numpy as np
import pytest

import cinoc

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")

GROWTH = 4.0  # megabytes that may be had by chance


def resident() -> float:
    """Megabytes that this process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def flat(work: Callable[[], Any], warm: int, count: int) -> None:
    """Calls so often after a warm-up, at the end of which everything has its size."""
    for _ in range(warm):
        work()
    gc.collect()
    before = resident()
    for _ in range(count):
        work()
    gc.collect()
    grown = resident() - before
    assert grown < GROWTH, f"{grown:.1f} MB more after {count} times"


SMALL = {"physics.nodes": 16, "physics.ticks": 50, "observe.points": 4}


def test_a_million_steps():
    """64 environments, with all that belongs to a step: actions, costs, observations, and resets of those that are over."""
    envs = cinoc.envs.Batch("heat1d", 64, agents=2, set=SMALL)
    envs.seed(range(64), np.random.default_rng)
    envs.reset()
    actions = np.random.default_rng(0).uniform(-1, 1, (8, 64, *envs.action_shape)).astype("float32")
    made = 0

    def step() -> None:
        nonlocal made
        envs.step(actions[made % 8])
        envs.observe()
        made += 1
        if envs.over.any():
            for i in range(3):
                envs.info(i)
            envs.reset(envs.over)

    flat(step, 500, 1_000_000 // 64 + 1)
    assert made * 64 > 1_000_000


def test_adapters():
    gymnasium = pytest.importorskip("gymnasium")
    envs = gymnasium.make_vec("cinoc/heat1d-v0", num_envs=16, agents=2, set=SMALL | {"physics.ticks": 5})
    envs.reset(seed=0)
    actions = envs.action_space.sample()
    flat(lambda: envs.step(actions), 500, 3000)


def test_resets_and_new_environments():
    problem = cinoc.make("heat1d", 4, SMALL)
    env = problem.env(8)
    which, numbers = np.ones(8, bool), np.arange(8, dtype=np.uint64)

    def again() -> None:
        env.reset(which, numbers, numbers)
        env.restore(env.snapshot())
        problem.env(8)

    flat(again, 100, 3000)


def test_threads_end_with_their_environment():
    problem = cinoc.make("heat1d", 2, SMALL)
    flat(lambda: problem.env(2, threads=2), 50, 500)


def test_decisions():
    policy = cinoc.load("heat1d")
    seen = np.ones((16, 4, policy.problem.env().width), np.float32)
    numbers = policy.params

    def decide() -> None:
        policy.reset()
        policy(seen)
        policy(seen)
        policy.params = numbers

    flat(decide, 100, 2000)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rollouts_and_their_derivatives(dtype):
    policy = cinoc.load("heat1d", dtype).change({"physics.ticks": 10})
    problem, native = policy.problem, cinoc._native.f32 if dtype == "float32" else cinoc._native.f64
    start, target = (np.repeat(x[None], 9, 0) for x in problem.draw())
    places = np.repeat(problem.places()[None], 9, 0)
    actions = np.ones((10, 9, 8, 2), dtype)

    def sweep() -> None:
        for driver in ({"actions": actions}, {"policy": policy.native}):
            run = native.Rollout(problem.native, start, target, places, 10, **driver)
            for _ in range(2):
                run.backward(np.ones(9), z=run.z)

    flat(sweep, 40, 200)


def test_errors():
    """What is refused is not kept either."""
    problem = cinoc.make("heat1d", 4, SMALL)
    env = problem.env(8)

    def refused() -> None:
        for call in (lambda: env.step(np.zeros((8, 4, 3), np.float32)), lambda: cinoc.make("heat1d", set={"physics.ticks": 0}), lambda: env.observe(None)):
            with pytest.raises((cinoc.CinocError, ValueError, TypeError)):
                call()

    flat(refused, 100, 1000)


def test_training_and_evaluation():
    small = {"physics.ticks": 4, "train.batch": 2, "train.shard": 1, "train.agents": [4], "train.updates": 1, "train.validate_agents": [4], "train.validate_instances": 2}

    def train() -> None:
        policy, _ = cinoc.train("heat1d", set=small, progress=False, threads=1)
        cinoc.evaluate(policy, 4, 2, threads=1)
        cinoc.rollout(policy)

    flat(train, 20, 60)


def test_derivatives_of_jax():
    """JAX keeps what it compiles, so it must not compile again at every call."""
    jax = pytest.importorskip("jax")
    problem = cinoc.make("heat1d", 4, {"physics.ticks": 8})
    actions = jax.numpy.zeros((8, 2, 4, 2))

    def work() -> None:
        scene = cinoc.jax.begin(problem, 0, 0, 2)
        jax.grad(lambda actions: cinoc.jax.rollout(problem, scene.z, scene.target, scene.xi, actions).cost.sum())(actions)
        for _ in range(3):
            scene, _ = cinoc.jax.step(problem, scene, actions[0])

    flat(work, 10, 100)


def test_derivatives_of_torch():
    torch = pytest.importorskip("torch")
    problem = cinoc.make("heat1d", 4, {"physics.ticks": 8})
    module = cinoc.torch.Policy(cinoc.fresh(problem))
    scene = cinoc.torch.begin(problem, 0, 0, 2)
    actions = torch.zeros((8, 2, 4, 2), requires_grad=True)

    def work() -> None:
        cinoc.torch.rollout(problem, scene.z, scene.target, scene.xi, actions).cost.sum().backward()
        module.rollout(scene.z, scene.target, scene.xi).cost.sum().backward()
        cinoc.torch.step(problem, scene, actions[0])[1].sum().backward()

    flat(work, 20, 200)
