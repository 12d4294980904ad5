"""What the tests of the environments share, and tests of the batch that all of them sit on."""

from __future__ import annotations

import copy
import os
import pickle
import tempfile
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("CINOC_CACHE", tempfile.mkdtemp(prefix="cinoc-cache-"))

import numpy as np
import pytest

import cinoc
from cinoc import _native
from cinoc.envs import DIVERGED, PROBLEMS, Batch

CHAOS = {"data.settle": 1.0, "data.apart": 0.1, "data.per_run": 2, "data.train_states": 4, "data.test_states": 4}
PLANE = CHAOS | {"physics.nodes": 32}
CHEAP: dict[str, dict[str, Any]] = {
    "heat1d": {},
    "fkpp1d": {},
    "heat2d": {},
    "heat2d_obstacles": {},
    "ks1d": CHAOS,
    "ks2d": PLANE | {"physics.substeps": 4},
    "turbulence2d": PLANE | {"data.settle": 0.05, "data.per_run": 1},
    "density2d": {},
}
"""Settings with which a problem is soon made."""

AGENTS = {"ks2d": 25, "turbulence2d": 16, "heat2d": 9, "heat2d_obstacles": 9}


def cheap(problem: str, ticks: int = 8, **more: Any) -> dict[str, Any]:
    """Arguments of a short and small environment."""
    arguments: dict[str, Any] = {"set": CHEAP[problem] | {"physics.ticks": ticks}, "agents": AGENTS.get(problem)}
    return arguments | more


