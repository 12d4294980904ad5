"""Our policies as modules of PyTorch."""

from __future__ import annotations

from os import PathLike
from typing import Any

import torch
from torch import Tensor, nn

import cinoc
from cinoc._native import CinocError
from cinoc.torch.rollout import Trajectory, rollout

# Factor on the push that is remembered.
PUSH = 10.0


def _soft(x: Tensor) -> Tensor:
    """Shortened to a length below one."""
    return x / (torch.sqrt((x * x).sum(-1, keepdim=True)) + 1.0)


class Policy(nn.Module):
    """The numbers of a `cinoc.Policy` (kinds "recurrent" and "deeponet") as a module, to look into or to train further.

    `action, memory = module(observation, memory)`: actions within [-1, 1] of the limits, as `policy(observation)` gives them. `module.rollout(…)`
    is a whole episode with the derivative by the module's parameters, `module.to_cinoc()` a policy with them.
    """

    rates: Tensor

    def __init__(self, policy: cinoc.Policy | str | PathLike[str]) -> None:
        super().__init__()
        self.policy = policy if isinstance(policy, cinoc.Policy) else cinoc.load(policy)
        problem = self.policy.problem
        self.settings: dict[str, Any] = problem.settings["policy"]
        self.kind = str(self.settings["kind"])
        if self.kind not in ("recurrent", "deeponet"):
            raise CinocError(f'cinoc.torch.Policy knows the kinds "recurrent" and "deeponet", but this policy is of kind "{self.kind}"')
        if self.settings.get("messages", 0):
            raise CinocError("cinoc.torch.Policy knows no agents that talk: policy.messages must be 0")
        self.names = [*self.policy.shapes]
        for name, values in self.policy.parts().items():
            self.register_parameter(name.replace(".", "_"), nn.Parameter(torch.from_numpy(values.copy())))
        native = problem.native
        self.view = tuple(native.view)
        self.seen = int(torch.Size(self.view).numel())
        self.position = int(native.position)
        # Positions end with what is told of the target and the centroids, then the gaps, then the roughness.
        self.rough = int(bool(problem.settings["observe"].get("roughness", False)))
        gaps = self.rough + 2 * 4 ** (problem.dimensions - 1) if problem.settings["observe"].get("gaps", 0.0) > 0 else 0
        into = self.policy.shapes.get("linear.w") or self.policy.shapes.get("memory.w", (0,))
        signal = into[0] - self.seen - self.policy.memory - (0 if "linear.w" in self.policy.shapes else 1 + self.rough) if len(into) > 1 else 0
        self.signal = slice(self.position - gaps - signal, self.position - gaps)
        # A wind is held to a length, a push and a velocity each to a limit.
        self.wind = all(name.startswith("velocity_") for name in problem.components)
        if self.policy.memory:
            shortest, longest = self.settings["memory_ticks"]
            part = torch.linspace(0.0, 1.0, self.settings["memory"], dtype=torch.float64)
            rates = 1.0 - torch.exp(-1.0 / (shortest * (longest / shortest) ** part))
            self.register_buffer("rates", rates.to(next(self.parameters()).dtype), persistent=False)

    def _w(self, name: str) -> Tensor:
        return getattr(self, name + "_w")  # type: ignore[no-any-return]

    def _layer(self, name: str, x: Tensor, biased: bool = True) -> Tensor:
        y = x @ self._w(name)
        return y + getattr(self, name + "_b") if biased else y

    def _stack(self, name: str, x: Tensor, soft: bool, biased: bool = True) -> Tensor:
        i = 0
        while f"{name}{i}.w" in self.names:
            x = self._layer(f"{name}{i}", x, biased)
            x, i = torch.tanh(_soft(x) if soft else x), i + 1
        return x

    def forward(self, observation: Tensor, memory: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Actions [..., agents, k] and what is remembered, from observations [..., agents, width]; no memory is that of a beginning."""
        patch, position, strength = observation[..., : self.seen], observation[..., self.seen : -1], observation[..., -1:]
        if self.kind == "deeponet":
            return self._limit(self._deeponet(patch, position), strength), None
        if self.policy.memory and memory is None:
            memory = observation.new_zeros(*observation.shape[:-1], self.policy.memory)
        raw, memory = self._recurrent(patch, position, memory)
        return self._limit(raw, strength), None if memory is None else memory * (strength > 0)

    def _recurrent(self, patch: Tensor, position: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor | None]:
        branch, trunk = self._stack("branch", patch, True), self._stack("trunk", position, False)
        remembered = [] if memory is None else [memory]
        raw = self._layer("out", torch.tanh(self._layer("head", torch.cat([branch * trunk, trunk, *remembered], -1))))
        known = torch.cat([patch, position[..., self.signal], *remembered], -1)
        if self.settings["linear"]:
            raw = raw + self._layer("mix", self._layer("linear", known, False) * self._layer("gate", trunk), False)
        raw = raw * self.settings.get("output_gain", 1.0)
        if memory is None:
            return raw, None
        own_push = self.settings.get("own_push", False)
        told = raw / self.settings.get("output_gain", 1.0) if own_push else raw[..., :1]
        push, kept = PUSH * torch.tanh(told), memory[..., : self.settings["memory"]]
        if kept.shape[-1] == 0:
            return raw, push
        own = [push, position[..., -1:]] if self.rough else [push]
        change = self.rates * (self._layer("memory", torch.cat([known, *own], -1), False) - kept)
        if self.settings.get("memory_gate", False):
            change = change * (1.0 + torch.tanh(self._layer("memory_gate", trunk)))
        return raw, torch.cat([kept + change, push], -1) if own_push else kept + change

    def _deeponet(self, patch: Tensor, position: Tensor) -> Tensor:
        biased = not self.settings["odd"]
        branch = self._image(patch) if self.settings["convolutions"] else self._stack("branch", patch, True, biased)
        trunk = self._stack("trunk", position, False)
        both = torch.cat([branch, trunk], -1) if self.settings["fusion"] == "concat" else branch * trunk
        return self._layer("out", torch.tanh(self._layer("head", both, biased)), biased)

    def _image(self, patch: Tensor) -> Tensor:
        height, width, channels = self.view
        x = patch.reshape(-1, height, width, channels).movedim(-1, 1)
        for name in ("conv0", "conv1"):
            w = self._w(name)
            kernel = w.reshape(3, 3, x.shape[1], w.shape[1]).permute(3, 2, 0, 1)
            x = torch.relu(nn.functional.conv2d(x, kernel, getattr(self, name + "_b"), self.settings["stride"], 1))
        features = x.movedim(1, -1).flatten(1).reshape(*patch.shape[:-1], -1)
        return torch.tanh(self._layer("branch", _soft(features)))

    def _limit(self, raw: Tensor, strength: Tensor) -> Tensor:
        held = torch.tanh(raw)
        if self.wind:
            return strength * held / torch.sqrt((held * held).sum(-1, keepdim=True).clamp(min=1.0))
        active = (strength > 0).to(held.dtype)
        return torch.cat([held[..., :1] * strength, held[..., 1:] * active], -1)

    def flat(self) -> Tensor:
        """All parameters as one vector, in the engine's order."""
        return torch.cat([getattr(self, name.replace(".", "_")).reshape(-1) for name in self.names])

    def rollout(self, start: Tensor, target: Tensor, places: Tensor, **more: Any) -> Trajectory:
        """An episode that the engine computes, with the derivative by the parameters; `more` as of `cinoc.torch.rollout`."""
        return rollout(self.policy.problem, start, target, places, policy=self, **more)

    def to_cinoc(self) -> cinoc.Policy:
        """A `cinoc.Policy` with these parameters: to evaluate, to roll out, to save."""
        policy = self.policy.change()
        policy.params = self.flat().detach().cpu().numpy()
        return policy
