"""Slopes on doubly logarithmic paper, from the tables of results/studies: how the total effort of a swarm and the distance of its gradient from the
mean-field limit fall with the number of agents. python3 experiments/slopes.py > results/studies/slopes.jsonl"""
import collections
import json
import math

from findings import rows, tables


def slope(points):
    """Least squares through the logarithms."""
    x, y = ([math.log(p[k]) for p in points] for k in (0, 1))
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def say(study, problem, line, seen, **what):
    """The slope of each policy, and of their mean."""
    by_policy = [slope(sorted(points)) for points in seen.values()]
    agents = sorted({m for points in seen.values() for m, _ in points})
    print(json.dumps({"study": study, "problem": problem, "line": line, **what, "agents": [agents[0], agents[-1]],
                      "slope": round(sum(by_policy) / len(by_policy), 3), "of_each_policy": [round(s, 3) for s in by_policy]}))


for path in sorted(tables.glob("cardinality-*.jsonl")):
    problem = path.stem.split("-")[1]
    for to in (8, 64):
        seen = collections.defaultdict(list)
        for r in rows(*path.stem.split("-")):
            if r["line"] == "ours" and 1 <= r["x"] <= to:
                seen[r["policy"]].append((r["agents"], r["agents"] * float(r["effort"])))
        say("cardinality", problem, "agents × effort", seen, to_times=to)
for path in sorted(tables.glob("meanfield-*.jsonl")):
    problem = path.stem.split("-")[1]
    lines = collections.defaultdict(lambda: collections.defaultdict(list))
    for r in rows(*path.stem.split("-")):
        lines[r["line"]][r["policy"]].append((r["agents"], float(r["value"])))
    for line, seen in lines.items():
        say("meanfield", problem, line, seen)
