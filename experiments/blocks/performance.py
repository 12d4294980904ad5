"""Tables of speed, scaling, large fields, environments, exported controllers and robustness checks."""

import collections
import math
import statistics

import scale
from blocks import block, interval, number, table
from blocks.scores import rows
from cases import PROBLEMS


def time(ms):
    """Milliseconds, to three digits; seconds where there are many."""
    return f"{ms / 1000:.1f} s" if ms >= 9950 else f"{ms:.0f} ms" if ms >= 99.5 else f"{ms:.1f} ms"


def measured(policy):
    """Problem and its line, of those there are."""
    return {line["problem"]: line for line in rows("speed") if line["kind"] == "update" and line["policy"] == policy}


def jax(result, key="ms_per_update_min"):
    """The better of its settings."""
    return min(result[name][key] for name in ("jax", "jax_checkpoint") if result[name])


def limit(result):
    """Time of the best update over that of its products at the peak of both cores in the same run: the median of the
    rounds."""
    return statistics.median(run["ms_per_update_min"] / run["ms_flop_limit"] for run in result["ours"]["runs"])


def ratio(result):
    """JAX over ours: of the best updates, and of medians in brackets."""
    return f"{result['ratio_update_min']:.1f} ({result['ratio_update']:.1f})"


@block("speed")
def speed():
    """One update against JAX, with the paper's policy and with ours."""
    own = measured("tuned")
    out = [
        [
            f"`{p}`",
            r["ticks"],
            time(r["ours"]["ms_per_update_min"]),
            time(jax(r)),
            f"**{r['ratio_update_min']:.1f}** ({r['ratio_update']:.1f})",
            f"{limit(r):.1f}",
            ratio(own[p]) if p in own else "",
        ]
        for p, r in measured("paper").items()
    ]
    return table(["problem", "ticks", "ours", "JAX", "ratio", "times the arithmetic limit", "ratio, our policy"], out)


@block("updates", ("paper", "tuned"))
def updates(policy):
    """One update of every problem."""
    out = [
        [
            f"`{p}`",
            r["ticks"],
            time(r["ours"]["ms_per_update_min"]),
            time(jax(r)),
            f"**{r['ratio_update_min']:.1f}** ({r['ratio_update']:.1f})",
            f"{limit(r):.1f}",
            time(min(run["ms_forward_min"] for run in r["ours"]["runs"])),
        ]
        for p, r in measured(policy).items()
    ]
    return table(
        [
            "problem",
            "ticks",
            "ours",
            "JAX, best setting",
            "ratio",
            "times the arithmetic limit",
            "cost without gradient",
        ],
        out,
    )


def share(ratio):
    """A relative error, to three digits."""
    return f"{ratio:.3g}".replace("e-0", "e-")


@block("training")
def training():
    """Whole trainings with the shipped recipes."""
    out = []
    for r in sorted(
        (line for line in rows("speed") if line["kind"] == "training"), key=lambda r: list(PROBLEMS).index(r["problem"])
    ):
        same = "the same, to the last digit" if r["now"] == r["published"] else share(r["published"]["ratio"])
        out.append(
            [
                f"`{r['problem']}`",
                r["updates"],
                f"{r['seconds']:.0f} s",
                f"{r['seconds_of_cpu']:.0f} s",
                share(r["now"]["ratio"]),
                same,
            ]
        )
    return table(
        ["problem", "updates", "time", "CPU time", "relative error", "that of the kept model of the same seed"], out
    )


@block("equations")
def equations():
    """Bare steps per second over those of others."""
    exponax = {
        line["problem"]: f"{line['exponax_ratio_steps']:.1f}" for line in rows("speed") if line["kind"] == "exponax"
    }
    return table(
        ["problem", "ours over JAX", "ours over Exponax"],
        [[f"`{p}`", f"{r['ratio_steps']:.1f}", exponax.get(p, "")] for p, r in measured("paper").items()],
    )


