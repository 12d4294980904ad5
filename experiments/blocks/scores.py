"""Scores of all methods on the instances of the test: README and results."""

import functools
import math
import random
import statistics

from blocks import block, cell, interval, number, table
from cases import LEARNERS, PROBLEMS, SETTINGS, SHIPPED, TESTED, run_name, shipped_name
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
