"""Pictures of README and book.

    python3 experiments/figures.py tables                        # docs/figures/*.svg from results/
    python3 experiments/figures.py studies [STUDY…] [-o FOLDER]
        # a picture for every study and problem, into runs/figures unless told otherwise
    python3 experiments/figures.py episodes                      # docs/figures/*.png by `cinoc show`; needs pngquant

Pictures of studies are not committed but for those in COMMITTED.
"""

import argparse
import collections
import math
import pathlib
import shutil
import statistics
import subprocess

import scale
from blocks.analysis import CASES, gaps
from blocks.scores import published
from blocks.studies import STUDIES
from cases import LEARNERS, PROBLEMS, ROOT, RUNS, program
from comparison_figures import draw_ablation, draw_profiles
from drawing import BLACK, DIGITS, GREY, INKS, Axes, Picture
from tables import read

FIGURES = ROOT / "docs/figures"
COMMITTED = (("cardinality", "heat1d"),)


def draw_study(study, one):
    """Lines of a study with bands from the lowest to the highest policy; relative errors above 10 are cut."""
    title = STUDIES[study][0] if study in STUDIES else "agents"
    lines = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in one["rows"]:
        if row["x"] > 0 or study not in ("cardinality",):
            value = float(row["value"])
            if math.isfinite(value):
                lines[row["line"].replace("places", "positions")][float(row["x"])].append(value)
    log_y = all(value > 0 for line in lines.values() for values in line.values() for value in values)
    cut = lambda value: min(value, 10.0) if log_y and study not in ("meanfield", "stability") else value
    x = [at for line in lines.values() for at in line]
    log_x = min(x) > 0 and max(x) / min(x) > 10
    picture = Picture()
    axes = Axes(
        picture,
        80,
        50,
        430,
        300,
        x,
        [cut(v) for line in lines.values() for values in line.values() for v in values],
        log_x,
        log_y,
    )
    picture.text(f"{one['problem']}: {study}", 80, 30, size=17)
    axes.frame(
        title,
        {
            "meanfield": "distance of gradients, relative",
            "stability": "growth rate",
            "horizon": "mean square of z − z*",
        }.get(study, "relative error"),
    )
    for i, (name, line) in enumerate(lines.items()):
        ink = INKS[i % len(INKS)]
        at = sorted(line)
        low, high = ([axes.at(p, cut(end(line[p]))) for p in at] for end in (min, max))
        middle = [axes.at(p, cut(statistics.fmean(line[p]))) for p in at]
        picture.area([*low, *reversed(high)], ink)
        picture.path(middle, ink)
        for point in middle:
            picture.dot(*point, ink, 2.5)
        if len(lines) > 1:
            picture.line(530, 66 + 20 * i, 552, 66 + 20 * i, ink, 2.4)
            picture.text(name, 560, 70 + 20 * i, size=12)
    return picture.svg(800 if len(lines) > 1 else 540, 410)


