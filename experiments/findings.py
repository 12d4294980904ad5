"""The page of what studies found, docs/findings.md, from results/studies alone: python3 experiments/findings.py.

One table per study: a row per problem and line of its picture, a column per place on the horizontal axis, in multiples of the usual number where
problems differ. Growth near rest has a table of its own. Studies that are not complete (no line in origin.jsonl) are left out.
"""
import collections
import json
import statistics
import tomllib

from results import AGENTS, root, top
from summary import number

tables = root / "studies"
MULTIPLES = {0.25: "¼", 0.5: "½", 0.75: "¾"}
AGENTS_TIMES, NODES_TIMES, PLAIN = "agents, times the usual number", "nodes along an axis, times the usual number", None
# Study: what its columns are, which of them, what a cell is.
STUDIES = {
    "cardinality": (AGENTS_TIMES, PLAIN, (0.25, 0.5, 0.75, 1, 2, 4, 8, 16, 32, 64), "score"),
    "failure": ("share of the agents that die", PLAIN, (0, 0.1, 0.3, 0.5, 0.7), "score"),
    "noise": ("standard deviation, of the field's size (sensors) or the largest push (actuators)", PLAIN, (0.0001, 0.001, 0.01, 0.03, 0.1), "score"),
    "delay": ("ticks from a decision to its effect", PLAIN, (0, 1, 2, 3, 4, 5), "score"),
    "physics": (AGENTS_TIMES, AGENTS_TIMES, (0.5, 1, 2, 4), "score"),
    "view": (AGENTS_TIMES, AGENTS_TIMES, (0.5, 1, 2, 4), "score"),
    "effort": (AGENTS_TIMES, AGENTS_TIMES, (0.5, 1, 2, 4), "score"),
    "resolution": (NODES_TIMES, NODES_TIMES, (0.5, 0.75, 1, 2, 4), "score"),
    "domain": ("length of the domain, times the usual one", PLAIN, (1, 2, 4, 8, 16), "score"),
    "horizon": ("time, in trained episodes", PLAIN, (0.5, 1, 2, 5, 10), "mean square of z − z*"),
    "places": (AGENTS_TIMES, AGENTS_TIMES, (0.5, 1, 2, 4), "score"),
    "meanfield": (AGENTS_TIMES, AGENTS_TIMES, (1, 2, 4, 8, 16, 32), "distance of gradients, relative"),
    "certificate": None,
}


def nodes(problem):
    """Nodes along the first axis of the trained grid."""
    physics = tomllib.loads((root / problem / "tuned-0" / "config.toml").read_text())["physics"]
    return physics.get("nodes") or physics["nodes_x"]


def origins():
    """The last complete run of each study of each problem."""
    return {(line["study"], line["problem"]): line for line in map(json.loads, (tables / "origin.jsonl").read_text().splitlines())}


def rows(study, problem):
    """All rows of a table, without its header."""
    return [row for line in (tables / f"{study}-{problem}.jsonl").read_text().splitlines()[1:] for row in json.loads(line)]


def value(row):
    """What the study asked for."""
    return float(row["value"])


def cell(found, of=value):
    """The mean over policies, and from the lowest to the highest where they differ by more than a factor of three."""
    values = [of(row) for row in found]
    if not values:
        return ""
    mean = number(statistics.fmean(values)) if max(values) < float("inf") else "∞"
    return mean if max(values) <= 3 * min(values) else f"{mean} ({number(min(values))} to {number(max(values)) if max(values) < float('inf') else '∞'})"


def table(study, problems, of=value):
    """A study's table."""
    title, unit, columns, _ = STUDIES[study]
    yield f"| | {title}: | " + " | ".join(MULTIPLES.get(c, f"{c:g}") if "times" in title else f"{c:g}" for c in columns) + " |"
    yield "|---|---|" + "---|" * len(columns)
    for problem in problems:
        found = rows(study, problem)
        size = {AGENTS_TIMES: AGENTS[problem], NODES_TIMES: nodes(problem)}.get(unit, 1)
        name = f"[`{problem}`](../results/studies/{study}-{problem}.svg)"
        for line in dict.fromkeys(row["line"] for row in found):
            places = collections.defaultdict(list)
            for row in found:
                if row["line"] == line:
                    places[row["x"] / size].append(row)
            # Small swarms, square lattices and grids have a few more or fewer than the multiple.
            nearest = {c: min(places, key=lambda x: abs(x - c)) for c in columns}
            at = lambda c: places[nearest[c]] if abs(nearest[c] - c) <= 0.13 * c else []
            yield f"| {name} | {line if line != 'ours' else ''} | " + " | ".join(cell(at(c), of) for c in columns) + " |"
            name = ""


