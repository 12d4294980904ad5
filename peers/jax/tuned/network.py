"""The recurrent policy of every agent: a small neural operator with a memory and a linear path beside it."""
import jax
import jax.numpy as jnp
import numpy as np

import core

PUSH = 10.0  # factor on the push in the memory


def shapes(net, seen, position, signal, action_dim):
    """Name and shape of each piece, in the order of a model file; matrices are [in, out]."""
    end, memory, linear = net["trunk"][-1], net["memory"], net["linear"]
    found = {}
    for name, inputs, widths in (("branch", seen, [*net["branch"][:-1], end]), ("trunk", position, net["trunk"])):
        for i, (a, b) in enumerate(zip([inputs, *widths], widths)):
            found |= {f"{name}{i}.w": (a, b), f"{name}{i}.b": (b,)}
    found |= {"head.w": (2 * end + memory, net["head"]), "head.b": (net["head"],), "out.w": (net["head"], action_dim), "out.b": (action_dim,)}
    known = seen + signal + memory
    found |= {"gate.w": (end, linear), "gate.b": (linear,), "linear.w": (known, linear), "mix.w": (linear, action_dim)}
    return found | {"memory.w": (known + 1, memory)}


def init(net, sizes, key, dtype):
    """First parameters: normal weights of variance 1/inputs, gentle outputs, biases zero but for the gate's."""
    factor = {"out.w": net["output_scale"], "mix.w": 0.1 * net["output_scale"]}
    draw = lambda key, name, s: jax.random.normal(key, s, dtype) * np.asarray(factor.get(name, 1.0) / np.sqrt(s[0]), dtype)
    keys = jax.random.split(key, len(sizes))
    return {n: draw(k, n, s) if len(s) == 2 else jnp.full(s, float(n == "gate.b"), dtype) for k, (n, s) in zip(keys, sizes.items())}


def rates(net, hold):
    """Share of each memory that is renewed in `hold` ticks."""
    shortest, longest = net["memory_ticks"]
    part = np.arange(net["memory"]) / max(net["memory"] - 1, 1)
    return 1 - np.exp(-hold / (shortest * (longest / shortest) ** part))


def act(net, params, patch, position, signal, memory, hold):
    """Raw actions and the new memory, from the window [..., seen], position features [..., position], [..., signal] (part of
    them) and memory [..., memory]."""
    w = lambda name: params[name + ".w"]
    dense = lambda name, x: x @ w(name) + params[name + ".b"]
    h = patch
    for i in range(len(net["branch"])):
        h = jnp.tanh(core.soft(dense(f"branch{i}", h)))
    t = position
    for i in range(len(net["trunk"])):
        t = jnp.tanh(dense(f"trunk{i}", t))
    raw = dense("out", jnp.tanh(dense("head", jnp.concatenate([h * t, t, memory], -1))))
    known = jnp.concatenate([patch, signal, memory], -1)
    # One product for the linear path and the memory: both read the same numbers.
    linear = w("linear").shape[1]
    both = known @ jnp.concatenate([w("linear"), w("memory")[:-1]], -1)
    raw = net["output_gain"] * (raw + (both[..., :linear] * dense("gate", t)) @ w("mix"))
    now = both[..., linear:] + PUSH * jnp.tanh(raw[..., :1]) * w("memory")[-1]
    rate = jnp.asarray(rates(net, hold), memory.dtype)
    return raw, memory + rate * (now - memory)
