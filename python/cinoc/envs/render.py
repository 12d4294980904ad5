"""Pictures of an episode."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from numpy.typing import NDArray

from ..problem import Problem

FIELD, TARGET, AGENT, FAILED = "#1f4e79", "#c0392b", "#111111", "#9a9a9a"
DPI = 100


def frame(
    problem: Problem,
    field: NDArray[Any],
    target: NDArray[Any],
    positions: NDArray[Any],
    strength: NDArray[Any],
    tick: int,
    scale: float,
) -> NDArray[np.uint8]:
    """Field, target and agents as an image, (height, width, 3). Failed agents are grey rings. `scale`: the largest value that is shown."""
    title = f"{problem.name}   tick {tick} of {problem.ticks}   t = {tick * problem.tick_time:.4g}"
    field = np.nan_to_num(field.astype(np.float64))
    if field.ndim == 1:
        return _image(_line(problem, field, target, positions, strength, scale), title)
    return _image(_plane(problem, field, target, positions, strength, tick, scale), title)


def _image(figure: Figure, title: str) -> NDArray[np.uint8]:
    figure.suptitle(title, fontsize=11)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _line(
    problem: Problem, field: NDArray[Any], target: NDArray[Any], positions: NDArray[Any], strength: NDArray[Any], scale: float
) -> Figure:
    figure = Figure((6.4, 4.0), DPI, layout="constrained")
    axes = figure.subplots()
    x = problem.coordinates["x"]
    if problem.has_target:
        axes.plot(x, target, color=TARGET, linestyle="--", linewidth=1.6, label="target")
    axes.plot(x, field, color=FIELD, linewidth=2.0, label="field")
    places = positions[:, 0]
    heights = np.interp(places, x, field, period=float(problem.lengths[0]) if problem.periodic else None)
    alive = strength > 0
    axes.plot(places[alive], heights[alive], "o", color=AGENT, markersize=6, linestyle="none", label="agents", zorder=3)
    if not alive.all():
        axes.plot(
            places[~alive], heights[~alive], "o", markerfacecolor="none", markeredgecolor=FAILED, markersize=7, linestyle="none",
            label="failed", zorder=3,
        )
    high = 1.15 * max(scale, float(np.abs(field).max()))
    low = -high if min(float(field.min()), float(target.min())) < -1e-3 * scale else -0.08 * high
    axes.set(xlim=(0.0, float(problem.lengths[0])), ylim=(low, high), xlabel="x", ylabel="z")
    axes.legend(loc="upper right", fontsize=9, frameon=False, ncols=4)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _plane(
    problem: Problem, field: NDArray[Any], target: NDArray[Any], positions: NDArray[Any], strength: NDArray[Any], tick: int, scale: float
) -> Figure:
    width, height = (float(length) for length in problem.lengths)
    shown = [("field", field)] + ([("target", np.asarray(target, np.float64))] if problem.has_target else [])
    tall = 3.6 * height / width
    figure = Figure((3.6 * len(shown) + 0.9, tall + 0.8), DPI, layout="constrained")
    panels = figure.subplots(1, len(shown), squeeze=False)[0]
    signed = min(float(z.min()) for _, z in shown) < -1e-3 * scale
    for axes, (name, z) in zip(panels, shown, strict=True):
        image = axes.imshow(
            z.T, origin="lower", extent=(0, width, 0, height), cmap="RdBu_r" if signed else "viridis",
            vmin=-scale if signed else 0.0, vmax=scale, interpolation="bilinear",
        )
        axes.set_title(name, fontsize=10)
        axes.set(xticks=[], yticks=[], xlim=(0, width), ylim=(0, height))
    figure.colorbar(image, ax=list(panels), fraction=0.046, pad=0.02)
    for x, y, radius in problem.discs(tick):
        for axes in panels:
            axes.add_patch(Circle((x, y), radius, facecolor="#00000030", edgecolor="black", linewidth=1.0))
    size, alive = (6.0 if len(strength) <= 40 else 4.0), strength > 0
    inner, outer = (AGENT, "white") if signed else ("white", AGENT)
    panels[0].plot(
        positions[alive, 0], positions[alive, 1], "o", color=inner, markeredgecolor=outer, markeredgewidth=0.8, markersize=size,
        linestyle="none",
    )
    panels[0].plot(
        positions[~alive, 0], positions[~alive, 1], "o", markerfacecolor="none", markeredgecolor=FAILED, markeredgewidth=1.3,
        markersize=size, linestyle="none",
    )
    return figure
