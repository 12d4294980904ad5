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
    death: Any  # [B, m], the tick at which an agent fails


def rollout(p, params, shard, decisions, hold=1, checkpoint=False):
    """Closed loop -> (z, xi, action) [decisions, B, ...] after each decision, which is applied for `hold` ticks."""
    fixed = jax.vmap(p.known)(shard.target)
    still = None if p.mobile else jax.lax.stop_gradient(p.around(shard.xi0[0]) if p.alike else jax.vmap(p.around)(shard.xi0))

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
        around = jax.vmap(p.around)(xi) if p.mobile else still
        action, drive, memory = jax.vmap(one, (None if p.alike else 0, *(0,) * 6))(around, fixed, shard.target, z, xi, memory, strength)
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


def make_gradient(p, decisions, checkpoint=False):
    """Function (params, shard, weights) -> (sum of weight times cost over its instances, its gradient with respect to the parameters)."""
    part = lambda params, shard, weights: weights @ costs(p, params, shard, decisions, p.train["hold"], checkpoint)
    return jax.value_and_grad(part)


def make_cost(p, decisions):
    """Function (params, shard, weights) -> weighted sum of costs, without a gradient."""
    return lambda params, shard, weights: weights @ costs(p, params, shard, decisions, p.train["hold"])


def optimiser(p):
    """Global-norm clip, then Adam with the recipe's rates."""
    t = p.train
    rate = optax.warmup_cosine_decay_schedule(t["rate_start"], t["rate"], t["warmup"], t["updates"], t["rate_end"])
    return optax.chain(optax.clip_by_global_norm(t["clip"]), optax.adam(rate, 0.9, 0.999, 1e-8))


class State(NamedTuple):
    """State of training."""
    params: Any
    mean: Any  # moving average of the parameters
    adam: Any
    update: Any


def begin(p, params):
    """Initial state of training."""
    return State(params, params, optimiser(p).init(params), jnp.zeros((), jnp.int32))


def make_apply(p):
    """Function (state, what `make_gradient` gave for all instances of an update) -> (state, cost)."""
    opt = optimiser(p)

    def apply(state, found):
        cost, grads = jax.tree.map(lambda *x: sum(x), *found)
        step, adam = opt.update(grads, state.adam, state.params)
        params = optax.apply_updates(state.params, step)
        past = jnp.minimum(p.train["average"], state.update / (state.update + 10.0)).astype(cost.dtype)
        mean = jax.tree.map(lambda a, b: past * a + (1 - past) * b, state.mean, params)
        return State(params, mean, adam, state.update + 1), cost
    return apply
