"""Tables of the studies (results/studies/, transfer, rings, discs, gradient norms)."""

import collections
import math
import statistics

from blocks import block, interval, number, table
from blocks.scores import envelope, mean, rows, run
from cases import PROBLEMS, STUDIES_TRAINED, STUDIES_USED, run_name

MULTIPLES = {0.25: "¼", 0.5: "½", 0.75: "¾"}
AGENTS_TIMES, NODES_TIMES = "agents, times the usual number", "nodes along an axis, times the usual number"
# Study: title of the columns, unit of the horizontal axis, columns. Cells are relative errors unless the page says
# otherwise.
STUDIES = {
    "cardinality": (AGENTS_TIMES, None, (0.25, 0.5, 0.75, 1, 2, 4, 8, 16, 32, 64)),
    "failure": ("share of the agents that fail", None, (0, 0.1, 0.3, 0.5, 0.7)),
    "noise": (
        "standard deviation, of the field's size (sensors) or the largest push (actuators)",
        None,
        (0.0001, 0.001, 0.01, 0.03, 0.1),
    ),
    "delay": ("ticks from a decision to its effect", None, (0, 1, 2, 3, 4, 5)),
    "physics": (AGENTS_TIMES, AGENTS_TIMES, (0.5, 1, 2, 4)),
    "view": (AGENTS_TIMES, AGENTS_TIMES, (0.5, 1, 2, 4)),
    "effort": (AGENTS_TIMES, AGENTS_TIMES, (0.5, 1, 2, 4)),
    "resolution": (NODES_TIMES, NODES_TIMES, (0.5, 0.75, 1, 2, 4)),
    "domain": ("length of the domain, times the usual one", None, (1, 2, 4, 8, 16)),
    "horizon": ("time, in trained episodes", None, (0.5, 1, 2, 5, 10)),
    "positions": (AGENTS_TIMES, AGENTS_TIMES, (0.5, 1, 2, 4)),
    "meanfield": (AGENTS_TIMES, AGENTS_TIMES, (1, 2, 4, 8, 16, 32)),
}
ORDER = (*STUDIES, "stability")


def nodes(problem):
    """Nodes along the first axis of the trained grid."""
    physics = run(run_name(problem, "tuned", 0))["config"]["physics"]
    return physics.get("nodes") or physics["nodes_x"]


def value(row):
    """The quantity of the study."""
    return float(row["value"])


def total_effort(row):
    """Effort of the whole swarm."""
    return row["agents"] * float(row["effort"])


def cell(found, of=value):
    """The mean over policies, and from the lowest to the highest where they differ by more than a factor of three."""
    values = [of(row) for row in found]
    if not values:
        return ""
    middle = number(statistics.fmean(values)) if max(values) < float("inf") else "∞"
    return (
        middle
        if max(values) <= 3 * min(values)
        else f"{middle} ({number(min(values))} to {number(max(values)) if max(values) < float('inf') else '∞'})"
    )


def lines_of(study, problem, found, of):
    """A row for each line of the study's picture."""
    title, unit, columns = STUDIES[study]
    size = {AGENTS_TIMES: PROBLEMS[problem].agents, NODES_TIMES: nodes(problem)}.get(unit, 1)
    for line in dict.fromkeys(row["line"] for row in found):
        at = collections.defaultdict(list)
        for row in found:
            if row["line"] == line:
                at[row["x"] / size].append(row)
        # Small swarms, square lattices and grids have a few more or fewer than the multiple.
        nearest = {c: min(at, key=lambda x: abs(x - c)) for c in columns}
        near = lambda c: at[nearest[c]] if abs(nearest[c] - c) <= 0.13 * c else []
        yield [line.replace("places", "positions") if line != "ours" else "", *(cell(near(c), of) for c in columns)]


def study_table(study, of=value):
    """A study's table: a row per problem and line, a column per value of what is varied."""
    title, _, columns = STUDIES[study]
    out = []
    for one in rows(f"studies/{study}"):
        name = f"`{one['problem']}`"
        for line in lines_of(study, one["problem"], one["rows"], of):
            out.append([name, *line])
            name = ""
    return table(
        ["", f"{title}:", *(MULTIPLES.get(c, f"{c:g}") if "times" in title else f"{c:g}" for c in columns)], out
    )


