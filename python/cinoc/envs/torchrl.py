"""Many episodes at a time, for TorchRL."""

# mypy: disable-error-code="import-untyped,misc"

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tensordict import TensorDict, TensorDictBase
from torchrl.data import Binary, Bounded, Composite, Unbounded
from torchrl.envs import EnvBase

from .batch import Batch


class SwarmTorchEnv(EnvBase):
    """`cinoc.envs.torchrl_env("heat1d", num_envs=…, device=…, …)`; other arguments as of `cinoc.envs.Batch`.

    Batch size [num_envs]. "observation": [num_envs, agents, width] (observation="global": [num_envs, width]); "action":
    [num_envs, agents, k] within [-1, 1]; "reward": [num_envs, 1], minus the cost of the tick. "truncated" after the last tick,
    "terminated" if a number is no longer finite. A reset with "_reset" resets only the marked episodes. `set_seed(s)` gives
    environment i the instances 0, 1, 2 … of seed s + i. Physics is computed on the CPU, whatever the device.
    """

    def __init__(self, problem: str, num_envs: int = 1, *, device: Any = "cpu", **arguments: Any) -> None:
        batch = Batch(problem, num_envs, **arguments)
        super().__init__(device=device, batch_size=torch.Size([num_envs]))
        self.batch = batch
        self._random: np.random.Generator | None = None
        dtype = torch.float32 if batch.dtype == np.float32 else torch.float64
        one = (num_envs, 1)
        self.observation_spec = Composite(
            observation=Unbounded((num_envs, *batch.shape), dtype=dtype, device=device), shape=(num_envs,), device=device
        )
        self.action_spec = Bounded(-1.0, 1.0, (num_envs, *batch.action_shape), dtype=torch.float32, device=device)
        self.reward_spec = Unbounded(one, dtype=dtype, device=device)
        self.done_spec = Composite(
            {key: Binary(n=1, shape=one, dtype=torch.bool, device=device) for key in ("done", "terminated", "truncated")},
            shape=(num_envs,),
            device=device,
        )

    def _generator(self) -> np.random.Generator:
        if self._random is None:
            # Follows torch.manual_seed.
            self._random = np.random.default_rng(int(torch.randint(2**62, ())))
        return self._random

    def _set_seed(self, seed: int | None) -> None:
        self._random = None
        if seed is not None:
            self.batch.seed([seed + i for i in range(self.batch.instances)], self._generator)

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: Any) -> TensorDictBase:
        marks = None if tensordict is None else tensordict.get("_reset", None)
        which = None if marks is None else marks.reshape(-1).cpu().numpy()
        self.batch.seed([None] * self.batch.instances, self._generator)
        self.batch.reset(which)
        return self._out({})

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        self.batch.step(tensordict.get("action").detach().cpu().numpy())
        rewards = torch.as_tensor(self.batch.rewards).to(self.reward_spec.dtype)
        return self._out({"reward": rewards.unsqueeze(-1)})

    def _out(self, entries: dict[str, torch.Tensor]) -> TensorDictBase:
        batch = self.batch
        entries["observation"] = torch.from_numpy(batch.observe().copy())
        for key, flags in (("done", batch.over), ("terminated", batch.terminated), ("truncated", batch.truncated)):
            entries[key] = torch.from_numpy(np.array(flags)).unsqueeze(-1)
        out = TensorDict(entries, batch_size=self.batch_size)
        return out.to(self.device) if self.device is not None else out

    def measures(self) -> dict[str, NDArray[np.float64]]:
        """What has been measured of each episode; the first is the score, known once it is over."""
        return dict(zip(self.batch.measures, self.batch.measured().T.copy(), strict=True))
