"""A worker: cases one after the other, until it falls or the time is over."""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import time
import warnings
from pathlib import Path

import gymnasium
import matplotlib
import pandas  # noqa: F401
import xarray  # noqa: F401

from .calls import Fault
from .scenes import play
from .use import Use


def prepare() -> None:
    """Nothing is shown, neither figures nor warnings."""
    matplotlib.use("Agg")
    warnings.simplefilter("ignore")
    gymnasium.logger.min_level = 50


def resident() -> float:
    """Megabytes that this process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def work(arguments: argparse.Namespace) -> int:
    """Cases one after the other; 0 at the end, 3 after a fault."""
    log = open(arguments.log, "a")
    prepare()
    if arguments.minutes > 2.0:
        # All libraries at once, so that what grows later is not theirs.
        import cinoc.jax
        import cinoc.torch
        import matplotlib.pyplot
        import stable_baselines3
        import torchrl  # noqa: F401
    faulthandler.enable(log)
    use = Use(log)
    end = time.monotonic() + 60.0 * arguments.minutes
    code, first = 0, arguments.case if arguments.case is not None else arguments.first
    case, begun, sizes = first, time.monotonic(), []
    while True:
        try:
            play(use, arguments.seed, case, arguments.only)
        except (Fault, KeyboardInterrupt) as fault:
            log.write(f"FAULT seed {arguments.seed} case {case} {use.scene}: {fault!r}\n{fault}\n")
            log.flush()
            code = 3
        case += 1
        if (case - first) % 20 == 0:
            sizes.append((round(time.monotonic() - begun), round(resident(), 1)))
        if arguments.case is not None or time.monotonic() > end:
            break
    state = {
        "cases": case - first, "next": case, "calls": use.calls, "returned": use.returned, "said": use.said, "slowest": use.slowest, "sizes": sizes,
    }
    Path(arguments.log + ".part").write_text(json.dumps(state))
    log.close()
    # Threads that hang on at the end are not waited for.
    os._exit(code)
