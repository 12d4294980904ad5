"""The command line."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cinoc
import numpy as np
import torch

from . import mappo, matd3, own, sb3, score
from .record import Record, complete
from .tasks import TASKS

METHODS: dict[str, Callable[..., Any]] = {
    "ppo": sb3.ppo,
    "td3": sb3.td3,
    "mappo": mappo.mappo,
    "matd3": matd3.matd3,
    "mappo-deeponet": partial(mappo.mappo, kind="deeponet"),
    "matd3-deeponet": partial(matd3.matd3, kind="deeponet"),
    "cinoc": own.cinoc,
}
ROOT = Path(__file__).resolve().parent.parent
RUNS = ROOT / "runs" / "baselines"
LIBRARIES = ("torch", "torchrl", "stable_baselines3", "cinoc")


def main(words: list[str] | None = None) -> int:
    """Runs the command line."""
    given = arguments(words)
    path = given.out / given.problem / f"{given.method}-{given.seed}.jsonl"
    if complete(path) and not given.again:
        print(f"{path} is complete; --again makes it again")
        return 0
    weights = given.out / given.problem / f"{given.method}-{given.seed}"
    for old in weights.glob("*.pt"):
        old.unlink()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    np.random.seed(given.seed)
    # Known warnings of the libraries, which users cannot fix.
    warnings.filterwarnings("ignore", category=UserWarning)
    changes = dict(map(setting, given.set))
    record = Record(path, weights, given.problem, 60 * given.minutes, given.every)
    versions = {name: version(name) for name in LIBRARIES}
    record.write(
        {"kind": "run", "method": given.method, "problem": given.problem, "seed": given.seed, "minutes": given.minutes, "set": changes}
        | {"versions": versions, "uncontrolled": float(np.mean(score.uncontrolled(given.problem, record.instances, score.VALIDATION)))}
    )
    began = time.perf_counter()
    try:
        steps, actor, save, load = METHODS[given.method](given.problem, given.seed, record, **changes)
        if steps != record.steps:
            record.point(steps, actor, save)
        torch.save(save(), weights / "last.pt")
        if not given.no_test:
            test(record, given, actor, load)
        record.write({"kind": "end", "wall": time.perf_counter() - began})
    except KeyboardInterrupt:
        print(f"stopped; {path} holds what there was, and the same command starts from the beginning")
        return 130
    return 0


def test(record: Record, given: argparse.Namespace, actor: score.Actor, load: Callable[[Any], Any]) -> None:
    """Scores the last weights, then those with the best validation, on held-out test instances."""
    n, problem = TASKS[given.problem].instances, given.problem

    def line(weights: str, **others: Any) -> None:
        found = score.report(problem, actor, n, given.test_seed, interval=True, **others)
        record.write({"kind": "test", "weights": weights, "seed": given.test_seed} | others | found)

    for weights in ("last", "best"):
        load(torch.load(record.weights / f"{weights}.pt", weights_only=False))
        line(weights)
    line("best", fail=0.3)
    line("best", changes={"swarm.actuator_noise": TASKS[problem].noise[1]})
    # A network for all agents at once is tied to their number, and does not observe through their sensors.
    if actor.sees == "local":
        own = cinoc.make(problem).agents
        for agents in (own // 2, 2 * own, 4 * own):
            line("best", agents=agents)
        line("best", changes={"swarm.sensor_noise": TASKS[problem].noise[0]})


def setting(text: str) -> tuple[str, Any]:
    """Parses KEY=VALUE."""
    key, _, value = text.partition("=")
    try:
        return key, int(value)
    except ValueError:
        return key, float(value)


def arguments(words: list[str] | None) -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(prog="baselines/run", description="Trains one method on one problem with one seed.")
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("problem", choices=TASKS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=10.0, help="of computing time; scoring does not count")
    parser.add_argument("--every", type=float, default=30.0, help="seconds of computing time between two points of the curve")
    parser.add_argument("--out", type=Path, default=RUNS)
    parser.add_argument("--test-seed", type=int, default=score.TEST)
    parser.add_argument("--no-test", action="store_true", help="leave the test instances alone")
    parser.add_argument("--again", action="store_true", help="even if the file is complete")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another hyper-parameter")
    return parser.parse_args(words)
