"""Many episodes at a time, for Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from . import spaces
from .batch import Batch, Instance


class _Sub(Instance):
    """One of the environments: its own attributes, and beyond these those of all."""

    def __init__(self, batch: Batch, i: int, all: VecEnv) -> None:
        super().__init__(batch, i)
        self._all = all

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._all, name)


class SwarmVecEnv(VecEnv):
    """`cinoc.envs.sb3_vec_env("heat1d", num_envs=…, …)`; other arguments as of `cinoc.envs.Batch`.

    Episodes that are over are reset in the same step. The last observation is in `infos[i]["terminal_observation"]`; every episode that
    does not diverge ends by its time limit, `infos[i]["TimeLimit.truncated"]`, so that returns are bootstrapped from there.
    `infos[i]` of the last step also has "score" and "measures". `seed(s)` gives environment i the instances 0, 1, 2 … of seed s + i;
    `set_options([{"seed": 3000, "index": i} for i in range(num_envs)])` chooses those of the next reset one by one.
    """

    def __init__(self, problem: str, num_envs: int = 1, *, render_mode: str | None = None, **arguments: Any) -> None:
        self.render_mode = spaces.render_mode(render_mode)
        self.spec = None
        self.batch = Batch(problem, num_envs, **arguments)
        self.envs = [_Sub(self.batch, i, self) for i in range(num_envs)]
        self._random: np.random.Generator | None = None
        self._actions: NDArray[Any] | None = None
        super().__init__(num_envs, spaces.observation_space(self.batch), spaces.action_space(self.batch))

    def _generator(self) -> np.random.Generator:
        if self._random is None:
            self._random = np.random.default_rng()
        return self._random

    def reset(self) -> NDArray[Any]:
        seeds = [options.get("seed", seed) for options, seed in zip(self._options, self._seeds, strict=True)]
        self.batch.seed(seeds, self._generator, [options.get("index") for options in self._options])
        self._reset_seeds()
        self._reset_options()
        self.batch.reset()
        self.reset_infos = [self.batch.info(i) for i in range(self.num_envs)]
        return self.batch.observe().copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        batch = self.batch
        if self._actions is None:
            raise RuntimeError("there are no actions; call step_async() before step_wait().")
        batch.step(self._actions)
        rewards, over = batch.rewards.astype(np.float32), batch.over
        seen = batch.observe().copy()
        infos: list[dict[str, Any]] = [{"tick": tick, "TimeLimit.truncated": False} for tick in batch.ticks.tolist()]
        if over.any():
            truncated = batch.truncated.copy()
            for i in np.flatnonzero(over):
                infos[i] = batch.info(int(i)) | {"TimeLimit.truncated": bool(truncated[i]), "terminal_observation": seen[i].copy()}
            batch.reset(over)
            seen = batch.observe().copy()
            for i in np.flatnonzero(over):
                self.reset_infos[i] = batch.info(int(i))
        return seen, rewards, over, infos

    def close(self) -> None:
        """Nothing is held open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.envs[i], attr_name) for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        for i in self._get_indices(indices):
            setattr(self.envs[i], attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        return [getattr(self.envs[i], method_name)(*method_args, **method_kwargs) for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        return [env.render() if self.render_mode else None for env in self.envs]