LINEAR = ("centralised", "decentralised")
NOISE_AND_DELAY = (
    *(f"sensor noise {noise}" for noise in (0.001, 0.01, 0.03)),
    *(f"delay {ticks}" for ticks in (1, 2, 5)),
    *(f"noise {noise}, delay 5" for noise in (0.01, 0.03)),
)


def disturbance(bound):
    """The line of the scorecard with the disturbance of a bound."""
    noise, delay = f"{bound['sensor_noise']:g}", f"{bound['delay']:g}"
    if noise == delay == "0":
        return "undisturbed"
    if noise == "0":
        return f"delay {delay}"
    return f"sensor noise {noise}" if delay == "0" else f"noise {noise}, delay {delay}"


@block("scorecard")
def scorecard():
    """Relative errors of the robust policies under every disturbance; the tail is that of the worst instance."""
    found = {one["problem"]: one for one in sorted(rows("studies/robust"), key=lambda one: [*PROBLEMS].index(one["problem"]))}
    lines = list(dict.fromkeys(row["line"] for one in found.values() for row in one["rows"]))
    of = lambda problem, line: [row for row in found[problem]["rows"] if row["line"] == line]
    tail = lambda few, key: max(float(row[key]) / float(row["uncontrolled"]) for row in few)
    entry = lambda few: f"{cell(few)}, {number(tail(few, 'p95'))}, {number(tail(few, 'worst'))}" if few else ""
    bounds = collections.defaultdict(dict)
    for one in rows("bounds"):
        bounds[disturbance(one)][one["run"].split("/")[1]] = number(one["ratio"])
    bound = lambda line: ", ".join(bounds[line].get(kind, "") for kind in LINEAR) if line in bounds else ""
    head = ["mean, 95th percentile, worst", "`heat1d`, Kalman filters", *(f"`{problem}`" for problem in found)]
    counts = [
        ["policies, instances each", "", *(f"{len(of(p, lines[0]))}, {of(p, lines[0])[0]['instances']}" for p in found)]
    ]
    worst = lambda problem: max(
        max(value(row) for row in of(problem, line)) for line in lines if line in NOISE_AND_DELAY and of(problem, line)
    )
    clean = lambda problem: min(value(row) for row in of(problem, lines[0]))
    factors = ["worst cell of noise and delay over undisturbed", ""]
    factors += [number(worst(problem) / clean(problem)) for problem in found]
    return table(
        head, counts + [[line, bound(line), *(entry(of(problem, line)) for problem in found)] for line in lines] + [factors]
    )


@block("study", ORDER)
def study(name):
    """The table of a study."""
    return stability() if name == "stability" else study_table(name)


@block("effort", ("cardinality", "effort"))
def effort(name):
    """Agents × effort: Σu² + 0.1·Σ|v|² of the swarm, mean over ticks."""
    return study_table(name, total_effort)


def stability():
    """Growth rates predicted and simulated, policy by policy: a mean would hide signs."""
    found = rows("studies/stability")
    problems = [one["problem"] for one in found]
    rates = {
        (one["problem"], row["agents"], row["policy"], row["line"]): value(row) for one in found for row in one["rows"]
    }
    swarms = sorted({key[:3] for key in rates}, key=lambda swarm: (problems.index(swarm[0]), *swarm[1:]))
    pairs = {
        swarm: (rates[(*swarm, "predicted")], rates[(*swarm, "seen in runs")])
        for swarm in swarms
        if (*swarm, "predicted") in rates
    }
    signs = sum(seen == seen and (predicted < 0) == (seen < 0) for predicted, seen in pairs.values())
    close = sum(abs(predicted - seen) < max(0.01, 0.05 * abs(predicted)) for predicted, seen in pairs.values())
    out = []
    for problem, agents in dict.fromkeys(swarm[:2] for swarm in swarms):
        both = [" / ".join(f"{rate:+.3g}" for rate in pairs.get((problem, agents, seed), ())) for seed in range(3)]
        others = [
            rates.get(
                (problem, agents, seed, "predicted, infinite lattice"),
                rates.get((problem, agents, seed, "predicted, agents moving")),
            )
            for seed in range(3)
        ]
        out.append([f"`{problem}`", agents, *both, *("" if rate is None else f"{rate:+.3g}" for rate in others)])
    return [
        f"The sign agrees on {signs} of {len(pairs)} swarms, the rate too (to a twentieth, or 0.01 per unit of time) on {close}.",
        "",
        *table(
            [
                "",
                "agents",
                "predicted / simulated, seed 0",
                "1",
                "2",
                "infinite lattice, or agents moving: seed 0",
                "1",
                "2",
            ],
            out,
        ),
    ]


