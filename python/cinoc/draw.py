"""Figures and films of episodes."""

from __future__ import annotations

import io
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from cinoc._native import CinocError
from cinoc.dataset import rollout
from cinoc.policy import Policy, as_policy

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FAILED, ACTIVE, TARGET, BLUE, GREY = "0.45", "black", "#d95f02", "#0571b0", "0.6"


def show(
    what: xr.Dataset | Policy | str | PathLike[str],
    *,
    instance: int = 0,
    compare: dict[str, xr.Dataset] | None = None,
    **more: Any,
) -> Figure:
    """Draws an episode: of `cinoc.rollout`, or of a policy, which is then rolled out with `more` (as `cinoc.rollout` takes it).

    `instance`: which, counted from 0. `compare`: other episodes by name, whose errors are drawn beside; for a policy, the uncontrolled episode is among them.
    Save it with `.savefig("name.png")`; in a notebook it shows itself.
    """
    name = ""
    if not _is_dataset(what):
        policy = as_policy(what)
        what, name = rollout(policy, **more), "policy"
        compare = {"uncontrolled": rollout(policy.problem, **more), **(compare or {})}
    elif more:
        raise CinocError(f"an episode is drawn as it is; {', '.join(more)} belong to cinoc.rollout, or to a policy that is shown")
    episode = _one(what, instance)
    others = {label: _one(other, instance) for label, other in (compare or {}).items()}
    figure = _figure(12.0, 4.6 if "y" in episode.dims else 5.2)
    draw = _plane if "y" in episode.dims else _line
    draw(figure, episode, name, others)
    return figure


def animate(episode: xr.Dataset, *, instance: int = 0, frames: int = 60, fps: int = 15) -> Film:
    """A film of an episode, with at most `frames` pictures. A notebook plays it; `.save("name.gif")` keeps it."""
    if not _is_dataset(episode):
        raise CinocError("animate takes an episode, as cinoc.rollout gives it")
    return Film(_one(episode, instance), frames, fps)


class Film:
    """A film that a notebook plays."""

    def __init__(self, episode: xr.Dataset, frames: int, fps: int) -> None:
        from matplotlib.animation import FuncAnimation

        self.fps = fps
        self.figure = _figure(5.5, 4.0)
        axes = self.figure.add_subplot()
        start = _film_plane if "y" in episode.dims else _film_line
        to_tick = start(axes, episode)
        last = episode.sizes["time"] - 1
        self.ticks = np.unique(np.linspace(0, last, min(frames, last + 1)).round().astype(int))
        self.animation = FuncAnimation(self.figure, to_tick, frames=[int(t) for t in self.ticks], interval=1000 / fps, blit=False)

    def html(self) -> str:
        """As a page with buttons."""
        return str(self.animation.to_jshtml(fps=self.fps))

    def _repr_html_(self) -> str:
        return self.html()

    def save(self, path: str | PathLike[str]) -> None:
        """Into a .gif, or whatever film matplotlib can write here."""
        writer = "pillow" if str(path).endswith(".gif") else None
        self.animation.save(str(path), writer=writer, fps=self.fps)


def _is_dataset(what: Any) -> bool:
    return hasattr(what, "data_vars")


