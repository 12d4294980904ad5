"""Time bare steps of the Kuramoto-Sivashinsky equation in Exponax: python exponax_steps.py --problem ks1d|ks2d. Prints one JSON line.

Same grid, batch and time step as ours. Exponax always steps by ETDRK (order 2 by default, here 1 for ks1d, where ours is a first-order scheme too,
and 4 for ks2d); its de-aliasing is its own.
"""
import argparse
import json
import time

import exponax
import jax
import jax.numpy as jnp

SETTINGS = {
    "ks1d": dict(dims=1, length=22.0, nodes=128, dt=0.05, order=1, batch=32, steps=200),
    "ks2d": dict(dims=2, length=32.0, nodes=64, dt=0.005, order=4, batch=4, steps=1000),
}


def main():
    """Command line."""
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--problem", required=True, choices=sorted(SETTINGS))
    ap.add_argument("--repeats", type=int, default=5)
    a = ap.parse_args()
    s = SETTINGS[a.problem]
    kind = exponax.stepper.KuramotoSivashinskyConservative if s["dims"] == 1 else exponax.stepper.KuramotoSivashinsky
    stepper = kind(s["dims"], s["length"], s["nodes"], s["dt"], order=s["order"])
    run = jax.jit(jax.vmap(exponax.repeat(stepper, s["steps"])))
    z = jax.random.normal(jax.random.PRNGKey(0), (s["batch"], 1) + (s["nodes"],) * s["dims"], dtype=jnp.float32)
    z = 0.01 * (z - z.mean())
    jax.block_until_ready(run(z))
    seconds = []
    for _ in range(a.repeats):
        begin = time.perf_counter()
        jax.block_until_ready(run(z))
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"problem": a.problem, "exponax": exponax.__version__, "steps_per_s": round(s["batch"] * s["steps"] / min(seconds))}))


if __name__ == "__main__":
    main()
