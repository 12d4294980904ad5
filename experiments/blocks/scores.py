"""Scores on the instances of the test: README, results, comparison, pages of problems, cards of models."""

import functools
import math
import random
import statistics

from blocks import block, cell, interval, number, table
from cases import LEARNERS, METHODS, PROBLEMS, SETTINGS, SHIPPED, TESTED, WITHHELD, run_name, shipped_name
from tables import read

TITLES = {"ppo": "PPO", "td3": "TD3", "mappo": "MAPPO", "matd3": "MATD3", "dpc": "DPC", "cinoc": "CINOC"}
HERE = {"tuned": "cinoc", "paper": "cinoc", "centralised": "dpc"}
SIGNS = {"ks2d": "¹", "density2d": "²"}


@functools.cache
def rows(name):
    """A table, read once."""
    return read(name)


class Method:
    """Test lines of one method on one problem, a list per training seed, and the seconds of their training."""

    def __init__(self, name, title, seeds, training):
        self.name, self.title, self.seeds, self.training = name, title, seeds, training

    def of(self, case, agents=None):
        """The lines of a case, one per seed."""
        found = [
            next((line for line in lines if line["case"] == case and agents in (None, line["agents"])), None)
            for lines in self.seeds
        ]
        return [line for line in found if line]


def run(name):
    """A training run."""
    return next(line for line in rows("runs") if line["run"] == name)


def ours(problem, setting):
    """A setting of ours: results/test.jsonl."""
    by_run = {}
    for line in rows("test"):
        if (
            line["problem"] == problem
            and line["case"] != "decision"
            and line["run"].split("/")[1].rsplit("-", 1)[0] == setting
        ):
            by_run.setdefault(line["run"], []).append(line)
    names = sorted(by_run)
    return (
        Method(
            setting,
            SETTINGS[setting].title,
            [by_run[name] for name in names],
            [run(name)["train"]["seconds"] for name in names],
        )
        if names
        else None
    )


def case(line):
    """The case of a line of a baseline's test, in the words of ours."""
    noise = "".join(line.get("changes", {}))
    return (
        "deaths"
        if line.get("fail")
        else "sensors"
        if "sensor" in noise
        else "actuators"
        if "actuator" in noise
        else "agents"
    )


def learner(problem, method):
    """A baseline: the best weights on validation instances. Runs that were stopped or of a search do not count."""
    seeds, seconds = [], []
    for line in rows("baselines"):
        tests = [test for test in line["test"] if test["weights"] == "best"]
        if (line["problem"], line["method"]) != (problem, method) or not tests or not line["end"] or line["set"]:
            continue
        seconds.append(max(line["curve"]["cpu"]))
        seeds.append(
            [{**test, "case": case(test), "agents": test.get("agents") or PROBLEMS[problem].agents} for test in tests]
        )
    return Method(method, LEARNERS[method], seeds, seconds) if seeds else None


def receding(problem):
    """Receding horizon: nothing is trained, a decision is one for all agents (experiments/optimum.py nmpc)."""
    line = next((line for line in rows("nmpc") if line["run"] == f"{problem}/nmpc-test"), None)
    if not line:
        return None
    found, agents = line["instances"], line["request"]["agents"]
    left = lambda drawn: sum(one["score"] for one in drawn) / sum(one["uncontrolled"] for one in drawn)
    rng = random.Random(line["seed"])
    ratios = sorted(left(rng.choices(found, k=len(found))) for _ in range(2000))
    of_test = {
        "case": "agents",
        "agents": agents,
        "instances": len(found),
        "ratio": left(found),
        "ratio_95": (ratios[50], ratios[-51]),
        **{key: statistics.fmean(one[key] for one in found) for key in ("score", "uncontrolled")},
        "decision_seconds": statistics.fmean(one["seconds"] for one in found) / agents,
    }
    return Method("nmpc", "NMPC (20 ticks ahead)", [[of_test]], [])


@functools.cache
def methods(problem):
    """All methods that were run on a problem."""
    found = [
        *(ours(problem, setting) for setting in TESTED),
        receding(problem),
        *(learner(problem, method) for method in LEARNERS),
    ]
    return [method for method in found if method]


