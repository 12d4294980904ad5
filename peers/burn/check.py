"""Check that the Burn peer computes what the JAX peer does: from the same fields and parameters, the same losses, update by update.

Run with the environment that `../compare` makes:  ../.venv/bin/python check.py path/to/cinoc-peer-burn
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "jax"))

import jax
import numpy as np

import core
import problems

BATCH, TICKS, UPDATES = 32, 300, 5
LAYERS = ("branch0", "branch1", "trunk0", "trunk1", "head", "out")


def main():
    """Compare the losses of a few updates; later ones also depend on gradient, clipping and Adam."""
    p = problems.make("heat1d")
    z0, target = p.sample(jax.random.key(0), BATCH)
    params = core.init_policy(p, jax.random.key(1))
    arrays = [z0, target] + [params[layer][part] for layer in LAYERS for part in ("w", "b")]
    with tempfile.NamedTemporaryFile(suffix=".f32") as inputs:
        inputs.write(b"".join(np.asarray(a, "<f4").tobytes() for a in arrays))
        inputs.flush()
        command = [sys.argv[1], "--inputs", inputs.name, "--batch", BATCH, "--ticks", TICKS, "--updates", UPDATES]
        burn = json.loads(subprocess.run(map(str, command), check=True, stdout=subprocess.PIPE).stdout)["losses"]

    state, update, ours = core.optimiser(p).init(params), jax.jit(core.make_update(p, TICKS)), []
    for _ in range(UPDATES):
        params, state, loss = update(params, state, z0, target)
        ours.append(float(loss))
    print("JAX ", *(f"{x:.6f}" for x in ours))
    print("Burn", *(f"{x:.6f}" for x in burn))
    np.testing.assert_allclose(burn, ours, rtol=1e-4)


if __name__ == "__main__":
    main()
