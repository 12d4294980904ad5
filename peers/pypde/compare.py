#!/usr/bin/env python3
"""Ten equations as text, by our finite volumes and by py-pde: the same grid, start and time.

    python3 peers/pypde/compare.py [NAME…]        (needs the Python package and py-pde: pip install py-pde)

One JSON line per equation:
- `difference`: of both at the end, with tight tolerances, relative to the change of the field. Where operators are the
  same it is rounding; else both are of second order in space, and `order` says how it falls when cells are halved.
- `ours`, `theirs`: the least of six alternating times, in seconds, of the fastest setting with an error of the time
  stepping of at most ACCURACY, against the same solver with tight tolerances on the same grid. Of py-pde explicit Euler
  and Runge-Kutta with fixed and adaptive steps are tried, with compiled operators; compiling does not count. Ours is
  stepped from Python, with an agent that does nothing, in single precision.
"""

import json
import pathlib
import sys
import tempfile
import time

import numpy as np

try:
    import pde
    from cinoc.envs.batch import Batch
except ImportError as missing:
    sys.exit(f"SKIPPED: {missing}; nothing was compared. Install the Python package and py-pde")

ACCURACY, ROUNDS, LEAST = 1e-3, 6, 1e-9
# Equation of ours and of py-pde, length, dimensions, cells, time, sides of ours and theirs, start.
PERIODIC, WALLS = "periodic", "insulated"
CASES = {
    "heat": ("0.1*lap(z)", "0.1*laplace(z)", 1.0, 1, 64, 0.2, {"left": "{ value = 0 }", "right": "{ value = 1 }"},
             {"x-": {"value": 0}, "x+": {"value": 1}}, "waves"),
    "heat, exchange": ("0.1*lap(z)", "0.1*laplace(z)", 1.0, 1, 64, 0.5, {"left": "{ flux = 0.05 }", "right": "{ exchange = 0.3, outside = 2 }"},
                       {"x-": {"derivative": 0.5}, "x+": {"type": "mixed", "value": 3.0, "const": 6.0}}, "waves"),
    "Fisher-KPP": ("0.005*lap(z) + 3*z*(1 - z)", "0.005*laplace(z) + 3*z*(1 - z)", 1.0, 1, 64, 1.0, WALLS, {"derivative": 0}, "bump"),
    "Allen-Cahn": ("0.001*lap(z) + z - z^3", "0.001*laplace(z) + z - z**3", 1.0, 1, 64, 4.0, PERIODIC, PERIODIC, "waves"),
    "Burgers": ("0.02*lap(z) - dx(z^2)/2", "0.02*laplace(z) - d_dx(z**2)/2", 1.0, 1, 128, 0.3, PERIODIC, PERIODIC, "waves"),
    "advection-diffusion": ("0.01*lap(z) - 0.5*dx(z)", "0.01*laplace(z) - 0.5*d_dx(z)", 1.0, 1, 128, 0.5, PERIODIC, PERIODIC, "waves"),
    "Kuramoto-Sivashinsky": ("-lap(z) - lap(lap(z)) - dot(grad(z), grad(z))/2",
                             "-laplace(z) - laplace(laplace(z)) - gradient_squared(z)/2", 22.0, 1, 64, 4.0, PERIODIC, PERIODIC, "waves"),
    "Swift-Hohenberg": ("-0.7*z - 2*lap(z) - lap(lap(z)) - z^3", "-0.7*z - 2*laplace(z) - laplace(laplace(z)) - z**3",
                        25.0, 1, 64, 4.0, PERIODIC, PERIODIC, "waves"),
    "Cahn-Hilliard": ("lap(z^3 - z) - 0.002*lap(lap(z))", "laplace(z**3 - z) - 0.002*laplace(laplace(z))", 1.0, 1, 48, 0.02,
                      PERIODIC, PERIODIC, "small"),
    "Allen-Cahn, plane": ("0.001*lap(z) + z - z^3", "0.001*laplace(z) + z - z**3", 1.0, 2, 64, 4.0, PERIODIC, PERIODIC, "waves"),
}

FILE = """
[domain]
size = {size}
cells = {cells}
{sides}
[fields]
z = "0"
[equations]
z = "{equation} + push"
[agents]
number = 1
push = {{ width = {width}, range = [-1, 1] }}
[task]
cost = {{ error = "mean(z^2)" }}
score = "mean(z^2)"
[time]
tick = {tick!r}
ticks = {ticks}
substeps = {substeps}
"""


