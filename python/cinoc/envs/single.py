"""One episode at a time, for Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from . import spaces
from .batch import Batch, Instance


class SwarmEnv(gymnasium.Env[NDArray[Any], NDArray[Any]]):
    """`gymnasium.make("cinoc/heat1d-v0", agents=…, set={…}, observation=…, …)`; arguments as of `cinoc.envs.Batch`.

    Observation: (agents, width), what each agent sees; with observation="global" one vector of field, target, positions and strengths.
    Action: (agents, k) within [-1, 1], shares of the limits of pushes and velocities.
    Reward: minus the cost of the tick, so that a return is minus the cost of the episode.
    An episode is truncated after its last tick, and terminated if a number is no longer finite; the reward of that step is
    `diverged_reward`, -1e6. `info` holds "tick", at the end also "score", "measures" and "diverged".
    `reset(seed=s)` begins instance 0 of that seed, further resets 1, 2 …; `reset(seed=s, options={"index": k})` instance k.
    """

    metadata = spaces.METADATA

    def __init__(self, problem: str, *, render_mode: str | None = None, **arguments: Any) -> None:
        self.render_mode = spaces.render_mode(render_mode)
        self.batch = Batch(problem, 1, **arguments)
        self.instance = Instance(self.batch, 0)
        self.observation_space = spaces.observation_space(self.batch)
        self.action_space = spaces.action_space(self.batch)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        super().reset(seed=seed)
        self.batch.seed([seed], lambda: self.np_random, (options or {}).get("index"))
        self.batch.reset()
        return self.batch.observe()[0].copy(), self.batch.info(0)

    def step(self, action: NDArray[Any]) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        batch = self.batch
        if batch.terminated[0] or batch.truncated[0]:
            raise RuntimeError("the episode is over; call reset() before the next step().")
        batch.step(np.asarray(action)[None])
        observation = batch.observe()[0].copy()
        return observation, float(batch.rewards[0]), bool(batch.terminated[0]), bool(batch.truncated[0]), batch.info(0)

    def render(self) -> NDArray[np.uint8] | None:
        if self.render_mode is None:
            gymnasium.logger.warn('nothing is drawn; make the environment with render_mode="rgb_array".')
            return None
        return self.batch.render(0)