def page():
    """The page, line by line."""
    known, about = origins(), {}
    for line in (top / "docs" / "studies.md").read_text().splitlines():
        if line.startswith("| `") and line.count("|") == 4:
            _, study, what, _, _ = (part.strip() for part in line.split("|"))
            about[study.strip("`")] = what
    yield "# What the studies found"
    yield ""
    yield "Built by `python3 experiments/findings.py` from the tables in `results/studies/`; how they are made is in [studies](studies.md), what follows from them in [the paper's claims](claims.md)."
    yield "Cells are means over three training seeds; where the seeds differ by more than a factor of three, the lowest and the highest stand beside. Unless said otherwise a cell is the mean score over that of the same instances left alone (instances of seed 4000; how many is in the tables). Names of problems lead to pictures with bands. Usual numbers of agents are those of the [results](results.md); recipes train with some others too ([training](training.md)). Policies that a study trains itself had a quarter of the recipe's updates, so compare them with one another; those of `meanfield` are the paper's, with 40 updates or none."
    for study, how in STUDIES.items():
        problems = [problem for problem in AGENTS if (study, problem) in known]
        if not how or not problems:
            continue
        yield from ("", f"## {study}", "")
        what = about[study]
        yield what[0].upper() + what[1:] + ("." if how[3] == "score" else f". Cells: {how[3]}.")
        yield ""
        yield from table(study, problems)
        if study in ("cardinality", "effort"):
            yield from ("", "Agents × effort, which is Σu² + 0.1·Σ|v|² of the swarm, mean over ticks:", "")
            yield from table(study, problems, lambda row: row["agents"] * float(row["effort"]))
    yield from ("", "## certificate", "")
    yield from certificate([problem for problem in AGENTS if ("certificate", problem) in known])
    yield from ("", "## How long they take", "")
    yield from durations(known)
    yield ""


def certificate(problems):
    """Growth near rest, predicted and seen, policy by policy: a mean would hide signs."""
    rates = {(problem, row["agents"], row["policy"], row["line"]): value(row) for problem in problems for row in rows("certificate", problem)}
    swarms = sorted({key[:3] for key in rates}, key=lambda swarm: (problems.index(swarm[0]), *swarm[1:]))
    pairs = {swarm: (rates[*swarm, "predicted"], rates[*swarm, "seen in runs"]) for swarm in swarms if (*swarm, "predicted") in rates}
    signs = sum(seen == seen and (predicted < 0) == (seen < 0) for predicted, seen in pairs.values())
    close = sum(abs(predicted - seen) < max(0.01, 0.05 * abs(predicted)) for predicted, seen in pairs.values())
    yield f"Growth of small disturbances of the field near rest, per unit of time, without what changes its sign in every tick: predicted / seen in runs, for the policies of three seeds, agents held where they come to rest. Growth or decay agrees on {signs} of {len(pairs)}, the rate too (to a twentieth, or 0.01 per unit of time) on {close}. On rings and tori the last columns have what is predicted for the infinite lattice, elsewhere what is predicted where agents are not held: above 0 they leave their places."
    yield ""
    yield "| | agents | seed 0 | 1 | 2 | infinite lattice, or agents moving: seed 0 | 1 | 2 |"
    yield "|---|---|---|---|---|---|---|---|"
    for problem, agents in dict.fromkeys(swarm[:2] for swarm in swarms):
        both = [" / ".join(f"{rate:+.3g}" for rate in pairs.get((problem, agents, seed), ())) for seed in range(3)]
        others = [rates.get((problem, agents, seed, "predicted, infinite lattice"), rates.get((problem, agents, seed, "predicted, agents moving"))) for seed in range(3)]
        yield f"| `{problem}` | {agents} | " + " | ".join(both + ["" if rate is None else f"{rate:+.3g}" for rate in others]) + " |"


def durations(known):
    """Minutes of one core, where they were noted."""
    # Older lines have seconds of the clock.
    spent = {key: line.get("computing_seconds", line.get("seconds", 0) * line.get("cores", 1)) for key, line in known.items()}
    timed = {key: seconds for key, seconds in spent.items() if seconds}
    yield f"Minutes of one core, three policies each, those that are trained included: {sum(timed.values()) / 3600:.1f} hours together. · was run before times were noted; an empty cell does not exist for the problem. Compilers ran beside some of them; one that was stopped and continued has the time since then."
    yield ""
    yield "| | " + " | ".join(f"`{problem}`" for problem in AGENTS) + " |"
    yield "|---|" + "---|" * len(AGENTS)
    for study in STUDIES:
        cells = (f"{timed[study, p] / 60:.0f}" if (study, p) in timed else "·" if (study, p) in known else "" for p in AGENTS)
        yield f"| `{study}` | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    (top / "docs" / "findings.md").write_text("\n".join(page()))
