"""The window around each agent: samples of the error and of its slopes, [m, seen].

The fastest forms for XLA on a CPU: on a line, gathers (or, for static agents, one product with a matrix); in the plane, a
gather of four corners at a time, with a hand-written gradient, because scattering takes far longer than two products.
"""
from typing import Callable, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import core


class Window(NamedTuple):
    """place(xi) -> positions of the samples; see(e, places) -> their values."""
    place: Callable
    see: Callable


def make(shape, spacing, points, width, periodic, mobile):
    """`points` samples along each axis, evenly over a window of this width."""
    obs = core.Obs(points, width / (points - 1), periodic)
    if len(shape) == 2:
        return plane(obs, shape, spacing, mobile)
    line = lambda e, xi: core.observe1d(e, xi, obs, spacing[0])
    if mobile:
        return Window(lambda xi: xi, line)
    # Samples are linear in the field: their matrix, from each unit vector.
    matrix = lambda xi: jax.vmap(lambda e: line(e, xi))(jnp.eye(shape[0], dtype=xi.dtype))
    return Window(matrix, lambda e, matrix: jnp.tensordot(e, matrix, 1))


def plane(obs, shape, spacing, mobile):
    """Images, [m, points * points * 3]."""
    def channels(e):
        slopes = [obs.width * core.gradient(e, dx, axis, obs.periodic) for axis, dx in enumerate(spacing)]
        return jnp.stack([e, *slopes], -1)

    def place(xi):
        cells = (core.cell(xi[:, c, None] + core.offsets(obs, xi.dtype), n, dx, obs.periodic) for c, (n, dx) in enumerate(zip(shape, spacing)))
        return [(left, right, weight if mobile else jax.lax.stop_gradient(weight)) for left, right, weight in cells]

    @jax.custom_vjp
    def sample(c, a, b, x, y):
        """Channels c [X, Y, 3] between nodes x and y (left, right: [m, n] each) with weights a and b on the right ones."""
        return forward(c, a, b, x, y)[0]

    def forward(c, a, b, x, y):
        if obs.periodic:
            c = jnp.pad(c, ((0, 1), (0, 1), (0, 0)), mode="wrap")
        m = a.shape[0]
        corner = jnp.stack(jnp.broadcast_arrays(x[0][:, :, None], y[0][:, None]), -1).reshape(-1, 2)
        four = jax.vmap(lambda at: jax.lax.dynamic_slice(c, (*at, np.int32(0)), (2, 2, 3)))(corner).reshape(m, obs.n, obs.n, 2, 2, 3)
        u, v = a[:, :, None, None], b[:, None, :, None]
        along_y = (1 - v[..., None]) * four[..., 0, :] + v[..., None] * four[..., 1, :]
        seen = (1 - u) * along_y[..., 0, :] + u * along_y[..., 1, :]
        slopes = ()
        if mobile:
            along_x = (1 - u[..., None]) * four[..., 0, :, :] + u[..., None] * four[..., 1, :, :]
            slopes = along_y[..., 1, :] - along_y[..., 0, :], along_x[..., 1, :] - along_x[..., 0, :]
        return seen, (slopes, a, b, x, y)

    def backward(kept, bar):
        slopes, a, b, x, y = kept
        hats = lambda nodes, weight, n: (1 - weight)[..., None] * (nodes[0][..., None] == np.arange(n)) + weight[..., None] * (nodes[1][..., None] == np.arange(n))
        half = jnp.einsum("mpx,mpqc->cxmq", hats(x, a, shape[0]), bar)
        c_bar = jnp.einsum("cxmq,mqy->xyc", half, hats(y, b, shape[1]))
        a_bar, b_bar = [(bar * slope).sum((axis, 3)) for axis, slope in zip((2, 1), slopes)] if mobile else (jnp.zeros_like(a), jnp.zeros_like(b))
        none = lambda nodes: tuple(np.zeros(i.shape, jax.dtypes.float0) for i in nodes)
        return c_bar, a_bar, b_bar, none(x), none(y)

    sample.defvjp(forward, backward)

    def see(e, places):
        (*x, a), (*y, b) = places
        return sample(channels(e), a, b, tuple(x), tuple(y)).reshape(a.shape[0], -1)
    return Window(place, see)
