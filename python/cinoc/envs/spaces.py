"""Gymnasium's spaces of a batch, and what render modes there are."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box

from .batch import Batch

METADATA: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}


def observation_space(batch: Batch, *shape: int) -> Box:
    """Of a whole instance, or of the shape given."""
    return Box(-np.inf, np.inf, shape or batch.shape, batch.dtype.type)


def action_space(batch: Batch, *shape: int) -> Box:
    """Pushes, and velocities where agents move, as shares of their limits."""
    return Box(-1.0, 1.0, shape or batch.action_shape, np.float32)


def render_mode(mode: str | None) -> str | None:
    """The mode, if it is known."""
    if mode not in (None, "rgb_array"):
        raise ValueError(f'render_mode={mode!r} is not known; write "rgb_array", or leave it out.')
    return mode
