"""CINOC on the same axes: its own recipe, on one thread."""

from __future__ import annotations

from typing import Any

from cinoc.policy import Policy
from cinoc.problem import engine

from .record import Record
from .score import Actor


def cinoc(problem: str, seed: int, record: Record, **changes: Any) -> Any:
    """Training through the solver; its own validation counts as its time."""
    run = engine("float32").Training(problem, "tuned", {key: str(value) for key, value in changes.items()}, seed, None, False, 1)
    present = Policy(run.policy(False))
    settings = present.problem.settings
    ticks = settings["train"]["ticks"] or settings["physics"]["ticks"]
    per_update = settings["train"]["batch"] * ticks
    record.begin()
    while not run.finished and record.gone < 1.0:
        if record.due():
            with record.paused():
                present = Policy(run.policy(False))
            record.curve(run.update * per_update, shown(present), lambda: present.params)
        run.step()

    def load(params: Any) -> None:
        present.params = params

    present = Policy(run.policy(False))
    return run.update * per_update, shown(present), lambda: present.params, load


def shown(policy: Policy) -> Actor:
    """A trained policy with the interface of the baselines."""
    return Actor("local", policy, True, policy.reset)
