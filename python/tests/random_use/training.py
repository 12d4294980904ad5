"""Trainings, begun, stopped and resumed, also from damaged folders."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import cinoc
from cinoc.problem import engine, toml

from .arguments import tiny
from .use import Use


def scene_train(use: Use) -> None:
    name, kind = use.one("heat1d", "heat1d", "ks1d", "density2d"), use.precision()
    set = tiny(name, use.one(2, 4))
    if use.chance(0.4):
        kept = ("train.updates", "physics.ticks", "train.batch", "train.agents", "swarm.agents")
        set |= {key: value for key, value in use.settings(name, 0.5).items() if key not in kept}
    folder = Path(use.folder, "run")
    small = use.one(
        {}, {}, {"updates": use.one(1, 2)}, {"agents": use.number(4, 0.2)}, {"seed": use.number(0, 0.5)}, {"threads": use.number(1, 0.6)},
        {"dtype": use.kind(0.5)}, {"out": folder}, {"out": folder, "resume": True}, {"resume": True},
        {"out": use.one("/nonexistent/x", "/dev/null", "", 3, "\0", use.folder)}, {"preset": use.one("paper", "x", 3)},
    )
    if isinstance(small.get("agents"), int) and 100 < small["agents"] < 10**8:
        small = {}
    more = {"seed": use.r.randrange(3), "progress": False, "threads": use.one(1, 2), "dtype": kind} | small
    what = name if use.chance(0.9) else use.call(use.problem(kind, name).change, set)
    trained = use.call(cinoc.train, name if what is None else what, set=set, **more)
    if "out" in more and trained is not None and isinstance(more["out"], (str, Path)):
        run = Path(more["out"])
        if use.chance(0.5):
            damage(use, run)
        more.pop("seed")
        use.call(cinoc.train, name, set=set if use.chance(0.7) else use.one(None, {"train.updates": 3}), **(more | {"resume": True}))
        use.call(cinoc.load, run, kind)
    native_training(use, name, kind)


def damage(use: Use, run: Path) -> None:
    """Some files of a run folder are lost, cut or changed."""
    for path in sorted(run.rglob("*")):
        if path.is_file() and use.chance(0.4):
            data = bytearray(path.read_bytes())
            if use.chance(0.2):
                path.unlink()
                continue
            if data and use.chance(0.5):
                data = data[: use.r.randrange(len(data))]
            elif data:
                for _ in range(5):
                    data[use.r.randrange(min(len(data), 2000))] = use.r.randrange(256)
            path.write_bytes(data)


def texts(set: dict[str, Any]) -> dict[str, str]:
    """Settings as the engine reads them."""
    return {key: toml(value) for key, value in set.items()}


def native_training(use: Use, name: str, kind: str) -> None:
    """A training of the engine, a few calls of it."""
    run = use.call(engine(kind).Training, name, "tuned", texts(tiny(name, 2)), use.number(0, 0.2), None, False, use.one(1, 2))
    if run is None:
        return
    for _ in range(4):
        f = use.one(
            run.step, run.save, lambda: run.policy(use.one(True, False, 3)), lambda: (run.updates, run.update, run.finished, run.notices),
            lambda: pickle.dumps(run),
        )
        use.call(f)
    use.call(run.policy, False)