def by_hand(
    problem: str, actions: np.ndarray, seed: int, index: int, stream: str = "train", **arguments: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Observations (the first before any step) and costs of an episode of the engine itself."""
    settings = {key: str(value) for key, value in arguments["set"].items()}
    known = _native.f32.Problem(problem, "shipped", settings)
    env = _native.f32.Env(known, 1, arguments.get("agents"), 1)
    numbers = [np.array([number], np.uint64) for number in (seed, index)]
    env.reset(np.array([True]), *numbers, stream)
    seen, costs = np.zeros((len(actions) + 1, 1, env.agents, env.width), np.float32), np.zeros((len(actions), 1))
    env.observe(seen[0])
    for tick, action in enumerate(actions):
        env.step(np.ascontiguousarray(action[None], np.float32))
        env.cost(costs[tick])
        env.observe(seen[tick + 1])
    return seen[:, 0], costs[:, 0]


def some_actions(steps: int, *shape: int) -> np.ndarray:
    """Random ones."""
    return np.random.default_rng(5).uniform(-1, 1, (steps, *shape)).astype(np.float32)


def started(problem: str = "heat1d", instances: int = 1, **arguments: Any) -> Batch:
    """A batch that has begun."""
    batch = Batch(problem, instances, **arguments)
    batch.seed(list(range(instances)), np.random.default_rng)
    batch.reset()
    batch.observe()
    return batch


def test_all_problems_are_known() -> None:
    assert sorted(PROBLEMS) == sorted(name for name, _ in _native.problems())


@pytest.mark.parametrize("problem", PROBLEMS)
def test_rewards_add_up_to_minus_the_cost_of_a_rollout(problem: str) -> None:
    batch = started(problem, 2, **cheap(problem))
    start, target, places = batch.fields(), batch.targets(), batch.positions()
    actions = some_actions(8, 2, *batch.action_shape)
    total = np.zeros(2)
    for action in actions:
        batch.step(action)
        total += batch.rewards
    assert batch.truncated.all() and not batch.terminated.any()
    physical = actions * batch.problem.limits
    rollout = _native.f32.Rollout(batch.problem.native, start, target, places, 8, actions=physical, gradient=False)
    np.testing.assert_allclose(total, -rollout.cost, rtol=1e-4)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_observations_are_those_of_the_engine(problem: str) -> None:
    arguments = cheap(problem, 4)
    batch = started(problem, **arguments)
    actions = some_actions(4, *batch.action_shape)
    seen, costs = by_hand(problem, actions, 0, 0, **arguments)
    np.testing.assert_array_equal(batch.observations[0], seen[0])
    for tick, action in enumerate(actions):
        batch.step(action[None])
        np.testing.assert_array_equal(batch.observe()[0], seen[tick + 1])
        assert batch.rewards[0] == -costs[tick]


def test_global_observation() -> None:
    batch = started(**cheap("heat1d"), observation="global")
    parts = (batch.fields(), batch.targets(), batch.positions(), batch.strength())
    assert batch.observations.shape == (1, sum(part.size for part in parts))
    np.testing.assert_array_equal(batch.observations[0], np.concatenate([part.ravel() for part in parts]))
    np.testing.assert_array_equal(batch.observe_global(), batch.observations)


def test_double_precision() -> None:
    batch = started(**cheap("heat1d"), dtype="float64")
    batch.step(np.zeros((1, *batch.action_shape)))
    assert batch.observe().dtype == np.float64
    one = started(**cheap("heat1d"))
    one.step(np.zeros((1, *one.action_shape)))
    np.testing.assert_allclose(one.observe(), batch.observations, atol=2e-3)


def test_same_seed_same_instance_and_then_the_next() -> None:
    arguments = cheap("heat1d")
    one, two = started(**arguments), started(**arguments)
    np.testing.assert_array_equal(one.observations, two.observations)
    one.reset()
    assert not np.array_equal(one.observe(), two.observations)
    two.seed([0], np.random.default_rng, index=1)
    two.reset()
    np.testing.assert_array_equal(one.observations, two.observe())


def test_without_a_seed_instances_are_random() -> None:
    batch = Batch("heat1d", 2, **cheap("heat1d"))
    random = np.random.default_rng(0)
    batch.seed([None, None], lambda: random)
    batch.reset()
    seen = batch.observe()
    assert not np.array_equal(seen[0], seen[1])


def test_given_start_target_places_and_deaths() -> None:
    x = np.linspace(0, 1, 100)
    start, target = np.sin(np.pi * x), 2 * np.sin(2 * np.pi * x)
    places = np.linspace(0.2, 0.8, 8)[:, None]
    batch = started(**cheap("heat1d"), start=start, target=target, places=places, deaths=[(1, 3)])
    np.testing.assert_allclose(batch.fields()[0], start, atol=1e-6)
    np.testing.assert_allclose(batch.targets()[0], target, atol=1e-6)
    np.testing.assert_allclose(batch.positions()[0], places, atol=1e-6)
    zero = np.zeros((1, *batch.action_shape))
    batch.step(zero)
    assert batch.strength()[0].all()
    batch.step(zero)
    assert np.flatnonzero(batch.strength()[0] == 0).tolist() == [3]


def test_a_diverged_episode_is_terminated_with_finite_numbers() -> None:
    batch = started("ks1d", 2, **cheap("ks1d"), start=np.stack([np.zeros(128), 1e30 * np.sin(np.linspace(0, 20, 128))]))
    action = np.zeros((2, *batch.action_shape))
    batch.step(action)
    while not batch.terminated[1]:
        assert not batch.over.any(), "the second episode should diverge"
        batch.step(action)
    assert batch.rewards[1] == DIVERGED and np.isfinite(batch.rewards).all()
    assert np.isfinite(batch.observe()).all() and np.isfinite(batch.observe_global()).all()
    info = batch.info(1)
    assert info["diverged"] is True and info["score"] == np.inf
    assert not batch.truncated[1] and "score" not in batch.info(0)
    batch.step(action)
    assert batch.terminated[1] and batch.rewards[1] == 0.0


def test_actions_that_are_not_numbers_are_refused() -> None:
    batch = started()
    with pytest.raises(ValueError, match="NaN"):
        batch.step(np.full((1, *batch.action_shape), np.nan))
    assert batch.ticks[0] == 0


@pytest.mark.parametrize("name", ["heat1d", "density2d"])
def test_infinite_actions_are_the_largest_there_are(name: str) -> None:
    infinite, largest = started(name), started(name)
    infinite.step(np.full((1, *infinite.action_shape), np.inf, np.float32))
    largest.step(np.ones((1, *largest.action_shape), np.float32))
    np.testing.assert_array_equal(infinite.fields(), largest.fields())
    assert not infinite.terminated[0]


def test_what_is_over_stays_as_it_is() -> None:
    batch = started("heat1d", 2, **cheap("heat1d", 2))
    for action in some_actions(2, 2, *batch.action_shape):
        batch.step(action)
    seen, info = batch.observe().copy(), batch.info(0)
    batch.step(np.ones((2, *batch.action_shape)))
    np.testing.assert_array_equal(batch.observe(), seen)
    assert batch.info(0) == info and not batch.rewards.any() and batch.truncated.all()


def test_no_reward_is_less_than_that_of_divergence() -> None:
    batch = started("ks1d", **cheap("ks1d"), start=np.full(128, 3e4))
    batch.step(np.zeros((1, *batch.action_shape)))
    assert batch.rewards[0] == DIVERGED and not batch.over[0]


def test_a_pool_gives_every_seed_states_of_one() -> None:
    arguments = cheap("ks1d") | {"pool": 3}
    batch = Batch("ks1d", 3, **arguments)
    batch.seed([0, 1, 0], np.random.default_rng)
    batch.reset()
    seen = batch.fields()
    assert not np.array_equal(seen[0], seen[1]) and np.array_equal(seen[0], seen[2])
    alone = started("ks1d", **cheap("ks1d"))
    alone.seed([3], np.random.default_rng, index=1 << 32)
    alone.reset()
    np.testing.assert_array_equal(alone.fields()[0], seen[1])


def test_pickles_and_copies_are_new_ones() -> None:
    batch = started(**cheap("heat1d"), deaths=[(1, 2)])
    for again in (pickle.loads(pickle.dumps(batch)), copy.deepcopy(batch)):
        with pytest.raises(RuntimeError, match="reset"):
            again.step(np.zeros((1, *again.action_shape)))
        again.seed([0], np.random.default_rng)
        again.reset()
        np.testing.assert_array_equal(again.observe(), batch.observations)


@pytest.mark.parametrize(
    ("arguments", "kind", "advice"),
    [
        ({"observation": "all"}, ValueError, "write one of 'local', 'global'"),
        ({"stream": "exam"}, ValueError, "write one of 'train', 'validation', 'test'"),
        ({"dtype": "float16"}, ValueError, "write one of 'float32', 'float64'"),
        ({"set": "physics.ticks=3"}, TypeError, "write set="),
        ({"set": {"physics.tick": 3}}, _native.CinocError, "physics.ticks"),
        ({"agents": 0}, ValueError, "from 1 on"),
        ({"start": np.zeros(7)}, ValueError, "give it the shape"),
        ({"start": np.full(100, np.nan)}, ValueError, "give finite ones"),
        ({"places": np.zeros(8)}, ValueError, "give it the shape"),
        ({"deaths": [(0, 8)]}, ValueError, "an agent from 0 to 7"),
        ({"deaths": [(300, 0)]}, ValueError, "a tick from 0 to 299"),
        ({"diverged_reward": 1.0}, ValueError, "below 0"),
    ],
)
def test_mistakes_are_explained(arguments: dict[str, Any], kind: type[Exception], advice: str) -> None:
    with pytest.raises(kind, match=advice):
        Batch("heat1d", **arguments)


def test_other_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        Batch("heat1d", 0)
    with pytest.raises(_native.CinocError, match="heat1d"):
        Batch("heat7d")
    batch = Batch("heat1d")
    with pytest.raises(RuntimeError, match="call reset"):
        batch.step(np.zeros((1, *batch.action_shape)))
    batch = started()
    with pytest.raises(ValueError, match=r"give them the shape \(1, 8, 2\)"):
        batch.step(np.zeros(3))
    with pytest.raises(ValueError, match="take one from 0 on"):
        batch.seed([-1], np.random.default_rng)


def test_the_package_registers_itself() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    cinoc.envs.register()
    for problem in PROBLEMS:
        assert gymnasium.spec(f"cinoc/{problem}-v0").vector_entry_point
