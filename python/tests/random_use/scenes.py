"""All scenes, and one case of them."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import time
import traceback
from typing import Callable

from . import adapters, environments, gradients, interrupts, policies, problems, processes, rollouts, tables, training
from .calls import Fault
from .use import Use

# How often each is played, and what it is; cases depend on the order.
SCENES: dict[str, tuple[float, Callable[[Use], None]]] = {
    "make": (10, problems.scene_make),
    "policy": (8, policies.scene_policy),
    "env": (14, environments.scene_env),
    "rollout": (12, rollouts.scene_rollout),
    "torch": (3, gradients.scene_torch),
    "jax": (0.5, gradients.scene_jax),
    "train": (4, training.scene_train),
    "evaluate": (6, tables.scene_evaluate),
    "dataset": (7, tables.scene_dataset),
    "single": (5, adapters.scene_single),
    "vector": (6, adapters.scene_vector),
    "parallel": (4, adapters.scene_parallel),
    "sb3": (4, adapters.scene_sb3),
    "torchrl": (2, adapters.scene_torchrl),
    "threads": (4, processes.scene_threads),
    "fork": (2, processes.scene_fork),
    "processes": (0.15, processes.scene_processes),
    "interrupt": (1.2, interrupts.scene_interrupt),
    "gone": (3, rollouts.scene_gone),
}


def play(use: Use, seed: int, case: int, only: str | None = None) -> None:
    """One case; the same one for the same numbers."""
    use.begin(seed, case)
    use.scene = only or use.r.choices([*SCENES], [weight for weight, _ in SCENES.values()])[0]
    use.log.write(f"seed {seed} case {case} {use.scene} at {time.strftime('%H:%M:%S')}\n")
    use.log.flush()
    use.folder = tempfile.mkdtemp(dir=os.environ["CINOC_SCRATCH"])
    os.chdir(use.folder)
    try:
        SCENES[use.scene][1](use)
    except (Fault, KeyboardInterrupt):
        raise
    except Exception as error:
        raise Fault("of the test itself: " + "".join(traceback.format_exception(error))) from None
    finally:
        os.chdir("/")
        shutil.rmtree(use.folder, ignore_errors=True)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
    if use.chance(0.05):
        gc.collect()
