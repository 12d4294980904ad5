"""Tables of one update against JAX, in docs/speed.md and README.md, from results/speed/POLICY-PROBLEM.json (experiments/speed), and of training (experiments/train_times).

Times are of the best update of all rounds; ratios of best ones, and of medians in brackets.
"""
import json
import pathlib
import statistics

top = pathlib.Path(__file__).resolve().parent.parent
PROBLEMS = ["heat1d", "fkpp1d", "heat2d", "heat2d_obstacles", "ks1d", "ks2d", "turbulence2d", "density2d"]
BEGIN, END = "<!-- speed: written by experiments/speed.py -->\n", "<!-- end of speed -->"


def measured(policy):
    """Problem → result, of those there are."""
    paths = {problem: top / "results" / "speed" / f"{policy}-{problem}.json" for problem in PROBLEMS}
    return {problem: json.loads(path.read_text()) for problem, path in paths.items() if path.exists()}


def time(ms):
    """Milliseconds, to three digits; seconds where there are many."""
    return f"{ms / 1000:.1f} s" if ms >= 9950 else f"{ms:.0f} ms" if ms >= 99.5 else f"{ms:.1f} ms"


def jax(result, key="ms_per_update_min"):
    """The better of its settings."""
    return min(result[name][key] for name in ("jax", "jax_checkpoint") if result[name])


def limit(result):
    """How many times as long the best update of a run took as its products would at the peak of both cores in that run: the median of the rounds, because both change from moment to moment."""
    return statistics.median(run["ms_per_update_min"] / run["ms_flop_limit"] for run in result["ours"]["runs"])


def whole(policy):
    """The table of docs/speed.md for one policy."""
    lines = ["| problem | ticks | this build | the build before | JAX, best setting | ratio | times the limit | cost alone |",
             "|---|---|---|---|---|---|---|---|"]
    for problem, r in measured(policy).items():
        before = f"{time(r['other']['ms_per_update_min'])}: {r['build_ratio_min']:.2f} ({r['build_ratio_median']:.2f})" if r["other"] else ""
        lines.append(f"| `{problem}` | {r['ticks']} | {time(r['ours']['ms_per_update_min'])} | {before} | {time(jax(r))} | **{r['ratio_update_min']:.1f}** ({r['ratio_update']:.1f}) | "
                     f"{limit(r):.1f} | {time(min(run['ms_forward_min'] for run in r['ours']['runs']))} |")
    return lines


def share(ratio):
    """A share of uncontrolled, to three digits."""
    return f"{ratio:.3g}".replace("e-0", "e-")


def training():
    """What `cinoc train` takes with each recipe (experiments/train_times)."""
    path = top / "results" / "speed" / "training.jsonl"
    if not path.exists():
        return []
    lines = ["", "`cinoc train PROBLEM --seed 0` with the recipes that are shipped, on both cores, and what the result leaves of uncontrolled beside the model of the same seed in `results/`:", "",
             "| problem | updates | time | CPU time | left | left by the model in results |", "|---|---|---|---|---|---|"]
    for r in sorted(map(json.loads, path.read_text().splitlines()), key=lambda r: PROBLEMS.index(r["problem"])):
        same = "the same, to the last digit" if r["now"] == r["published"] else share(r["published"]["ratio"])
        lines.append(f"| `{r['problem']}` | {r['updates']} | {r['seconds']:.0f} s | {r['seconds_of_cpu']:.0f} s | {share(r['now']['ratio'])} | {same} |")
    return lines


def essence():
    """The table of README.md."""
    ours = measured("tuned")
    head = ["problem", "ticks", "ours", "JAX", "ratio", "times the limit", *["ratio, our policy"] * bool(ours)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for problem, r in measured("paper").items():
        own = ours.get(problem)
        lines.append(f"| `{problem}` | {r['ticks']} | {time(r['ours']['ms_per_update_min'])} | {time(jax(r))} | **{r['ratio_update_min']:.1f}** ({r['ratio_update']:.1f}) | {limit(r):.1f} | "
                     + (f"{own['ratio_update_min']:.1f} ({own['ratio_update']:.1f}) |" if own else "|" * bool(ours)))
    return [line.rstrip() for line in lines]


def put(path, lines):
    """Between the marks."""
    text = path.read_text()
    before, rest = text.split(BEGIN, 1)
    path.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + rest.split(END, 1)[1])


if __name__ == "__main__":
    ours = ["", "Ours, as it is trained:", "", *whole("tuned")] if measured("tuned") else []
    put(top / "docs" / "speed.md", ["The paper's policy:", "", *whole("paper"), *ours, *training()])
    put(top / "README.md", essence())