def method(problem, name):
    """One of them, or none."""
    return next((one for one in methods(problem) if one.name == name), None)


def best_learner(problem):
    """The baseline of reinforcement learning with the lowest relative error, DeepONet actors included."""
    found = [one for one in methods(problem) if one.name in LEARNERS and one.name != "cinoc"]
    return min(found, key=lambda one: mean(one.of("agents", PROBLEMS[problem].agents)), default=None)


def mean(lines, key="ratio"):
    """Mean over training seeds; of the mean where a score is a summary."""
    found = [
        float(line[key]["mean"] if isinstance(line[key], dict) else line[key])
        for line in lines
        if line.get(key) is not None
    ]
    return statistics.fmean(found) if found else None


def envelope(lines):
    """From the lowest to the highest end of the 95 % intervals of the seeds; none if one is missing."""
    pairs = [line.get("ratio_95") or line.get("interval") for line in lines]
    return (min(float(p[0]) for p in pairs), max(float(p[1]) for p in pairs)) if pairs and all(pairs) else None


def published(problem):
    """The paper's relative error and an interval of it: rounding and 1.96 standard errors; its uncontrolled score is
    taken as exact."""
    paper = PROBLEMS[problem].paper
    score = paper.scores["cinoc"]
    reach = paper.half_digit + 1.96 * paper.spread / 2 / math.sqrt(paper.instances)
    return score / paper.uncontrolled, ((score - reach) / paper.uncontrolled, (score + reach) / paper.uncontrolled)


def verdict(lines, theirs):
    """Comparison of the interval of each seed with the paper's, in words."""
    words = [
        "lower" if float(r["ratio_95"][1]) < theirs[0] else "higher" if float(r["ratio_95"][0]) > theirs[1] else "a tie"
        for r in lines
    ]
    if len(set(words)) == 1:
        return words[0]
    return (
        ", ".join(f"{w} on {words.count(w)}" for w in ("lower", "a tie", "higher") if w in words)
        + f" of {len(words)} seeds"
    )


# Published scores that are not the same quantity as ours: words instead of a comparison of intervals.
NOT_ALIKE = {
    "ks2d": "lower; on the paper's lattice and at its time a tie",
    "density2d": "lower, if the published column is a mean squared error",
}


def against_paper(problem, lines):
    """The verdict on a problem, with what limits it."""
    return NOT_ALIKE.get(problem) or verdict(lines, published(problem)[1])


def failed(lines):
    """The true count of failed agents."""
    return f"{lines[0]['dead']} of {lines[0]['agents']}"


def default(problem):
    """The setting of the model that a problem's name stands for."""
    return method(problem, next(setting for setting in SHIPPED if shipped_name(problem, setting) == problem))


