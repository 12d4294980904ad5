"""MATD3 put together from TorchRL's TD3 loss: one actor shared by all agents, on local observations; twin critics on the
global state."""

from __future__ import annotations

from typing import Any

import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.modules import AdditiveGaussianModule, ValueOperator
from torchrl.objectives import SoftUpdate, TD3Loss

from . import networks, tasks
from .record import Record
from .team import Team, deterministic

WITH: dict[str, Any] = {
    "envs": 32, "buffer": 125_000, "batch": 256, "gamma": 0.99, "tau": 0.005, "delay": 2, "updates": 1, "warmup": 500,
    "noise": 0.1, "target_noise": 0.1, "target_clip": 0.05, "rate": 1e-4, "critic_rate": 5e-4, "max_grad_norm": 1.0,
}
OTHERS: dict[str, dict[str, Any]] = {name: {"buffer": 10_000, "batch": 128} for name in ("ks2d", "turbulence2d")}
"""Settings for large fields, where steps are few."""


def matd3(problem: str, seed: int, record: Record, kind: str = "mlp", **changes: Any) -> Any:
    """Multi-agent twin delayed deep deterministic policy gradient."""
    chosen = WITH | OTHERS.get(problem, {}) | changes
    env = Team(problem, chosen["envs"], seed)
    net, acts = networks.actor(kind, env.batch), env.batch.agents * env.batch.action_shape[-1]
    policy = TensorDictModule(Blind(net), in_keys=["observation", "state"], out_keys=["action"])
    critic = ValueOperator(networks.Value(tasks.width(env.batch) + acts), in_keys=["state", "action"])
    spec = env.action_spec_unbatched
    loss = TD3Loss(
        policy, critic, action_spec=spec, policy_noise=chosen["target_noise"], noise_clip=chosen["target_clip"], loss_function="l2",
    )
    loss.make_value_estimator(gamma=chosen["gamma"])
    follow = SoftUpdate(loss, tau=chosen["tau"])
    adam = torch.optim.Adam(loss.actor_network_params.flatten_keys().values(), lr=chosen["rate"])
    adam_critic = torch.optim.Adam(loss.qvalue_network_params.flatten_keys().values(), lr=chosen["critic_rate"])
    noise = AdditiveGaussianModule(spec, sigma_init=chosen["noise"], sigma_end=chosen["noise"])
    memory = TensorDictReplayBuffer(storage=LazyTensorStorage(chosen["buffer"]), batch_size=chosen["batch"])
    collector = Collector(
        env, TensorDictSequential(policy, noise), frames_per_batch=chosen["envs"], total_frames=-1, auto_register_policy_transforms=False,
        init_random_frames=chosen["warmup"] * chosen["envs"],
    )
    actor, steps, update = deterministic(net), 0, 0
    record.begin()
    record.curve(0, actor, net.state_dict)
    for data in collector:
        memory.extend(data.exclude("collector").reshape(-1))
        steps += chosen["envs"]
        for _ in range(chosen["updates"] if steps >= chosen["warmup"] * chosen["envs"] else 0):
            update += 1
            sample = memory.sample()
            descend(adam_critic, loss.value_loss(sample)[0], chosen["max_grad_norm"])
            if update % chosen["delay"] == 0:
                descend(adam, loss.actor_loss(sample)[0], chosen["max_grad_norm"])
                follow.step()
        record.curve(steps, actor, net.state_dict)
        if record.gone >= 1.0:
            break
    collector.shutdown()
    return steps, actor, net.state_dict, net.load_state_dict


class Blind(nn.Module):
    """An actor that ignores the state. The loss gives critics only the inputs of actors, so the state has to pass through."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, observation: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        return self.net(observation)


def descend(adam: torch.optim.Optimizer, loss: torch.Tensor, longest: float) -> None:
    """One step of an optimiser."""
    adam.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(adam.param_groups[0]["params"], longest)
    adam.step()
