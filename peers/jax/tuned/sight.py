"""Observations of agents, for one instance: [m, ...] each."""
import jax
import jax.numpy as jnp
import numpy as np

import core

PER_SLOPE, PER_FORCE = 0.25, 0.5  # factors on the observed slope and force of a target
HALF_SECTOR, SOFTENING = 0.41421356, 1e-8
FAR = 0.2  # distance from a disc beyond which it is ignored
NO_NEIGHBOUR = 1e9


def apart(xi, lengths, periodic):
    """Vectors from every agent (first axis) to every other, the shorter way, [m, m, d]."""
    d = xi[None] - xi[:, None]
    if periodic:
        size = jnp.asarray(lengths, xi.dtype)
        turns = d / size
        whole = jnp.trunc(turns)
        d = d - size * (whole + jnp.sign(turns) * (abs(turns - whole) >= 0.5))  # halves away from zero, as the engine rounds
    return d


# ---------------------------------------------------------------- neighbours

def line_distances(xi, length, ring):
    """Distances to each other agent on the left and on the right, [m, 2, m], NO_NEIGHBOUR where there is none; and the
    fallback distances without any, [m, 2]."""
    x, number = xi[:, 0], np.arange(xi.shape[0])
    ahead = x[None] - x[:, None]
    right = (ahead > 0) | ((ahead == 0) & (number[None] > number[:, None]))  # of two at one position the first is left
    other = number[None] != number[:, None]
    if ring:
        both = [jnp.where(ahead > 0, length - ahead, -ahead), jnp.where(ahead < 0, length + ahead, ahead)]
        return jnp.where(other[:, None], jnp.stack(both, 1), NO_NEIGHBOUR), jnp.full((x.size, 2), length, x.dtype)
    far = jnp.stack([jnp.where(other & ~right, -ahead, NO_NEIGHBOUR), jnp.where(right, ahead, NO_NEIGHBOUR)], 1)
    return far, jnp.stack([x, length - x], -1)


def sectors(d):
    """Index of the 45 degree sector of each vector, of eight; -1 for none."""
    ax, ay = abs(d[..., 0]), abs(d[..., 1])
    right, up = d[..., 0] > 0, d[..., 1] > 0
    diagonal = jnp.where(right, jnp.where(up, 1, 7), jnp.where(up, 3, 5))
    sector = jnp.where(ax <= HALF_SECTOR * ay, jnp.where(up, 2, 6), diagonal)
    sector = jnp.where(ay <= HALF_SECTOR * ax, jnp.where(right, 0, 4), sector)
    return jnp.where(ax + ay == 0, -1, sector)


def plane_distances(xi, d, lengths, torus):
    """Distances by eight sectors, [m, 8, m] and [m, 8]; `d` from `apart`. Walls are looked for along the middle of a sector."""
    distance = jnp.sqrt((d * d).sum(-1) + SOFTENING)
    sector = jax.lax.stop_gradient(sectors(d))[:, None]
    far = jnp.where(sector == jnp.arange(8)[:, None], distance[:, None], NO_NEIGHBOUR)
    if torus:
        return far, jnp.full((xi.shape[0], 8), max(lengths), xi.dtype)
    h = np.sqrt(0.5)
    axes = np.array([[1, 0], [h, h], [0, 1], [-h, h], [-1, 0], [-h, -h], [0, -1], [h, -h]])
    size, at = jnp.asarray(lengths, xi.dtype), xi[:, None]
    # Towards the wall ahead along each axis; an axis that a sector does not follow has none.
    along = jnp.where(axes > 0.1, size - at, at) * np.where(abs(axes) > 0.1, 1 / np.maximum(abs(axes), 0.1), 0)
    return far, jnp.where(abs(axes) > 0.1, along, NO_NEIGHBOUR).min(-1)


def gaps(distances, alive, unit):
    """Distances to the nearest active agents, or the fallback distance."""
    far, fallback = distances
    return jnp.minimum(jnp.where(alive, far, NO_NEIGHBOUR).min(-1), fallback) / unit


# ---------------------------------------------------------------- target, centroids, discs

def target_fields(target, spacing, nu, rho):
    """The target, its slopes and the force that would hold it, [nodes..., channels]; walls copy the curvature beside them."""
    force = -rho * target * (1 - target)
    slopes = []
    for axis, dx in enumerate(spacing):
        slopes.append(PER_SLOPE * core.gradient(target, dx, axis))
        z = jnp.moveaxis(target, axis, 0)
        bend = z[2:] - 2 * z[1:-1] + z[:-2]
        force = force - nu / dx**2 * jnp.moveaxis(jnp.concatenate([bend[:1], bend, bend[-1:]]), 0, axis)
    return jnp.stack([target, *slopes, PER_FORCE * force], -1)


def interpolate(fields, at, spacing):
    """Channels of `fields` [nodes..., c] at positions [..., d], bilinear, clamped at walls: [..., c]."""
    i, j, a = core.cell(at[..., 0], fields.shape[0], spacing[0])
    a = a[..., None]
    if len(spacing) == 1:
        return (1 - a) * fields[i] + a * fields[j]
    k, l, b = core.cell(at[..., 1], fields.shape[1], spacing[1])
    b = b[..., None]
    return (1 - a) * ((1 - b) * fields[i, k] + b * fields[i, l]) + a * ((1 - b) * fields[j, k] + b * fields[j, l])


def target_view(fields, xi, spacing, reach):
    """All channels here, and the force `reach` behind and ahead along each axis."""
    d = len(spacing)
    around = xi[:, None] + jnp.asarray(reach * np.concatenate([[side * np.eye(d)[axis] for side in (-1, 1)] for axis in range(d)]), xi.dtype)
    return jnp.concatenate([interpolate(fields, xi, spacing), interpolate(fields[..., -1:], around, spacing)[..., 0]], -1)


def moments(rho, x, y):
    """Mass, centroid [2] and spread of a density."""
    along_x, along_y = rho.sum(1), rho.sum(0)
    mass = along_x.sum()
    cx, cy = along_x @ x / mass, along_y @ y / mass
    return mass, jnp.stack([cx, cy]), jnp.sqrt((along_x @ (x - cx) ** 2 + along_y @ (y - cy) ** 2) / mass)


def directions(xi, centroids):
    """For each centroid: vector, unit vector, distance; five numbers."""
    each = []
    for centroid in centroids:
        d = centroid - xi
        r = core.norm(d)[:, None]
        each += [d, d / (r + 1e-6), r]
    return jnp.concatenate(each, -1)


def bearing(d):
    """Distance and direction of vectors from a centre; no direction at the centre itself."""
    distance = core.norm(d)
    return distance, d / jnp.where(distance > 0, distance, 1)[..., None]


def nearest_disc(xi, discs, clearance):
    """tanh of the distance beyond the clearance to the nearest disc [x, y, r], and the unit vector towards it."""
    discs = jnp.asarray(discs, xi.dtype)
    gap = core.norm(xi[:, None] - discs[:, :2]) - discs[:, 2]
    chosen = discs[jnp.argmin(gap, -1)]
    distance, outward = bearing(xi - chosen[:, :2])
    return jnp.concatenate([jnp.tanh((distance - chosen[:, 2] - clearance) / FAR)[:, None], -outward], -1)
