"""Episodes of a shard under the policy, their cost, and the update."""
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from tuned import network


class Shard(NamedTuple):
    """Instances that are computed together, all with the same number of agents."""
    z0: Any  # [B, nodes...]
    target: Any  # [B, nodes...]
    xi0: Any  # [B, m, d]
    strength: Any  # [B, m]
    death: Any  # [B, m], the tick from which on an agent is dead


def rollout(p, params, shard, decisions, hold=1, checkpoint=False):
    """Closed loop -> (z, xi, action) [decisions, B, ...] after each decision, which holds for `hold` ticks."""
    fixed = jax.vmap(p.known)(shard.target)
    places = None if p.mobile else jax.lax.stop_gradient(jax.vmap(p.around)(shard.xi0))

    def one(around, known, target, z, xi, memory, strength):
        """An instance's decision."""
        alive = strength > 0
        patch, position, signal = p.see(known, around, z, target, xi, alive)
        raw, memory = network.act(p.net, params, patch, position, signal, memory, hold)
        action = p.act(raw, strength, around, xi)
        return action, p.drive(action, around), memory * alive[:, None]

    def decide(carry, number):
        z, xi, memory = carry
        strength = jnp.where(number * hold >= shard.death, 0, shard.strength)
        around = jax.vmap(p.around)(xi) if p.mobile else places
        action, drive, memory = jax.vmap(one)(around, fixed, shard.target, z, xi, memory, strength)
        for _ in range(hold):
            z, xi = p.step(z, drive), jax.vmap(p.move)(xi, action)
        return (z, xi, memory), (z, xi, action)

    decide = jax.checkpoint(decide) if checkpoint else decide
    memory = jnp.zeros((*shard.strength.shape, p.net["memory"]), shard.z0.dtype)
    return jax.lax.scan(decide, (shard.z0, shard.xi0, memory), jnp.arange(decisions))[1]


def costs(p, params, shard, decisions, hold=1, checkpoint=False):
    """Cost of each instance, [B]."""
    return p.cost(*rollout(p, params, shard, decisions, hold, checkpoint), shard.z0, shard.target)


def sizes(p):
    """Shapes of the parameters."""
    z = jax.ShapeDtypeStruct(p.shape, p.dtype)
    xi, alive = jax.ShapeDtypeStruct((2, len(p.shape)), p.dtype), jax.ShapeDtypeStruct((2,), bool)
    around, known = jax.eval_shape(p.around, xi), jax.eval_shape(p.known, z)
    seen = [x.shape[-1] for x in jax.eval_shape(p.see, known, around, z, z, xi, alive)]
    return network.shapes(p.net, *seen, len(p.limits))