def draw_baselines(problem):
    """Relative error of all methods on validation instances against computing time and steps: median and range over
    seeds."""
    curves = collections.defaultdict(list)
    for line in read("baselines", problem=problem):
        if line["end"] and not line["set"] and len(line["curve"]["cpu"]) > 1:
            curves[line["method"]].append(line["curve"])
    top = 10.0
    picture = Picture()
    picture.text(
        f"{problem}: relative error on 50 validation instances, median and range over seeds (above {top:g} drawn there)",
        24,
        30,
        size=16,
    )
    values = [min(float(r), top) for seeds in curves.values() for curve in seeds for r in curve["ratio"][1:]] + [
        1.0,
        published(problem)[0],
    ]
    for panel, (key, unit, title) in enumerate(
        (("cpu", 60.0, "minutes of computing time, one core"), ("steps", 1.0, "environment steps"))
    ):
        left = 80 + panel * 400
        x = [c / unit for seeds in curves.values() for curve in seeds for c in curve[key][1:]]
        axes = Axes(picture, left, 50, 370, 300, x, values, True, True)
        axes.frame(title, "" if panel else "relative error")
        theirs = axes.at(x[0], published(problem)[0])[1]
        picture.line(left, theirs, left + 370, theirs, GREY, 1.4, stroke_dasharray="3 4")
        for i, method in enumerate(method for method in LEARNERS if method in curves):
            seeds = curves[method]
            inner = sorted({c / unit for curve in seeds for c in curve[key][1:]})
            first, last = max(curve[key][1] / unit for curve in seeds), min(curve[key][-1] / unit for curve in seeds)
            inner = [at for at in inner if min(first, last) <= at <= last]
            logs = [
                [
                    interpolate(
                        at, [c / unit for c in curve[key]], [math.log(min(float(r), top)) for r in curve["ratio"]]
                    )
                    for at in inner
                ]
                for curve in seeds
            ]
            of = lambda pick: [axes.at(at, math.exp(pick([line[j] for line in logs]))) for j, at in enumerate(inner)]
            ink, dash = INKS[i % 7], "6 4" if "deeponet" in method else "none"
            picture.area([*of(min), *reversed(of(max))], ink)
            picture.path(of(statistics.median), ink, 2.6 if method == "cinoc" else 1.8, stroke_dasharray=dash)
            if panel:
                picture.line(870, 66 + 20 * i, 892, 66 + 20 * i, ink, 2.4, stroke_dasharray=dash)
                picture.text(
                    f"{LEARNERS[method].split(' (')[0].replace('CINOC on one core, same budget', 'CINOC')} ({len(seeds)} seed{'s' * (len(seeds) > 1)})",
                    900,
                    70 + 20 * i,
                    size=12,
                )
    picture.line(870, 226, 892, 226, GREY, 1.4, stroke_dasharray="3 4")
    picture.text("CINOC as published", 900, 230, size=12)
    return picture.svg(1080, 410)


def interpolate(x, xs, ys):
    """Linear between points, constant beyond."""
    if x <= xs[0]:
        return ys[0]
    for x0, x1, y0, y1 in zip(xs, xs[1:], ys, ys[1:]):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0) if x1 > x0 else y1
    return ys[-1]


def factor(gap):
    """A factor, as one writes it."""
    return (
        f"× {gap:.2f}"
        if gap < 9.95
        else f"× {gap:.0f}"
        if gap < 9999.5
        else f"× {gap:.0e}".replace("e+0", "e").replace("e+", "e")
    )


def draw_gaps(rows):
    """A row for each problem and case: a dot for the policy, a bar for the best actions found."""
    left, width, right, head, foot, step, between = 290, 640, 130, 84, 62, 24, 18
    problems = collections.defaultdict(dict)
    for row in rows:
        pair = row["policy_ratio"], row["optimum_ratio"]
        if not all(isinstance(r, (int, float)) and r > 0 for r in pair):
            raise SystemExit(f"{row['run']}: relative errors must be positive numbers, not {pair}")
        problems[row["problem"]][row["case"]] = pair
    if not problems:
        raise SystemExit("there is no gap to draw")
    ratios = [r for cases in problems.values() for pair in cases.values() for r in pair]
    low, high = math.floor(math.log10(min(ratios)) - 0.1), max(0.0, math.log10(max(ratios))) + 0.15
    place = lambda ratio: left + width * (math.log10(ratio) - low) / (high - low)
    height = head + sum(step * len(cases) + between for cases in problems.values()) + foot
    bottom, picture = height - foot, Picture()
    picture.text("Policies and the best actions found", 24, 32, size=20)
    for x, words, sign in ((left, "policy", picture.dot), (left + 110, "best found", picture.bar)):
        sign(x + 6, head - 24)
        picture.text(words, x + 20, head - 19)
    skip = max(1, math.ceil((high - low) / 7))
    for exponent in range(low, math.floor(high) + 1):
        picture.line(
            place(10**exponent),
            head,
            place(10**exponent),
            bottom,
            "#e4e4e4" if exponent else GREY,
            1 if exponent else 1.6,
        )
        if exponent % skip == 0:
            picture.text("10" + str(exponent).translate(DIGITS), place(10**exponent), bottom + 20, "middle")
    picture.line(left + 282, head - 32, left + 282, head - 16, GREY, 1.6)
    picture.text("uncontrolled", left + 296, head - 19)
    picture.text("relative error", left + width / 2, bottom + 46, "middle")
    picture.text("gap, at least", left + width + 12, head - 19)
    y = head
    for problem, cases in problems.items():
        picture.line(24, y, left + width, y, "#c8c8c8")
        picture.text(problem, 24, y + between / 2 + step / 2 + 5, size=17)
        y += between / 2 + step / 2
        for case in (case for case in CASES if case in cases):
            policy, optimum = cases[case]
            picture.text(CASES[case], left - 14, y + 5, "end")
            picture.line(place(optimum), y, place(policy), y, "#8fb8d4", 3)
            picture.bar(place(optimum), y)
            picture.dot(place(policy), y)
            picture.text(factor(policy / optimum), left + width + 12, y + 5)
            y += step
        y += between / 2 - step / 2
    picture.line(24, bottom, left + width, bottom, "#c8c8c8")
    return picture.svg(left + width + right + 24, height)


