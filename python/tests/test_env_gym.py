"""Gymnasium, one episode at a time."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
from test_env_common import PROBLEMS, by_hand, cheap, some_actions

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env, data_equivalence

from cinoc.envs.single import SwarmEnv


@pytest.mark.parametrize("observation", ["local", "global"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_passes_the_checks_of_gymnasium(problem: str, observation: str) -> None:
    env = gymnasium.make(f"cinoc/{problem}-v0", render_mode="rgb_array", **cheap(problem), observation=observation)
    with warnings.catch_warnings():
        # Numbers of a field have no bounds.
        warnings.filterwarnings("ignore", ".*infinity.*|.*wrapped.*|.*flattened.*")
        check_env(env, skip_render_check=False)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_an_episode_is_truncated_at_its_last_observation(problem: str) -> None:
    arguments = cheap(problem, 5)
    env = gymnasium.make(f"cinoc/{problem}-v0", **arguments)
    actions = some_actions(5, *env.action_space.shape)
    seen, costs = by_hand(problem, actions, 7, 0, **arguments)
    first, info = env.reset(seed=7)
    assert info == {"tick": 0} and env.observation_space.contains(first)
    for tick, action in enumerate(actions):
        observation, reward, terminated, truncated, info = env.step(action)
        np.testing.assert_array_equal(observation, seen[tick + 1])
        assert reward == -costs[tick] and not terminated and truncated == (tick == 4) and info["tick"] == tick + 1
        assert ("score" in info) == truncated
    assert info["score"] == next(iter(info["measures"].values())) and info["diverged"] is False
    np.testing.assert_array_equal(first, seen[0])
    with pytest.raises(RuntimeError, match="call reset"):
        env.unwrapped.step(actions[0])
    second, _ = env.reset()
    np.testing.assert_array_equal(second, by_hand(problem, actions[:0], 7, 1, **arguments)[0][0])
    third, _ = env.reset(seed=7, options={"index": 1})
    np.testing.assert_array_equal(third, second)


def test_same_seed_same_episode() -> None:
    def episode() -> list[object]:
        env = gymnasium.make("cinoc/fkpp1d-v0", **cheap("fkpp1d"))
        env.action_space.seed(1)
        return [env.reset(seed=3), *(env.step(env.action_space.sample()) for _ in range(8)), env.reset()]

    assert data_equivalence(episode(), episode(), exact=True)


def test_streams_differ_and_test_instances_are_those_of_the_engine() -> None:
    arguments = cheap("heat1d")
    env = gymnasium.make("cinoc/heat1d-v0", stream="test", **arguments)
    nothing = some_actions(0, *env.action_space.shape)
    seen, _ = env.reset(seed=3000, options={"index": 4})
    np.testing.assert_array_equal(seen, by_hand("heat1d", nothing, 3000, 4, stream="test", **arguments)[0][0])
    assert not np.array_equal(seen, by_hand("heat1d", nothing, 3000, 4, **arguments)[0][0])


def test_divergence_terminates() -> None:
    env = gymnasium.make("cinoc/ks1d-v0", start=1e30 * np.sin(np.linspace(0, 20, 128)), diverged_reward=-5.0, **cheap("ks1d"))
    env.reset(seed=0)
    terminated = truncated = False
    while not (terminated or truncated):
        observation, reward, terminated, truncated, info = env.step(np.zeros(env.action_space.shape, np.float32))
    assert terminated and not truncated and reward == -5.0 and info["diverged"] is True and np.isfinite(observation).all()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_pictures(problem: str) -> None:
    env = gymnasium.make(f"cinoc/{problem}-v0", render_mode="rgb_array", deaths=[(0, 1)], **cheap(problem))
    env.reset(seed=0)
    before = env.render()
    env.step(env.action_space.sample())
    after = env.render()
    assert before.dtype == np.uint8 and before.ndim == 3 and before.shape[2] == 3 and before.shape == after.shape
    assert before.std() > 5 and not np.array_equal(before, after)


def test_nothing_is_drawn_unless_asked_for() -> None:
    with pytest.raises(ValueError, match='write "rgb_array"'):
        SwarmEnv("heat1d", render_mode="text")
    env = gymnasium.make("cinoc/heat1d-v0").unwrapped
    env.reset()
    assert env.render() is None


def test_pickles_and_copies_are_new_ones() -> None:
    env = gymnasium.make("cinoc/heat1d-v0", **cheap("heat1d"))
    seen, _ = env.reset(seed=4)
    for again in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        np.testing.assert_array_equal(again.reset(seed=4)[0], seen)


def test_the_instance_can_be_looked_at() -> None:
    env = gymnasium.make("cinoc/heat1d-v0", **cheap("heat1d"))
    env.reset(seed=0)
    instance = env.unwrapped.instance
    assert instance.field.shape == instance.target.shape == (100,) and instance.positions.shape == (8, 1) and instance.tick == 0
    instance.kill(2)
    env.step(env.action_space.sample())
    assert np.flatnonzero(instance.strength == 0).tolist() == [2]


def test_sensors_can_be_switched_off() -> None:
    env = gymnasium.make("cinoc/heat1d-v0", **cheap("heat1d", 30))
    env.reset(seed=0)
    instance, action = env.unwrapped.instance, np.zeros(env.action_space.shape, np.float32)
    points = instance.ages.shape[1]
    assert instance.ages.shape == (8, points) and not instance.ages.any()
    instance.blind(2)
    instance.blind(5, 1)
    for _ in range(12):
        seen, *_ = env.step(action)
    expected = np.zeros((8, points))
    expected[2], expected[5, 1] = 12, 12
    np.testing.assert_array_equal(instance.ages, expected)
    assert seen[2, -1] == 0 and seen[5, -1] > 0, "an agent without readings rests, one that lacks a single reading does not"
    assert instance.strength[2] == 1, "it has not failed"
    instance.blind(2, works=True)
    seen, *_ = env.step(action)
    assert not instance.ages[2].any() and seen[2, -1] > 0
    env.reset(seed=0)
    assert not instance.ages.any(), "all sensors work in a new episode"
    for wrong in ((8,), (-1,), (0, points), (0, -1)):
        with pytest.raises(ValueError, match="there is no"):
            instance.blind(*wrong)


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_in_processes_of_their_own(context: str) -> None:
    arguments = cheap("heat1d", 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        envs = gymnasium.vector.AsyncVectorEnv([_Make(arguments)] * 2, context=context)
    try:
        same = gymnasium.make_vec("cinoc/heat1d-v0", num_envs=2, **arguments)
        np.testing.assert_array_equal(envs.reset(seed=1)[0], same.reset(seed=1)[0])
        action = some_actions(1, *envs.action_space.shape)[0]
        np.testing.assert_array_equal(envs.step(action)[0], same.step(action)[0])
    finally:
        envs.close()


class _Make:
    """Can be sent to another process."""

    def __init__(self, arguments: dict[str, object]) -> None:
        self.arguments = arguments

    def __call__(self) -> gymnasium.Env:
        import cinoc  # noqa: F401

        return gymnasium.make("cinoc/heat1d-v0", **self.arguments)
