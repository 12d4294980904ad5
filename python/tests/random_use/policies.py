"""Policies: decisions, parameters, copies and files."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import cinoc

from .use import Use


def scene_policy(use: Use) -> None:
    kind = use.precision()
    use.call(cinoc.load, use.name(0.5), use.kind())
    policy = use.policy(kind)
    problem = policy.problem
    width = use.must(problem.env, 1).width
    for _ in range(6):
        what = use.r.randrange(12)
        shape = (use.one(1, 2, 40), use.one(1, 4, 9), width)
        if what < 3:
            use.call(policy, use.array(shape[use.one(0, 0, 1) :], kind, 0.3))
        elif what == 3:
            seen = use.array(shape, kind, 0.3)
            memory = use.array((*shape[:2], policy.memory), kind, 0.3) if use.chance(0.6) else None
            use.call(policy.native.act, seen, memory, use.array(shape, kind, 0.3) if use.chance(0.3) else None)
        elif what == 4:
            use.call(policy.reset)
        elif what == 5:
            use.call(setattr, policy, "params", use.array(policy.params.shape, kind, 0.6))
        elif what == 6:
            use.call(setattr, policy.native, "params", use.array(policy.params.shape, kind, 0.6))
        elif what == 7:
            use.call(policy.change, use.settings(problem.name))
        elif what == 8:
            use.read(policy, "kind", "memory", "shapes", "params", "native", "problem")
            use.read(policy.native, "noise", "clock", "everything", "fixed_agents", "shapes", "nothing")
            use.call(policy.parts)
            use.call(repr, policy)
        elif what == 9:
            for f in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: pickle.dumps(x.native)):
                use.call(f, policy)
        elif what == 10:
            use.call(cinoc.fresh, use.one(problem, problem, problem.native, None, "heat1d"), use.number(0, 0.5))
        else:
            model_file(use, policy, kind)


def model_file(use: Use, policy: Any, kind: str) -> None:
    """Model files that are whole, and such that are not."""
    path = Path(use.folder, "policy.safetensors")
    use.call(policy.save, use.one(path, path, path, "/nonexistent/x", "", use.folder, None, 3, "\0"))
    use.call(policy.save, path)
    data = bytearray(path.read_bytes())
    for _ in range(use.r.randrange(4)):
        what = use.r.randrange(5)
        if what == 0:
            data = data[: use.r.randrange(len(data) + 1)]
        elif what == 1 and data:
            # Most of what can go wrong is in the beginning.
            data[use.r.randrange(min(len(data), use.one(8, 200, 3000, 10**9)))] = use.r.randrange(256)
        elif what == 2:
            data += bytes(use.r.randrange(100))
        elif what == 3:
            data[:4000] = re.sub(rb"\d+", lambda digits: other_number(use, digits[0]), bytes(data[:4000]))
        else:
            at = use.r.randrange(len(data) + 1)
            data[at:at] = use.r.randbytes(3)
    path.write_bytes(data)
    loaded = use.call(cinoc.load, path, kind)
    if loaded is not None and loaded.problem.agents < 300 and loaded.problem.ticks < 100:
        use.call(cinoc.rollout, loaded, ticks=1)


def other_number(use: Use, digits: bytes) -> bytes:
    return digits if use.chance(0.9) else str(use.one(0, 1, -1, 2**64, 7, 10**30)).encode()