def draw_scale(rows):
    """A panel for each problem: predicted speed-up, with a line for each batch; full for InfiniBand, dashed for
    Ethernet."""
    left0, width, between, head, high, foot = 70, 290, 40, 92, 300, 64
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    most = math.log2(max(row["cores"] for row in rows))
    picture = Picture()
    picture.text("Predicted speed-up of an update over one core", 24, 32, size=20)
    y = lambda speedup: head + high * (1 - math.log2(max(speedup, 1)) / most)
    for panel, problem in enumerate(problems):
        left = left0 + panel * (width + between)
        x = lambda cores: left + width * math.log2(cores) / most
        picture.text(problem, left + width / 2, head - 14, "middle", 17)
        for exponent in range(0, int(most) + 1, 2):
            at = 2**exponent
            picture.line(x(at), head, x(at), head + high, "#e4e4e4")
            picture.line(left, y(at), left + width, y(at), "#e4e4e4")
            picture.text(str(at), x(at), head + high + 20, "middle", 13)
            if panel == 0:
                picture.text(str(at), left - 8, y(at) + 5, "end", 13)
        picture.line(x(1), y(1), x(2**most), y(2**most), GREY, 1, stroke_dasharray="2 4")
        mine = [row for row in rows if row["problem"] == problem]
        for ink, shards in zip(INKS, sorted({row["shards"] for row in mine})):
            for network, dashes in (("InfiniBand", "none"), ("Ethernet", "6 5")):
                picture.path(
                    [
                        (x(row["cores"]), y(row["speedup"]))
                        for row in mine
                        if row["shards"] == shards and row["network"] == network
                    ],
                    ink,
                    2.4,
                    stroke_dasharray=dashes,
                )
            top = max(row["speedup"] for row in mine if row["shards"] == shards and row["network"] == "InfiniBand")
            words = f"{shards} shards: {top:.0f} ×" if top > 9.95 else f"{shards} shards: {top:.1f} ×"
            # Where no line is: on the left of the steepest, below the middle one, above the lowest.
            steep = top > 2 ** (most - 2)
            picture.text(
                words,
                left + width * (0.76 if steep else 1) - 4,
                y(top) + (5 if steep else 34 if top > 16 else -8),
                "end",
                13,
                ink,
            )
    whole = left0 + len(problems) * (width + between)
    picture.text("cores (one rank for every 32)", left0 + (whole - left0 - between) / 2, head + high + 46, "middle")
    under = head + high + 41
    picture.line(whole - 360, under, whole - 330, under, BLACK, 2.4)
    picture.text("InfiniBand", whole - 322, under + 5, size=13)
    picture.line(whole - 230, under, whole - 200, under, BLACK, 2.4, stroke_dasharray="6 5")
    picture.text("10 Gb/s Ethernet", whole - 192, under + 5, size=13)
    return picture.svg(whole, head + high + foot)


