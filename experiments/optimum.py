"""Best actions found for single instances, and receding horizon on ks1d: results/optimum.jsonl and results/nmpc.jsonl.

    python3 experiments/optimum.py gaps [PROBLEM…] [--instances N] [--iterations N] [--seed SEED]
    python3 experiments/optimum.py last      # ks1d: the best energy at the last tick, with seven and eight agents
    python3 experiments/optimum.py nmpc
        # ks1d: 20 ticks planned at every tick, on the instances of the test; hours on one core

A gap is the score of the shipped policy over that of the best actions found with the whole episode known: with half,
all and twice the agents, and with failures. Found actions are an upper bound of the optimum, so gaps are lower
bounds.
"""

import argparse

from cases import FAILURES, MODELS, PROBLEMS, ROOT, RUNS, TEST_SEED, changes, cinoc, commit
from tables import jsonl, put, read

LAST = ("cost.track=0.0", "cost.effort=0.0", "cost.last=1", "cost.last_log=0")
# Plans of `nmpc`: name, horizon, seed, instances, changes of the cost. All but the last chose the cost; "test" is the
# published one.
PLANS = (
    ("training_cost", 20, 1000, 4, ()),
    ("training_cost_40", 40, 1000, 4, ()),
    ("no_log", 20, 1000, 4, ("cost.last_log=0",)),
    ("no_log_no_last", 20, 1000, 4, ("cost.last_log=0", "cost.last=0")),
    ("test_training_cost", 20, TEST_SEED, 50, ()),
    ("test", 20, TEST_SEED, 50, ("cost.last_log=0",)),
)


def cases(agents):
    """Name, number of agents and share of failures of each case."""
    return (("M/2", agents // 2, 0), ("M", agents, 0), ("2M", 2 * agents, 0), ("failures", agents, FAILURES))


def gaps(problems, instances, iterations, seed):
    """Adds the rows of some problems, in place of their earlier ones."""
    for problem in problems:
        n, most = PROBLEMS[problem].optimum
        n, most = instances or n, iterations or most
        rows = []
        for case, agents, fail in cases(PROBLEMS[problem].agents):
            (r,) = cinoc(
                "optimum",
                MODELS / f"{problem}.safetensors",
                "--agents",
                agents,
                "--fail",
                fail,
                "--seed",
                seed,
                "--instances",
                n,
                "--iterations",
                most,
            )
            rows.append(
                {
                    "run": f"{problem}/gap-{case}",
                    "kind": "gap",
                    "problem": problem,
                    "commit": commit(),
                    "case": case,
                    "agents": r["agents"],
                    "instances": n,
                    "seed": seed,
                    "iterations": most,
                    "converged": r["converged"],
                    "policy_ratio": r["policy_ratio"],
                    "optimum_ratio": r["ratio"],
                    "gap_median": r["gap"]["median"],
                    "gap_worst": r["gap"]["worst"],
                }
            )
            print(rows[-1], flush=True)
        put("optimum", rows, kind="gap", problem=problem)


def last():
    """The best energy of ks1d at the last tick."""
    for agents in (7, 8):
        (row,) = cinoc("optimum", "ks1d", "--agents", agents, "--instances", 4, "--for", "cost", *changes(LAST))
        row.pop("model")
        put(
            "optimum",
            [{"run": f"ks1d/last-{agents}", "kind": "last", "commit": commit(), **row}],
            run=f"ks1d/last-{agents}",
        )


def nmpc():
    """Plans on one core, so that times are those of one; complete ones are not computed again."""
    folder = RUNS / "nmpc"
    folder.mkdir(parents=True, exist_ok=True)
    (row,) = cinoc("eval", "ks1d", "--seed", 1000, "--instances", 4)
    row.pop("model")
    put("nmpc", [{"run": "ks1d/nmpc-policy", "commit": commit(), **row}], run="ks1d/nmpc-policy")
    for name, horizon, seed, instances, cost in PLANS:
        run, file = f"ks1d/nmpc-{name}", folder / f"{name}.jsonl"
        if read("nmpc", run=run):
            continue
        if not file.exists() or "summary" not in jsonl(file)[-1]:
            cinoc(
                "optimum",
                "ks1d",
                "--every",
                1,
                "--threads",
                1,
                "--horizon",
                horizon,
                "--seed",
                seed,
                "--instances",
                instances,
                *changes(cost),
                "-o",
                file,
            )
        head, *lines, end = jsonl(file)
        head = {key: value for key, value in head.items() if key not in ("model", "problem", "seed")}
        put(
            "nmpc",
            [
                {
                    "run": run,
                    "problem": "ks1d",
                    "seed": seed,
                    "commit": commit(),
                    "request": head,
                    "instances": lines,
                    "summary": end["summary"],
                }
            ],
            run=run,
        )
        print(f"{run}: {file.relative_to(ROOT)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("gaps", "last", "nmpc"))
    parser.add_argument("problems", nargs="*", choices=[[], *PROBLEMS], metavar="PROBLEM")
    parser.add_argument("--instances", type=int)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--seed", type=int, default=TEST_SEED)
    given = parser.parse_args()
    if given.what == "gaps":
        gaps(given.problems or PROBLEMS, given.instances, given.iterations, given.seed)
    else:
        {"last": last, "nmpc": nmpc}[given.what]()


if __name__ == "__main__":
    main()
