"""Times against JAX and of whole trainings: results/speed.jsonl, operations.jsonl, python.jsonl. All need an idle
machine.

    python3 experiments/speed.py updates [PROBLEM…]
        # one update with the paper's policy and with ours, six rounds; an hour (peers/README.md)
    python3 experiments/speed.py training [PROBLEM…]
        # `cinoc train` with seed 0 and its score beside the kept model; a quarter of an hour
    python3 experiments/speed.py operations [PROBLEM…]      # where the time of an update goes; minutes
    python3 experiments/speed.py ranks [--program CINOC] [--mpirun WORDS] [--rounds N]
        # two ranks against two threads; CINOC built with MPI
    python3 experiments/speed.py environments
        # environments stepped from Python against JAX and controlgym (peers/compare_env)
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import tempfile
import time

from cases import PROBLEMS, ROOT, TEST_SEED, cinoc, commit, computing, model, run_name, today
from tables import put

# Updates of a round, and ticks where an episode is too long for JAX.
UPDATES = {
    "heat1d": (8,),
    "fkpp1d": (4,),
    "heat2d": (2, 30),
    "heat2d_obstacles": (2, 30),
    "ks1d": (12,),
    "ks2d": (2, 20),
    "turbulence2d": (2, 10),
    "density2d": (4,),
}
# Updates of a few seconds of training.
RANKS = {"heat1d": 20, "heat2d": 6}
WAYS = {"one rank of two threads": (1, 2), "two ranks of one thread": (2, 1)}


def short(x):
    """Four digits."""
    return float(f"{x:.4g}")


def updates(given):
    """Ours and JAX in turn."""
    for policy in ("paper", "tuned"):
        for problem in given.problems or PROBLEMS:
            number, *ticks = UPDATES[problem]
            words = [
                "--problem",
                problem,
                "--policy",
                policy,
                "--rounds",
                "6",
                "--updates",
                str(number),
                *(["--ticks", str(ticks[0])] if ticks else []),
                "--json",
            ]
            done = subprocess.run(
                [ROOT / "peers/compare", *words], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True
            )
            found = json.loads(done.stdout.splitlines()[-1])
            if not found.get("ratio_update_min"):
                raise SystemExit(f"no comparison with JAX on {problem}")
            for key in ("other", "build_ratio_min", "build_ratio_median"):
                found.pop(key, None)
            put(
                "speed",
                [{"run": f"{problem}/{policy}", "kind": "update", "commit": commit(), **found}],
                run=f"{problem}/{policy}",
            )
            print(f"{problem}, {policy}: {found['ratio_update_min']:.1f}", flush=True)


def scored(path):
    """Score and relative error on instances of the test."""
    (found,) = cinoc("eval", path, "--seed", TEST_SEED)
    return {
        "score": found["score"]["mean"],
        "ratio": found["ratio"],
        "instances": found["instances"],
        "seed": found["seed"],
    }


def training(given):
    """Trains on all cores, one problem after the other."""
    for problem in given.problems or PROBLEMS:
        kept = model(run_name(problem, "tuned", 0))
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder) / "run"
            began, before = time.perf_counter(), computing()
            (done,) = cinoc("train", problem, "--seed", 0, "--out", run)
            seconds, cpu = time.perf_counter() - began, computing() - before
            line = {
                "run": f"{problem}/training",
                "kind": "training",
                "problem": problem,
                "updates": done["updates"],
                "seconds": round(seconds, 1),
                "seconds_of_cpu": round(cpu, 1),
                "cores": os.cpu_count(),
                "commit": commit(),
                "date": today(),
                "now": scored(run),
                "published": scored(kept),
                "same_bits": (run / "model.safetensors").read_bytes() == kept.read_bytes(),
            }
        put("speed", [line], run=line["run"])
        print(json.dumps(line), flush=True)


def operations(given):
    """The fastest of three runs with a clock around every operation."""
    (bench,) = cinoc("bench", "heat1d", "--updates", 3)
    for problem in given.problems or PROBLEMS:
        for preset in ("paper", "tuned"):
            number = 1 if preset == "paper" and problem in ("turbulence2d", "heat2d", "heat2d_obstacles") else 4
            runs = [
                cinoc("bench", problem, "--preset", preset, "--operations", "--updates", number)[0] for _ in range(3)
            ]
            fastest = min(runs, key=lambda run: run["ms_per_update"])
            line = {
                "run": f"{problem}/{preset}",
                "commit": commit(),
                "preset": preset,
                "threads": os.cpu_count(),
                "peak_flops": 1e9 * bench["peak_gflop_per_s"],
                **fastest,
            }
            put("operations", [line], run=line["run"])
            print(f"{problem}, {preset}: {fastest['ms_per_update']:.0f} ms", flush=True)


def timed(launch, program, problem, number, ranks, threads):
    """Seconds of updates and validations, and the model."""
    with tempfile.TemporaryDirectory() as folder:
        words = [
            *launch,
            "-n",
            str(ranks),
            program,
            "train",
            problem,
            "--preset",
            "paper",
            "--threads",
            str(threads),
            "--json",
            "--set",
            f"train.updates={number}",
            "--set",
            "train.validate_every=1000000",
            "--set",
            "train.validate_instances=8",
            "--out",
            f"{folder}/run",
        ]
        done = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True)
        return json.loads(done.stdout)["seconds"], (pathlib.Path(folder) / "run/last.safetensors").read_bytes()


def ranks(given):
    """Alternating rounds; the first warms caches and does not count."""
    for problem, number in RANKS.items():
        times, models = {way: [] for way in WAYS}, set()
        for turn in range(given.rounds + 1):
            for way, shape in WAYS.items():
                took, bits = timed(shlex.split(given.mpirun), given.program, problem, number, *shape)
                models.add(bits)
                if turn:
                    times[way].append(short(1e3 * took / number))
        if len(models) != 1:
            raise SystemExit(f"{problem}: ranks and threads give other bits")
        one, two = times.values()
        line = {
            "run": f"{problem}/ranks",
            "kind": "ranks",
            "commit": commit(),
            "command": f"experiments/speed.py ranks --mpirun {shlex.quote(given.mpirun)} --rounds {given.rounds}",
            "preset": "paper",
            "problem": problem,
            "updates": number,
            "rounds": given.rounds,
            "ms_per_update": times,
            "speed_of_two_ranks_minima": short(min(one) / min(two)),
            "speed_of_two_ranks_medians": short(statistics.median(one) / statistics.median(two)),
        }
        put("speed", [line], run=line["run"])
        print(json.dumps(line), flush=True)


def environments(given):
    """Summaries of peers/compare_env, without its single runs."""
    done = subprocess.run(
        [ROOT / "peers/compare_env", "--json"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    for result in found["results"]:
        thin = {
            key: ({a: b for a, b in value.items() if a != "runs"} if isinstance(value, dict) else value)
            for key, value in result.items()
        }
        run = f"{result['problem']}/{result['envs']}x{result['threads']}"
        put(
            "python",
            [
                {
                    "run": run,
                    "kind": "environments",
                    "commit": commit(),
                    "machine": found["machine"],
                    "seconds": found["seconds"],
                    **thin,
                }
            ],
            run=run,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whats = {
        "updates": updates,
        "training": training,
        "operations": operations,
        "ranks": ranks,
        "environments": environments,
    }
    parser.add_argument("what", choices=whats)
    parser.add_argument("problems", nargs="*", choices=[[], *PROBLEMS], metavar="PROBLEM")
    parser.add_argument("--program", default="cinoc")
    parser.add_argument("--mpirun", default="mpirun --bind-to none", help="how ranks are started")
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    whats[given.what](given)


if __name__ == "__main__":
    main()
