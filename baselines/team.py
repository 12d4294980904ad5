"""Environment for TorchRL: local observations for actors, and the global state for critics."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tensordict import TensorDictBase
from torch import nn
from torchrl.data import Unbounded

from cinoc.envs.torchrl import SwarmTorchEnv

from . import tasks
from .score import Actor


class Team(SwarmTorchEnv):
    """"observation" [envs, agents, width], "state" [envs, width], "action" [envs, agents, k], "reward" [envs, 1] of the task."""

    def __init__(self, problem: str, envs: int, seed: int) -> None:
        super().__init__(problem, envs, pool=seed, **tasks.settings(problem))
        self.name, self.scale = problem, tasks.scale(problem)
        self.observation_spec.set("state", Unbounded((envs, tasks.width(self.batch)), dtype=torch.float32))
        self.set_seed(1000 * seed)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        out = super()._step(tensordict)
        return out.set("reward", out.get("reward") * self.scale)

    def _out(self, entries: dict[str, torch.Tensor]) -> TensorDictBase:
        entries["state"] = torch.from_numpy(tasks.state(self.batch, self.name))
        return super()._out(entries)


def deterministic(net: nn.Module) -> Actor:
    """A network without noise."""

    def act(seen: np.ndarray[Any, Any]) -> Any:
        with torch.no_grad():
            return net(torch.from_numpy(seen)).numpy()

    return Actor("local", act)
