"""Every number and picture of the results, in order: python3 experiments/all.py [STEP…] [--list]

Without a step all but those that need an idle machine (speed, scale, large_fields) or take long by nature (fuzz) are
run: about two days on two cores. What is there already is not made again: remove the local files in runs/ first to
make all again. Reinforcement learning and the time of decisions need the Python environment of baselines/README.md
(PYTHON names its interpreter).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

from cases import ROOT, commit
from tables import write

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = os.environ.get("PYTHON", sys.executable)


def script(*words, python=sys.executable):
    """A command of this folder."""
    return [python, str(HERE / words[0]), *words[1:]]


STEPS = {
    "train": [script("train.py"), script("train.py", "gradients")],
    # The program with the published models inside, for the steps below that take them by name.
    "publish": [script("publish.py"), ["cargo", "build", "--release", "--locked", "-p", "cinoc-cli"]],
    "test": [
        script("final_test.py"),
        script("final_test.py", "variants"),
        script("final_test.py", "fresh"),
        script("final_test.py", "decisions", python=PYTHON),
        script("uncertainty.py"),
    ],
    "studies": [script("studies.py"), *(script("studies.py", what) for what in ("transfer", "rings", "discs", "senses", "ablation"))],
    "classical": [script("bounds.py"), script("classical.py"), *(script(name, python=PYTHON) for name in ("mpc.py", "condition.py"))],
    "optimum": [script("optimum.py", what) for what in ("gaps", "last", "nmpc")],
    "stability": [script("stability.py")],
    "baselines": [[PYTHON, str(ROOT / "baselines/all")]],
    "archive": [script("archive.py", "record")],
    "figures": [script("figures.py", what) for what in ("tables", "episodes")],
    "report": [script("report.py")],
    "speed": [script("speed.py", what) for what in ("updates", "training", "operations", "environments")],
    "scale": [script("scale.py", "measure")],
    "large_fields": [script("large_fields.py")],
    "fuzz": [],
}
LATER = ("speed", "scale", "large_fields", "fuzz")


def fuzz(count=1_000_000, seed=1):
    """Damaged and forged files for everything that reads files, on one thread: results/fuzz.jsonl.

    With the profile of the tests, in which an arithmetic overflow is a panic. A failure is made again with
    cargo run -p cinoc-fuzz -- 1 SEED TARGET NUMBER.
    """
    subprocess.run(["cargo", "build", "--locked", "-p", "cinoc-fuzz"], cwd=ROOT, check=True)
    program = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/cinoc-fuzz"
    done = subprocess.run([program, str(count), str(seed)], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    write("fuzz", [{"run": row["target"], "commit": commit(), **row} for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", choices=[[], *STEPS], metavar="STEP")
    parser.add_argument("--list", action="store_true", help="print the commands of each step, and run nothing")
    given = parser.parse_args()
    for name in given.steps or [step for step in STEPS if step not in LATER]:
        for words in STEPS[name]:
            shown = [
                "python3"
                if word in (PYTHON, sys.executable)
                else os.path.relpath(word, ROOT)
                if word.startswith("/")
                else word
                for word in words
            ]
            print(f"{name}: {' '.join(shown)}", flush=True)
            if not given.list:
                subprocess.run(words, cwd=ROOT, check=True)
        if name == "fuzz" and not given.list:
            fuzz()


if __name__ == "__main__":
    main()
