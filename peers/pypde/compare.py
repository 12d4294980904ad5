#!/usr/bin/env python3
"""Ten equations as text, by our finite volumes and by py-pde, from the same start to the same time.

    python3 peers/pypde/compare.py fields [NAME…]     # differences of the fields, and the settings for the times
    python3 peers/pypde/compare.py times [NAME…]      # CPU times of these settings; needs an idle core
    python3 peers/pypde/compare.py small              # two equations, nothing is recorded

Needs the Python package, py-pde and SciPy (`pip install py-pde scipy`); writes lines of results/speed.jsonl.

- `difference`: largest over all cells at the end, both sides converged in time and in double precision, relative to the
  largest change of the field since the start. Operators in space are the same, so it does not depend on the cells.
- Settings: the fewest steps, or the loosest tolerance, at which time stepping changes the end of the field by at most
  ACCURACY, in the same norm. Of py-pde fixed and adaptive steps of its Euler and Runge-Kutta solvers, of each the
  one with fewer evaluations, and the fastest of SciPy's implicit methods, which know the sparsity of the Jacobian.
- Times: CPU seconds of one core without compiling, all contestants in turn in each round. Ours is stepped from Python,
  with an agent that does nothing, in single precision; py-pde has compiled operators and double precision.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import dataclasses
import importlib.metadata
import math
import pathlib
import re
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "experiments"))

try:
    import pde
    import scipy.sparse as sparse
    from cinoc.envs.batch import Batch
except ImportError as missing:
    sys.exit(f"SKIPPED: {missing}; nothing was compared. Install the Python package, py-pde and scipy")

from cases import commit, machine, today
from tables import put, read

ACCURACY, ROUNDS, LEAST = 1e-3, 6, 0.02
WALLS, PERIODIC = {}, None


@dataclasses.dataclass(frozen=True)
class Case:
    """An equation: fields with their texts, box, time, start (of coordinates from 0 to 1), sides of ours and of py-pde."""

    fields: dict
    size: list
    cells: list
    time: float
    start: object
    ours: dict | None = PERIODIC
    theirs: dict | None = PERIODIC
    maps: dict = dataclasses.field(default_factory=dict)
    fourth: bool = False


def waves(x, y=None):
    """A start of a few modes."""
    if y is None:
        return np.sin(2 * np.pi * x) + 0.5 * np.cos(4 * np.pi * x)
    return 0.4 * np.sin(2 * np.pi * x) + 0.2 * np.cos(2 * np.pi * (2 * x + y)) + 0.2 * np.sin(2 * np.pi * (3 * y - x))


def bump(width, *offsets):
    """exp(-r²/width²)."""
    return np.exp(-sum(offset**2 for offset in offsets) / width**2)


INSULATED = {"derivative": 0}
CASES = {
    "heat": Case(
        {"u": "0.1*lap(u)"}, [1.0], [64], 0.2, waves, {"left": "{ value = 0 }", "right": "{ value = 1 }"},
        {"x-": {"value": 0}, "x+": {"value": 1}},
    ),
    "heat, exchange": Case(
        {"u": "0.1*lap(u)"}, [1.0], [64], 0.5, waves,
        {"left": "{ flux = 0.05 }", "right": "{ exchange = 0.3, outside = 2 }"},
        {"x-": {"derivative": 0.5}, "x+": {"type": "mixed", "value": 3.0, "const": 6.0}},
    ),
    "heat, cube": Case(
        {"u": "0.02*lap(u)"}, [1.0, 1.0, 1.0], [16, 16, 16], 1.0, lambda x, y, z: bump(0.3, x - 0.3, y - 0.4, z - 0.6),
        {"left": "{ exchange = 0.2, outside = 0 }"},
        {"x-": {"type": "mixed", "value": 10.0}, "x+": INSULATED, "y": INSULATED, "z": INSULATED},
    ),
    "advection-diffusion": Case(
        {"u": "0.01*lap(u) - along*dx(u) - across*dy(u)"}, [2.0, 1.0], [64, 32], 0.5, lambda x, y: bump(0.15, x),
        {"left": "{ value = 1 }"}, {"x-": {"value": 1}, "x+": INSULATED, "y": INSULATED},
        {"along": "1 + 0.3*sin(6.2831853*x)*cos(3.1415927*y)", "across": "-0.6*cos(6.2831853*x)*sin(3.1415927*y)"},
    ),
    "Burgers": Case({"u": "0.02*lap(u) - dx(u^2)/2"}, [1.0], [128], 0.3, waves),
    "Allen-Cahn": Case({"u": "0.001*lap(u) + u - u^3"}, [1.0], [64], 4.0, waves),
    "FitzHugh-Nagumo": Case(
        {"u": "lap(u) + u - u^3/3 - w", "w": "0.08*(u + 0.7 - 0.8*w)"}, [100.0], [128], 50.0,
        lambda x: [-1.1994 + 2.8 * bump(0.05, x - 0.3), -0.6243 + bump(0.05, x - 0.22)],
    ),
    "Gray-Scott": Case(
        {"v": "1e-5*lap(v) + u*v^2 - 0.097*v", "u": "2e-5*lap(u) - u*v^2 + 0.037*(1 - u)"}, [1.28, 1.28], [64, 64], 200.0,
        lambda x, y: [v := 0.4 * bump(0.08, x - 0.5, y - 0.45) + 0.4 * bump(0.06, x - 0.3, y - 0.7), 1 - v],
    ),
    "Swift-Hohenberg": Case(
        {"u": "-0.7*u - 2*lap(u) - lap(lap(u)) - u^3"}, [25.13274, 25.13274], [32, 32], 5.0, waves, fourth=True
    ),
    "Cahn-Hilliard": Case(
        {"u": "lap(u^3 - u) - lap(lap(u))"}, [32.0, 32.0], [32, 32], 10.0, waves, fourth=True
    ),
}

FILE = """
[domain]
size = {size}
cells = {cells}
{sides}
[maps]
{maps}
[fields]
{fields}
[equations]
{equations}
[agents]
number = 1
push = {{ shape = "cell", range = [-1, 1] }}
[task]
cost = {{ error = "mean({first}^2)" }}
score = "mean({first}^2)"
[time]
tick = {tick!r}
ticks = {ticks}
substeps = {substeps}
"""


def start(case):
    """Values at the centres of cells, `[fields, cells…]`."""
    at = np.meshgrid(*((np.arange(n) + 0.5) / n for n in case.cells), indexing="ij")
    return np.asarray(case.start(*at), float).reshape(len(case.fields), *case.cells)


def off(field, exact, first):
    """The largest difference in a cell over the largest change, of the field where it is larger; infinite after a failure."""
    if field is None or not np.isfinite(field).all():
        return math.inf
    return max(float(np.abs(a - b).max() / np.abs(b - c).max()) for a, b, c in zip(field, exact, first))


def lines(pairs):
    """Lines of a section."""
    return "\n".join(f"{key} = {value}" for key, value in pairs)


class Ours:
    """A problem file."""

    def __init__(self, case):
        self.case, self.start = case, start(case)

    def prepare(self, how, dtype="float32"):
        """A function that returns the field at the end and the CPU seconds of stepping; `how`: ticks, and steps of each."""
        case, (ticks, substeps) = self.case, how
        first = next(iter(case.fields))
        equations = {name: text + " + push" * (name == first) for name, text in case.fields.items()}
        text = FILE.format(
            size=case.size, cells=case.cells, sides='sides = "periodic"' if case.ours is PERIODIC else lines(case.ours.items()),
            maps=lines((name, f'"{text}"') for name, text in case.maps.items()), fields=lines((name, '"0"') for name in case.fields),
            equations=lines((name, f'"{text}"') for name, text in equations.items()), first=first, tick=case.time / ticks,
            ticks=ticks, substeps=substeps,
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "equation.toml"
            path.write_text(text)
            field = self.start if len(case.fields) > 1 else self.start[0]
            batch = Batch(path, start=field, target=np.zeros_like(field), dtype=dtype)
        rest = np.zeros((1, *batch.action_shape), dtype)
        batch.seed([0], np.random.default_rng)

        def run():
            batch.reset()
            began = time.process_time()
            for _ in range(ticks):
                batch.step(rest)
            return batch.fields()[0].astype(float).reshape(self.start.shape), time.process_time() - began

        return run

    def field(self, steps):
        """The field after an even number of steps, in double precision."""
        substeps = max(1, steps // 256)
        return self.prepare((-(-steps // substeps), substeps), "float64")()[0]


class Theirs:
    """The same by py-pde."""

    fixed = {"Euler": (pde.EulerSolver, 1), "Runge-Kutta": (pde.RungeKuttaSolver, 4)}
    adaptive = {"Euler, adaptive": (pde.EulerSolver, 2), "Runge-Kutta, adaptive": (pde.RungeKuttaSolver, 6)}

    def __init__(self, case):
        self.case, self.start = case, start(case)
        grid = pde.CartesianGrid([[0, length] for length in case.size], case.cells, periodic=case.theirs is PERIODIC)
        self.state = pde.FieldCollection([pde.ScalarField(grid, values) for values in self.start])
        if len(case.fields) == 1:
            self.state = self.state[0]
        at = dict(zip("xyz", np.moveaxis(grid.cell_coords, -1, 0))) | {"sin": np.sin, "cos": np.cos}
        maps = {name: pde.ScalarField(grid, eval(text, {}, at)) for name, text in case.maps.items()}
        texts = {name: re.sub(r"\bd([xyz])\(", r"d_d\1(", text.replace("lap(", "laplace(").replace("^", "**")) for name, text in case.fields.items()}
        self.equation = pde.PDE(texts, bc="periodic" if case.theirs is PERIODIC else case.theirs, consts=maps)

    def sparsity(self):
        """Entries of the Jacobian that may differ from zero."""
        near, count = 0, math.prod(self.case.cells)
        for axis, n in enumerate(self.case.cells):
            offsets = [-1, 0, 1] + ([1 - n, n - 1] if self.case.theirs is PERIODIC else [])
            line = sparse.diags_array([np.ones(n - abs(k)) for k in offsets], offsets=offsets)
            before = math.prod(self.case.cells[:axis])
            near = near + sparse.kron(sparse.kron(sparse.eye_array(before), line), sparse.eye_array(count // before // n))
        return sparse.kron(np.ones((len(self.start),) * 2), near @ near if self.case.fourth else near).tocsr()

    def prepare(self, how, backend="numba"):
        """A function that returns the field at the end and the CPU seconds of stepping; `how`: a solver and its number
        of steps or tolerance."""
        name, amount = how
        if name in self.fixed:
            solver, dt = self.fixed[name][0](self.equation, backend=backend), self.case.time / amount
        elif name in self.adaptive:
            solver, dt = self.adaptive[name][0](self.equation, backend=backend, adaptive=True, tolerance=amount), self.case.time * 1e-4
        else:
            known = {"lband": 1, "uband": 1} if name == "LSODA" else {"jac_sparsity": self.sparsity()}
            scale = float(np.abs(self.start).max())
            solver = pde.ScipySolver(self.equation, backend=backend, method=name, rtol=amount, atol=amount * scale, **known)
            dt = None
        self.solver = solver
        stepper = solver.make_stepper(self.state.copy(), dt)

        def run():
            state = self.state.copy()
            began = time.process_time()
            stepper(state, 0.0, self.case.time)
            return state.data.reshape(self.start.shape), time.process_time() - began

        return run

    def field(self, how):
        """The field without compiled loops, and the time; nothing after a failure."""
        try:
            with np.errstate(all="ignore"):
                return self.prepare(how, "numpy")()
        except (ArithmeticError, RuntimeError, ValueError):
            return None, math.inf

    def implicit(self):
        """The implicit methods that suit the case."""
        line = len(self.case.cells) == 1 and self.case.theirs is not PERIODIC
        return ("BDF", "Radau", *(("LSODA",) if line else ()))


def converged(field, first, change, steps=16, most=2**17):
    """The field with so many steps that half as many change it by no more than `change`."""
    coarse = field(steps)
    while steps < most:
        steps *= 2
        fine = field(steps)
        if fine is not None and np.isfinite(fine).all() and off(coarse, fine, first) <= change:
            return fine
        coarse = fine
    raise RuntimeError(f"no convergence with {most} steps")


def fewest(accurate, steps=4):
    """The fewest even number of steps, to an eighth."""
    while not accurate(steps):
        steps *= 2
    step = steps // 4
    while step >= max(2, steps // 16) and steps > 4:
        if accurate(steps - step):
            steps -= step
        step = step // 4 * 2
    return steps


def loosest(accurate):
    """The loosest tolerance, to a factor of three; none of 1 to 1e-7 may do."""
    return next((amount for power in range(15) if accurate(amount := float(f"{10 ** (-power / 2):.1g}"))), None)


def their_settings(theirs):
    """The field at the end, and solvers with their steps or tolerances and evaluations of the equation."""
    first, seconds, found = theirs.start, {}, {}
    exact = converged(lambda n: theirs.field(("Runge-Kutta", n))[0], first, 1e-8)

    def accurate(solver):
        def good(amount):
            field, seconds[solver] = theirs.field((solver, amount))
            return off(field, exact, first) <= ACCURACY

        return good

    def evaluations(solver):
        return found[solver]["evaluations"]

    for solver, (_, stages) in theirs.fixed.items():
        steps = fewest(accurate(solver))
        found[solver] = {"amount": steps, "evaluations": steps * stages}
    for solver in (*theirs.adaptive, *theirs.implicit()):
        stages = theirs.adaptive.get(solver, (None, 1))[1]
        if amount := loosest(accurate(solver)):
            found[solver] = {"amount": amount, "evaluations": theirs.solver.info["steps"] * stages}
    best = [min((solver for solver in group if solver in found), key=evaluations, default=None) for group in (theirs.fixed, theirs.adaptive)]
    best.append(min((solver for solver in theirs.implicit() if solver in found), key=seconds.get, default=None))
    return exact, {solver: found[solver] for solver in best if solver}


def fields(name):
    """Compares fields and finds settings."""
    case = CASES[name]
    ours, theirs = Ours(case), Theirs(case)
    exact, settings = their_settings(theirs)
    own = converged(ours.field, ours.start, 3e-6)
    steps = fewest(lambda n: off(ours.field(n), own, ours.start) <= ACCURACY)
    return {"cells": case.cells, "difference": off(own, exact, ours.start), "steps": steps, "settings": settings}


def mean(run):
    """CPU seconds of a run, of as many as take LEAST together."""
    times = []
    while sum(times) < LEAST:
        times.append(run()[1])
    return sum(times) / len(times)


def times(name, line):
    """Times all contestants in turn."""
    case = CASES[name]
    ours, theirs, steps = Ours(case), Theirs(case), line["steps"]
    # Of all ways to divide the steps into ticks the fastest.
    ways = {f"{steps // n} x {n}": ours.prepare((steps // n, n)) for n in (1, 2, 4, 8, 16) if steps % n == 0 and steps > n}
    quick = {how: (run(), mean(run))[1] for how, run in ways.items()}
    best = min(quick, key=quick.get)
    runs = {"ours": ways[best]} | {solver: theirs.prepare((solver, how["amount"])) for solver, how in line["settings"].items()}
    for run in runs.values():
        run()
    found = {side: [] for side in runs}
    for _ in range(ROUNDS):
        for side, run in runs.items():
            found[side].append(mean(run))
    measured = {side: {"min": min(all), "median": float(np.median(all))} for side, all in found.items()}
    return {"rounds": ROUNDS, "ticks": best, "seconds": measured}


def main():
    what, *names = sys.argv[1:] or ["small"]
    if what not in ("fields", "times", "small"):
        sys.exit(__doc__)
    if hasattr(os, "sched_setaffinity") and what == "times":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    known = {line["equation"]: line for line in read("speed", kind="py-pde")}
    for name in names or (("heat", "Allen-Cahn") if what == "small" else CASES):
        if what == "times" and "settings" not in known.get(name, {}):
            sys.exit(f"{name}: no settings; run `compare.py fields` first")
        line = known[name] if what == "times" else {"run": f"py-pde/{name}", "kind": "py-pde", "equation": name, **fields(name)}
        if what != "fields":
            line |= times(name, line)
        versions = {package: importlib.metadata.version(package) for package in ("py-pde", "numba", "scipy")}
        line |= {"commit": commit(), "date": today(), "machine": machine(), "versions": versions}
        if what != "small":
            put("speed", [line], run=line["run"])
        print(line, flush=True)


if __name__ == "__main__":
    main()
