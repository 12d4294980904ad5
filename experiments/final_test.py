"""The published test of our policies on instances of seed 5000, which nothing was chosen on: results/test.jsonl, and the
scores of single instances: results/instances.jsonl.

    python3 experiments/final_test.py [PROBLEM…] [--instances N] [--dry]
    python3 experiments/final_test.py variants [PROBLEM…]
        # shipped models nearer to the paper's setting: results/variants.jsonl
    python3 experiments/final_test.py fresh [PROBLEM…]
        # shipped models and the first training seed of all others on instances of seed 6000, which nobody had seen:
        # lines `fresh-…` of results/checks.jsonl
    python3 experiments/final_test.py seeds [PROBLEM…]
        # further training seeds on the published instances: lines `seed-…` of results/checks.jsonl
    python3 experiments/final_test.py decisions
        # computing time of a decision; needs the Python package and an idle core

With half, all, twice and four times the agents, with failures halfway, with noise of sensors and actuators, with delay. Lines
that are there already are kept; models are those of experiments/train.py, or shipped ones. --dry prints the scores and records
nothing.
"""

import argparse
import time

from blocks.models import shipped
from cases import FAILURES, MORE, MORE_SEEDS, PROBLEMS, ROOT, SEEDS, SHIPPED, TEST_SEED, TESTED, changes, cinoc, commit, model, run_folder, run_name, shipped_name
from tables import put, read

# Shipped policies with what the paper had, or probably had: problem, words, changes, instances.
VARIANTS = (
    ("ks2d", "paper's lattice and time", ("swarm.staggered=false", "physics.ticks=25"), 50),
    ("ks2d", "paper's lattice, 5 time units", ("swarm.staggered=false",), 50),
    ("ks2d", "even lattice, 2.5 time units", ("physics.ticks=25",), 50),
    ("turbulence2d", "pushes up to 40", ("swarm.u_limit=40.0",), 20),
    ("turbulence2d", "square lattice", ("swarm.staggered=false",), 20),
    ("heat1d", "half the tick, 600 ticks", ("physics.dt=0.0005", "physics.ticks=600"), 200),
    ("heat1d", "twice the tick, 150 ticks", ("physics.dt=0.002", "physics.ticks=150"), 200),
    ("fkpp1d", "half the tick, 600 ticks", ("physics.dt=0.0005", "physics.ticks=600"), 200),
    ("fkpp1d", "twice the tick, 150 ticks", ("physics.dt=0.002", "physics.ticks=150"), 200),
)
FRESH_SEED = 6000
TICKS = 30
EACH = ("scores", "uncontrolled_scores")
"""Fields with a number for each instance: results/instances.jsonl."""


def rounded(score):
    """Four digits of a score; a word if it is not finite."""
    return float(f"{score:.3e}") if isinstance(score, float) else score


def cases(problem, setting):
    """Name and options of each case."""
    about = PROBLEMS[problem]
    m = about.agents
    yield "agents", ("--agents", m)
    if not setting.startswith("centralised"):
        yield "agents", ("--agents", f"{m // 2},{2 * m},{4 * m}")
    yield "deaths", ("--fail", FAILURES)
    yield "sensors", changes((f"swarm.sensor_noise={about.sensor_noise}",))
    yield "delay", changes(("swarm.delay=5",))
    yield "both", changes((f"swarm.sensor_noise={about.sensor_noise}", "swarm.delay=5"))
    yield "actuators", changes((f"swarm.actuator_noise={about.actuator_noise}",))


def tested_model(problem, name):
    """Model of a recorded run: its local file, else the shipped one if it is that of the run."""
    if not read("runs", run=name):
        # A run that continues has a model, too.
        return None
    if (path := run_folder(name) / "model.safetensors").exists():
        return path
    for setting in SHIPPED:
        public = shipped_name(problem, setting)
        if public and (best := shipped(problem, setting)) and best["run"] == name:
            return public
    return None


def test(problem, instances, dry):
    """All tested settings and seeds of a problem."""
    for name in (run_name(problem, setting, seed) for setting in TESTED for seed in SEEDS):
        known = set() if dry else {line["case"] for line in read("test", run=name)}
        tested = tested_model(problem, name)
        rows = []
        for case, options in cases(problem, name.split("/")[1].rsplit("-", 1)[0]) if tested else ():
            usual = case == "both" or options == ("--agents", PROBLEMS[problem].agents)
            single = usual and not dry and not read("instances", run=name, case=case)
            if case in known and not single:
                continue
            more = ("--instances", instances) if instances else ()
            for row in cinoc("eval", tested, "--seed", TEST_SEED, *options, *more, "--each"):
                row.pop("model")
                each = {key: [rounded(x) for x in row.pop(key)] for key in EACH}
                if case not in known:
                    rows.append({"run": name, "commit": commit(), "case": case, **row})
                if single and row["agents"] == PROBLEMS[problem].agents:
                    line = {"run": name, "commit": commit(), "case": case, "seed": TEST_SEED, **each}
                    put("instances", [line], run=name, case=case)
                print(f"{name}, {case}, {row['agents']} agents: relative error {row['ratio']:.3g}", flush=True)
        if rows and not dry:
            put("test", rows)


