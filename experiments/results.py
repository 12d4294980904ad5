"""The page of all results, docs/results.md, from committed result files alone: python3 experiments/results.py.

Methods × problems (results/test, results/baselines, results/optimum), what transfers and what does not, optimality gaps. What has no file is left out.
"""
import json
import pathlib
import random
import statistics

from summary import PUBLISHED, SCORE, number, published, rows

top = pathlib.Path(__file__).resolve().parent.parent
root = top / "results"
AGENTS = {"heat1d": 8, "fkpp1d": 20, "heat2d": 16, "heat2d_obstacles": 16, "ks1d": 8, "ks2d": 100, "turbulence2d": 64, "density2d": 9}
OURS = {"tuned": "**CINOC**, our recipe", "paper": "CINOC, the paper's setting", "centralised": "DPC (centralised)"}
LEARNERS = {"ppo": "PPO (SB3)", "td3": "TD3 (SB3)", "mappo": "MAPPO (TorchRL)", "matd3": "MATD3 (TorchRL)",
            "mappo-deeponet": "MAPPO, DeepONet", "matd3-deeponet": "MATD3, DeepONet", "cinoc": "CINOC on one core, same budget"}
# Scores of the paper's table "Multi-Agent Control Performance Across Tasks": PPO, TD3, MAPPO, MATD3, DPC, CINOC.
COLUMNS = ("ppo", "td3", "mappo", "matd3", "centralised", "paper")
THEIRS = {
    "heat1d": (0.016, 0.006, 0.001, 0.016, 7.9e-5, 2.9e-4),
    "fkpp1d": (0.053, 0.010, 0.004, 0.022, 1.4e-4, 4.6e-5),
    "heat2d": (0.015, 0.009, 0.006, 0.022, 2.1e-4, 1.5e-4),
    "heat2d_obstacles": (0.016, 0.012, 0.004, 0.015, 2.7e-4, 1.2e-4),
    "ks1d": (0.13, 0.13, 0.13, 0.18, 0.16, 0.13),
    "ks2d": (12.96, 1.66, 0.50, 0.91, 9.74, 0.37),
    "turbulence2d": (34.52, 5.57, 4.48, 3.71, 3.28, 3.23),
    "density2d": (0.005, 0.021, 0.008, 0.021, 0.002, 0.002),
}


def value(x):
    """A number that may be written as a word."""
    return float(x)


class Method:
    """What one method reached on one problem: its test lines by seed, in one form."""

    def __init__(self, name, title, seeds, training):
        self.name, self.title, self.seeds, self.training = name, title, seeds, training

    def of(self, case, agents=None):
        """The lines of a case, one per seed."""
        found = [next((line for line in lines if line["case"] == case and agents in (None, line["agents"])), None) for lines in self.seeds]
        return [line for line in found if line]


def decision(problem, setting):
    """Seconds of computing per decision and agent of a policy of ours: results/test/decisions.jsonl."""
    found = rows(root / "test" / "decisions.jsonl")
    return next((line["decision_seconds"] for line in found if (line["problem"], line["setting"]) == (problem, setting)), None)


def ours(problem, setting):
    """A setting of ours: results/test."""
    files = sorted((root / "test" / problem).glob(f"{setting}-*.jsonl"))
    seconds = [json.loads((root / problem / f.stem / "train.json").read_text())["seconds"] for f in files if (root / problem / f.stem / "train.json").exists()]
    return Method(setting, OURS[setting], [rows(f) for f in files], seconds) if files else None


def learner(problem, method):
    """A method of baselines/: the best weights on validation instances."""
    seeds, seconds = [], []
    for file in sorted((root / "baselines" / problem).glob(f"{method}-[0-9]*.jsonl")):
        lines = rows(file)
        tests = [line for line in lines if line.get("kind") == "test" and line["weights"] == "best"]
        if not tests or lines[-1].get("kind") != "end" or lines[0]["set"]:
            continue  # A run that was stopped or not tested, or one of a search.
        seconds.append(max(line["cpu"] for line in lines if "cpu" in line))
        seeds.append([{**line, "case": case(line), "agents": line.get("agents") or AGENTS[problem]} for line in tests])
    return Method(method, LEARNERS[method], seeds, seconds) if seeds else None


