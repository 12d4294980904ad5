"""Stable-Baselines3's PPO, unchanged, learns `heat1d` in five minutes on two cores.

    pip install 'cinoc[sb3]'
    python ppo.py ppo-heat1d                # five minutes; curve.csv, curve.png, policy.zip, normalise.pkl
    python ppo.py ppo-heat1d --minutes 1    # less of it

Every agent sees the error around it and pushes; all share one small network, given to PPO as its policy, so that what one learns all
know. A line of the curve: the mean return and score of the latest training episodes, and of 50 held-out ones with the mean action.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize
from torch import nn

from cinoc.envs import sb3_vec_env

COLUMNS = ["steps", "seconds", "return", "score", "held_out_return", "held_out_score"]


class Each(nn.Module):
    """One network shared by all agents; the value is that of the whole swarm."""

    def __init__(self, agents: int, width: int, acts: int, hidden: int = 64) -> None:
        super().__init__()
        self.shape, self.latent_dim_pi, self.latent_dim_vf = (agents, width), agents * acts, hidden
        self.actor = nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, acts))
        self.critic = nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        # Zero control at first.
        nn.init.zeros_(self.actor[-1].weight)
        nn.init.zeros_(self.actor[-1].bias)

    def forward(self, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(seen), self.forward_critic(seen)

    def forward_actor(self, seen: torch.Tensor) -> torch.Tensor:
        return self.actor(seen.unflatten(1, self.shape)).flatten(1)

    def forward_critic(self, seen: torch.Tensor) -> torch.Tensor:
        return self.critic(seen.unflatten(1, self.shape)).mean(1)


class SwarmPolicy(ActorCriticPolicy):
    """PPO's default policy with `Each` as its network."""

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = Each(*self.observation_space.shape, self.action_space.shape[1]).to(self.device)

    def _build(self, lr_schedule: Any) -> None:
        # Each already has the last layer of the actor.
        self.ortho_init = False
        super()._build(lr_schedule)
        self.action_net = nn.Identity()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)


class Curve(BaseCallback):
    """Writes the curve at intervals, and stops at the end of the time budget."""

    def __init__(self, path: Path, problem: str, minutes: float, every: float) -> None:
        super().__init__()
        self.limit, self.every, self.next = 60 * minutes, every, 0.0
        self.file = path.open("w", newline="")
        self.lines = csv.writer(self.file)
        self.lines.writerow(COLUMNS)
        self.began = time.perf_counter()
        self.held_out = sb3_vec_env(problem, 50, stream="test")

    def gone(self) -> float:
        """Elapsed share of the time budget."""
        return (time.perf_counter() - self.began) / self.limit

    def _on_training_start(self) -> None:
        self.began = time.perf_counter()

    def _on_step(self) -> bool:
        return self.gone() < 1.0

    def _on_rollout_start(self) -> None:
        if time.perf_counter() - self.began >= self.next:
            self.write()
            self.next = time.perf_counter() - self.began + self.every

    def write(self) -> None:
        """A line of the curve."""
        seconds = time.perf_counter() - self.began
        latest = [average([episode[key] for episode in self.model.ep_info_buffer or []]) for key in ("r", "score")]
        line = [self.num_timesteps, seconds, *latest, *self.try_out()]
        self.lines.writerow([f"{number:.6g}" for number in line])
        self.file.flush()
        print("  ".join(f"{name} {number:.4g}" for name, number in zip(COLUMNS, line, strict=True)), flush=True)

    def try_out(self) -> tuple[float, float]:
        """Mean return and score of 50 held-out episodes with the mean action."""
        normalise = self.model.get_vec_normalize_env()
        self.held_out.set_options([{"seed": 4000, "index": i} for i in range(50)])
        seen, total, over = self.held_out.reset(), np.zeros(50), np.zeros(50, bool)
        while not over.any():
            seen, rewards, over, infos = self.held_out.step(self.model.predict(normalise.normalize_obs(seen), deterministic=True)[0])
            total += rewards
        return total.mean(), average([info["score"] for info in infos])


def average(numbers: Any) -> float:
    """Mean, or NaN if empty."""
    return float(np.mean(numbers)) if len(numbers) else float("nan")


def draw(out: Path) -> None:
    """Plots the curve."""
    from matplotlib.figure import Figure

    with (out / "curve.csv").open() as file:
        lines = [*csv.DictReader(file)]
    table = {name: np.array([float(line[name]) for line in lines]) for name in COLUMNS}
    figure = Figure((9, 6), layout="constrained")
    for row, what in zip(figure.subplots(2, 2, sharex="col", sharey="row"), ("return", "score"), strict=True):
        for axes, along in zip(row, ("seconds", "steps"), strict=True):
            axes.plot(table[along], table[what], color="#8fa9c2", label="training, latest 100 episodes")
            axes.plot(table[along], table["held_out_" + what], color="#1f4e79", marker=".", label="50 held-out episodes, mean action")
            axes.grid(alpha=0.3)
        row[0].set_ylabel(what)
        if what == "score":
            axes.set_yscale("log")
            row[0].set_xlabel("seconds")
            row[1].set_xlabel("steps")
        else:
            axes.legend(fontsize=8)
    figure.savefig(out / "curve.png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for what comes out")
    parser.add_argument("--problem", default="heat1d")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two lines of the curve")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    # The network is small: threads would wait for each other.
    torch.set_num_threads(1)

    envs = VecMonitor(sb3_vec_env(given.problem, given.envs), info_keywords=("score",))
    envs = VecNormalize(envs, gamma=0.98)
    curve = Curve(given.out / "curve.csv", given.problem, given.minutes, given.every)
    model = PPO(
        SwarmPolicy,
        envs,
        n_steps=100,
        batch_size=800,
        n_epochs=6,
        gamma=0.98,
        gae_lambda=0.95,
        # Decreases with time.
        learning_rate=lambda _: 1e-3 * max(1.0 - curve.gone(), 0.02),
        policy_kwargs={"log_std_init": -1.0},
        seed=given.seed,
        device="cpu",
    )
    model.learn(10**9, callback=curve)
    curve.write()
    curve.file.close()
    model.save(given.out / "policy.zip", exclude=["learning_rate", "lr_schedule"])
    envs.save(str(given.out / "normalise.pkl"))
    draw(given.out)
    print(f"{given.out / 'curve.csv'}, curve.png, policy.zip and normalise.pkl are written")


if __name__ == "__main__":
    main()
