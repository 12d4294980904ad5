"""Computing time per decision and agent of our policies, on one thread, as baselines/score.py measures it for the others:
python3 experiments/decisions.py > results/test/decisions.jsonl. Needs the Python package; on an idle core."""
import json
import pathlib
import time

import cinoc
import numpy as np
from cinoc.envs import Batch
from results import AGENTS, OURS

root = pathlib.Path(__file__).resolve().parent.parent / "results"
TICKS = 30
for problem in AGENTS:
    for setting in OURS:
        model = root / problem / f"{setting}-0" / "model.safetensors"
        if setting == "centralised" or not model.exists():
            continue
        policy = cinoc.load(model)
        # As many instances side by side as in the tests.
        instances = 50 if problem in ("ks1d", "ks2d", "turbulence2d") else 200
        batch = Batch(problem, instances, preset=setting, stream="test")
        batch.seed([5000] * instances, np.random.default_rng, index=np.arange(instances))
        batch.reset()
        policy.reset()
        each = []
        for _ in range(TICKS):
            seen = batch.observe()
            began = time.process_time()
            action = np.asarray(policy(seen))
            each.append((time.process_time() - began) / (instances * batch.agents))
            batch.step(action.reshape(instances, *batch.action_shape))
        print(json.dumps({"problem": problem, "setting": setting, "ticks": TICKS, "instances": instances, "agents": batch.agents, "decision_seconds": float(np.mean(each)), "median": float(np.median(each)), "least": float(np.min(each))}), flush=True)
