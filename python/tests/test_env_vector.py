"""Gymnasium, many episodes at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_env_common import PROBLEMS, by_hand, cheap, some_actions

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

MODES = list(AutoresetMode)


def make(problem: str = "heat1d", num_envs: int = 3, ticks: int = 4, **more: Any) -> gymnasium.vector.VectorEnv:
    return gymnasium.make_vec(
        f"cinoc/{problem}-v0", num_envs=num_envs, vectorization_mode="vector_entry_point", **cheap(problem, ticks), **more
    )


@pytest.mark.parametrize("mode", MODES)
def test_is_gymnasiums_own_over_single_ones(mode: AutoresetMode) -> None:
    arguments = cheap("heat1d", 4)
    native = make(autoreset_mode=mode)
    single = gymnasium.make_vec(
        "cinoc/heat1d-v0", num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **arguments
    )
    assert native.observation_space == single.observation_space and native.action_space == single.action_space
    assert native.metadata["autoreset_mode"] is mode
    both = [native, single]
    assert data_equivalence(*(envs.reset(seed=11) for envs in both), exact=True)
    # Out of step with each other from here on.
    late = np.array([False, True, False])
    actions = some_actions(14, *native.action_space.shape)
    for envs in both:
        envs.step(actions[0])
    assert data_equivalence(*(envs.reset(options={"reset_mask": late.copy()}) for envs in both), exact=True)
    for action in actions[1:]:
        given, expected = (envs.step(action) for envs in both)
        assert data_equivalence(given, expected, exact=True), (given, expected)
        over = given[2] | given[3]
        if mode == AutoresetMode.DISABLED and over.any():
            assert data_equivalence(*(envs.reset(options={"reset_mask": over.copy()}) for envs in both), exact=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_bootstraps_from_the_last_observation(problem: str, mode: AutoresetMode) -> None:
    arguments = cheap(problem, 3)
    envs = make(problem, 2, 3, autoreset_mode=mode)
    actions = some_actions(3, *envs.single_action_space.shape)
    seen, _ = by_hand(problem, actions, 6, 0, **arguments)
    new = by_hand(problem, actions[:0], 6, 1, **arguments)[0][0]
    envs.reset(seed=5)
    for action in actions:
        observations, _, terminated, truncated, infos = envs.step(np.stack([action] * 2))
    assert truncated.all() and not terminated.any()
    if mode == AutoresetMode.SAME_STEP:
        np.testing.assert_array_equal(infos["final_obs"][1], seen[-1])
        np.testing.assert_array_equal(observations[1], new)
        assert infos["_final_obs"].all() and infos["final_info"]["_score"].all() and "score" not in infos
        return
    np.testing.assert_array_equal(observations[1], seen[-1])
    assert infos["_score"].all()
    if mode == AutoresetMode.NEXT_STEP:
        observations, rewards, terminated, truncated, infos = envs.step(np.stack([actions[0]] * 2))
        assert not rewards.any() and not terminated.any() and not truncated.any()
    else:
        with pytest.raises(RuntimeError, match="reset_mask"):
            envs.step(np.stack([actions[0]] * 2))
        observations, infos = envs.reset(options={"reset_mask": np.array([False, True])})
        assert infos["_tick"].tolist() == [False, True]
    np.testing.assert_array_equal(observations[1], new)


def test_seeds() -> None:
    envs = make()
    first, _ = envs.reset(seed=3)
    second, _ = envs.reset(seed=[3, 4, 5])
    np.testing.assert_array_equal(first, second)
    mixed, _ = envs.reset(seed=[3, None, 5])
    np.testing.assert_array_equal(mixed[[0, 2]], first[[0, 2]])
    assert not np.array_equal(mixed[1], first[1])
    chosen, _ = envs.reset(seed=[3, 3, 3], options={"index": np.arange(3)})
    np.testing.assert_array_equal(chosen[0], first[0])
    assert not np.array_equal(chosen[1], first[1])
    with pytest.raises(ValueError, match="give one each"):
        envs.reset(seed=3, options={"index": [1, 2]})
    fresh, _ = make().reset()
    assert not np.array_equal(fresh[0], fresh[1])


def test_observations_are_copied_unless_told() -> None:
    actions = np.zeros((3, 8, 2), np.float32)
    envs = make()
    first, _ = envs.reset(seed=0)
    before = first.copy()
    envs.step(actions)
    np.testing.assert_array_equal(first, before)
    envs = make(copy=False)
    first, _ = envs.reset(seed=0)
    assert envs.step(actions)[0] is first


def test_divergence() -> None:
    start = np.stack([np.zeros(128), 1e30 * np.sin(np.linspace(0, 20, 128))])
    envs = make("ks1d", 2, 8, start=start, autoreset_mode="SameStep")
    envs.reset(seed=0)
    terminated = np.zeros(2, bool)
    while not terminated.any():
        observations, rewards, terminated, truncated, infos = envs.step(np.zeros(envs.action_space.shape, np.float32))
        assert not truncated.any()
    assert terminated.tolist() == [False, True] and np.isfinite(rewards).all() and np.isfinite(observations).all()
    assert np.isfinite(infos["final_obs"][1]).all() and infos["final_info"]["diverged"].tolist() == [False, True]


def test_wrappers_of_gymnasium_work() -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(make(autoreset_mode="NextStep"))
    envs.reset(seed=0)
    total = np.zeros(3)
    for action in some_actions(4, *envs.action_space.shape):
        _, rewards, _, truncated, infos = envs.step(action)
        total += rewards
    assert truncated.all()
    np.testing.assert_allclose(infos["episode"]["r"], total, rtol=1e-6)
    np.testing.assert_array_equal(infos["episode"]["l"], 4)


def test_pictures() -> None:
    envs = make(num_envs=2, render_mode="rgb_array")
    envs.reset(seed=0)
    frames = envs.render()
    assert len(frames) == 2 and frames[0].shape == frames[1].shape and not np.array_equal(*frames)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_change_anything(threads: int) -> None:
    envs = make(num_envs=5, threads=threads)
    envs.reset(seed=0)
    seen = envs.step(np.full(envs.action_space.shape, 0.3, np.float32))[0]
    one = make(num_envs=1)
    one.reset(seed=4)
    np.testing.assert_array_equal(one.step(np.full(one.action_space.shape, 0.3, np.float32))[0][0], seen[4])


def test_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match="'NextStep', 'SameStep', 'Disabled'"):
        make(autoreset_mode="never")
    envs = make()
    with pytest.raises(ValueError, match="give one each"):
        envs.reset(seed=[1])
    with pytest.raises(ValueError, match="array of 3 bools"):
        envs.reset(options={"reset_mask": [True, False, False]})
    with pytest.raises(RuntimeError, match="call reset"):
        envs.step(np.zeros((3, 8, 2), np.float32))


def test_what_is_kept_is_not_overwritten():
    """Observations are new arrays for whoever keeps them, or a view of them; others are used again."""
    envs = gymnasium.make_vec("cinoc/heat1d-v0", num_envs=3, vectorization_mode="vector_entry_point")
    seen, _ = envs.reset(seed=0)
    kept, copies = [seen[1:]], [seen[1:].copy()]
    del seen
    for _ in range(8):
        seen = envs.step(envs.action_space.sample())[0]
        kept.append(seen[:, 0])
        copies.append(seen[:, 0].copy())
    for a, b in zip(kept, copies):
        np.testing.assert_array_equal(a, b)
    kept.clear()
    del a, seen
    places = {envs.step(envs.action_space.sample())[0].ctypes.data for _ in range(8)}
    assert len(places) <= 2
