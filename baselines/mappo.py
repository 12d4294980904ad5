"""MAPPO of TorchRL: one actor shared by all agents, on local observations; a critic on the global state."""

from __future__ import annotations

from typing import Any

import torch
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.modules import IndependentNormal, ProbabilisticActor, ValueOperator
from tensordict.nn import AddStateIndependentNormalScale
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from . import networks, tasks
from .record import Record
from .team import Team, deterministic

WITH: dict[str, Any] = {
    "envs": 32, "rollout": 100, "minibatch": 800, "epochs": 4, "gamma": 0.99, "lambda": 0.95, "clip": 0.2, "entropy": 0.0,
    "rate": 3e-4, "critic_rate": 1e-3, "max_grad_norm": 0.5, "std": 0.37,
}
OTHERS: dict[str, dict[str, Any]] = {name: {"rollout": 50, "minibatch": 400} for name in ("ks2d", "turbulence2d")}
"""Settings for large fields, where steps are few."""
KEYS = ("observation", "state", "action", "action_log_prob", "advantage", "value_target", "state_value")


def mappo(problem: str, seed: int, record: Record, kind: str = "mlp", **changes: Any) -> Any:
    """Multi-agent proximal policy optimisation."""
    chosen = WITH | OTHERS.get(problem, {}) | changes
    env = Team(problem, chosen["envs"], seed)
    net, agents, acts = networks.actor(kind, env.batch), env.batch.agents, env.batch.action_shape[-1]
    policy = ProbabilisticActor(
        TensorDictSequential(
            TensorDictModule(net, in_keys=["observation"], out_keys=["mean"]),
            TensorDictModule(Spread(acts, chosen["std"]), in_keys=["mean"], out_keys=["loc", "scale"]),
        ),
        in_keys=["loc", "scale"], distribution_class=IndependentNormal, return_log_prob=True,
    )
    critic = ValueOperator(networks.Value(tasks.width(env.batch)), in_keys=["state"])
    loss = ClipPPOLoss(
        policy, critic, clip_epsilon=chosen["clip"], entropy_coeff=chosen["entropy"], critic_coeff=1.0, loss_critic_type="l2",
    )
    advantage = GAE(gamma=chosen["gamma"], lmbda=chosen["lambda"], value_network=critic)
    groups = [{"params": policy.parameters(), "lr": chosen["rate"]}, {"params": critic.parameters(), "lr": chosen["critic_rate"]}]
    adam = torch.optim.Adam(groups, eps=1e-5)
    frames = chosen["envs"] * chosen["rollout"]
    collector = Collector(env, policy, frames_per_batch=frames, total_frames=-1, auto_register_policy_transforms=False)
    actor, steps = deterministic(net), 0
    record.begin()
    record.curve(0, actor, net.state_dict)
    for data in collector:
        with torch.no_grad():
            advantage(data)
        rows = data.select(*KEYS).reshape(-1)
        gain = rows["advantage"]
        # All agents share the advantage of the team; the ratio of probabilities is per agent.
        rows["advantage"] = ((gain - gain.mean()) / (gain.std() + 1e-8)).unsqueeze(-2).expand(-1, agents, 1)
        for group, rate in zip(adam.param_groups, (chosen["rate"], chosen["critic_rate"]), strict=True):
            group["lr"] = rate * max(1.0 - record.gone, 0.02)
        for _ in range(chosen["epochs"]):
            for rows_now in torch.randperm(frames).split(chosen["minibatch"]):
                losses = loss(rows[rows_now])
                adam.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
                for group in adam.param_groups:
                    nn.utils.clip_grad_norm_(group["params"], chosen["max_grad_norm"])
                adam.step()
        steps += frames
        collector.update_policy_weights_()
        record.curve(steps, actor, net.state_dict)
        if record.gone >= 1.0:
            break
    collector.shutdown()
    return steps, actor, net.state_dict, net.load_state_dict


class Spread(AddStateIndependentNormalScale):
    """A learned, state-independent standard deviation of each action component, shared by all agents."""

    def __init__(self, acts: int, std: float) -> None:
        super().__init__(acts, scale_mapping="exp")
        nn.init.constant_(self.state_independent_scale, float(torch.tensor(std).log()))
