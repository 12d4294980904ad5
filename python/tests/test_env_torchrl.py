"""TorchRL."""

from __future__ import annotations

import numpy as np
import pytest
from test_env_common import PROBLEMS, by_hand, cheap, some_actions

pytest.importorskip("torchrl")

import torch
from tensordict import TensorDict
from torchrl.envs.utils import check_env_specs

from cinoc.envs import torchrl_env

torch.set_num_threads(1)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_passes_the_checks_of_torchrl(problem: str) -> None:
    env = torchrl_env(problem, 2, **cheap(problem, 2))
    check_env_specs(env, seed=0)
    check_env_specs(env, break_when_any_done="both")


def test_passes_the_checks_with_other_arguments() -> None:
    check_env_specs(torchrl_env("heat1d", 3, observation="global", dtype="float64", **cheap("heat1d")))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_bootstraps_from_the_last_observation(problem: str) -> None:
    arguments = cheap(problem, 3)
    env = torchrl_env(problem, 2, **arguments)
    actions = some_actions(3, *env.batch.action_shape)
    seen, costs = by_hand(problem, actions, 6, 0, **arguments)
    env.set_seed(5)
    steps = iter(actions)
    both = env.rollout(3, lambda td: td.set("action", torch.from_numpy(np.stack([next(steps)] * 2))))
    np.testing.assert_array_equal(both["observation"][1].numpy(), seen[:-1])
    np.testing.assert_array_equal(both["next", "observation"][1].numpy(), seen[1:])
    np.testing.assert_allclose(both["next", "reward"][1, :, 0].numpy(), -costs, rtol=1e-6)
    assert both["next", "truncated"][1, :, 0].tolist() == [False, False, True] and not both["next", "terminated"].any()
    new = by_hand(problem, actions[:0], 6, 1, **arguments)[0][0]
    np.testing.assert_array_equal(env.reset()["observation"][1].numpy(), new)


def test_episodes_follow_each_other_in_one_rollout() -> None:
    arguments = cheap("heat1d", 3)
    env = torchrl_env("heat1d", 2, **arguments)
    env.set_seed(0)
    torch.manual_seed(0)
    data = env.rollout(7, break_when_any_done=False)
    assert data["next", "done"][0, :, 0].tolist() == [False, False, True] * 2 + [False]
    nothing = np.zeros((0, 8, 2), np.float32)
    for instance in range(2):
        for episode in range(3):
            first = by_hand("heat1d", nothing, instance, episode, **arguments)[0][0]
            np.testing.assert_array_equal(data["observation"][instance, 3 * episode].numpy(), first)
    assert not torch.equal(data["next", "observation"][0, 2], data["observation"][0, 3])


def test_only_the_marked_are_reset() -> None:
    env = torchrl_env("heat1d", 3, **cheap("heat1d"))
    env.set_seed(0)
    td = env.step(env.rand_action(env.reset()))["next"]
    before = td["observation"].clone()
    marks = torch.tensor([[False], [True], [False]])
    after = env.reset(TensorDict({**td, "_reset": marks}, batch_size=[3]))
    assert torch.equal(after["observation"][[0, 2]], before[[0, 2]]) and not torch.equal(after["observation"][1], before[1])
    assert env.batch.ticks.tolist() == [1, 0, 1]


def test_seeds() -> None:
    one, two = (torchrl_env("heat1d", 2, **cheap("heat1d")) for _ in range(2))
    one.set_seed(1)
    two.set_seed(1)
    assert torch.equal(one.reset()["observation"], two.reset()["observation"])
    assert not torch.equal(one.reset()["observation"], torchrl_env("heat1d", 2, **cheap("heat1d")).reset()["observation"])


def test_divergence_terminates() -> None:
    env = torchrl_env("ks1d", 1, start=1e30 * np.sin(np.linspace(0, 20, 128)), **cheap("ks1d"))
    data = env.rollout(8)
    assert data["next", "terminated"][0, -1] and not data["next", "truncated"].any()
    assert data["next", "reward"].isfinite().all() and data["next", "observation"].isfinite().all()
    assert np.isinf(next(iter(env.measures().values()))).all()
