"""One large field: results/large_fields.jsonl.

    python3 experiments/large_fields.py ticks     # a tick of a million agents on one thread and on two
    python3 experiments/large_fields.py growth    # time and memory of a tick against the size, four rounds
    python3 experiments/large_fields.py scores    # shipped policies on 64 times the area; needs the Python package
    python3 experiments/large_fields.py sweep     # heat2d: agents and nodes, each with the other fixed

Fields of heat2d vanish at the walls, which keeps them small on a small square. Far from walls they are four times as
strong, beyond what the policy was trained with. The equation is linear, so `scores` also divides them until their
uncontrolled error is that of the small square.
"""

import argparse
import pathlib
import tempfile

from cases import EARLIER_SEED, changes, cinoc, commit
from tables import put

# The time of a tick does not depend on the field: smooth ones are soon drawn, and chaos need not be waited for.
SMOOTH = changes(("data.start_length=1", "data.target_length=1"))
NOISE = changes(("data.settle=0", "data.apart=0", "data.per_run=1", "data.test_states=1"))
LARGE = {"physics.length": 8, "physics.nodes": 249}
# Uncontrolled error at tick 100 on the small square and on the large one.
STRENGTHS = (0.2056428, 3.3747208)


def add(kind, rows):
    """Replaces the lines of a kind."""
    put("large_fields", [{"run": run, "kind": kind, "commit": commit(), **row} for run, row in rows], kind=kind)


def ticks():
    """The second of two rounds is kept."""
    rows = {}
    for _ in range(2):
        for threads in (1, 2):
            for words in (("heat2d", "--agents", 1000000, "--fixed-grid", 4096), ("ks2d", "--areas", 32, *NOISE)):
                for row in cinoc("scale", *words, "--threads", threads, "--operations"):
                    rows[f"{row['problem']}/ticks-{threads}"] = row
    add("tick", rows.items())


def growth():
    """Four rounds."""
    rows = []
    for turn in range(1, 5):
        for words in (
            ("heat2d", "--areas", "2,4,8,16,32,64", "--set", "swarm.agents=61", *SMOOTH),
            ("ks2d", "--areas", "1,2,4,8,16", *NOISE, "--set", "physics.substeps=4"),
        ):
            rows += [
                (f"{row['problem']}/growth-{turn}", {"round": turn, **row})
                for row in cinoc("scale", *words, "--threads", 1)
            ]
    add("growth", rows)


def same_strength(folder, instances=8):
    """Fields of the large square, as strong as those of the small one, as files."""
    import numpy as np
    from cinoc.envs.batch import Batch

    batch = Batch("heat2d", instances, agents=1024, set=LARGE)
    batch.seed(list(range(EARLIER_SEED, EARLIER_SEED + instances)), np.random.default_rng)
    batch.reset()
    small, large = STRENGTHS
    for name, fields in (("start", batch.fields()), ("target", batch.targets())):
        np.save(folder / f"{name}.npy", ((small / large) ** 0.5 * fields).astype(np.float32))


def scores():
    """The usual domain and 64 times its area."""
    rows = []

    def score(run, area, problem, *options):
        (row,) = cinoc("eval", problem, *options, "--seed", EARLIER_SEED)
        row.pop("model")
        rows.append((run, {"area": area, **row}))

    large = changes(f"{key}={value}" for key, value in LARGE.items())
    score("heat2d/area-1", 1, "heat2d", "--agents", 16, "--instances", 200)
    # The score is read at tick 100.
    score("heat2d/area-64", 64, "heat2d", *large, "--set", "physics.ticks=100", "--agents", 1024, "--instances", 16)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        same_strength(folder)
        score(
            "heat2d/area-64-same-strength",
            64,
            "heat2d",
            *large,
            "--agents",
            1024,
            "--instances",
            8,
            "--start",
            folder / "start.npy",
            "--target",
            folder / "target.npy",
        )
    score("ks2d/area-1", 1, "ks2d", "--agents", 100, "--instances", 50)
    score(
        "ks2d/area-64",
        64,
        "ks2d",
        *changes(("physics.length=256", "physics.nodes=512", "data.test_states=3", "data.per_run=3")),
        "--agents",
        6400,
        "--instances",
        3,
    )
    add("score", rows)


def sweep():
    """`cinoc scale heat2d` as it is."""
    add("sweep", [(f"heat2d/sweep-{row['sweep']}", row) for row in cinoc("scale", "heat2d")])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whats = {"ticks": ticks, "growth": growth, "scores": scores, "sweep": sweep}
    parser.add_argument("what", nargs="*", choices=[[], *whats])
    for what in parser.parse_args().what or whats:
        whats[what]()


if __name__ == "__main__":
    main()