def start(kind, length, dimensions, cells):
    """Values at the centres of cells."""
    x = (np.arange(cells) + 0.5) / cells
    wave = np.sin(2 * np.pi * x) + 0.5 * np.cos(4 * np.pi * x)
    line = {"waves": wave, "small": 0.3 * wave, "bump": 0.8 * np.exp(-((x - 0.3) ** 2) / 0.01)}[kind]
    return line if dimensions == 1 else 0.5 * (line[:, None] + np.roll(line, cells // 3)[None, :])


class Ours:
    """A problem file."""

    def __init__(self, case, cells, folder):
        self.equation, _, self.length, self.dimensions, _, self.time, self.sides, _, self.kind = case
        self.cells, self.folder = cells, pathlib.Path(folder)

    def run(self, steps):
        """The field at the end, and the seconds of stepping."""
        ticks = max(2, min(steps, 50))
        substeps = -(-steps // ticks)
        each = self.sides if isinstance(self.sides, dict) else {"sides": f'"{self.sides}"'}
        sides = "\n".join(f"{key} = {value}" for key, value in each.items())
        path = self.folder / "equation.toml"
        path.write_text(FILE.format(
            size=[self.length] * self.dimensions, cells=[self.cells] * self.dimensions, sides=sides, equation=self.equation,
            width=0.2 * self.length, tick=self.time / ticks, ticks=ticks, substeps=substeps,
        ))
        field = start(self.kind, self.length, self.dimensions, self.cells).astype(np.float32)
        batch = Batch(path, start=field, target=np.zeros_like(field))
        batch.seed([0], np.random.default_rng)
        batch.reset()
        rest = np.zeros((1, *batch.action_shape), np.float32)
        began = time.perf_counter()
        for _ in range(ticks):
            batch.step(rest)
        return batch.fields()[0].astype(float), time.perf_counter() - began


class Theirs:
    """The same by py-pde."""

    def __init__(self, case, cells):
        _, equation, length, dimensions, _, self.time, _, sides, kind = case
        grid = pde.CartesianGrid([[0, length]] * dimensions, [cells] * dimensions, periodic=sides == PERIODIC)
        self.field = pde.ScalarField(grid, start(kind, length, dimensions, cells))
        # Sides apply to the field; the fourth order is periodic here.
        self.equation = pde.PDE({"z": equation}, bc="periodic" if sides == PERIODIC else sides)
        self.compiled = {}

    def run(self, how):
        """The field at the end, and the seconds of stepping."""
        if how not in self.compiled:
            scheme, amount, adaptive = how
            options = {"adaptive": True, "tolerance": amount} if adaptive else {}
            kind = {"euler": pde.EulerSolver, "runge-kutta": pde.RungeKuttaSolver}[scheme]
            solver = kind(self.equation, backend="numba", **options)
            dt = 1e-6 if adaptive else self.time / amount
            stepper = solver.make_stepper(self.field, dt)
            self.compiled[how] = stepper
            stepper(self.field.copy(), 0.0, dt)
        state = self.field.copy()
        began = time.perf_counter()
        self.compiled[how](state, 0.0, self.time)
        return state.data, time.perf_counter() - began


def error(field, exact, first):
    """Relative to the change of the field."""
    return float(np.linalg.norm(field - exact) / np.linalg.norm(exact - first))


def fastest(run, tries, exact, first):
    """The fastest way that is accurate enough."""
    found = None
    for how in tries:
        try:
            field, seconds = run(how)
        except (RuntimeError, FloatingPointError, ValueError):
            continue
        if np.isfinite(field).all() and error(field, exact, first) <= ACCURACY and (not found or seconds < found[1]):
            found = how, seconds
    return found and found[0]


def main():
    wanted = sys.argv[1:] or CASES
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            case = CASES[name]
            cells, differences = case[4], []
            for n in (cells // 2, cells):
                ours, theirs = Ours(case, n, folder), Theirs(case, n)
                first = theirs.field.data
                tight = [theirs.run(("runge-kutta", LEAST, True))[0], ours.run(1600)[0]]
                differences.append(error(tight[1], tight[0], first))
            own = fastest(ours.run, [2**k for k in range(1, 11)], tight[1], first)
            fixed = [(scheme, 2**k, False) for scheme in ("euler", "runge-kutta") for k in range(2, 18)]
            adaptive = [("runge-kutta", 10.0**-k, True) for k in (2, 3, 4, 5)]
            peer = fastest(theirs.run, fixed + adaptive, tight[0], first)
            times = [(ours.run(own)[1], theirs.run(peer)[1]) for _ in range(ROUNDS)] if own and peer else []
            line = {"equation": name, "cells": [cells] * case[3], "difference": differences[1]}
            line |= {"order": float(np.log2(differences[0] / differences[1])), "steps": own, "their_setting": peer}
            if times:
                line |= {"ours": min(t[0] for t in times), "theirs": min(t[1] for t in times)}
                line |= {"ours_median": float(np.median([t[0] for t in times])), "theirs_median": float(np.median([t[1] for t in times]))}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
