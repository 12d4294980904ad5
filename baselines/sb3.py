"""PPO and TD3 of Stable-Baselines3: one network observes the global state and controls all agents."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box
from stable_baselines3 import PPO, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.noise import NormalActionNoise, VectorizedActionNoise
from stable_baselines3.common.vec_env import VecEnvWrapper
from torch import nn

from cinoc.envs import sb3_vec_env

from . import tasks
from .networks import HIDDEN
from .record import Record
from .score import Actor

COMMON: dict[str, Any] = {"net_arch": [*HIDDEN], "activation_fn": nn.ReLU}
PPO_WITH: dict[str, Any] = {
    "envs": 32, "n_steps": 100, "batch_size": 800, "n_epochs": 6, "gamma": 0.99, "gae_lambda": 0.95, "clip_range": 0.2, "ent_coef": 0.0,
    "max_grad_norm": 0.5, "rate": 1e-3, "log_std_init": -1.0,
}
TD3_WITH: dict[str, Any] = {
    "envs": 32, "buffer_size": 125_000, "batch_size": 256, "gamma": 0.99, "tau": 0.005, "policy_delay": 2, "gradient_steps": 1,
    "warmup": 500, "noise": 0.1, "target_policy_noise": 0.1, "target_noise_clip": 0.05, "learning_rate": 3e-4,
}
OTHERS: dict[str, dict[str, dict[str, Any]]] = {
    "turbulence2d": {"ppo": {"n_steps": 50, "batch_size": 400}, "td3": {"buffer_size": 20_000, "batch_size": 128}},
}
"""Settings for large fields, where steps are few."""


class Global(VecEnvWrapper):
    """Our environment with the reward and the global observation of the task."""

    def __init__(self, problem: str, envs: int, seed: int) -> None:
        self.problem, self.scale = problem, tasks.scale(problem)
        venv = sb3_vec_env(problem, envs, observation="global", pool=seed, **tasks.settings(problem))
        venv.seed(1000 * seed)
        width = tasks.width(venv.batch)
        super().__init__(venv, Box(-np.inf, np.inf, (width,), np.float32), Box(-1.0, 1.0, (int(np.prod(venv.batch.action_shape)),), np.float32))

    def reset(self) -> Any:
        return self._see(self.venv.reset())

    def step_wait(self) -> Any:
        seen, rewards, over, infos = self.venv.step_wait()
        for i in np.flatnonzero(over):
            infos[i]["terminal_observation"] = self._see(infos[i]["terminal_observation"])
        return self._see(seen), rewards * np.float32(self.scale), over, infos

    def _see(self, seen: Any) -> Any:
        return tasks.see(seen, self.venv.batch, self.problem)


class Curve(BaseCallback):
    """Writes the curve and stops at the end of the time budget."""

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record

    def actor(self) -> Actor:
        """The current policy, without noise."""
        return Actor("global", lambda seen: self.model.predict(seen, deterministic=True)[0])

    def _on_training_start(self) -> None:
        self.record.begin()

    def _on_rollout_start(self) -> None:
        self.record.curve(self.num_timesteps, self.actor(), self.model.policy.state_dict)

    def _on_step(self) -> bool:
        return self.record.gone < 1.0


def ppo(problem: str, seed: int, record: Record, **changes: Any) -> Any:
    """Proximal policy optimisation."""
    chosen = PPO_WITH | OTHERS.get(problem, {}).get("ppo", {}) | changes
    rate, spread = chosen.pop("rate"), chosen.pop("log_std_init")
    envs = Global(problem, chosen.pop("envs"), seed)
    # Decreases with time.
    model = PPO(
        "MlpPolicy", envs, learning_rate=lambda _: rate * max(1.0 - record.gone, 0.02), policy_kwargs=COMMON | {"log_std_init": spread},
        seed=seed, device="cpu", **chosen,
    )
    return learn(model, record)


def td3(problem: str, seed: int, record: Record, **changes: Any) -> Any:
    """Twin delayed deep deterministic policy gradient."""
    chosen = TD3_WITH | OTHERS.get(problem, {}).get("td3", {}) | changes
    n, noise = chosen.pop("envs"), chosen.pop("noise")
    envs = Global(problem, n, seed)
    acts = envs.action_space.shape[0]
    each = NormalActionNoise(np.zeros(acts), np.full(acts, noise))
    model = TD3(
        "MlpPolicy", envs, train_freq=1, learning_starts=chosen.pop("warmup") * n, action_noise=VectorizedActionNoise(each, n),
        policy_kwargs=COMMON, seed=seed, device="cpu", **chosen,
    )
    return learn(model, record)


def learn(model: Any, record: Record) -> tuple[int, Actor, Any, Any]:
    """Trains until the time is over; returns steps, the policy, its weights, and a setter for them."""
    curve = Curve(record)
    model.learn(10**12, callback=curve)
    return model.num_timesteps, curve.actor(), model.policy.state_dict, model.policy.load_state_dict
