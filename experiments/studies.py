"""All studies, with the policies of three seeds: results/studies/STUDY.jsonl, and results/transfer.jsonl, rings.jsonl,
discs.jsonl.

    python3 experiments/studies.py [--problem P,…] [--study S,…] [--trained | --used]
    python3 experiments/studies.py transfer | rings | discs | senses | ablation

After experiments/train.py (or archive.py fetch). `cinoc study` keeps its tables in runs/studies/, where what is
there is not computed again; complete ones are put into results/. Policies that a study trains get a quarter of the
updates of the recipe; in the plane such studies score on 50 instances. `transfer` uses the paper's setting, trained
with and without noise and with 30 agents and three effort weights, with other numbers of agents; `rings` uses the ks1d
policies on longer rings, `discs` the policies of heat2d_obstacles with discs elsewhere or moving; `senses` trains
robust policies of heat1d with an input left out or added, one seed each; `ablation` leaves out each ingredient of the
sharp recipe, and adds each to the paper's setting, two or three seeds each.
"""

import argparse
import functools
import re
import subprocess

from cases import (
    EARLIER_SEED,
    EARLIER_WORDS,
    PROBLEMS,
    RUNS,
    SEEDS,
    STUDIES_ROBUST,
    STUDIES_TRAINED,
    STUDIES_USED,
    STUDY_SEED,
    changes,
    cinoc,
    commit,
    computing,
    model,
    program,
    run_name,
    today,
)
from tables import jsonl, put, read

# Updates of policies with an input left out or added, instead of 3000.
SENSES_UPDATES = 400
# Problems whose ingredients are switched off, and training seeds.
ABLATION = {"heat1d": (0, 1), "fkpp1d": (0,), "heat2d": (0,), "ks1d": SEEDS}
# Problems on which ingredients are only left out: the paper's network takes two minutes (fkpp1d) to an hour (heat2d) of
# a core for each row.
LEFT_OUT = {"fkpp1d": "as shipped,the paper,without,with: ", "heat2d": "as shipped,without,with: "}
RINGS = ((32, 128, "10,15,20,30,60,90,120"), (64, 256, "30"), (200, 512, "80"), (500, 1024, "200"))
DISCS = (
    ("obstacles.discs=[[0.5, 0.5, 0.08], [0.15, 0.15, 0.08], [0.85, 0.85, 0.08]]",),
    ("obstacles.discs=[[0.3, 0.3, 0.08], [0.7, 0.3, 0.08], [0.5, 0.75, 0.08]]",),
    ("obstacles.discs=[[0.25, 0.6, 0.1], [0.6, 0.25, 0.06], [0.75, 0.75, 0.12]]",),
    ("obstacles.discs=[[0.125, 0.375, 0.08], [0.625, 0.625, 0.08], [0.875, 0.125, 0.08]]",),
    # The usual positions, circled once, and nearly four times, in an episode.
    ("obstacles.orbit=0.05", "obstacles.orbit_ticks=300"),
    ("obstacles.orbit=0.05", "obstacles.orbit_ticks=80"),
    # Through the middle, past most agents.
    ("obstacles.orbit=0.2", "obstacles.orbit_ticks=300", "obstacles.discs=[[0.5,0.5,0.08]]"),
)