@block("results")
def results():
    """The table of README: the default policy, the sharp one, and others."""
    out = []
    for problem, about in PROBLEMS.items():
        m, own, sharp, best = about.agents, default(problem), method(problem, "tuned"), best_learner(problem)
        usual, half, more = (own.of("agents", count) for count in (m, m // 2, 4 * m))
        deaths = own.of("deaths")
        direct = method(problem, "centralised")
        out.append(
            [
                f"`{problem}`{SIGNS.get(problem, '')}",
                f"{m}, {usual[0]['instances']}",
                f"**{cell(mean(usual))}** ({interval(envelope(usual))})",
                cell(mean(own.of("both"))),
                f"{cell(mean(half))} ({half[0]['agents']})",
                f"{cell(mean(more))} ({4 * m})" if more else "",
                f"{cell(mean(deaths))} ({failed(deaths)})",
                f"{cell(mean(sharp.of('agents', m)))}; {cell(mean(sharp.of('both')))}",
                number(published(problem)[0]),
                cell(mean(direct.of("agents", m))) if direct else "",
                f"{cell(mean(best.of('agents', m)))} ({TITLES.get(best.name, best.title)})" if best else "",
            ]
        )
    head = [
        "problem",
        "agents, n",
        "CINOC (95 %)",
        "with noise and delay",
        "half the agents",
        "four times the agents",
        "failures halfway",
        "sharp; with noise and delay",
        "paper, published",
        "DPC, trained here",
        "best RL baseline",
    ]
    return [*table(head, out), "", *footnotes()]


def footnotes():
    """What two rows compare, with the figures of results/variants.jsonl, and numbers of training seeds."""
    like = next((line for line in rows("variants") if line["run"] == "ks2d/paper's lattice and time"), None)
    found = f": {number(like['ratio'])} ({interval(like['ratio_95'])})" if like else ""
    few = {count: [f"`{one}`" for one in PROBLEMS if len(default(one).seeds) == count] for count in (2, 1)}
    words = [f"{word} for {', '.join(few[count])}" for count, word in ((2, "two"), (1, "one")) if few[count]]
    ours = "Three training seeds" + (f", of the default policies {', '.join(words)}" if words else "")
    single = any(len(method(problem, "tuned").of("both")) < 3 for problem in PROBLEMS)
    return [
        f"¹ Lattice and time differ from the paper's; with its own a tie (sharp policy){found}. ",
        "² The paper labels its column moment matching loss, ours is the mean squared error. ",
        "*Sharp*: trained without disturbances. *Noise and delay*: 1 % and five ticks.",
        f"{ours}; {'sharp with noise and delay one; ' if single else ''}DPC and RL one on `turbulence2d`, DPC two on `density2d`.",
        "Empty: not trained.",
    ]


@block("methods")
def all_methods():
    """Every method on every problem."""
    out = []
    for problem, about in PROBLEMS.items():
        uncontrolled = mean(methods(problem)[0].of("agents", about.agents), "uncontrolled")
        out += [
            f"### {problem}",
            "",
            f"{about.agents} agents; score: {about.score}; uncontrolled {cell(uncontrolled)}, in the paper {about.paper.uncontrolled:g}.",
            "",
            *method_table(problem),
            "",
            "Relative error without further training: other numbers of agents, failures halfway, 1 % noise.",
            "",
            *transfer_table(problem),
            "",
        ]
    return out[:-1]


def decision(problem, name):
    """Seconds of computing per decision and agent of a policy of ours."""
    return next(
        (
            line["decision_seconds"]
            for line in rows("test")
            if line["case"] == "decision" and line["run"] == run_name(problem, name, 0)
        ),
        None,
    )


def method_table(problem):
    """Every method with the problem's number of agents."""
    about, out = PROBLEMS[problem], []
    for one in methods(problem):
        if lines := one.of("agents", about.agents):
            seconds = mean(lines, "decision_seconds") or decision(problem, one.name)
            theirs = about.paper.scores.get(HERE.get(one.name, one.name)) if one.title != LEARNERS["cinoc"] else None
            out.append(
                [
                    one.title,
                    len(lines) if one.training else "",
                    lines[0].get("instances", ""),
                    cell(mean(lines, "score")),
                    cell(theirs),
                    cell(mean(lines)),
                    interval(envelope(lines)),
                    cell(mean(lines, "effort")),
                    cell(statistics.fmean(one.training) / 60) if one.training else "",
                    cell(seconds * 1e6) if seconds else "",
                ]
            )
    return table(
        [
            "method",
            "seeds",
            "n",
            "score",
            "published",
            "relative error",
            "95 %",
            "effort",
            "training, min",
            "µs per decision and agent",
        ],
        out,
    )


def transfer_cells(one, m):
    """Relative errors with other numbers of agents, failures and noise."""
    cells = [cell(mean(one.of("agents", count))) for count in (m // 2, m, 2 * m, 4 * m)]
    return cells + [cell(mean(one.of(case))) for case in ("deaths", "sensors", "actuators")]


def transfer_table(problem):
    """Other numbers of agents, failures and noise, without training."""
    m = PROBLEMS[problem].agents
    out = [[one.title, *cells] for one in methods(problem) if sum(map(bool, cells := transfer_cells(one, m))) > 1]
    return table(
        [
            "method",
            f"{m // 2} agents",
            m,
            2 * m,
            4 * m,
            f"failures ({failed(method(problem, 'tuned').of('deaths'))})",
            "sensor noise",
            "actuator noise",
        ],
        out,
    )


@block("last-weights")
def last_weights():
    """Best weights in validation against the weights after the last update, instances of seed 3000."""
    out = []
    for problem in PROBLEMS:
        for setting in TESTED:
            group = {}
            for line in rows("weights"):
                if line["problem"] == problem and line["run"].split("/")[1].rsplit("-", 1)[0] == setting:
                    group.setdefault(line["run"], {})[line["weights"]] = line
            pairs = [pair for pair in group.values() if "last" in pair]
            if pairs:
                best, last = ([pair[key] for pair in pairs] for key in ("best", "last"))
                out.append(
                    [
                        f"`{problem}`",
                        SETTINGS[setting].title,
                        len(pairs),
                        best[0]["instances"],
                        cell(mean(best)),
                        interval(envelope(best)),
                        cell(mean(last)),
                        interval(envelope(last)),
                    ]
                )
    return table(["problem", "setting", "seeds", "n", "best weights", "95 %", "last weights", "95 %"], out)


@block("tails")
def tails():
    """Single instances against the mean."""
    out = []
    for problem, about in PROBLEMS.items():
        own = method(problem, "tuned")
        for title, lines in (
            ("", own.of("agents", about.agents)),
            (f"failures ({failed(own.of('deaths'))})", own.of("deaths")),
        ):
            of = lambda key: [float(line["score"][key]) / line["uncontrolled"]["mean"] for line in lines]
            out.append(
                [
                    f"`{problem}`",
                    title,
                    lines[0]["instances"],
                    *(number(statistics.fmean(of(key))) for key in ("mean", "median", "p95")),
                    number(max(of("worst"))),
                ]
            )
    return table(["problem", "case", "n", "mean", "median", "95 % below", "worst of all seeds"], out)


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


@block("scores", PROBLEMS)
def scores(problem):
    """All methods on the page of a problem."""
    about, out = PROBLEMS[problem], []
    for one in methods(problem):
        if lines := one.of("agents", about.agents):
            said = f" ({against_paper(problem, lines)})" if one.name == "tuned" else ""
            out.append(
                [
                    one.title + (", trained here" if one.name in ("paper", "centralised") else ""),
                    cell(mean(lines, "score")),
                    cell(mean(lines)) + said,
                    interval(envelope(lines)),
                    lines[0].get("instances", ""),
                    len(lines) if one.training else "",
                ]
            )
    for name in reversed(METHODS):
        score = about.paper.scores[name]
        own = name == "cinoc"
        out.append(
            [
                f"published: {TITLES[name]}",
                number(score),
                number(score / about.paper.uncontrolled),
                interval(published(problem)[1]) if own else "",
                about.paper.instances if own else "",
                "",
            ]
        )
    uncontrolled = mean(method(problem, "tuned").of("agents", about.agents), "uncontrolled")
    return [
        f"{about.agents} agents; score: {about.score}; uncontrolled {cell(uncontrolled)} on the test instances (seed 5000), {about.paper.uncontrolled:g} on the paper's.",
        "",
        *table(["method", "score", "relative error", "95 %", "n", "training seeds"], out),
    ]


@block("swarms", PROBLEMS)
def swarms(problem):
    """The recipe with other swarms, on the page of a problem."""
    m, own = PROBLEMS[problem].agents, method(problem, "tuned")
    drawn = sorted(set(run(run_name(problem, "tuned", 0))["config"]["train"]["agents"])) or [m]
    head = [
        "",
        f"{m // 2} agents",
        m,
        2 * m,
        4 * m,
        f"failures halfway ({failed(own.of('deaths'))})",
        "sensor noise, 1 %",
        "actuator noise, 1 %",
    ]
    return [
        f"The sharp policies, means over three training seeds, without further training. Trained with {', '.join(map(str, drawn))} agents.",
        "",
        *table(head, [["relative error", *transfer_cells(own, m)]]),
        "",
        f"Within 2.5 times the error at {m} agents, on every seed: {span(problem)}. In the paper, with its policies: {published_span(problem)}.",
    ]


@block("settings", PROBLEMS)
def settings(problem):
    """Settings of the recipe."""
    config = run(run_name(problem, "tuned", 0))["config"]
    line = lambda section: ", ".join(
        f"{key} {value}".lower() if isinstance(value, bool) else f"{key} {value}"
        for key, value in config[section].items()
    )
    sections = ("physics", "swarm", "observe", "cost", "policy", *(("obstacles",) if "obstacles" in config else ()))
    return table(["", "settings of our recipe"], [[f"`{section}`", line(section)] for section in sections])


def shipped(problem, setting):
    """The published run of a recipe: the lowest score on its validation instances, of runs that are not withheld; test
    instances have no say in it. None if it was not trained."""
    return min(
        (
            line
            for line in rows("runs")
            if line["problem"] == problem and line["setting"] == setting and line["run"] not in WITHHELD
        ),
        key=lambda line: line["train"]["validation"],
        default=None,
    )


def known_agents(problem, setting, best):
    """Numbers of agents within 2.5 times the error at the trained number: by the study of numbers of agents, or by the
    test where the study has other policies."""
    trained = PROBLEMS[problem].agents
    if setting == "tuned":
        return within(shares(problem, best["seed"]), trained)
    found = {
        one["agents"]: float(one["ratio"])
        for one in rows("test")
        if one["run"] == best["run"] and one["case"] == "agents"
    }
    return within({count: ratio / found[trained] for count, ratio in found.items()}, trained)


def facts(problem, setting):
    """Figures of a shipped model that the program knows."""
    best, trained = shipped(problem, setting), PROBLEMS[problem].agents
    line = next(
        one
        for one in rows("test")
        if one["run"] == best["run"] and one["case"] == "agents" and one["agents"] == trained
    )
    return {
        "problem": problem,
        "ratio": float(f"{line['ratio']:.3e}"),
        "ratio_median": float(f"{line['ratio_median']:.3e}"),
        "agents": list(known_agents(problem, setting, best)),
        "trained": trained,
        "seed": best["seed"],
        "instances": line["instances"],
    }


@block("card", PROBLEMS)
def card(problem):
    """The cards of the shipped models of a problem."""
    there = [setting for setting in SHIPPED if shipped_name(problem, setting) and shipped(problem, setting)]
    return [line for setting in there for line in ("", *one_card(problem, setting))][1:]


def delays(problem, setting, best):
    """What is known of delays."""
    if setting == "tuned":
        late = {
            row["x"]: float(row["value"])
            for one in rows("studies/delay")
            if one["problem"] == problem
            for row in one["rows"]
            if row["policy"] == best["seed"] and row["line"] == "trained without delay"
        }
        found = ", ".join(number(late[ticks]) for ticks in (0, 1, 2, 3))
        return [f"- **Delay** of 0, 1, 2, 3 ticks (study, seed 4000): relative error {found}."]
    found = next(one for one in rows("studies/robust") if one["problem"] == problem)
    of = {row["line"]: row for row in found["rows"] if row["trained"] == best["seed"]}
    part = lambda row, key: number(float(row[key]) / float(row["uncontrolled"]))
    lines = [[name, number(float(row["value"])), part(row, "p95"), part(row, "worst")] for name, row in of.items()]
    some = next(iter(of.values()))
    return [
        f"- **Tolerance** (`cinoc study robust {problem}`, {some['instances']} instances of seed {found['seed']}):",
        "",
        *table(["disturbance", "relative error", "95 % below", "worst"], lines),
        "",
    ]


def one_card(problem, setting):
    """The card of a shipped model."""
    best, trained, name = shipped(problem, setting), PROBLEMS[problem].agents, shipped_name(problem, setting)
    of = lambda case, agents=None: next(
        r for r in rows("test") if r["run"] == best["run"] and r["case"] == case and agents in (None, r["agents"])
    )
    usual, failures = of("agents", trained), of("deaths")
    s, known = usual["score"], facts(problem, setting)
    counts = [trained // 2, trained, 2 * trained, 4 * trained]
    cases = [of("agents", count) for count in counts] + [failures, of("sensors"), of("actuators")]
    over = lambda key: [number(float(r["score"][key]) / r["uncontrolled"]["mean"]) for r in cases]
    drawn = sorted(set(best["config"]["train"]["agents"]) or {trained})
    seeds = sum(line["problem"] == problem and line["setting"] == setting for line in rows("runs"))
    chosen = f"one of {seeds} seeds" if seeds > 1 else "the only seed"
    preset = SETTINGS[setting].preset
    return [
        f"## {name}",
        "",
        f"- **Training**: `cinoc train {problem} --preset {preset} --seed {best['seed']}` at commit {best['commit']}, with {', '.join(map(str, drawn))} agents; seed and "
        f"parameters (update {best['train']['best_update']} of {best['train']['updates']}, {chosen}) were chosen on validation instances.",
        f"- **Score** ({PROBLEMS[problem].score}) on {usual['instances']} test instances of seed {usual['seed']} with {trained} agents: mean {s['mean']:.2e}, uncontrolled "
        f"{usual['uncontrolled']['mean']:.3g}; relative error {usual['ratio']:.2e} (95 % by bootstrap: {usual['ratio_95'][0]:.2e} to {usual['ratio_95'][1]:.2e}).",
        f"- **Numbers of agents**: from {known['agents'][0]} to {known['agents'][1]} the relative error is at most 2.5 times that with {trained}.",
        *delays(problem, setting, best),
        f"- **Reproduce**: `cinoc eval {name} --seed {usual['seed']} --agents {','.join(map(str, counts))}`, `cinoc eval {name} --seed {usual['seed']} --fail 0.3`.",
        "",
        "Relative errors over the instances:",
        "",
        *table(
            [
                "",
                *(f"{count} agents" for count in counts),
                f"failures ({failed([failures])})",
                "sensor noise, 1 %",
                "actuator noise, 1 %",
            ],
            [
                ["n", *(r["instances"] for r in cases)],
                ["mean", *over("mean")],
                ["median", *over("median")],
                ["95 % below", *over("p95")],
                ["worst", *over("worst")],
            ],
        ),
    ]


@block("uncertainty")
def uncertainty():
    """Intervals that include the training seed, and paired ratios of the default and the sharp policies."""
    found = {(line["run"], line["case"]): line for line in rows("uncertainty") if line["kind"] != "profile"}
    out = []
    for problem in PROBLEMS:
        one = lambda setting, case: found.get((f"{problem}/{setting}", case))
        cells = [f"`{problem}`"]
        for setting, case in (("robust", "agents"), ("robust", "both"), ("tuned", "agents"), ("tuned", "both")):
            line = one(setting, case)
            cells.append(line and f"{number(line['ratio'])} ({interval(line['ratio_95'])}; {line['seeds']})" or "")
        for case in ("agents", "both"):
            line = one("robust over tuned", case)
            cells.append(line and f"{number(line['factor'])} ({interval(line['factor_95'])})" or "")
        out.append(cells)
    head = [f"{name}, {case}" for name in ("default", "sharp") for case in ("undisturbed", "noise and delay")]
    return table(["problem", *head, "default over sharp, undisturbed", "noise and delay"], out)


@block("fresh")
def fresh():
    """Shipped models on instances of seed 6000, beside the same models in the test."""
    found = {line["claim"]: line for line in rows("checks")}
    out = []
    for problem in PROBLEMS:
        cells = [f"`{problem}`"]
        for setting in SHIPPED:
            tested = {line["case"]: line for line in rows("test") if line["run"] == shipped(problem, setting)["run"]
                      and line.get("agents") == PROBLEMS[problem].agents}
            for case in ("agents", "both"):
                line = found.get(f"fresh-{problem}-{setting}-{case}")
                words = f"{number(line['value'])} ({interval((line['low'], line['high']))})" if line else ""
                cells += [words, cell(tested[case]["ratio"]) if case in tested else ""]
        out.append(cells)
    head = [
        f"{name}, {case}{of}"
        for name in ("default", "sharp") for case in ("undisturbed", "noise and delay") for of in ("", ", seed 5000")
    ]
    return table(["problem", *head], out)
