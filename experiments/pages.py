"""The tables on the problems' pages, docs/problems/PROBLEM.md, from the files of results/: python3 experiments/pages.py.

What stands between the two comments on a page is written here; all else on it is written by hand.
"""
import pathlib
import sys
import tomllib

from results import COLUMNS, LEARNERS, THEIRS
from summary import PUBLISHED, SCORE, deaths, ends, envelope, fresh, interval, mean, number, published, published_range, root, runs, verdict

pages = pathlib.Path(__file__).resolve().parent.parent / "docs" / "problems"
BEGIN, END = "<!-- scores: written by experiments/pages.py -->\n", "<!-- end of scores -->\n"
HERE = {"paper": "CINOC, the paper's setting", "centralised": "DPC (centralised), the paper's setting"}
# What of the settings a reader wants to see beside the scores; all of them: `cinoc list PROBLEM`.
SHOWN = ("physics", "swarm", "observe", "cost", "policy")


def which(rows):
    """How many instances of which seeds."""
    return f"{rows[0]['instances']} of seed {', '.join(str(seed) for seed in sorted({row['seed'] for row in rows}))}"


def ours(title, rows, verdict_=""):
    """A line of our own runs, means over their seeds."""
    said = f" ({verdict_})" if verdict_ else ""
    return f"| {title} | {number(mean(rows, 'score', 'mean'))} | {number(mean(rows, 'ratio'))}{said} | {interval(envelope(rows))} | {which(rows)} | {len(rows)} |"


def scores(problem):
    """Every method with the problem's number of agents."""
    ratio, span = published(problem)
    uncontrolled = PUBLISHED[problem][4]
    group = fresh(runs(problem, "tuned"))
    best, last = [r.best for r in group], [r.last for r in group]
    out = [f"{group[0].agents} agents. Score: {SCORE[problem]}; left alone {number(mean(best, 'uncontrolled', 'mean'))} on our instances, {uncontrolled:g} on the paper's.", "",
           "| method | score | ratio | 95 % of ratios | instances | training seeds |", "|---" * 6 + "|",
           ours("**CINOC, our recipe**, best weights", best, verdict(best, span)), ours("CINOC, our recipe, last weights", last, verdict(last, span))]
    for setting in ("paper", "centralised"):
        if group := fresh(runs(problem, setting)):
            out.append(ours(f"{HERE[setting]}, trained here, best weights", [r.best for r in group]))
            if all(r.last for r in group):
                out.append(ours("the same, last weights", [r.last for r in group]))
    names = {**LEARNERS, "centralised": "DPC", "paper": "CINOC"}
    for method, score in sorted(zip(COLUMNS, THEIRS[problem]), key=lambda pair: COLUMNS.index(pair[0]), reverse=True):
        spread = interval(span) if method == "paper" else ""
        n = PUBLISHED[problem][2] if method == "paper" else ""
        out.append(f"| published: {names[method].split(' (')[0]} | {number(score)} | {number(score / uncontrolled)} | {spread} | {n} | |")
    return out


def swarms(problem):
    """Other numbers of agents, and deaths."""
    group = fresh(runs(problem, "tuned"))
    trained = group[0].agents
    drawn = sorted(set(tomllib.loads((root / problem / f"tuned-{group[0].seed}" / "config.toml").read_text())["train"]["agents"]))
    shares = [r.shares() for r in group]
    row = lambda r, m: max((x for x in r.table if x["agents"] == m), key=lambda x: x["instances"])
    counts = sorted(shares[0])
    dead = "; ".join(f"30 % dead {when}: {found}" for when, found in (("from halfway on", deaths(group, False)), ("from the start", deaths(group, True))) if found)
    return [f"The same parameters with other swarms (our recipe, best weights, means over seeds; percents are of the ratio with {trained} agents on the same instances). Trained with {', '.join(map(str, drawn))} agents.", "",
            "| agents | " + " | ".join(map(str, counts)) + " |", "|---" * (len(counts) + 1) + "|",
            "| ratio | " + " | ".join(number(mean([row(r, m) for r in group], "ratio")) for m in counts) + " |",
            "| percent | " + " | ".join(f"{100 * sum(s[m] for s in shares) / len(shares):.0f}" for m in counts) + " |",
            "| instances | " + " | ".join(str(row(group[0], m)["instances"]) for m in counts) + " |", "",
            f"Within 250 % on every seed: {ends(problem, group)}. In the paper, with other policies: {published_range(problem)}.", "",
            f"Deaths: {dead}; each is the ratio, the factor by which it rose, and how many died."]


def settings(problem):
    """What our recipe was trained with."""
    config = tomllib.loads((root / problem / f"tuned-{fresh(runs(problem, 'tuned'))[0].seed}" / "config.toml").read_text())
    line = lambda section: ", ".join(f"{key} {value}".lower() if isinstance(value, bool) else f"{key} {value}" for key, value in config[section].items())
    return ["| | settings of our recipe |", "|---|---|", *(f"| `{section}` | {line(section)} |" for section in SHOWN + (("obstacles",) if "obstacles" in config else ()))]


def page(problem):
    """The page as it should be."""
    text = (pages / f"{problem}.md").read_text()
    table = "\n".join([*scores(problem), "", *swarms(problem), "", *settings(problem)])
    return text[:text.index(BEGIN) + len(BEGIN)] + table + "\n" + text[text.index(END):]


def main():
    """Writes them."""
    for problem in PUBLISHED:
        (pages / f"{problem}.md").write_text(page(problem))
    print(f"{len(PUBLISHED)} pages written")


if __name__ == "__main__":
    sys.exit(main())