@functools.cache
def word(study):
    """The word of the command line for a study: an earlier one where the program has that."""
    listed = subprocess.run([program(), "study"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    return study if study not in EARLIER_WORDS or re.search(rf"^\s*{study}\b", listed, re.M) else EARLIER_WORDS[study]


def policies(problem, setting="tuned"):
    """Names of the recorded policies of three seeds."""
    names = [run_name(problem, setting, seed) for seed in SEEDS]
    return [name for name in names if read("runs", run=name)]


def run_study(study, problem, names, out, *options):
    """The table of a study; none where the problem has nothing that it varies."""
    words = [
        program(),
        "study",
        word(study),
        problem,
        "--policies",
        ",".join(str(model(name)) for name in names),
        *map(str, options),
        "-o",
        str(out),
    ]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        if "nothing that the study" in done.stdout:
            return None
        raise SystemExit(done.stdout)
    head, *rest = jsonl(out / f"{word(study)}-{problem}.jsonl")
    head = {key: value for key, value in head.items() if key not in ("study", "problem", "seed")} | {
        "policies": list(names)
    }
    return {"problem": problem, "seed": STUDY_SEED, "request": head, "rows": [row for line in rest for row in line]}


def studies(problems, names):
    """Puts complete studies into their tables."""
    for study in names:
        for problem in problems:
            short = ["--set", f"train.updates={PROBLEMS[problem].study_updates}"] if study in STUDIES_TRAINED else []
            short += ["--instances", 50] if study in STUDIES_TRAINED and not problem.endswith("1d") else []
            short += ["--instances", 50] if study in STUDIES_ROBUST and problem == "density2d" else []
            before = computing()
            names = policies(problem, "robust" if study in STUDIES_ROBUST else "tuned")
            old = next(iter(read(f"studies/{study}", problem=problem)), None)
            # Policies of further seeds are added to those of the scorecard.
            known = len(old["request"]["policies"]) if old and study in STUDIES_ROBUST else 0
            if known and names[:known] != old["request"]["policies"]:
                raise SystemExit(f"{study} {problem}: recorded with {old['request']['policies']}, which are not first of {names}")
            if known == len(names):
                print(f"{study} {problem}: there already")
                continue
            out = RUNS / "studies" / (f"from-{known}" if known else "")
            found = run_study(study, problem, names[known:], out, *short)
            if found is None:
                print(f"{study} {problem}: not for this problem")
                continue
            if known:
                found = joined(old, found)
            if old and old["rows"] == found["rows"]:
                print(f"{study} {problem}: there already")
                continue
            earlier = old["computing_seconds"] if known else 0
            record(study, problem, found, computing() - before + earlier)


def joined(old, new):
    """A recorded study with the policies of another, which has the same cases."""
    known, request = len(old["request"]["policies"]), dict(old["request"])
    if request["cases"] != new["request"]["cases"]:
        raise SystemExit(f"{old['run']}: the recorded study has other cases; remove its line to compute all policies")
    for key in ("models", "policies"):
        request[key] = request[key] + new["request"][key]
    rows = [row | {"policy": row["policy"] + known} for row in new["rows"]]
    return {"problem": old["problem"], "seed": old["seed"], "request": request, "rows": old["rows"] + rows}


def record(study, problem, found, seconds):
    """Puts a complete study into its table."""
    line = {"run": f"{study}/{problem}", "study": study, "commit": commit(), "date": today(), "computing_seconds": int(seconds)}
    put(f"studies/{study}", [line | found], problem=problem)
    print(f"{study} {problem}", flush=True)


def senses():
    """Inputs left out or added."""
    before = computing()
    few = ("--preset", "robust", "--train-seeds", 0, "--set", f"train.updates={SENSES_UPDATES}", "--threads", 1)
    found = run_study("senses", "heat1d", [run_name("heat1d", "robust", 0)], RUNS / "studies", *few)
    record("senses", "heat1d", found, computing() - before)


def ablation(problems):
    """Ingredients of the sharp recipe left out, or added to the paper's setting."""
    for problem in problems:
        before = computing()
        few = ("--set", f"train.updates={PROBLEMS[problem].study_updates}", "--threads", 1)
        few += ("--train-seeds", ",".join(map(str, ABLATION[problem])))
        few += () if problem.endswith("1d") else ("--instances", 50)
        few += ("--only", LEFT_OUT[problem]) if problem in LEFT_OUT else ()
        found = run_study("ablation", problem, [run_name(problem, "tuned", 0)], RUNS / "studies", *few)
        record("ablation", problem, found, computing() - before)


# Ways to train in the paper's setting, words for each, and what is switched off in use.
QUIET = ("--used", "swarm.sensor_noise=0", "--used", "swarm.actuator_noise=0")
TRANSFER = {
    "noisy": ("with", "with noise", QUIET),
    "paper": ("without", "without noise", ()),
    "paper-30": ("30-0.001", "30 agents, λ = 0.001", ()),
    "paper-30-low": ("30-0.005", "30 agents, λ = 0.005", ()),
    "paper-30-high": ("30-0.05", "30 agents, λ = 0.05", ()),
}


def transfer(problems):
    """The paper's setting with noise in training, and with the paper's number of agents and effort weights."""
    for problem in problems:
        for setting, (name, words, options) in TRANSFER.items():
            run, found = f"{problem}/{name}", policies(problem, setting)
            old = next(iter(read("transfer", run=run)), None)
            if not found or old and old["request"]["policies"] == found:
                continue
            line = {"run": run, "trained": words, "commit": commit()}
            put("transfer", [line | run_study("cardinality", problem, found, RUNS / "transfer" / name, *options)], run=run)
            print(f"{run}: {words}", flush=True)


def scored(table, name, what, *options):
    """Adds rows of an evaluation of one policy."""
    rows = cinoc("eval", model(name), *options)
    for row in rows:
        row.pop("model")
        print(f"{name}, {what}: {row['ratio']:.3g}", flush=True)
    return [{"run": name, "commit": commit(), **what, **row} for row in rows]


def rings():
    """The ks1d policies, trained on a ring of length 22."""
    for name in policies("ks1d"):
        rows = []
        for length, nodes, agents in RINGS:
            ring = changes((f"physics.length={length}", f"physics.nodes={nodes}"))
            rows += scored("rings", name, {"length": length}, "--seed", STUDY_SEED, *ring, "--agents", agents)
        put("rings", rows, run=name)


def discs():
    """Discs that no policy was trained with."""
    for name in policies("heat2d_obstacles"):
        rows = []
        for settings in DISCS:
            rows += scored(
                "discs",
                name,
                {"set": " ".join(settings)},
                "--seed",
                EARLIER_SEED,
                "--instances",
                100,
                *changes(settings),
            )
        put("discs", rows, run=name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("transfer", "rings", "discs", "senses", "ablation"))
    parser.add_argument("--problem")
    parser.add_argument("--study")
    parser.add_argument("--trained", action="store_true", help="only studies that train their policies")
    parser.add_argument("--used", action="store_true", help="only studies of trained policies")
    given = parser.parse_args()
    problems = given.problem.split(",") if given.problem else None
    if given.what:
        alone = {"rings": rings, "discs": discs, "senses": senses}
        alone["ablation"] = lambda: ablation(problems or ABLATION)
        alone["transfer"] = lambda: transfer(problems or ("heat1d", "fkpp1d"))
        alone[given.what]()
        return
    names = (
        given.study.split(",")
        if given.study
        else [*(STUDIES_USED + STUDIES_ROBUST) * (not given.trained), *STUDIES_TRAINED * (not given.used)]
    )
    studies(problems or PROBLEMS, names)


if __name__ == "__main__":
    main()
