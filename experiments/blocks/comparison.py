"""Comparison with the paper and of objectives, effort, ranges of agents."""

import functools

from blocks import block, cell, interval, number, table
from blocks.scores import SIGNS, TITLES, against_paper, best_learner, envelope, mean, method, published, receding, rows
from cases import METHODS, PROBLEMS


@block("published")
def published_table():
    """The paper's scores over its uncontrolled score."""
    out = []
    for problem, about in PROBLEMS.items():
        lines, (ratio, span) = method(problem, "tuned").of("agents", about.agents), published(problem)
        theirs = [number(about.paper.scores[name] / about.paper.uncontrolled) for name in METHODS[:-1]]
        out.append(
            [
                f"`{problem}`{SIGNS.get(problem, '')}",
                *theirs,
                f"{number(ratio)} ({interval(span)})",
                f"{number(mean(lines))} ({interval(envelope(lines))})",
                against_paper(problem, lines),
            ]
        )
    return table(
        ["problem", *(f"{TITLES[name]}, published" for name in METHODS), "ours", "ours against the paper"], out
    )


@block("one-objective")
def one_objective():
    """The same policies trained with our cost, which contains the score, and with that of the paper."""
    out = []
    for problem, about in PROBLEMS.items():

        def error(name):
            one = method(problem, name)
            lines = one.of("agents", about.agents) if one else ()
            return f"{cell(mean(lines))} ({len(lines)})" if lines else ""

        usual = [line for line in rows("classical") if line["problem"] == problem and line["case"] == "undisturbed"]
        best = {}
        for kind, names in (("whole", ("lqr", "lqg", "mpc")), ("local", ("local", "p", "pi"))):
            found = [line for line in usual if line["controller"] in names]
            best[kind] = min(found, key=lambda line: float(line["ratio"]), default=None)
        if plans := receding(problem):
            planned = {"ratio": mean(plans.of("agents", about.agents)), "controller": "mpc"}
            best["whole"] = min(filter(None, (best["whole"], planned)), key=lambda line: float(line["ratio"]))
        names = {"lqr": "LQR", "lqg": "LQG", "mpc": "MPC", "local": "LQG", "p": "P", "pi": "PI"}
        words = lambda line: f"{cell(line['ratio'])} ({names[line['controller']]})" if line else ""
        own = [error(name) for name in ("tuned", "paper-scored", "centralised-scored")]
        theirs = [error(name) for name in ("tuned-unscored", "paper", "centralised")]
        learned = best_learner(problem)
        learned = learned and learned.of("agents", about.agents)
        theirs.append(f"{cell(mean(learned))} ({len(learned)})" if learned else "")
        out.append([f"`{problem}`", *own, *theirs, words(best["local"]), words(best["whole"])])
    head = ["problem", "our cost: CINOC, sharp", "paper's policy", "DPC"]
    head += ["the paper's cost: CINOC, sharp", "paper's policy", "DPC", "best RL"]
    return table([*head, "best local classical", "best classical, whole field"], out)


@block("effort")
def effort_table():
    """Effort that each method spends, mean over agents and ticks of u² + 0.1·|v|²."""
    out = []
    for problem, about in PROBLEMS.items():
        found = [method(problem, name) for name in ("robust", "tuned", "paper", "centralised")] + [best_learner(problem)]
        out.append(
            [f"`{problem}`", *(cell(mean(one.of("agents", about.agents), "effort")) if one else "" for one in found)]
        )
    return table(["problem", "CINOC", "sharp", "paper's setting", "DPC", "best RL baseline"], out)


@block("variants")
def variants():
    """The shipped policies nearer to the paper's setting."""
    found = [
        [f"`{line['problem']}`", line["variant"], line["instances"], number(line["ratio"]), interval(line["ratio_95"])]
        for line in rows("variants")
    ]
    missing = [] if found else ["", "Not recorded yet; `python3 experiments/final_test.py variants` does it."]
    return [*table(["problem", "variant", "n", "relative error", "95 %"], found), *missing]


def within(shares, trained):
    """The smallest and the largest number of agents tried with all between within 250 %."""
    low = high = trained
    for m in sorted((m for m in shares if m < trained), reverse=True):
        if shares[m] > 2.5:
            break
        low = m
    for m in sorted(m for m in shares if m > trained):
        if shares[m] > 2.5:
            break
        high = m
    return low, high


@functools.cache
def shares(problem, seed):
    """Relative errors of one policy over that at the trained number of agents, from the study of numbers of agents."""
    study = next(line for line in rows("studies/cardinality") if line["problem"] == problem)
    found = {
        row["agents"]: float(row["value"]) for row in study["rows"] if row["policy"] == seed and row["line"] == "ours"
    }
    return {m: value / found[PROBLEMS[problem].agents] for m, value in found.items()}


def span(problem):
    """Numbers of agents within 250 % on every seed, in words."""
    trained = PROBLEMS[problem].agents
    each = [within(shares(problem, seed), trained) for seed in range(3)]
    low, high = max(a for a, _ in each), min(b for _, b in each)
    most = " (more were not tried)" if high == max(shares(problem, 0)) else ""
    seeds = f" (seeds: {'; '.join(f'{a}–{b}' for a, b in each)})" if len(set(each)) > 1 else ""
    return f"{low} to {high}{most}, {low / trained:.2g}–{high / trained:.2g}×{seeds}"


def published_span(problem):
    """The published range, in words."""
    found = PROBLEMS[problem].paper.agents
    if not found:
        return "none published"
    low, high, trained = found
    ring = " on a ring of length 32" if problem == "ks1d" else ""
    return f"{low} to {high} of {trained}{ring}, {low / trained:.2g}–{high / trained:.2g}×"


@block("ranges")
def ranges():
    """Numbers of agents with an error of at most 2.5 times that at the trained number."""
    return table(
        ["problem", "trained", "ours", "paper, with its policies", "instances there"],
        [
            [f"`{p}`", about.agents, span(p), published_span(p), about.paper.agents_instances or ""]
            for p, about in PROBLEMS.items()
        ],
    )
