"""Write golden vectors of the policy alone with a convolutional branch, policy.npz, computed in float64: outputs and gradients."""
import argparse
import pathlib
from types import SimpleNamespace

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np

import core

AGENTS, IMAGE, FEATURES, ACTIONS = 5, (7, 6, 3), 4, 3
WIDTHS, END, TRUNK, HEAD = (4, 6), 8, 8, 10


def group(key, **settings):
    """Raw actions for random parameters (values that float32 holds exactly), and the pullback of a random cotangent."""
    policy = core.Policy("cnn", WIDTHS, head=HEAD, out=END, **settings)
    network = SimpleNamespace(policy=policy, saturate=lambda raw: raw)
    (hx, hy, c), (a, b) = IMAGE, WIDTHS
    for _ in WIDTHS:
        hx, hy = -(-hx // policy.stride), -(-hy // policy.stride)
    fused = TRUNK if policy.fusion == "product" else END + TRUNK
    sizes = {"conv0": (3, 3, c, a), "conv1": (3, 3, a, b), "branch": (hx * hy * b, END), "trunk0": (FEATURES, TRUNK),
             "trunk1": (TRUNK, TRUNK), "head": (fused, HEAD), "out": (HEAD, ACTIONS)}
    keys = iter(jax.random.split(key, 100))
    draw = lambda *shape: jax.random.normal(next(keys), shape, jnp.float32).astype(jnp.float64)
    narrow = lambda x: x.astype(jnp.float32).astype(jnp.float64)
    params = {n: {"w": narrow(draw(*s) / np.sqrt(np.prod(s[:-1]))), "b": narrow(0.1 * draw(s[-1]))} for n, s in sizes.items()}
    obs, feats, bar = draw(AGENTS, *IMAGE), draw(AGENTS, FEATURES), draw(AGENTS, ACTIONS)
    raw, back = jax.vjp(lambda *x: core.act(network, *x), params, obs, feats)
    grads, obs_bar, feats_bar = back(bar)
    flat = lambda tree, what: {f"{what}/{n}.{k}": v for n, layer in tree.items() for k, v in layer.items()}
    return {"obs": obs, "feats": feats, "bar": bar, "raw": raw, "grad/obs": obs_bar, "grad/feats": feats_bar} | flat(params, "param") \
        | flat(grads, "grad")


def main():
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--out", required=True, type=pathlib.Path)
    out = ap.parse_args().out
    keys = jax.random.split(jax.random.key(7), 3)
    groups = {"concat": group(keys[0]), "product": group(keys[1], fusion="product"), "stride": group(keys[2], stride=2)}
    np.savez_compressed(out / "policy.npz", **{f"{g}/{n}": np.asarray(v) for g, vectors in groups.items() for n, v in vectors.items()})


if __name__ == "__main__":
    main()
