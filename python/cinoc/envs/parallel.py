"""One action space per agent, for PettingZoo."""

# mypy: disable-error-code="import-untyped,misc"

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from . import spaces
from .batch import Batch, Instance, one_of


class SwarmParallelEnv(ParallelEnv[str, NDArray[Any], NDArray[Any]]):
    """`cinoc.envs.parallel_env("heat1d", agents=…, …)`; arguments as of `cinoc.envs.Batch`.

    Agents are "agent_0", "agent_1" …; each sees (width,) and acts with (k,) within [-1, 1]. Every agent receives the reward of the team,
    undivided: minus the cost of the tick. An agent that fails (`deaths=[(tick, agent)]`, or `kill`) is terminated in the first step in
    which it no longer acts, and then gone; the others continue. All are truncated after the last tick, and terminated if a number is no
    longer finite. `state()` is the global observation.
    """

    metadata: dict[str, Any] = spaces.METADATA | {"name": "cinoc", "is_parallelizable": True}

    def __init__(self, problem: str, *, render_mode: str | None = None, observation: str = "local", **arguments: Any) -> None:
        one_of("observation", observation, ("local",))
        self.render_mode = spaces.render_mode(render_mode)
        self.batch = Batch(problem, 1, **arguments)
        self.instance = Instance(self.batch, 0)
        self.metadata = self.metadata | {"name": f"cinoc_{self.batch.problem.name}_v0"}
        self.possible_agents = [f"agent_{i}" for i in range(self.batch.agents)]
        self.agents: list[str] = []
        self._number = {agent: i for i, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {a: spaces.observation_space(self.batch, self.batch.env.width) for a in self.possible_agents}
        self.action_spaces = {a: spaces.action_space(self.batch, self.batch.action_shape[1]) for a in self.possible_agents}
        self.state_space = spaces.observation_space(self.batch, self.batch.env.width_global)
        self._random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> Box:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Box:
        return self.action_spaces[agent]

    def _generator(self) -> np.random.Generator:
        if self._random is None:
            self._random = seeding.np_random()[0]
        return self._random

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, dict[str, Any]]]:
        self.batch.seed([seed], self._generator, (options or {}).get("index"))
        self.batch.reset()
        self.agents = list(self.possible_agents)
        return self._seen(), {agent: self.batch.info(0) for agent in self.agents}

    def step(
        self, actions: dict[str, NDArray[Any]]
    ) -> tuple[
        dict[str, NDArray[Any]], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]
    ]:
        if not self.batch.begun[0]:
            raise RuntimeError("the episode has not begun; call reset() before the first step().")
        if not self.agents:
            return {}, {}, {}, {}, {}
        if missing := [agent for agent in self.agents if agent not in actions]:
            raise ValueError(f"there is no action of {', '.join(missing)}; give one for every agent of env.agents.")
        batch = self.batch
        given = np.zeros((1, *batch.action_shape), np.float64)
        for agent in self.agents:
            given[0, self._number[agent]] = actions[agent]
        batch.step(given)
        failed = batch.strength()[0] == 0.0
        reward, diverged, truncated = float(batch.rewards[0]), bool(batch.terminated[0]), bool(batch.truncated[0])
        seen = self._seen()
        rewards = dict.fromkeys(self.agents, reward)
        terminations = {agent: diverged or bool(failed[self._number[agent]]) for agent in self.agents}
        truncations = {agent: truncated and not terminations[agent] for agent in self.agents}
        infos = {agent: batch.info(0) for agent in self.agents}
        self.agents = [agent for agent in self.agents if not (terminations[agent] or truncations[agent])]
        return seen, rewards, terminations, truncations, infos

    def _seen(self) -> dict[str, NDArray[Any]]:
        seen = self.batch.observe()[0]
        return {agent: seen[self._number[agent]].copy() for agent in self.agents}

    def kill(self, agent: str) -> None:
        """Makes an agent fail: it is inactive from the next step on, which terminates it."""
        if agent not in self._number:
            raise ValueError(f"there is no agent {agent!r}; take one of env.agents.")
        self.instance.kill(self._number[agent])

    def state(self) -> NDArray[Any]:
        """Field, target, positions and strengths, as one vector."""
        return np.asarray(self.batch.observe_global()[0])

    def render(self) -> NDArray[np.uint8] | None:
        if self.render_mode is None:
            gymnasium.logger.warn('nothing is drawn; make the environment with render_mode="rgb_array".')
            return None
        return self.batch.render(0)

    def close(self) -> None:
        """Nothing is held open."""