@block("ranks")
def ranks():
    """Two ranks of one thread against one rank of two threads."""
    out = [
        [
            f"`{r['problem']}`",
            r["updates"],
            r["rounds"],
            *(f"{min(ms):.1f}" for ms in r["ms_per_update"].values()),
            f"{r['speed_of_two_ranks_minima']:.2f}",
            f"{r['speed_of_two_ranks_medians']:.2f}",
        ]
        for r in rows("speed")
        if r["kind"] == "ranks"
    ]
    return table(
        [
            "problem",
            "updates",
            "rounds",
            "ms per update, two threads",
            "two ranks",
            "speed of two ranks, best",
            "medians",
        ],
        out,
    )


@block("scale-check")
def scale_check():
    """The model of an update against measured updates."""
    out = [
        [
            f"`{r['problem']}`",
            r["batch"],
            f"{r['ranks']} × {r['threads']}",
            f"{r['measured']:.3g}",
            f"{r['predicted']:.3g}",
            f"{100 * r['error']:+.1f} %".replace("-", "−"),
        ]
        for r in scale.compare()
        if (r["ranks"], r["threads"]) != (1, 1)
    ]
    return table(["problem", "batch", "ranks × threads", "measured, s", "predicted, s", "error"], out)


@block("scale")
def prediction():
    """Predicted seconds and efficiency on larger machines."""
    shown, lines = (1, 4, 32, 256, 1024, 4096), collections.defaultdict(dict)
    for r in scale.predict():
        lines[r["problem"], r["shards"], r["network"]][r["cores"]] = r
    say = lambda r: f"{r['seconds']:.3g} s, {r['efficiency']:.0%}".replace("%", " %")
    out = []
    for (problem, shards, network), line in lines.items():
        if network == "InfiniBand":
            out.append(
                [
                    f"`{problem}`",
                    shards,
                    *(say(line[cores]) for cores in shown),
                    say(lines[problem, shards, "Ethernet"][4096]),
                ]
            )
    return table(["problem", "shards", *(f"{cores} core{'s' * (cores > 1)}" for cores in shown), "4096, Ethernet"], out)


@block("agents")
def agents():
    """Needs of one agent."""
    out = []
    for r in scale.all_needs():
        out.append(
            [
                f"`{r['problem']}`",
                r["parameters"],
                f"{r['parameter_bytes'] / 1e3:.0f} kB",
                f"{r['working_bytes'] / 1e3:.1f} kB",
                r["seen"],
                r["known"],
                r["remembered"],
                f"{r['flop_per_decision'] / 1e3:.0f} thousand",
                f"{r['window']:g}",
                number(r["crowd_radius"]),
            ]
        )
    return table(
        [
            "problem",
            "parameters",
            "bytes",
            "working memory",
            "field samples",
            "other inputs",
            "memory",
            "operations per decision",
            "window",
            "neighbours count within",
        ],
        out,
    )


@block("large-ticks")
def large_ticks():
    """One large field on one and two threads."""
    out, found = [], collections.defaultdict(dict)
    for r in rows("large_fields"):
        if r["kind"] == "tick":
            found[r["problem"], r["agents"], tuple(r["grid"])][r["threads"]] = r
    for (problem, m, grid), by in found.items():
        one, two = by[1], by[2]
        out.append(
            [
                f"`{problem}`",
                f"{m:,}",
                " × ".join(map(str, grid)),
                f"{one['ms_median'] / 1e3:.2f} s",
                f"{two['ms_median'] / 1e3:.2f} s",
                f"{one['ms_median'] / two['ms_median']:.2f} ({one['ms_min'] / two['ms_min']:.2f})",
                f"{one['bytes_environment'] / 1e9:.2f} GB",
                f"{two['bytes_peak_of_process'] / 1e9:.2f} GB",
            ]
        )
    return table(
        [
            "problem",
            "agents",
            "nodes",
            "one thread",
            "two threads",
            "speed-up (fastest ticks)",
            "environment",
            "process, peak",
        ],
        out,
    )


