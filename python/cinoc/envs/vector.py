"""Many episodes at a time, for Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from . import spaces
from .batch import Batch, Instance
from .spare import Spare


class SwarmVectorEnv(VectorEnv[NDArray[Any], NDArray[Any], NDArray[Any]]):
    """`gymnasium.make_vec("cinoc/heat1d-v0", num_envs=…, …)`: `num_envs` times `SwarmEnv`, stepped together.

    Observations, rewards, seeds and infos are those of Gymnasium's `SyncVectorEnv` over `SwarmEnv`s.
    autoreset_mode: "NextStep", "SameStep" or "Disabled" (or Gymnasium's `AutoresetMode`); when it is disabled,
    `reset(options={"reset_mask": over})` resets those that are over.
    copy: False gives observations in an array that the next step overwrites. threads: that step the episodes.
    """

    def __init__(
        self,
        problem: str,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            known = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise ValueError(f"autoreset_mode={autoreset_mode!r} is not known; write one of {known}.") from None
        self.render_mode = spaces.render_mode(render_mode)
        self.metadata = spaces.METADATA | {"autoreset_mode": self.autoreset_mode}
        self.copy = copy
        self.batch = Batch(problem, num_envs, **arguments)
        self.instances = [Instance(self.batch, i) for i in range(num_envs)]
        self.num_envs = num_envs
        self._spare = Spare(self.batch.observations)
        self.single_observation_space = spaces.observation_space(self.batch)
        self.single_action_space = spaces.action_space(self.batch)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        n = self.num_envs
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
            seed = [int(seed) + i for i in range(n)]
        seeds: list[int | None] = [None] * n if seed is None else list(seed)
        if len(seeds) != n:
            raise ValueError(f"{len(seeds)} seeds for {n} environments; give one each, or a single number.")
        which = self._mask((options or {}).get("reset_mask"))
        self.batch.seed(seeds, lambda: self.np_random, (options or {}).get("index"), which)
        self.batch.reset(which)
        return self._seen(), self.batch.infos(which)

    def _mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"reset_mask={mask!r} does not fit; give an array of {self.num_envs} bools of which one or more are True.")
        return mask

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        batch, mode = self.batch, self.autoreset_mode
        before = batch.over if batch.any_over else None
        if mode == AutoresetMode.DISABLED and before is not None:
            raise RuntimeError(
                f"the episodes {np.flatnonzero(before).tolist()} are over; "
                'call reset(options={"reset_mask": …}) for them before the next step().'
            )
        seen = self._spare.take() if self.copy else batch.observations
        batch.step(actions, seen)
        if mode == AutoresetMode.NEXT_STEP and before is not None:
            batch.reset(before)
            batch.observe(seen)
        rewards, terminated, truncated = batch.rewards.copy(), batch.terminated.copy(), batch.truncated.copy()
        infos: dict[str, Any] = {}
        if mode == AutoresetMode.SAME_STEP and batch.any_over:
            over = batch.over
            last = np.full(self.num_envs, None, object)
            for i in np.flatnonzero(over):
                last[i] = seen[i].copy()
            infos = {"final_obs": last, "_final_obs": over, "final_info": batch.infos(over), "_final_info": over.copy()}
            batch.reset(over)
            batch.observe(seen)
        infos |= batch.infos()
        return seen, rewards, terminated, truncated, infos

    def _seen(self) -> NDArray[Any]:
        return self.batch.observe(self._spare.take() if self.copy else None)

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        if self.render_mode is None:
            gymnasium.logger.warn('nothing is drawn; make the environments with render_mode="rgb_array".')
            return None
        return tuple(instance.render() for instance in self.instances)
