"""PettingZoo."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from test_env_common import DIVERGED, PROBLEMS, by_hand, cheap, some_actions

pytest.importorskip("pettingzoo")

from pettingzoo.test import parallel_api_test, parallel_seed_test

from cinoc.envs import parallel_env


@pytest.mark.parametrize("problem", PROBLEMS)
def test_passes_the_checks_of_pettingzoo(problem: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        parallel_api_test(parallel_env(problem, **cheap(problem)), num_cycles=20)
        parallel_seed_test(lambda: parallel_env(problem, **cheap(problem)), num_cycles=5)


def test_passes_the_checks_with_deaths() -> None:
    arguments = cheap("heat1d")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        parallel_api_test(parallel_env("heat1d", deaths=[(0, 1), (3, 5), (7, 2)], **arguments), num_cycles=20)
        parallel_seed_test(lambda: parallel_env("heat1d", deaths=[(3, 5)], **arguments), num_cycles=20)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_an_episode_is_truncated_at_its_last_observation(problem: str) -> None:
    arguments = cheap(problem, 3)
    env = parallel_env(problem, **arguments)
    actions = some_actions(3, *env.batch.action_shape)
    seen, costs = by_hand(problem, actions, 2, 0, **arguments)
    env.reset(seed=2)
    for tick, action in enumerate(actions):
        assert env.agents == env.possible_agents
        observations, rewards, terminations, truncations, infos = env.step(dict(zip(env.agents, action, strict=True)))
        np.testing.assert_array_equal(np.stack(list(observations.values())), seen[tick + 1])
        assert set(rewards.values()) == {-costs[tick]} and not any(terminations.values())
    assert all(truncations.values()) and env.agents == [] and "score" in infos["agent_0"]
    assert env.step({}) == ({}, {}, {}, {}, {})
    observations, _ = env.reset()
    np.testing.assert_array_equal(np.stack(list(observations.values())), by_hand(problem, actions[:0], 2, 1, **arguments)[0][0])


def test_agents_that_die_leave() -> None:
    env = parallel_env("heat1d", deaths=[(1, 3)], **cheap("heat1d"))
    env.reset(seed=0)

    def step() -> tuple[dict[str, bool], dict[str, np.ndarray]]:
        observations, rewards, terminations, truncations, infos = env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        assert observations.keys() == rewards.keys() == terminations.keys() == truncations.keys() == infos.keys()
        return terminations, observations

    assert not any(step()[0].values()) and len(env.agents) == 8
    terminations, observations = step()
    assert [agent for agent, gone in terminations.items() if gone] == ["agent_3"]
    assert "agent_3" not in env.agents and observations["agent_3"][-1] == 0
    env.kill("agent_6")
    terminations, _ = step()
    assert [agent for agent, gone in terminations.items() if gone] == ["agent_6"] and "agent_3" not in terminations
    assert len(env.agents) == 6
    for _ in range(5):
        step()
    assert env.agents == []
    env.reset()
    assert len(env.agents) == 8


def test_actions_of_failed_agents_do_not_matter() -> None:
    ends = []
    for action in (0.0, 1.0):
        env = parallel_env("heat1d", deaths=[(0, 3)], **cheap("heat1d"))
        env.reset(seed=0)
        env.step({agent: np.full(2, action if agent == "agent_3" else 0.1) for agent in env.agents})
        ends.append(env.state())
    np.testing.assert_array_equal(*ends)


def test_divergence_terminates_all() -> None:
    env = parallel_env("ks1d", start=1e30 * np.sin(np.linspace(0, 20, 128)), **cheap("ks1d"))
    env.reset(seed=0)
    while env.agents:
        observations, rewards, terminations, truncations, infos = env.step({agent: np.zeros(1) for agent in env.agents})
    assert all(terminations.values()) and not any(truncations.values()) and set(rewards.values()) == {DIVERGED}
    assert all(np.isfinite(seen).all() for seen in observations.values()) and infos["agent_0"]["diverged"]


def test_state_and_picture() -> None:
    env = parallel_env("heat2d", render_mode="rgb_array", **cheap("heat2d"))
    env.reset(seed=0)
    assert env.state_space.contains(env.state()) and env.render().ndim == 3


def test_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match="write one of 'local'"):
        parallel_env("heat1d", observation="global")
    env = parallel_env("heat1d")
    with pytest.raises(RuntimeError, match="call reset"):
        env.step({})
    env.reset(seed=0)
    with pytest.raises(ValueError, match="no action of agent_0"):
        env.step({})
    with pytest.raises(ValueError, match="take one of"):
        env.kill("bob")