def slope(points):
    """Least squares through the logarithms."""
    x, y = ([math.log(p[k]) for p in points] for k in (0, 1))
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def slopes():
    """Slopes on doubly logarithmic axes of total effort and of the distance to the mean-field limit, for each
    policy."""

    def line(study, problem, name, seen, **what):
        each = [slope(sorted(points)) for points in seen.values()]
        agents = sorted({m for points in seen.values() for m, _ in points})
        return {
            "study": study,
            "problem": problem,
            "line": name,
            **what,
            "agents": [agents[0], agents[-1]],
            "slope": round(sum(each) / len(each), 3),
            "of_each_policy": [round(s, 3) for s in each],
        }

    for one in sorted(rows("studies/cardinality"), key=lambda one: one["problem"]):
        for to in (8, 64):
            seen = collections.defaultdict(list)
            for r in one["rows"]:
                if r["line"] == "ours" and 1 <= r["x"] <= to:
                    seen[r["policy"]].append((r["agents"], total_effort(r)))
            yield line("cardinality", one["problem"], "agents × effort", seen, to_times=to)
    for one in sorted(rows("studies/meanfield"), key=lambda one: one["problem"]):
        lines = collections.defaultdict(lambda: collections.defaultdict(list))
        for r in one["rows"]:
            lines[r["line"]][r["policy"]].append((r["agents"], value(r)))
        for name, seen in lines.items():
            yield line("meanfield", one["problem"], name, seen)


@block("slopes")
def slope_table():
    """The exponents."""
    each = lambda r: ", ".join(f"{s:+.2f}" for s in r["of_each_policy"])
    out = [
        [
            f"`{r['problem']}`",
            r["line"].replace("places", "positions"),
            f"{r['agents'][0]} to {r['agents'][1]}",
            f"{r['slope']:+.2f}",
            each(r),
        ]
        for r in slopes()
    ]
    return table(["problem", "quantity", "agents", "exponent", "of each policy"], out)


@block("transfer")
def transfer():
    """The paper's setting trained with and without noise or with 30 agents, used with other numbers of agents."""
    columns = STUDIES["cardinality"][2]
    out = []
    for one in rows("transfer"):
        for line in lines_of("cardinality", one["problem"], one["rows"], value):
            out.append([f"`{one['problem']}`", one["trained"], *line[1:]])
    return table(["", f"trained; {AGENTS_TIMES}:", *(MULTIPLES.get(c, f"{c:g}") for c in columns)], out)


@block("rings")
def rings():
    """The ks1d policies on longer rings, means over seeds."""
    groups = collections.defaultdict(list)
    for line in rows("rings"):
        groups[line["length"], line["agents"]].append(line)
    return table(
        ["length of the ring", "agents", "spacing", "n", "relative energy", "95 %"],
        [
            [
                length,
                agents,
                f"{length / agents:.2f}",
                lines[0]["instances"],
                number(mean(lines)),
                interval(envelope(lines)),
            ]
            for (length, agents), lines in groups.items()
        ],
    )


@block("discs")
def discs():
    """The policies of heat2d_obstacles with discs elsewhere or moving, means over seeds."""
    groups = collections.defaultdict(list)
    for line in rows("discs"):
        groups[line["set"]].append(line)
    of = lambda lines, key: [float(line["measures"][key]) for line in lines]
    return table(
        [
            "changed settings",
            "n",
            "relative error",
            "95 %",
            "agent-ticks inside a disc",
            "inside its margin",
            "smallest clearance",
        ],
        [
            [
                f"`{name}`",
                lines[0]["instances"],
                number(mean(lines)),
                interval(envelope(lines)),
                f"{100 * statistics.fmean(of(lines, 'violations')):.3f} %",
                f"{100 * statistics.fmean(of(lines, 'violations_margin')):.2f} %",
                f"{min(of(lines, 'clearance')):.4f}",
            ]
            for name, lines in groups.items()
        ],
    )


@block("gradients")
def gradients():
    """Norm of the first gradient against the length of the episode."""
    return table(
        ["problem", "ticks", "norm of the gradient"],
        [[f"`{line['problem']}`", line["ticks"], number(line["gradient"])] for line in rows("gradient_norms")],
    )

