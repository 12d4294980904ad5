"""Intervals that include the training seed, paired ratios and performance profiles: results/uncertainty.jsonl.

    python3 experiments/uncertainty.py

From the scores of single instances (results/instances.jsonl, written by experiments/final_test.py).

- `interval`: relative error of a setting on a problem. Hierarchical bootstrap: training seeds are drawn with
  replacement, then instances, the same for all seeds and for the uncontrolled score.
- `paired`: mean score of one setting over that of another on the same instances, drawn likewise.
- `profile`: share of runs, an instance of a training seed each, with a relative error of at most τ, as in Agarwal et
  al., "Deep reinforcement learning at the edge of the statistical precipice" (NeurIPS 2021); all problems have the same
  weight.

With three seeds an interval tells how much these three differ; it is no reliable estimate for further ones.
"""

import random
import statistics

from cases import PROBLEMS, SEEDS, TESTED, commit, run_name
from tables import read, write

DRAWS = 1000
CASES = ("agents", "both")
"""Undisturbed; sensor noise and delay."""
PAIRS = (("robust", "tuned"), ("tuned", "paper-scored"), ("tuned", "centralised-scored"), ("tuned", "tuned-unscored"))
THRESHOLDS = tuple(10 ** (exponent / 4) for exponent in range(-32, 3))


def quantiles(values):
    """2.5 % and 97.5 % quantiles."""
    values = sorted(values)
    return [values[int(share * (len(values) - 1))] for share in (0.025, 0.975)]


def drawn(rng, seeds, instances):
    """Mean score of a draw of training seeds on given instances."""
    chosen = rng.choices(seeds, k=len(seeds))
    return statistics.fmean(sum(scores[i] for i in instances) / len(instances) for scores in chosen)


def interval(seeds, uncontrolled, rng):
    """Relative error of the mean over seeds, and its 95 % interval."""
    n = len(uncontrolled)
    found = []
    for _ in range(DRAWS):
        instances = rng.choices(range(n), k=n)
        found.append(drawn(rng, seeds, instances) / (sum(uncontrolled[i] for i in instances) / n))
    centre = statistics.fmean(map(statistics.fmean, seeds)) / statistics.fmean(uncontrolled)
    return {"ratio": centre, "ratio_95": quantiles(found)}


def paired(one, other, rng):
    """Mean score of one setting over that of another, and its 95 % interval."""
    n, found = len(one[0]), []
    for _ in range(DRAWS):
        instances = rng.choices(range(n), k=n)
        found.append(drawn(rng, one, instances) / drawn(rng, other, instances))
    centre = statistics.fmean(map(statistics.fmean, one)) / statistics.fmean(map(statistics.fmean, other))
    return {"factor": centre, "factor_95": quantiles(found)}


def profile(problems):
    """Shares of runs below each threshold; a list of relative errors per problem."""
    return [statistics.fmean(sum(x <= most for x in errors) / len(errors) for errors in problems) for most in THRESHOLDS]


def scores(problem, setting, case):
    """Scores of each training seed and uncontrolled ones; none if the setting was not tested."""
    lines = [line for seed in SEEDS for line in read("instances", run=run_name(problem, setting, seed), case=case)]
    tested = {line["run"] for line in read("test", problem=problem, case=case)}
    missing = [name for seed in SEEDS if (name := run_name(problem, setting, seed)) in tested and not read("instances", run=name, case=case)]
    if missing and case == CASES[0]:
        print(f"no scores of single instances of {', '.join(missing)}; make them by  experiments/final_test.py {problem}")
    if not lines:
        return None
    return [[float(x) for x in line["scores"]] for line in lines], [float(x) for x in lines[0]["uncontrolled_scores"]]


def main():
    rng, lines, errors = random.Random(0), [], {}
    for problem in PROBLEMS:
        for case in CASES:
            known = {setting: found for setting in TESTED if (found := scores(problem, setting, case))}
            for setting, (seeds, uncontrolled) in known.items():
                about = {"run": f"{problem}/{setting}", "case": case, "seeds": len(seeds), "instances": len(uncontrolled)}
                lines.append({"kind": "interval", **about, **interval(seeds, uncontrolled, rng)})
                mean = statistics.fmean(uncontrolled)
                errors.setdefault((setting, case), {})[problem] = [x / mean for one in seeds for x in one]
            for one, other in PAIRS:
                if one in known and other in known:
                    about = {"run": f"{problem}/{one} over {other}", "case": case}
                    lines.append({"kind": "paired", **about, **paired(known[one][0], known[other][0], rng)})
    for (setting, case), problems in errors.items():
        shares = profile(list(problems.values()))
        about = {"run": setting, "case": case, "problems": list(problems)}
        lines.append({"kind": "profile", **about, "thresholds": THRESHOLDS, "shares": shares})
    write("uncertainty", [{**line, "commit": commit()} for line in lines])
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    main()
