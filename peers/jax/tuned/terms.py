"""Costs of trajectories [T, B, ...] after each decision, [B] each; failed agents and distant discs count in every mean."""
import jax
import jax.numpy as jnp

import core
from tuned import sight


def per_instance(x):
    """Mean over ticks and all axes after the instances."""
    return x.mean((0, *range(2, x.ndim)))


def square(z, target):
    """Mean over the grid of (z - z*)^2, [T, B]."""
    return ((z - target) ** 2).mean(tuple(range(2, z.ndim)))


def accel(v):
    """Mean over agents, and ticks from the second on, of |v_t - v_{t-1}|^2."""
    return per_instance((jnp.diff(v, axis=0) ** 2).sum(-1))


def collide(xi, radius):
    """Mean over all ordered pairs of relu(R - distance)^2, an agent with itself counting as zero."""
    m = xi.shape[-2]
    gap = jax.nn.relu(radius - core.norm(xi[..., :, None, :] - xi[..., None, :, :])) ** 2
    return per_instance(gap * (1 - jnp.eye(m, dtype=gap.dtype)))


def tracking(weights, lengths, obstacles):
    """Cost of tracking a target."""
    def cost(z, xi, action, z0, target):
        error, size = square(z, target), jnp.asarray(lengths, xi.dtype)
        outside = jax.nn.relu(0.02 * size - xi) ** 2 + jax.nn.relu(xi - 0.98 * size) ** 2
        last = weights["final_log"] * jnp.log(error[-1] + weights["final_floor"]) + weights["final_root"] * jnp.sqrt(jnp.sqrt(error[-1] + 1e-7))
        found = weights["track"] * error.mean(0) + last + weights["bound"] * per_instance(outside.sum(-1)) \
            + weights["effort"] * per_instance(action[..., 0] ** 2 + 0.1 * (action[..., 1:] ** 2).sum(-1)) \
            + weights["collide"] * collide(xi, weights["radius"]) + weights["accel"] * accel(action[..., 1:])
        if obstacles:
            discs = jnp.asarray(obstacles["discs"], xi.dtype)
            inside = jax.nn.relu(discs[:, 2] + obstacles["margin"] - core.norm(xi[..., None, :] - discs[:, :2])) ** 2
            found = found + obstacles["weight"] * per_instance(inside)
        return found
    return cost


def rest(weights):
    """Cost of stabilisation."""
    def cost(z, xi, action, z0, target):
        error = square(z, target)
        found = weights["track"] * error.mean(0) + weights["last"] * error[-1] + weights["effort"] * per_instance((action**2).sum(-1))
        return found + weights["last_log"] * jnp.log(error[-1] + 1e-6) if weights["last_log"] else found
    return cost


def density(weights, nodes):
    """Cost of transporting a density to its target."""
    of = jax.vmap(lambda rho: sight.moments(rho, *nodes))

    def cost(z, xi, action, z0, target):
        mass, centre, spread = jax.vmap(of)(z)
        _, goal, width = of(target)
        distance = core.norm(centre - goal) + 0.5 * abs(spread - width)
        error = square(z, target)
        return weights["w_mean"] * distance.mean(0) + weights["w_last"] * distance[-1] \
            + weights["mass"] * ((mass / z0.sum((1, 2)) - 1) ** 2).mean(0) + weights["effort"] * per_instance((action**2).sum(-1)) \
            + weights["collide"] * collide(xi, weights["radius"]) + weights["accel"] * accel(action) \
            + weights["track"] * (error.mean(0) + 2 * error[-1]) + weights["final_log"] * jnp.log(error[-1] + 1e-5)
    return cost
