"""The smallness condition L_G·L_b·C_T < 1 of the paper's theorem on heat1d: lines `theorem-…` of results/checks.jsonl.

    python3 experiments/condition.py

Needs the Python package. L_b is the norm of the push in L²(Ω×Ω), C_T the integral of the norm of the heat semigroup over
an episode, both by their formulas. L_G, the Lipschitz constant of a push in the field, is bounded from below: the largest
change of a push, over agents, sixty fields at the start of an episode and sine waves as disturbances, divided by the
disturbance's norm in L²(Ω). A bound above 1 shows that the condition does not hold; one below would show nothing.
"""

import sys

import numpy as np

from cases import SEEDS, commit, model, run_folder, run_name
from tables import put

try:
    import cinoc
    from cinoc.envs.batch import Batch
except ImportError as missing:
    sys.exit(f"SKIPPED: {missing}; nothing was computed. Install the Python package")

NODES, NU, TIME, WIDTH, LIMIT = 100, 0.2, 0.3, 0.1, 40.0
INSTANCES, WAVES, STEP, SEED = 60, 16, 1e-3, 4000


def constants():
    """L_b and C_T."""
    x = np.linspace(0, 1, 2001)
    push = np.exp(-((x[:, None] - x) ** 2) / WIDTH**2)
    norm = np.sqrt(np.trapezoid(np.trapezoid(push, x), x))
    decay = NU * np.pi**2
    return norm, (1 - np.exp(-decay * TIME)) / decay


def pushes(policy, preset, start, target):
    """Pushes of the first decision, in physical units."""
    batch = Batch("heat1d", len(start), preset=preset, start=start, target=target)
    batch.seed([SEED] * len(start), np.random.default_rng, index=np.arange(len(start)))
    batch.reset()
    policy.reset()
    return LIMIT * np.asarray(policy(batch.observe())).reshape(len(start), batch.agents, -1)[..., 0]


def steepest(policy, preset):
    """Lower bound of the Lipschitz constant."""
    drawn = Batch("heat1d", INSTANCES, preset=preset, stream="test")
    drawn.seed([SEED] * INSTANCES, np.random.default_rng, index=np.arange(INSTANCES))
    drawn.reset()
    start, target = drawn.fields().copy(), drawn.targets().copy()
    before, x, found = pushes(policy, preset, start, target), np.linspace(0, 1, NODES), 0.0
    for wave in range(1, WAVES + 1):
        # The norm of a sine wave in L²(0, 1) is √½.
        moved = pushes(policy, preset, start + STEP * np.sin(wave * np.pi * x), target)
        found = max(found, np.abs(moved - before).max() / (STEP * np.sqrt(0.5)))
    return found


def main():
    norm, integral = constants()
    for setting, preset in (("paper", "paper"), ("tuned", "tuned"), ("robust", "robust")):
        for seed in SEEDS:
            name = run_name("heat1d", setting, seed)
            if not (run_folder(name) / "model.safetensors").exists():
                print(f"{name}: no model here; archive.py fetch or train.py makes it")
                continue
            slope = steepest(cinoc.load(str(model(name))), preset)
            line = {"run": f"checks/theorem-{setting}-{seed}", "claim": f"theorem-{setting}-{seed}", "problem": "heat1d"}
            line |= {"command": "python3 experiments/condition.py", "seed": SEED, "n": INSTANCES, "train_seed": seed}
            line |= {"quantity": "lower bound of L_G·L_b·C_T", "value": slope * norm * integral, "low": None, "high": None}
            line |= {"slope": slope, "norm_of_push": norm, "integral_of_semigroup": integral, "commit": commit()}
            put("checks", [line], run=line["run"])
            print(f"{name}: L_G ≥ {slope:.3g}, L_b = {norm:.3f}, C_T = {integral:.3f}, product ≥ {line['value']:.3g}")


if __name__ == "__main__":
    main()
