"""Curves of all methods on one problem: python baselines/figure.py PROBLEM [--runs FOLDER] [--out FOLDER]. Writes PROBLEM.svg and PROBLEM.png."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from baselines.record import complete, read  # noqa: E402
from baselines.tasks import TASKS  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
NAMES = {
    "ppo": ("PPO, sees everything", "#4c78a8", "-"),
    "td3": ("TD3, sees everything", "#f58518", "-"),
    "mappo": ("MAPPO", "#54a24b", "-"),
    "mappo-deeponet": ("MAPPO, DeepONet", "#54a24b", "--"),
    "matd3": ("MATD3", "#b279a2", "-"),
    "matd3-deeponet": ("MATD3, DeepONet", "#b279a2", "--"),
    "cinoc": ("CINOC", "#111111", "-"),
}
TOP = 10.0
"""Ratios above this, also of episodes that diverged, are drawn here."""


def curves(folder: Path, method: str) -> list[np.ndarray[Any, Any]]:
    """Of each seed whose run is complete: minutes of computing time, environment steps, ratio."""
    found = []
    for path in sorted(folder.glob(f"{method}-[0-9]*.jsonl")):
        if not complete(path):
            continue
        rows = [(line["cpu"] / 60, line["steps"], float(line["ratio"])) for line in read(path) if "cpu" in line]
        if len(rows) > 1:
            found.append(np.array(rows))
    return found


def together(seeds: list[np.ndarray[Any, Any]], along: int) -> tuple[np.ndarray[Any, Any], ...]:
    """Median and range over seeds, at places that all of them reached."""
    last, first = min(seed[-1, along] for seed in seeds), max(seed[1, along] for seed in seeds)
    x = np.unique(np.concatenate([seed[:, along] for seed in seeds]))
    x = x[(x <= last) & (x >= min(first, last))]
    y = np.exp([np.interp(x, seed[:, along], np.log(np.minimum(seed[:, 2], TOP))) for seed in seeds])
    return x, np.median(y, 0), y.min(0), y.max(0)


def draw(problem: str, runs: Path) -> Figure:
    """Two panels: against computing time, and against steps."""
    figure = Figure((10, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    cut = False
    for method, (name, colour, dashes) in NAMES.items():
        seeds = curves(runs / problem, method)
        if not seeds:
            continue
        cut |= any(np.max(seed[1:, 2]) > TOP for seed in seeds)
        count = f" ({len(seeds)} seeds)" if len(seeds) > 1 else " (1 seed)"
        for axes, along in zip(panels, (0, 1), strict=True):
            x, middle, low, high = together(seeds, along)
            axes.plot(x, middle, dashes, color=colour, label=name + count, lw=2.2 if method == "cinoc" else 1.5)
            axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
    for axes, label in zip(panels, ("minutes of computing time, one core", "environment steps"), strict=True):
        axes.axhline(TASKS[problem].published, color="#888888", ls=":", label="CINOC as published, at its end")
        axes.axhline(1.0, color="#cccccc", lw=0.8)
        axes.set_xlabel(label)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_yscale("log")
    for axes in panels:
        axes.set_xscale("log")
    panels[0].xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    panels[0].set_ylabel("score ÷ uncontrolled score\n(50 validation instances)")
    figure.suptitle(f"{problem}: median and range over seeds" + (f" (ratios above {TOP:g} drawn at {TOP:g})" if cut else ""))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=9)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problem", choices=TASKS)
    parser.add_argument("--runs", type=Path, default=ROOT / "results" / "baselines")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "baselines")
    given = parser.parse_args()
    figure = draw(given.problem, given.runs)
    for kind in ("svg", "png"):
        figure.savefig(given.out / f"{given.problem}.{kind}", dpi=150)


if __name__ == "__main__":
    main()
