"""Stable-Baselines3."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from test_env_common import PROBLEMS, by_hand, cheap, some_actions

pytest.importorskip("stable_baselines3")
gymnasium = pytest.importorskip("gymnasium")

import torch
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from cinoc.envs import sb3_vec_env

torch.set_num_threads(1)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_passes_the_checks_of_sb3(problem: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        # It takes every array of two axes for an unconventional one.
        warnings.filterwarnings("ignore", ".*unconventional shape.*|.*wrapped.*")
        check_env(gymnasium.make(f"cinoc/{problem}-v0", **cheap(problem), render_mode="rgb_array").unwrapped, skip_render_check=False)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_bootstraps_from_the_last_observation(problem: str) -> None:
    arguments = cheap(problem, 3)
    envs = sb3_vec_env(problem, 2, **arguments)
    actions = some_actions(3, *envs.action_space.shape)
    seen, costs = by_hand(problem, actions, 6, 0, **arguments)
    envs.seed(5)
    np.testing.assert_array_equal(envs.reset()[1], seen[0])
    for tick, action in enumerate(actions):
        observations, rewards, dones, infos = envs.step(np.stack([action] * 2))
        np.testing.assert_allclose(rewards[1], -costs[tick], rtol=1e-6)
        assert dones.all() == dones.any() == (tick == 2)
    np.testing.assert_array_equal(infos[1]["terminal_observation"], seen[-1])
    assert infos[1]["TimeLimit.truncated"] and "score" in infos[1]
    np.testing.assert_array_equal(observations[1], by_hand(problem, actions[:0], 6, 1, **arguments)[0][0])


def test_is_sb3s_own_over_single_ones() -> None:
    arguments = cheap("heat1d", 4)
    native = sb3_vec_env("heat1d", 3, **arguments)
    single = DummyVecEnv([lambda: gymnasium.make("cinoc/heat1d-v0", **arguments)] * 3)
    both = [native, single]
    for envs in both:
        envs.seed(2)
    np.testing.assert_array_equal(*(envs.reset() for envs in both))
    assert native.reset_infos == single.reset_infos
    for action in some_actions(9, 3, *native.action_space.shape):
        (seen, rewards, dones, infos), expected = (envs.step(action) for envs in both)
        np.testing.assert_array_equal(seen, expected[0])
        np.testing.assert_array_equal(rewards, expected[1])
        np.testing.assert_array_equal(dones, expected[2])
        assert rewards.dtype == expected[1].dtype and dones.dtype == expected[2].dtype
        for info, other in zip(infos, expected[3], strict=True):
            last = [entry.pop("terminal_observation", None) for entry in (info, other)]
            assert info == other and (last[0] is None) == (last[1] is None)
            if last[0] is not None:
                np.testing.assert_array_equal(*last)


def test_divergence_is_not_a_time_limit() -> None:
    envs = sb3_vec_env("ks1d", 1, start=1e30 * np.sin(np.linspace(0, 20, 128)), **cheap("ks1d"))
    envs.reset()
    dones = np.zeros(1, bool)
    while not dones.any():
        _, rewards, dones, infos = envs.step(np.zeros((1, *envs.action_space.shape)))
    assert infos[0]["diverged"] and not infos[0]["TimeLimit.truncated"] and np.isfinite(rewards).all()
    assert np.isfinite(infos[0]["terminal_observation"]).all()


def test_attributes_and_methods() -> None:
    envs = sb3_vec_env("heat1d", 3, render_mode="rgb_array", **cheap("heat1d"))
    envs.seed(0)
    envs.reset()
    assert envs.get_attr("render_mode") == ["rgb_array"] * 3 and envs.get_attr("tick", [1]) == [0]
    assert envs.get_attr("field")[2].shape == (100,)
    envs.set_attr("weight", 7, indices=[1])
    assert envs.get_attr("weight", 1) == [7] and not envs.has_attr("weight") and envs.has_attr("positions")
    envs.env_method("kill", 4, indices=2)
    envs.step(np.zeros((3, 8, 2)))
    assert [strength[4] for strength in envs.get_attr("strength")] == [1, 1, 0]
    assert envs.env_is_wrapped(Monitor) == [False] * 3
    assert envs.render().ndim == 3 and len(envs.get_images()) == 3
    envs.set_options([{"seed": 9, "index": i} for i in range(3)])
    first = envs.reset()
    envs.seed(9)
    envs.set_options({"index": 0})
    np.testing.assert_array_equal(envs.reset()[0], first[0])
    nothing = np.zeros((0, 8, 2), np.float32)
    np.testing.assert_array_equal(first[2], by_hand("heat1d", nothing, 9, 2, **cheap("heat1d"))[0][0])


def test_pickles_are_new_ones() -> None:
    envs = sb3_vec_env("heat1d", 2, **cheap("heat1d"))
    envs.seed(0)
    seen = envs.reset()
    again = pickle.loads(pickle.dumps(envs))
    again.seed(0)
    np.testing.assert_array_equal(again.reset(), seen)
    assert again.get_attr("tick") == [0, 0]


def test_ppo_and_sac_run_on_it() -> None:
    envs = VecNormalize(VecMonitor(sb3_vec_env("heat1d", 4, **cheap("heat1d"))))
    PPO("MlpPolicy", envs, n_steps=8, batch_size=16, n_epochs=1, seed=0, device="cpu").learn(64)
    assert len(envs.venv.episode_returns) == 4
    SAC("MlpPolicy", sb3_vec_env("heat1d", 2, **cheap("heat1d")), learning_starts=8, buffer_size=100, seed=0, device="cpu").learn(20)