def draw_growth(rows):
    """Time and memory per agent and node against size: medians, and a dot for every round."""
    items = lambda row: row["agents"] + row["grid"][0] * row["grid"][1]
    picture = Picture()
    values = (
        ("time of a tick", "nanoseconds per agent and node", lambda row: row["ms_median"] * 1e6 / items(row)),
        ("memory", "bytes per agent and node", lambda row: row["bytes_environment"] / items(row)),
    )
    for panel, (title, unit, value) in enumerate(values):
        left = 70 + panel * 490
        axes = Axes(
            picture,
            left,
            56,
            380,
            260,
            [items(row) for row in rows],
            [0.0, *(1.1 * value(row) for row in rows)],
            True,
            False,
        )
        axes.frame("agents + nodes", unit)
        picture.text(title, left, 42, size=16)
        for ink, problem in zip(INKS, dict.fromkeys(row["problem"] for row in rows)):
            sizes = collections.defaultdict(list)
            for row in rows:
                if row["problem"] == problem:
                    sizes[items(row)].append(value(row))
            picture.path([axes.at(size, statistics.median(found)) for size, found in sorted(sizes.items())], ink)
            for size, found in sizes.items():
                for one in found:
                    picture.dot(*axes.at(size, one), ink, 3.5)
            picture.text(problem, left + 14, 290 + 18 * INKS.index(ink), size=13, ink=ink)
    return picture.svg(970, 380)


def tables():
    """Committed pictures by name."""
    out = {
        "gaps": draw_gaps(gaps()),
        "scale": draw_scale(scale.predict()),
        "large_fields": draw_growth([row for row in read("large_fields", kind="growth") if row["threads"] == 1]),
    }
    for study, problem in COMMITTED:
        out[f"{study}_{problem}"] = draw_study(study, read(f"studies/{study}", problem=problem)[0])
    if found := read("studies/ablation"):
        out["ablation"] = draw_ablation(found)
    if found := read("uncertainty", kind="profile"):
        out["profiles"] = draw_profiles(found)
    return out


def write(folder, pictures):
    """SVG files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pictures.items():
        (folder / f"{name}.svg").write_text(text)
    print(f"{len(pictures)} pictures in {folder}")


def studies(names):
    """A picture for every study and problem."""
    return {f"{study}-{one['problem']}": draw_study(study, one) for study in names for one in read(f"studies/{study}")}


def episodes():
    """Episodes of the shipped models; 256 colours are enough for all of them."""
    if not shutil.which("pngquant"):
        raise SystemExit("pngquant is missing (apt-get install pngquant); without it pictures are four times as large")

    def show(name, *words):
        path = FIGURES / f"{name}.png"
        subprocess.run([program(), "show", *map(str, words), "-o", str(path)], check=True, cwd=ROOT)
        subprocess.run(["pngquant", "--force", "--strip", "--ext", ".png", "256", str(path)], check=True)

    for name in ("heat1d", "heat2d_obstacles", "density2d"):
        show(name, name, "--seed", 0)
    for name in ("fkpp1d", "heat2d", "turbulence2d"):
        show(name, name)
    for name in ("heat1d", "heat2d"):
        show(f"{name}_swarms", name, "--seed", 0, "--swarms")
    # Rings of three lengths with about the same agents per length, by the policy of the shortest.
    for length, nodes, agents in ((22, 128, 8), (64, 384, 24), (200, 1152, 74)):
        show(
            f"ks1d_{length}",
            "ks1d",
            "--set",
            f"physics.length={length}",
            "--set",
            f"physics.nodes={nodes}",
            "--agents",
            agents,
        )
    # The same state on two grids.
    for nodes in (64, 256):
        show(f"ks2d_{nodes}", "ks2d", "--set", "data.nodes=64", "--set", f"physics.nodes={nodes}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tables", "studies", "episodes"))
    parser.add_argument("names", nargs="*", choices=[[], *STUDIES, "stability"], metavar="STUDY")
    parser.add_argument("-o", "--out", type=pathlib.Path)
    given = parser.parse_args()
    if given.what == "tables":
        write(given.out or FIGURES, tables())
    elif given.what == "studies":
        pictures = studies(given.names or [*STUDIES, "stability"])
        pictures |= (
            {}
            if given.names
            else {
                f"baselines-{problem}": draw_baselines(problem)
                for problem in PROBLEMS
                if read("baselines", problem=problem)
            }
        )
        write(given.out or RUNS / "figures", pictures)
    else:
        episodes()


if __name__ == "__main__":
    main()
