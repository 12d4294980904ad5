"""Environments for reinforcement learning: Gymnasium, PettingZoo, Stable-Baselines3 and TorchRL on one native batch.

    import cinoc, gymnasium
    env = gymnasium.make("cinoc/heat1d-v0")
    envs = gymnasium.make_vec("cinoc/heat1d-v0", num_envs=16)
    env = cinoc.envs.parallel_env("heat1d")               # PettingZoo
    envs = cinoc.envs.sb3_vec_env("heat1d", num_envs=16)  # Stable-Baselines3
    envs = cinoc.envs.torchrl_env("heat1d", num_envs=16)  # TorchRL

Nothing of these libraries is imported before it is asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from cinoc._native import problems

from .batch import DIVERGED, Batch, Instance

if TYPE_CHECKING:
    from .parallel import SwarmParallelEnv
    from .sb3 import SwarmVecEnv
    from .torchrl import SwarmTorchEnv

__all__ = ["DIVERGED", "PROBLEMS", "Batch", "Instance", "parallel_env", "register", "sb3_vec_env", "torchrl_env"]

PROBLEMS = tuple(name for name, _ in problems())
"""The problems that Gymnasium knows as "cinoc/NAME-v0"."""


def register() -> None:
    """Makes the problems known to Gymnasium, if it is installed. `import cinoc` does it."""
    if importlib.util.find_spec("gymnasium") is None:
        return
    from gymnasium.envs.registration import register as add
    from gymnasium.envs.registration import registry

    for name in PROBLEMS:
        if f"cinoc/{name}-v0" not in registry:
            add(
                id=f"cinoc/{name}-v0",
                entry_point="cinoc.envs.single:SwarmEnv",
                vector_entry_point="cinoc.envs.vector:SwarmVectorEnv",
                kwargs={"problem": name},
            )


def parallel_env(problem: str, **arguments: Any) -> SwarmParallelEnv:
    """A PettingZoo `ParallelEnv`; `cinoc.envs.parallel.SwarmParallelEnv` says more."""
    return _need("parallel", "pettingzoo", "gym").SwarmParallelEnv(problem, **arguments)  # type: ignore[no-any-return]


def sb3_vec_env(problem: str, num_envs: int = 1, **arguments: Any) -> SwarmVecEnv:
    """A Stable-Baselines3 `VecEnv`; `cinoc.envs.sb3.SwarmVecEnv` says more."""
    return _need("sb3", "stable_baselines3", "sb3").SwarmVecEnv(problem, num_envs, **arguments)  # type: ignore[no-any-return]


def torchrl_env(problem: str, num_envs: int = 1, **arguments: Any) -> SwarmTorchEnv:
    """A TorchRL `EnvBase`; `cinoc.envs.torchrl.SwarmTorchEnv` says more."""
    return _need("torchrl", "torchrl", "torch").SwarmTorchEnv(problem, num_envs, **arguments)  # type: ignore[no-any-return]


def _need(module: str, library: str, extra: str) -> Any:
    if importlib.util.find_spec(library) is None:
        raise ImportError(f"{library} is not installed; install it with: pip install 'cinoc[{extra}]'")
    return importlib.import_module(f".{module}", __name__)
