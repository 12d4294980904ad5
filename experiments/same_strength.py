#!/usr/bin/env python3
"""Fields of the large square of `experiments/large_fields`, as strong as those of the small one: same_strength.py FOLDER

Fields of `heat2d` vanish at the walls, which keeps them small on a small square. Far from walls they are four times as strong, beyond what the
policy was trained with. The equation is linear, so these are divided until their uncontrolled error is that of the small square.
Writes start.npy and target.npy. Needs the Python package.
"""
import pathlib
import sys

import numpy as np
from cinoc.envs.batch import Batch

INSTANCES, SEED = 8, 3000
# Uncontrolled error at tick 100 on the small square and on the large one (results/scale/scores.jsonl).
SMALL, LARGE = 0.2056428, 3.3747208

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    batch = Batch("heat2d", INSTANCES, agents=1024, set={"physics.length": 8, "physics.nodes": 249})
    batch.seed(list(range(SEED, SEED + INSTANCES)), np.random.default_rng)
    batch.reset()
    for name, fields in (("start", batch.fields()), ("target", batch.targets())):
        np.save(folder / f"{name}.npy", ((SMALL / LARGE) ** 0.5 * fields).astype(np.float32))
