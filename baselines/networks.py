"""Networks shared by all agents of a swarm of any size."""

from __future__ import annotations

import torch
from torch import nn
from torchrl.modules import MLP

from . import tasks

HIDDEN = (256, 256)


class DeepONet(nn.Module):
    """DeepONet: the branch reads the window, the trunk the position and other features; their product goes to the head."""

    def __init__(self, window: int, width: int, acts: int, features: int = 64) -> None:
        super().__init__()
        self.window = window
        common = {"activation_class": nn.Tanh, "activate_last_layer": True}
        self.branch = MLP(window, features, num_cells=[2 * features], **common)
        self.trunk = MLP(width - window, features, num_cells=[features], **common)
        self.head = MLP(features, acts, num_cells=[features], activation_class=nn.Tanh)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        return self.head(self.branch(seen[..., : self.window]) * self.trunk(seen[..., self.window :]))


def actor(kind: str, batch: tasks.Batch) -> nn.Module:
    """Actor from observations, [..., width], to actions, [..., k] within [-1, 1]; "mlp" or "deeponet"."""
    width, acts = batch.shape[-1], batch.action_shape[-1]
    hidden = tasks.TASKS[batch.problem.name].hidden
    net = DeepONet(tasks.window(batch), width, acts) if kind == "deeponet" else MLP(width, acts, num_cells=hidden, activation_class=nn.ReLU)
    # Nearly zero control at first.
    last = [layer for layer in net.modules() if isinstance(layer, nn.Linear)][-1]
    nn.init.uniform_(last.weight, -1e-3, 1e-3)
    nn.init.zeros_(last.bias)
    return nn.Sequential(net, nn.Tanh())


class Value(nn.Module):
    """Critic: value of the global state, and of all actions if given."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.net = MLP(width, 1, num_cells=HIDDEN, activation_class=nn.ReLU)

    def forward(self, state: torch.Tensor, action: torch.Tensor | None = None) -> torch.Tensor:
        return self.net(state if action is None else torch.cat([state, action.flatten(-2)], -1))