@block("growth")
def growth():
    """Time and memory against size, one thread, medians of the rounds."""
    found = collections.defaultdict(list)
    for r in rows("large_fields"):
        if r["kind"] == "growth" and r["threads"] == 1:
            found[r["problem"], r["agents"], tuple(r["grid"])].append(r)
    out = []
    for (problem, m, grid), lines in found.items():
        items = m + math.prod(grid)
        out.append(
            [
                f"`{problem}`",
                f"{m:,}",
                " × ".join(map(str, grid)),
                number(statistics.median(r["ms_median"] for r in lines)),
                f"{statistics.median(r['ms_median'] for r in lines) * 1e6 / items:.0f}",
                f"{lines[0]['bytes_environment'] / items:.0f}",
            ]
        )
    return table(
        ["problem", "agents", "nodes", "ms per tick", "ns per agent and node", "bytes per agent and node"], out
    )


@block("large-scores")
def large_scores():
    """Shipped policies at 64 times the area, instances of seed 3000."""
    out = []
    for r in rows("large_fields"):
        if r["kind"] == "score":
            words = f"{r['area']} times the area" + (
                ", fields as strong as on the small square" if r["run"].endswith("same-strength") else ""
            )
            out.append(
                [
                    f"`{r['problem']}`",
                    words,
                    r["agents"],
                    r["instances"],
                    number(r["score"]["mean"]),
                    number(r["score"]["median"]),
                    number(r["uncontrolled"]["mean"]),
                    number(r["ratio"]),
                    interval(r["ratio_95"]),
                ]
            )
    return table(
        ["problem", "domain", "agents", "n", "score, mean", "median", "uncontrolled", "relative error", "95 %"], out
    )


@block("environments")
def environments():
    """Environments stepped from Python: ms per step of all of them, best (median)."""
    pair = lambda r, name: (
        f"{r[name]['ms_per_step_min']:.3g} ({r[name]['ms_per_step_median']:.3g})" if r.get(name) else ""
    )
    times = lambda r, name, digits: (
        f"{r[f'{name}_times']:.{digits}f} ({r[f'{name}_times_median']:.{digits}f})" if r.get(f"{name}_times") else ""
    )
    over = lambda x: f"{100 * x:+.0f} %".replace("-", "−")
    out = [
        [
            f"`{r['problem']}`",
            r["envs"],
            pair(r, "gym"),
            pair(r, "rust"),
            pair(r, "jax"),
            pair(r, "controlgym"),
            f"{over(r['python_overhead'])} ({over(r['python_overhead_median'])})",
            times(r, "jax", 1),
            times(r, "controlgym", 0),
        ]
        for r in rows("python")
        if r["kind"] == "environments"
    ]
    return table(
        [
            "problem",
            "environments",
            "ms per step from Python",
            "from Rust",
            "JAX",
            "controlgym",
            "Python over Rust",
            "JAX over ours",
            "controlgym over ours",
        ],
        out,
    )


@block("export")
def export():
    """Exported controllers against the engine in double precision: largest difference over the limit of an action."""
    found = rows("export")
    ways = list(found[0]["with"])
    return table(
        ["model", "inputs", "memory", *ways],
        [[f"`{r['problem']}`", r["readings"], r["memory"], *(f"{r['off'][way]:.1e}" for way in ways)] for r in found],
    )


@block("fuzz")
def fuzz():
    """Damaged and forged files read by each target."""
    out = [
        [
            r["target"],
            f"{r['inputs']:,}",
            f"{r['accepted']:,}",
            r["panics"],
            r["hangs"],
            r["too_much_memory"],
            r["wrong_answers"],
            f"{r['slowest_seconds']:.2g} s",
        ]
        for r in rows("fuzz")
    ]
    return table(
        ["target", "inputs", "accepted", "panics", "hangs", "too much memory", "wrong answers", "slowest"], out
    )


@block("faults")
def faults():
    """Faults of the machine injected into trainings."""
    return table(["kind", "faults", "failures"], [[r["kind"], r["faults"], r["failures"]] for r in rows("faults")])
