"""The first functions to call: list, train, evaluate."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from cinoc import _native, fields
from cinoc.policy import Policy, as_policy
from cinoc.problem import Problem, engine, overlay, whole

if TYPE_CHECKING:
    import pandas as pd


def list() -> pd.DataFrame:
    """The problems: name, a line about each, and whether a trained model is shipped."""
    import pandas as pd

    models = _native.models()
    return pd.DataFrame([(name, about, name in models) for name, about in _native.problems()], columns=["name", "about", "model"])


class Trained(NamedTuple):
    """Result of training: `policy, history = cinoc.train("heat1d")`."""

    policy: Policy
    history: pd.DataFrame


def train(
    problem: str | PathLike[str] | Problem,
    *,
    agents: int | None = None,
    set: Mapping[str, object] | None = None,
    preset: str = "tuned",
    updates: int | None = None,
    seed: int | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    threads: int = 0,
    dtype: DTypeLike = "float32",
) -> Trained:
    """Trains a policy. Returns the one with the best validation score, and a row of numbers per update of this call.

    `out`: a run folder, as of `cinoc train --out`: checkpoints, models, metrics. With it Ctrl-C saves before it stops, and `resume=True`
    continues to the same bits. Without it everything is in memory only. `updates`: their number, instead of the recipe's.
    `seed`: 0 unless given; a resumed run keeps its seed. `threads`: 0 takes every core.
    """
    chosen = overlay(set, swarm__agents=agents, train__updates=updates)
    where = None if out is None else str(out)
    seed = None if seed is None else whole("seed", seed)
    threads = whole("threads", threads)
    if isinstance(problem, Problem):
        run = engine(problem.dtype).Training.from_text(problem.config, chosen, seed, where, resume, threads)
    else:
        run = engine(dtype).Training(problem, preset, chosen, seed, where, resume, threads)
    for notice in run.notices:
        warnings.warn(notice, stacklevel=2)
    rows: Any = []
    bar = _bar(run, progress)
    try:
        while not run.finished:
            if run.validation:
                bar.set_postfix_str(f"{_state(rows)}validating on {run.validation} instances")
            rows.append(run.step())
            bar.set_postfix_str(_state(rows).rstrip(", "), refresh=False)
            bar.update()
    except KeyboardInterrupt:
        if where is None:
            raise KeyboardInterrupt(f"stopped after update {run.update} of {run.updates}; nothing is kept, as no folder was given (out=…)") from None
        run.save()
        raise KeyboardInterrupt(
            f"stopped after update {run.update} of {run.updates} and saved in {where}; the same call with resume=True continues"
        ) from None
    finally:
        bar.close()
    if where is not None:
        run.save()
    import pandas as pd

    return Trained(Policy(run.policy()), pd.DataFrame(rows).set_index("update") if rows else pd.DataFrame())


def _state(rows: Any) -> str:
    """Cost and validation score, for the bar."""
    if not rows:
        return ""
    scores = [row["validation"] for row in rows if np.isfinite(row["validation"])]
    validation = f", validation={scores[-1]:.3g}" if scores else ""
    return f"cost={rows[-1]['cost']:.3g}{validation}, "


def _bar(run: Any, progress: bool) -> Any:
    with warnings.catch_warnings():
        # In a notebook without widgets the bar is plain text; that needs no warning.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    return tqdm(total=run.updates, initial=run.update, desc="training", unit="update", disable=not progress)


def evaluate(
    policy: Policy | str | PathLike[str],
    agents: int | Iterable[int] | None = None,
    instances: int = 40,
    seed: int = 3000,
    fail: float = 0.0,
    fail_at: float = 0.5,
    start: fields.Field | None = None,
    target: fields.Field | None = None,
    threads: int = 0,
) -> pd.DataFrame:
    """Scores on test instances, a row per number of agents, beside the uncontrolled scores of the same instances.

    `fail`: share of the agents that fail, at the share `fail_at` of the ticks up to the score. `start`, `target`: given fields, taken in
    turn. `ratio` is the mean score over the mean uncontrolled score, between `ratio_low` and `ratio_high` by bootstrap. The score of every
    instance is in `.attrs["scores"]` and `.attrs["uncontrolled"]`, by number of agents.
    """
    import pandas as pd

    policy = as_policy(policy)
    problem = policy.problem
    swarms = [problem.agents] if agents is None else [agents] if isinstance(agents, (int, np.integer)) else [*agents]
    starts = None if start is None else fields.fields(problem, start, "start")
    targets = None if target is None else fields.fields(problem, target, "target")
    rows, scores, free = [], {}, {}
    instances, seed, threads = whole("instances", instances, 1), whole("seed", seed), whole("threads", threads)
    for count in swarms:
        text = engine(problem.dtype).evaluate(policy.native, whole("agents", count, 1), instances, seed, fail, fail_at, threads, starts, targets)
        row = json.loads(text)
        rows.append(_row(row))
        # Lists, not arrays: pandas compares attributes.
        scores[int(count)] = [float(score) for score in row["scores"]]
        free[int(count)] = [float(score) for score in row["uncontrolled_scores"]]
    table = pd.DataFrame(rows)
    table.attrs |= {"scores": scores, "uncontrolled": free}
    return table


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """A line of `cinoc eval --json` as flat columns."""
    low, high = row["ratio_95"]
    # What is asked for first comes first: pandas prints the first and the last columns.
    flat = {"problem": row["problem"], "agents": row["agents"], "ratio": float(row["ratio"])}
    flat |= {"ratio_low": float(low), "ratio_high": float(high), "ratio_median": float(row["ratio_median"])}
    flat |= {key: float(value) for key, value in row["score"].items()}
    flat |= {"uncontrolled": float(row["uncontrolled"]["mean"]), "effort": float(row["effort"])}
    flat |= {key: row[key] for key in ("diverged", "fail", "dead", "seed", "instances")}
    return flat | {name: float(value) for name, value in row["measures"].items()}