def receding(problem):
    """Receding horizon: nothing is trained, a decision is one for all agents (experiments/nmpc)."""
    lines = rows(root / "test" / problem / "nmpc.jsonl")
    found = [line for line in lines if "instance" in line]
    if not found:
        return None
    agents, n = lines[0]["agents"], len(found)
    left = lambda drawn: sum(line["score"] for line in drawn) / sum(line["uncontrolled"] for line in drawn)
    rng = random.Random(lines[0]["seed"])
    ratios = sorted(left(rng.choices(found, k=n)) for _ in range(2000))
    line = {"case": "agents", "agents": agents, "instances": n, "ratio": left(found), "ratio_95": (ratios[50], ratios[-51]), **{key: statistics.fmean(line[key] for line in found) for key in ("score", "uncontrolled")},
            "decision_seconds": statistics.fmean(line["seconds"] for line in found) / agents}
    return Method("nmpc", "NMPC (20 ticks ahead)", [[line]], [])


def case(line):
    """Which case a line of a baseline's test is of, in the words of ours."""
    noise = "".join(line.get("changes", {}))
    return "deaths" if line.get("fail") else "sensors" if "sensor" in noise else "actuators" if "actuator" in noise else "agents"


def mean(lines, key="ratio"):
    """Mean over seeds; a dictionary's mean where the score is one."""
    found = [value(line[key]["mean"] if isinstance(line[key], dict) else line[key]) for line in lines if line.get(key) is not None]
    return statistics.fmean(found) if found else None


def cell(x):
    """A number, or nothing."""
    return "" if x is None else number(x)


def interval(lines):
    """From the lowest to the highest end of the seeds' intervals."""
    pairs = [line.get("ratio_95") or line.get("interval") for line in lines]
    return f"{number(min(value(p[0]) for p in pairs))} … {number(max(value(p[1]) for p in pairs))}" if pairs and all(pairs) else ""


def main_table(problem, methods):
    """Every method with its usual number of agents."""
    m = AGENTS[problem]
    uncontrolled = mean(methods[0].of("agents", m), "uncontrolled") if methods else None
    text = [f"## {problem}", "", f"Score: {SCORE[problem]}; left alone {cell(uncontrolled)}, in the paper {PUBLISHED[problem][4]:g}.", ""]
    text += ["| method | seeds | n | score | published | ratio | 95 % | effort | training, min | µs per decision and agent |", "|---" * 10 + "|"]
    for method in methods:
        lines = method.of("agents", m)
        if lines:
            seconds = mean(lines, "decision_seconds") or decision(problem, method.name)
            theirs = dict(zip(COLUMNS, THEIRS[problem])).get("paper" if method.name == "tuned" else method.name)
            text.append(f"| {method.title} | {len(lines) if method.training else ''} | {lines[0].get('instances', '')} | {cell(mean(lines, 'score'))} | {cell(theirs)} | {cell(mean(lines))} | {interval(lines)} | {cell(mean(lines, 'effort'))} "
                        f"| {cell(statistics.fmean(method.training) / 60) if method.training else ''} | {cell(seconds * 1e6) if seconds else ''} |")
    return text + [""]


