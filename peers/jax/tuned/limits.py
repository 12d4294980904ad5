"""Limits of actions, for one instance: crowds, actuators, safety."""
import jax
import jax.numpy as jnp
import numpy as np

from tuned import sight

PER_TICK = 0.5  # share of its distance to a disc that an agent may cover in a tick


def nearness(d, reach):
    """Weights of agents at vectors d [m, m, 2] in each other's crowd."""
    return jax.nn.relu(1 - (d * d).sum(-1) / reach**2) ** 2


def shared(strength, near, alone):
    """Strengths divided by the crowd around each agent, where there is one."""
    crowd = near @ (strength > 0).astype(near.dtype)
    return strength / jnp.maximum(crowd / alone, 1)


def saturate(raw, strength, limits):
    """limit * tanh; the push, the first number, times the strength; zero for failed agents."""
    factor = jnp.where(np.arange(raw.shape[-1]) == 0, strength[:, None], (strength > 0)[:, None])
    return jnp.tanh(raw) * factor * jnp.asarray(limits, raw.dtype)


def saturate_length(raw, strength, limit):
    """Saturation of a velocity whose length is limited too, all of it times the strength."""
    v = jnp.tanh(raw)
    square = (v * v).sum(-1)
    return v * (limit * strength * jnp.where(square > 1, jax.lax.rsqrt(jnp.maximum(square, 1)), 1))[:, None]


def disc_walls(discs, lengths, clearance):
    """Flags for each disc: true where its gap to the lower and upper wall of each axis is below the clearance."""
    return [[[x[c] < x[2] + clearance, x[c] + x[2] + clearance > lengths[c]] for c in (0, 1)] for x in discs]


def safe(action, xi, discs, walls, clearance, tick_time, limit):
    """Actions [m, 3] whose velocity leads into no disc: inward components are removed, then the length is limited."""
    v, met = action[:, 1:], None
    for (x, y, radius), wall in zip(discs, walls):
        centre = jnp.asarray([x, y], xi.dtype)
        beside = jnp.where(xi > centre, jnp.asarray([w[1] for w in wall]), jnp.asarray([w[0] for w in wall]))
        distance, n = sight.bearing(jnp.where(beside, 0, xi - centre))
        least = -PER_TICK * (distance - radius - clearance) / tick_time
        added = jax.nn.relu(least - (v * n).sum(-1))
        v = v + added[:, None] * n
        hit = added > 0
        met = (hit, least, n) if met is None else (met[0] | hit, jnp.where(hit, least, met[1]), jnp.where(hit[:, None], n, met[2]))
    hit, least, n = met
    # The larger component first.
    turn = (abs(v[:, 1]) > abs(v[:, 0]))[:, None]
    turned = lambda a: jnp.where(turn, a[:, ::-1], a)
    (large, small), (n_large, n_small) = turned(v).T, turned(n).T
    over = abs(large) > limit
    scale = jnp.where(over, limit / jnp.where(over, abs(large), 1), 1)
    flees = over & (least > 0) & (n_small != 0)
    most = limit * jnp.sign(large)
    other = jnp.clip((least - most * n_large) / jnp.where(flees, n_small, 1), -limit, limit)
    held = turned(jnp.where(flees, jnp.stack([most, other]), scale * jnp.stack([large, small])).T)
    return jnp.concatenate([action[:, :1], jnp.where(hit[:, None], held, action[:, 1:])], -1)
