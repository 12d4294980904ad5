"""The clock of a run and the file that it writes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from . import score
from .score import Actor


class Record:
    """Writes lines at intervals; scoring does not count as time."""

    def __init__(
        self, path: Path, weights: Path, problem: str, seconds: float, every: float = 30.0, instances: int = 50
    ) -> None:
        self.path, self.weights, self.problem, self.instances = path, weights, problem, instances
        self.seconds, self.every, self.next = seconds, every, 0.0
        path.parent.mkdir(parents=True, exist_ok=True)
        weights.mkdir(parents=True, exist_ok=True)
        self.file = path.open("w")
        self.best, self.steps = math.inf, -1
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def begin(self) -> None:
        """Starts the clock."""
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def cpu(self) -> float:
        """Seconds of computing time spent in training."""
        return time.process_time() - self._cpu

    @property
    def gone(self) -> float:
        """Spent share of the budget."""
        return min(self.cpu / self.seconds, 1.0)

    @contextmanager
    def paused(self) -> Any:
        """Context whose time does not count."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self._cpu += time.process_time() - cpu
        self._wall += time.perf_counter() - wall

    def due(self) -> bool:
        """True if a line is due."""
        return self.cpu >= self.next

    def curve(self, steps: int, actor: Actor, save: Callable[[], Any]) -> None:
        """Writes a line of the curve if it is due; `save` returns the weights to keep if they are the best."""
        if self.due():
            self.point(steps, actor, save)
            # Closer together at first, where most is learned.
            self.next = self.cpu + min(self.every, max(5.0, self.cpu))

    def point(self, steps: int, actor: Actor, save: Callable[[], Any]) -> None:
        """Writes a line of the curve."""
        line: dict[str, Any] = {"cpu": self.cpu, "wall": time.perf_counter() - self._wall, "steps": steps}
        self.steps = steps
        with self.paused():
            line |= score.report(self.problem, actor, self.instances, score.VALIDATION)
            self.write(line)
            if line["score"] < self.best or not (self.weights / "best.pt").exists():
                self.best = line["score"]
                torch.save(save(), self.weights / "best.pt")

    def write(self, line: dict[str, Any]) -> None:
        """Writes a line atomically."""
        self.file.write(json.dumps(plain(line)) + "\n")
        self.file.flush()
        print(json.dumps(plain(line)), flush=True)


def plain(value: Any) -> Any:
    """Value for JSON: six digits, and a word if it is not finite."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    number = float(value)
    return float(f"{number:.6g}") if math.isfinite(number) else str(number)


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file; an unfinished last one is left out."""
    lines = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return lines


def complete(path: Path) -> bool:
    """True if a run is complete."""
    lines = read(path)
    return bool(lines) and lines[-1].get("kind") == "end"


CURVE = ("cpu", "wall", "steps", "score", "ratio", "effort")


def folded(path: Path) -> dict[str, Any] | None:
    """A complete file as one line of results/baselines.jsonl; none if the run is not complete."""
    if not complete(path):
        return None
    head, *lines = read(path)
    rest = {key: value for key, value in head.items() if key != "kind"}
    of = lambda kind: [
        {key: value for key, value in line.items() if key != "kind"} for line in lines if line.get("kind") == kind
    ]  # noqa: E731
    curve = {key: [line[key] for line in lines if "cpu" in line] for key in CURVE}
    return {"run": f"{head['problem']}/{path.stem}", **rest, "curve": curve, "test": of("test"), "end": of("end")[0]}