def _one(dataset: Any, instance: int) -> Any:
    """One instance; of several fields the first."""
    count = dataset.sizes.get("instance", 1)
    if not -count <= instance < count:
        raise CinocError(f"instance {instance} is asked for, but there are {count}, counted from 0")
    return dataset.isel({axis: at for axis, at in {"instance": instance, "field": 0}.items() if axis in dataset.dims})


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that shows itself in a notebook, without pyplot."""

        def _repr_png_(self) -> bytes:
            data = io.BytesIO()
            self.savefig(data, format="png", dpi=100)
            return data.getvalue()

    figure = Picture(figsize=(width, height), layout="constrained")
    # Other than pyplot's, this figure has no window; saving is all it needs.
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    return figure


def _headline(episode: Any) -> str:
    failed = int((~episode.alive.values[-1].astype(bool)).sum())
    fail = f", {failed} {'fails' if failed == 1 else 'fail'}" if failed else ""
    words = [str(episode.attrs["problem"]), f"{episode.sizes['agent']} agents{fail}"]
    words.append(f"instance {int(episode.instance)} of seed {episode.attrs['seed']}")
    if np.isfinite(episode.score):
        words.append(f"score {float(episode.score):.2g}")
    return " · ".join(words)


def _with_unit(name: str, values: Any) -> str:
    """A name with the unit of these values, if they have one."""
    unit = values.attrs.get("units", "1")
    return name if unit == "1" else f"{name} ({unit})"


def _shown(episode: Any) -> str:
    """Name of the field, with its unit if it has one."""
    if "field_units" in episode.coords:
        unit = str(episode.field_units.values)
        return str(episode.field.values) + ("" if unit == "1" else f" ({unit})")
    name = episode.z.attrs.get("long_name", "field")
    return _with_unit("field z" if name == "field" else name, episode.z)


def _colours(*arrays: Any) -> dict[str, Any]:
    """One scale for all: white at zero where there are two signs."""
    every = np.concatenate([np.ravel(a)[np.isfinite(np.ravel(a))] for a in arrays])
    low, high = (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)
    top = max(abs(low), abs(high), 1e-30)
    if low > -0.02 * top:
        return {"cmap": "YlOrRd", "vmin": 0.0, "vmax": top}
    return {"cmap": "RdBu_r", "vmin": -top, "vmax": top}


def _errors(axes: Axes, episode: Any, name: str, others: dict[str, Any]) -> None:
    greys = [GREY, "#1b9e77", "#7570b3", "#a6761d"]
    for i, (label, other) in enumerate(others.items()):
        axes.semilogy(other.time, other.error, color=greys[i % len(greys)], lw=1.6, label=label)
    axes.semilogy(episode.time, episode.error, color=BLUE, lw=1.8, label=name or "this episode")
    axes.set(xlabel=_with_unit("time t", episode.time), ylabel=episode.error.attrs["long_name"], title="error")
    axes.set_xlim(float(episode.time[0]), float(episode.time[-1]))
    axes.grid(alpha=0.25)
    if others:
        axes.legend(frameon=False)


def _paths(episode: Any) -> list[tuple[Any, Any, Any]]:
    """Of each agent: its coordinates over time, and when it is active."""
    alive = episode.alive.values.astype(bool)
    return [(episode.xi.values[:, agent], alive[:, agent], episode.time.values) for agent in range(episode.sizes["agent"])]


def _line(figure: Figure, episode: Any, name: str, others: dict[str, Any]) -> None:
    from matplotlib import patheffects

    grid = figure.add_gridspec(2, 2, width_ratios=[1.25, 1.0])
    space, curves, errors = figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1])
    z, x, t = episode.z.values, episode.x.values, episode.time.values
    image = space.pcolormesh(t, x, z.T, shading="gouraud", rasterized=True, **_colours(z, episode.target.values))
    figure.colorbar(image, ax=space, label=_shown(episode), pad=0.02)
    halo = [patheffects.withStroke(linewidth=2.6, foreground="white", alpha=0.7)]
    thin = 1.3 if episode.sizes["agent"] <= 32 else 0.7
    for xi, active, times in _paths(episode):
        space.plot(times, np.where(active, xi[:, 0], np.nan), color=ACTIVE, lw=thin, path_effects=halo)
        space.plot(times, np.where(active, np.nan, xi[:, 0]), color=FAILED, lw=thin, ls=(0, (4, 3)))
    failed = not episode.alive.values.all()
    time, position = _with_unit("time t", episode.time), _with_unit("position x", episode.x)
    space.set(xlabel=time, ylabel=position, title="field and agents" + (" (dashed: failed)" if failed else ""))
    space.set_xlim(t[0], t[-1])
    space.set_ylim(x[0], x[-1])
    curves.plot(x, z[0], color=GREY, label="start")
    curves.plot(x, z[-1], color=BLUE, label=f"end, t = {t[-1]:g}")
    curves.plot(x, episode.target.values, color=TARGET, ls="--", label="target" if episode.attrs["has_target"] else "target: rest")
    curves.set(xlabel=position, ylabel=_shown(episode), title="start and end", xlim=(x[0], x[-1]))
    curves.grid(alpha=0.25)
    curves.legend(framealpha=0.8, edgecolor="none")
    _errors(errors, episode, name, others)
    figure.suptitle(_headline(episode), x=0.01, ha="left")


def _field(axes: Axes, episode: Any, values: Any, colours: dict[str, Any]) -> Any:
    x, y = episode.x.values, episode.y.values
    image = axes.pcolormesh(x, y, np.asarray(values).T, shading="gouraud", rasterized=True, **colours)
    axes.set(aspect="equal", xlabel=_with_unit("x", episode.x), ylabel=_with_unit("y", episode.y), xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    return image


def _dots(axes: Axes, xi: Any, active: Any) -> tuple[Any, Any]:
    size = 30 if len(xi) <= 64 else 10
    rings = axes.scatter(xi[~active, 0], xi[~active, 1], s=size, color="white", edgecolors=FAILED, linewidths=1.2, zorder=3, clip_on=False)
    dots = axes.scatter(xi[active, 0], xi[active, 1], s=size, color=ACTIVE, edgecolors="white", linewidths=0.6, zorder=4, clip_on=False)
    return dots, rings


def _discs(axes: Axes, episode: Any, tick: int) -> list[Any]:
    from matplotlib.patches import Circle

    discs = episode.discs.values[tick] if "discs" in episode else []
    circles = [Circle((x, y), radius, facecolor="0.8", edgecolor="0.2", hatch="////", lw=1.0, zorder=2) for x, y, radius in discs]
    return [axes.add_patch(circle) for circle in circles]


def _plane(figure: Figure, episode: Any, name: str, others: dict[str, Any]) -> None:
    aim = bool(episode.attrs["has_target"])
    z, alive, t = episode.z.values, episode.alive.values.astype(bool), episode.time.values
    panels = figure.subplots(1, 4 if aim else 3, width_ratios=[1.0] * (3 if aim else 2) + [1.35])
    colours = _colours(z[0], z[-1], episode.target.values)
    scenes = [(panels[0], 0, "start"), (panels[1], -1, f"end, t = {t[-1]:g}")]
    for axes, tick, title in scenes:
        image = _field(axes, episode, z[tick], colours)
        axes.set_title(title)
        _discs(axes, episode, tick)
        _dots(axes, episode.xi.values[tick], alive[tick])
    moved = np.abs(episode.xi.values[-1] - episode.xi.values[0]).max() > 0
    for xi, active, _ in _paths(episode) if moved else []:
        panels[1].plot(*np.where(active[:, None], xi, np.nan).T, color=ACTIVE, lw=0.7, alpha=0.6)
        panels[1].plot(*np.where(active[:, None], np.nan, xi).T, color=FAILED, lw=0.7, ls="--")
    if not alive.all():
        panels[1].set_title(f"end, t = {t[-1]:g} (rings: failed)")
    if aim:
        _field(panels[2], episode, episode.target.values, colours)
        panels[2].set_title("target")
    figure.colorbar(image, ax=list(panels[:-1]), label=_shown(episode), orientation="horizontal", shrink=0.6, pad=0.03)
    _errors(panels[-1], episode, name, others)
    figure.suptitle(_headline(episode), x=0.01, ha="left")


def _film_line(axes: Axes, episode: Any) -> Any:
    z, x, t = episode.z.values, episode.x.values, episode.time.values
    axes.plot(x, episode.target.values, color=TARGET, ls="--", label="target" if episode.attrs["has_target"] else "target: rest")
    (line,) = axes.plot(x, z[0], color=BLUE, label="field")
    xi, alive = episode.xi.values, episode.alive.values.astype(bool)

    def points(tick: int) -> Any:
        return np.stack([xi[tick, :, 0], np.interp(xi[tick, :, 0], x, z[tick])], -1)

    active, failed = _dots(axes, points(0), alive[0])
    axes.set(xlabel=_with_unit("position x", episode.x), ylabel=_shown(episode), xlim=(x[0], x[-1]))
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, loc="upper right")

    def to_tick(tick: int) -> list[Any]:
        line.set_ydata(z[tick])
        active.set_offsets(points(tick)[alive[tick]])
        failed.set_offsets(points(tick)[~alive[tick]])
        axes.set_title(f"t = {t[tick]:.3g}")
        return [line, active, failed]

    return to_tick


def _film_plane(axes: Axes, episode: Any) -> Any:
    z, t = episode.z.values, episode.time.values
    xi, alive = episode.xi.values, episode.alive.values.astype(bool)
    image = _field(axes, episode, z[0], _colours(z[0], z[-1], episode.target.values))
    if episode.attrs["has_target"]:
        axes.contour(episode.x, episode.y, episode.target.values.T, levels=6, colors="0.3", linewidths=0.7)
    axes.figure.colorbar(image, ax=axes, label=_shown(episode))
    circles = _discs(axes, episode, 0)
    active, failed = _dots(axes, xi[0], alive[0])

    def to_tick(tick: int) -> list[Any]:
        image.set_array(z[tick].T)
        for circle, (x, y, _) in zip(circles, episode.discs.values[tick] if circles else []):
            circle.center = x, y
        active.set_offsets(xi[tick][alive[tick]])
        failed.set_offsets(xi[tick][~alive[tick]])
        axes.set_title(f"t = {t[tick]:.3g}")
        return [image, active, failed]

    return to_tick