def transfer_table(problem, methods):
    """Other numbers of agents, deaths and noise, without training."""
    m = AGENTS[problem]
    text = [f"Ratios without further training: other numbers of agents, 30 % dying halfway, noise of a hundredth.", ""]
    text += [f"| method | {m // 2} agents | {m} | {2 * m} | {4 * m} | deaths | sensors | actuators |", "|---|---|---|---|---|---|---|---|"]
    for method in methods:
        cells = [cell(mean(method.of("agents", count))) for count in (m // 2, m, 2 * m, 4 * m)]
        cells += [cell(mean(method.of(case))) for case in ("deaths", "sensors", "actuators")]
        if sum(bool(c) for c in cells) > 1:
            text.append(f"| {method.title} | {' | '.join(cells)} |")
    return text + [""]


def gap_table():
    """How far policies are from the best actions found."""
    found = rows(root / "optimum" / "gaps.jsonl")
    if not found:
        return []
    text = ["## How near to the best", "", "The score of our policy over that of the best actions found by L-BFGS through the solver, on a few instances of seed 3000; searches that did not converge would go lower. Rows of `heat2d_obstacles` are of an older policy ([optimum](optimum.md)).", "",
            "| problem | case | agents | instances | converged | policy, ratio | best found, ratio | median gap |", "|---|---|---|---|---|---|---|---|"]
    text += [f"| {r['problem']} | {r['case']} | {r['agents']} | {r['instances']} | {r['converged']} | {number(r['policy_ratio'])} | {number(r['optimum_ratio'])} | {number(r['gap_median'])} |" for r in found]
    return text + [""]


def essence():
    """The table of README.md: ours beside the paper's, a centralised network and the best of reinforcement learning; what transfers."""
    text = ["| problem (score) | n | ours | the paper's | DPC, trained here | best of four by reinforcement | half the agents | four times | 30 % die halfway |", "|---" * 9 + "|"]
    for problem, m in AGENTS.items():
        own, central = ours(problem, "tuned"), ours(problem, "centralised")
        if not own:
            continue
        usual = own.of("agents", m)
        learned = [(mean(method.of("agents", m)), method) for method in (learner(problem, name) for name in COLUMNS[:4]) if method]
        best = min(learned, key=lambda pair: pair[0], default=None)
        cells = [f"`{problem}` ({SCORE[problem]}), {m} agents", str(usual[0]["instances"]), f"**{cell(mean(usual))}** ({interval(usual)})", number(published(problem)[0]),
                 cell(mean(central.of("agents", m))) if central else "", f"{number(best[0])}, {best[1].title.split(' ')[0]}" if best else ""]
        cells += [f"{cell(mean(own.of('agents', count)))} ({count})" for count in (m // 2, 4 * m)] + [cell(mean(own.of("deaths")))]
        text.append(f"| {' | '.join(cells)} |")
    return text


def page():
    """The whole page, and what is missing."""
    text = ["# Results of all methods", "", "Written by `experiments/results.py` from the files in `results/`; `experiments/all` makes those. Instances of seed 5000, which nothing was chosen by (but that NMPC was seen on them with the cost of our training, where it left 0.118, before a better one for it was chosen on others); ratios are mean scores over mean scores of the same instances left alone, means over training seeds, "
            "with the range of the seeds' 95 % intervals. Published scores are the paper's, of its own instances, as its table gives them (their rewards, networks, budgets and, on the chaotic problems, the measure of the score differ from ours: [comparison](comparison.md), [baselines](../baselines/README.md)). Times per decision of our first two rows were measured on a slower day than the others: the last row of a table, where it is one of ours, has the same networks as the first. Reinforcement learning had the computing time named, on one core; our training times are of one or two cores, busy with other work. What a method cannot do has an empty cell: networks for all agents at once know one number of them, and those of PPO and TD3 see the field itself, not what sensors say; the time of a decision of DPC was not measured. NMPC knows the whole field and the equation; its time is that of one plan for all agents by the clock (the median of each instance, their mean), divided by their number, and most plans used up their 50 iterations. Its published figures are of another limit of pushes and another score ([optimum](optimum.md)). [How long all of it takes](evidence.md) is a page of its own.", ""]
    missing = []
    for problem in AGENTS:
        methods = [ours(problem, setting) for setting in OURS] + [learner(problem, method) for method in LEARNERS]
        missing += [f"{problem}: {title}" for title, method in zip([*OURS.values(), *LEARNERS.values()], methods) if method is None]
        methods = [method for method in (*methods[:len(OURS)], receding(problem), *methods[len(OURS):]) if method]
        if methods:
            text += main_table(problem, methods) + transfer_table(problem, methods)
    text += gap_table()
    return text, missing


if __name__ == "__main__":
    text, missing = page()
    (top / "docs" / "results.md").write_text("\n".join(text))
    readme = (top / "README.md").read_text()
    begin, end = "<!-- results: written by experiments/results.py -->\n", "<!-- end of results -->"
    (top / "README.md").write_text(readme[:readme.index(begin) + len(begin)] + "\n".join(essence()) + "\n" + readme[readme.index(end):])
    print(f"docs/results.md written; {len(missing)} of the table's rows have no results yet")