@block("senses")
def senses():
    """Inputs of the robust policy of heat1d left out or added."""
    (found,) = rows("studies/senses")
    grid = collections.defaultdict(list)
    for row in found["rows"]:
        name = row["line"].split(", ")[0]
        low, high = (number(float(row[key])) for key in ("low", "high"))
        grid[name].append(f"{number(value(row))} ({low} … {high})")
    return table(
        ["inputs", "undisturbed", "noise 0.01", "noise 0.01, delay 5"], [[name, *cells] for name, cells in grid.items()]
    )


@block("ablation")
def ablation():
    """Ingredients of the sharp recipe left out, and added to the paper's setting."""
    found = {one["problem"]: one["rows"] for one in rows("studies/ablation")}
    grid = collections.defaultdict(dict)
    for problem, lines in found.items():
        for line in dict.fromkeys(row["line"] for row in lines):
            name, _, case = line.partition(", ")
            values = sorted(value(row) for row in lines if row["line"] == line)
            grid[name][problem, case] = f"{number(statistics.geometric_mean(values))} ({number(values[0])} … {number(values[-1])})"
    cases = ("", "half the agents", "four times", "failures")
    head = [*(f"`{problem}`{case and ', ' + case}" for problem in found for case in cases)]
    lines = [[name, *(cells.get((problem, case), "") for problem in found for case in cases)] for name, cells in grid.items()]
    return table(["geometric mean (least … most) of three seeds", *head], lines)


CLASSICAL = (
    *("undisturbed", "noise 0.01", "delay 2", "delay 5", "noise 0.01, delay 5"),
    *("half the agents", "twice the agents"),
)


@block("classical")
def classical():
    """Classical controllers beside the shipped policies."""
    found = {(one["problem"], one["controller"], one["case"]): one for one in rows("classical")}
    names = {
        "lqr": "LQR or LQG, whole field, a design for each column",
        "lqg": "LQG, whole field, one design",
        "mpc": "MPC with limits, whole field, a design for each column",
        "local": "LQG, local, a design for each column",
        "p": "P, local",
        "pi": "PI, local",
        "pi-robust": "PI, local, trained with disturbances",
    }
    lines, error = [], lambda one: "diverged" if one["ratio"] == "inf" else number(one["ratio"])
    for problem in (problem for problem in PROBLEMS if any(key[0] == problem for key in found)):
        m = PROBLEMS[problem].agents
        columns = list(CLASSICAL)
        for controller, title in names.items():
            cells = [found.get((problem, controller, case)) for case in columns]
            if any(cells):
                lines.append([f"`{problem}`", title, *(error(one) if one else "" for one in cells)])
        for setting, title in (("robust", "CINOC"), ("tuned", "CINOC, sharp")):
            of = lambda one: one["run"].split("/")[1].rsplit("-", 1)[0] == setting and one["problem"] == problem
            tests = [one for one in rows("test") if of(one)]
            score = lambda case, agents: [one["ratio"] for one in tests if (one["case"], one["agents"]) == (case, agents)]
            both = {
                "undisturbed": score("agents", m),
                "noise 0.01": score("sensors", m),
                "delay 5": score("delay", m),
                "noise 0.01, delay 5": score("both", m),
                "half the agents": score("agents", m // 2),
                "twice the agents": score("agents", 2 * m),
            }
            lines.append(
                [f"`{problem}`", title, *(number(statistics.fmean(both[c])) if both.get(c) else "" for c in columns)]
            )
    return table(["problem", "controller", *columns], lines)


@block("durations")
def durations():
    """Minutes of one core."""
    spent = {
        (one["study"], one["problem"]): one["computing_seconds"]
        for name in (*STUDIES_USED, *STUDIES_TRAINED)
        for one in rows(f"studies/{name}")
    }
    known = {key: seconds for key, seconds in spent.items() if seconds}
    out = [
        [
            f"`{name}`",
            *(
                f"{known[name, p] / 60:.0f}" if (name, p) in known else "·" if (name, p) in spent else ""
                for p in PROBLEMS
            ),
        ]
        for name in ORDER
    ]
    return [
        f"Minutes of one core, three policies each, training included: {sum(known.values()) / 3600:.1f} hours in all (·: not timed).",
        "",
        *table(["", *(f"`{problem}`" for problem in PROBLEMS)], out),
    ]
