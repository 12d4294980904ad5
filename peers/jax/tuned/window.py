"""The window around each agent: samples of the error and of its slopes, [m, seen]."""
from typing import Callable, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import core


class Window(NamedTuple):
    """place(xi) -> where the samples lie; see(e, places) -> what is there."""
    place: Callable
    see: Callable


def make(shape, spacing, points, width, periodic):
    """`points` samples along each axis, evenly over a window of this width."""
    obs = core.Obs(points, width / (points - 1), periodic)
    if len(shape) == 1:
        return Window(lambda xi: xi, lambda e, xi: core.observe1d(e, xi, obs, spacing[0]))
    return Window(lambda xi: xi, lambda e, xi: core.observe2d(e, xi, obs, *spacing).reshape(xi.shape[0], -1))
