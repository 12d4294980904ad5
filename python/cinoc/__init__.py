"""CINOC: learned control of partial differential equations by swarms of any size.

    import cinoc
    cinoc.list()                                     # the problems
    policy = cinoc.load("heat1d")                    # a trained policy
    episode = cinoc.rollout(policy, agents=12)       # an xarray.Dataset
    cinoc.show(episode)                              # a figure
    cinoc.evaluate(policy, agents=[4, 8, 16])        # scores, a DataFrame
    policy, history = cinoc.train("heat1d", updates=100)

`cinoc.torch` and `cinoc.jax` differentiate through episodes, `cinoc.envs` has environments for reinforcement learning.
"""

from __future__ import annotations

from importlib import import_module as _import
from importlib.util import find_spec as _find
from typing import TYPE_CHECKING, Any

from cinoc._native import CinocError
from cinoc.api import Trained, evaluate, list, train
from cinoc.dataset import rollout
from cinoc.draw import animate, show
from cinoc.policy import Policy, fresh, load
from cinoc.problem import Instance, Problem, make

if TYPE_CHECKING:
    from cinoc import envs as envs
    from cinoc import jax as jax
    from cinoc import torch as torch

    __version__: str

__all__ = [
    "CinocError",
    "Instance",
    "Policy",
    "Problem",
    "Trained",
    "animate",
    "evaluate",
    "fresh",
    "list",
    "load",
    "make",
    "rollout",
    "show",
    "train",
]


def __getattr__(name: str) -> Any:
    """What takes long to import is imported when it is first asked for."""
    if name in ("torch", "jax", "envs"):
        return _import(f"cinoc.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("cinoc")
    raise AttributeError(f"module 'cinoc' has no attribute {name!r}")


if _find("gymnasium") and _find("cinoc.envs"):
    _import("cinoc.envs").register()