def variants(problems):
    """Adds the lines of the shipped models, in place of earlier ones."""
    for problem, words, settings, instances in VARIANTS:
        if problem in problems:
            (row,) = cinoc("eval", f"{problem}:sharp", "--seed", TEST_SEED, "--instances", instances, *changes(settings))
            row.pop("model")
            run = f"{problem}/{words}"
            put("variants", [{"run": run, "commit": commit(), "variant": words, "set": list(settings), **row}], run=run)
            print(f"{run}: relative error {row['ratio']:.3g}", flush=True)


def checked(claim, problem, setting, case, model, seed):
    """Adds the line of one evaluation to results/checks.jsonl unless it is there."""
    if read("checks", claim=claim):
        return
    about = PROBLEMS[problem]
    settings = (f"swarm.sensor_noise={about.sensor_noise}", "swarm.delay=5") if case == "both" else ()
    words = ("eval", model, "--seed", seed, "--instances", about.instances)
    (row,) = cinoc(*words, *changes(settings))
    line = {"run": f"checks/{claim}", "claim": claim, "problem": problem, "seed": seed, "n": row["instances"]}
    line |= {"command": " ".join(map(str, ("cinoc", *words, *changes(settings), "--json"))), "setting": setting}
    low, high = row["ratio_95"]
    line |= {"case": case, "quantity": "relative score", "value": row["ratio"], "low": low, "high": high}
    line |= {"score": row["score"]["mean"], "uncontrolled": row["uncontrolled"]["mean"], "commit": commit()}
    put("checks", [line], run=line["run"])
    print(f"{claim}: relative error {row['ratio']:.3g}", flush=True)


def fresh(problems):
    """Adds the lines of shipped models, and of all others with one training seed, on instances of a seed that nobody had
    seen."""
    for problem in problems:
        for setting in TESTED:
            named = shipped_name(problem, setting)
            name = run_name(problem, setting, 0)
            for case in ("agents", "both"):
                if named:
                    checked(f"fresh-{problem}-{setting}-{case}", problem, setting, case, named, FRESH_SEED)
                elif (run_folder(name) / "model.safetensors").exists() and read("runs", run=name):
                    path = run_folder(name).relative_to(ROOT)
                    checked(f"fresh-{problem}-{setting}-{case}", problem, setting, case, path, FRESH_SEED)


def more_seeds(problems):
    """Adds the lines of further training seeds."""
    for problem, setting in MORE:
        for seed in MORE_SEEDS if problem in problems else ():
            folder = run_folder(run_name(problem, setting, seed))
            for case in ("agents", "both") if (folder / "model.safetensors").exists() else ():
                checked(f"seed-{problem}-{setting}-{seed}-{case}", problem, setting, case, folder.relative_to(ROOT), TEST_SEED)


def decisions():
    """Seconds of computing per decision and agent, on one thread, as baselines/score.py measures it for the others."""
    import cinoc as package
    import numpy as np
    from cinoc.envs import Batch

    for problem, about in PROBLEMS.items():
        for setting in ("robust", "tuned", "paper"):
            name, instances = run_name(problem, setting, 0), about.instances
            if not (run_folder(name) / "model.safetensors").exists():
                continue
            policy = package.load(model(name))
            batch = Batch(problem, instances, preset=setting, stream="test")
            batch.seed([TEST_SEED] * instances, np.random.default_rng, index=np.arange(instances))
            batch.reset()
            policy.reset()
            each = []
            for _ in range(TICKS):
                seen = batch.observe()
                began = time.process_time()
                action = np.asarray(policy(seen))
                each.append((time.process_time() - began) / (instances * batch.agents))
                batch.step(action.reshape(instances, *batch.action_shape))
            line = {
                "run": name,
                "commit": commit(),
                "case": "decision",
                "seed": TEST_SEED,
                "problem": problem,
                "ticks": TICKS,
                "instances": instances,
                "agents": batch.agents,
                "decision_seconds": float(np.mean(each)),
                "median": float(np.median(each)),
                "least": float(np.min(each)),
            }
            put("test", [line], run=name, case="decision")
            print(f"{name}: {1e6 * line['decision_seconds']:.2g} µs", flush=True)


COMMANDS = {"variants": variants, "fresh": fresh, "seeds": more_seeds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "words", nargs="*", choices=[[], *COMMANDS, "decisions", *PROBLEMS], metavar=" | ".join((*COMMANDS, "decisions", "PROBLEM"))
    )
    parser.add_argument("--instances", type=int, help="fewer, for a trial with --dry")
    parser.add_argument("--dry", action="store_true")
    given = parser.parse_args()
    if given.instances and not given.dry:
        parser.error("--instances is for a trial: add --dry")
    problems = [word for word in given.words if word in PROBLEMS] or list(PROBLEMS)
    if "decisions" in given.words:
        decisions()
    elif named := [word for word in given.words if word in COMMANDS]:
        COMMANDS[named[0]](problems)
    else:
        for problem in problems:
            test(problem, given.instances, given.dry)


if __name__ == "__main__":
    main()
