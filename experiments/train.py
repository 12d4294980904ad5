"""Trains and records one run, or all: results/runs.jsonl and results/weights.jsonl; files stay in
runs/PROBLEM-SETTING-SEED/.

    python3 experiments/train.py [PROBLEM…] [--setting robust,tuned,paper,…] [--seed 0,1,2] [--set KEY=VALUE]… [--again]
    python3 experiments/train.py gradients
        # norm of the first gradient against the length of the episode: results/gradient_norms.jsonl

A setting is a preset with changes (cases.py). Runs whose model is there already are skipped. With --set the run is a
trial, in runs/trial-PROBLEM-SETTING-SEED/, and not recorded.
"""

import argparse
import csv
import hashlib
import shutil
import tempfile
import tomllib

from cases import (
    EARLIER_SEED,
    EXCHANGED,
    MORE,
    MORE_SEEDS,
    PROBLEMS,
    SEEDS,
    SETTINGS,
    changes,
    cinoc,
    commit,
    machine,
    run_folder,
    run_name,
    today,
    training_changes,
)
from tables import put

# Ticks of the episodes whose first gradient is measured.
LENGTHS = {"ks1d": (25, 50, 100, 200, 400, 800), "ks2d": (12, 25, 50, 100), "turbulence2d": (18, 37, 75, 150)}


def seeds(problem, setting):
    """Seeds of the published runs: a centralised network takes half an hour on turbulence2d, and was trained with two
    on density2d; exchanged costs have one seed in the plane."""
    one = setting in EXCHANGED and not problem.endswith("1d") or (problem, setting) == ("turbulence2d", "centralised")
    if (problem, setting) in MORE:
        return SEEDS + MORE_SEEDS
    return SEEDS[: 1 if one else 2 if (problem, setting) == ("density2d", "centralised") else 3]


def train(problem, setting, seed, more=(), again=False, threads=0):
    """One run: settings, scores of best and last weights on instances of seed 3000."""
    name, how = run_name(problem, setting, seed), SETTINGS[setting]
    folder = run_folder(f"trial-{name}" if more else name)
    if (folder / "model.safetensors").exists() and not again:
        print(f"{name}: there already")
        return
    shutil.rmtree(folder, ignore_errors=True)
    (done,) = cinoc(
        "train", problem, "--preset", how.preset, "--seed", seed, *changes((*training_changes(problem, how), *more)), "--out", folder,
        "--threads", threads,
    )
    if more:
        print(f"{name}: made in {folder}, not recorded")
        return
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    train = {key: value for key, value in done.items() if key not in ("model", "run", "problem", "seed", "last")}
    line = {
        "run": name,
        "problem": problem,
        "setting": setting,
        "seed": seed,
        "commit": commit(),
        "machine": machine(),
        "date": today(),
        "model_sha256": digest,
        "train": train,
        "config": tomllib.loads((folder / "config.toml").read_text()),
    }
    put("runs", [line], run=name)
    scored = []
    for weights, path in (("best", folder), ("last", folder / "last.safetensors")):
        if setting != "noisy":
            (row,) = cinoc("eval", path, "--seed", EARLIER_SEED)
            row.pop("model")
            scored.append({"run": name, "weights": weights, "commit": commit(), **row})
    put("weights", scored, run=name)
    # The test of an earlier model of this name is not this model's.
    put("test", [], run=name)
    print(f"{name}: {train}", flush=True)


def gradients():
    """How chaos makes gradients grow."""
    for problem, lengths in LENGTHS.items():
        for ticks in lengths:
            with tempfile.TemporaryDirectory() as folder:
                short = (
                    f"physics.ticks={ticks}",
                    "train.updates=1",
                    "train.validate_instances=1",
                    "train.strength=[1.0, 1.0]",
                )
                cinoc("train", problem, "--preset", "tuned", *changes(short), "--out", f"{folder}/run")
                with open(f"{folder}/run/metrics.csv") as file:
                    norm = float(list(csv.DictReader(file))[-1]["gradient"])
            put(
                "gradient_norms",
                [
                    {
                        "run": f"{problem}/{ticks}",
                        "problem": problem,
                        "seed": 0,
                        "commit": commit(),
                        "ticks": ticks,
                        "gradient": norm,
                    }
                ],
                run=f"{problem}/{ticks}",
            )
            print(f"{problem}, {ticks} ticks: {norm:.3g}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", choices=[[], *PROBLEMS, "gradients"], metavar="PROBLEM")
    parser.add_argument("--setting", default=",".join(SETTINGS))
    parser.add_argument("--seed", default=",".join(map(str, SEEDS)))
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting; such a run is not recorded"
    )
    parser.add_argument("--again", action="store_true", help="even if the model is there")
    parser.add_argument("--threads", type=int, default=0, help="threads of a training run; all cores by default")
    given = parser.parse_args()
    if given.problems == ["gradients"]:
        gradients()
        return
    for seed in map(int, given.seed.split(",")):
        for problem in given.problems or PROBLEMS:
            for setting in given.setting.split(","):
                if problem in SETTINGS[setting].problems and seed in seeds(problem, setting):
                    train(problem, setting, seed, given.set, given.again, given.threads)


if __name__ == "__main__":
    main()
