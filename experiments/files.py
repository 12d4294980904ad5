"""Policies of the problem files in examples/problems, beside no control and a proportional law: results/files.jsonl.

    python3 experiments/files.py [NAME…]

Each file is trained with the recipe that it chooses itself and the updates of UPDATES, one seed, and so is a proportional
law (`policy.kind = "pi"` without its integral): every agent answers to the error around it by gains that are learned with
the same cost and a quarter of the updates. Scores are those of 50 instances of seed 5000, mean over instances of the score
over that of no control. Pictures of one episode go to docs/figures/files/.
"""

import subprocess
import sys
import time

from cases import ROOT, RUNS, TEST_SEED, changes, cinoc, commit, program, today
from tables import put

FILES = ROOT / "examples/problems"
INSTANCES = 50
# Updates of each file; a training takes one to five minutes of a core.
UPDATES = {
    "allen_cahn": 200,
    "burgers": 200,
    "fitzhugh_nagumo": 100,
    "swift_hohenberg": 160,
    "cahn_hilliard": 100,
    "gray_scott": 60,
    "island": 60,
    "wildfire": 40,
    "server_room": 60,
    "heat_cube": 40,
    "floor_plan": 60,
}
# In the plane and in a box: a quarter of the batch.
LINES = ("allen_cahn", "burgers", "fitzhugh_nagumo")
SMALL = ("train.batch=8", "train.validate_instances=8")
LAW = ("policy.kind=pi", "policy.integral=false")


def trained(name, folder, updates, settings):
    """Folder of a trained policy, and the seconds of its training."""
    began = time.perf_counter()
    few = (f"train.updates={updates}", f"train.validate_every={max(1, updates // 4)}", *settings)
    cinoc("train", FILES / f"{name}.toml", "--threads", 1, "--out", folder, *changes(few))
    return folder, time.perf_counter() - began


def scored(folder):
    """Row of an evaluation."""
    (row,) = cinoc("eval", folder, "--seed", TEST_SEED, "--instances", INSTANCES, diverging=True)
    return row


def main():
    pictures = ROOT / "docs/figures/files"
    pictures.mkdir(exist_ok=True)
    for name in sys.argv[1:] or UPDATES:
        updates = UPDATES[name]
        few = () if name in LINES else SMALL
        policy, seconds = trained(name, RUNS / f"file-{name}", updates, few)
        law, _ = trained(name, RUNS / f"file-{name}-p", max(10, updates // 4), (*few, *LAW))
        row, other = scored(policy), scored(law)
        line = {"run": name, "commit": commit(), "date": today(), "updates": updates, "seconds": round(seconds)}
        line |= {"seed": TEST_SEED, "instances": INSTANCES, "agents": row["agents"], "ratio": row["ratio"], "law_ratio": other["ratio"]}
        line |= {"score": row["score"]["mean"], "uncontrolled": row["uncontrolled"]["mean"], "worst": row["score"]["worst"]}
        put("files", [line], run=name)
        print(line, flush=True)
        subprocess.run([program(), "show", policy, "-o", pictures / f"{name}.png"], check=True)


if __name__ == "__main__":
    main()
