"""The driver: starts workers, and sums up what they found."""

from __future__ import annotations

import argparse
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .limits import LIMIT, MEGABYTES

TESTS = Path(__file__).resolve().parent.parent


def drive(arguments: argparse.Namespace) -> int:
    """Workers one after the other, each until it falls or the time is over."""
    log = Path(arguments.log).resolve()
    log.write_text("")
    scratch = tempfile.mkdtemp(prefix="cinoc-random-")
    environment = os.environ | {
        "CINOC_CACHE": str(Path(scratch, "cache")), "CINOC_SCRATCH": scratch, "CINOC_MEMORY_MB": str(MEGABYTES), "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "MPLCONFIGDIR": str(Path(scratch, "mpl")), "PYTHONFAULTHANDLER": "", "TMPDIR": scratch,
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    }
    end = time.monotonic() + 60.0 * arguments.minutes
    total: dict[str, Any] = {"cases": 0, "calls": 0, "returned": 0, "slowest": [], "sizes": []}
    said: collections.Counter[str] = collections.Counter()
    faults, first = [], 0
    part = Path(str(log) + ".part")
    try:
        while (left := (end - time.monotonic()) / 60.0) > 0.0:
            part.unlink(missing_ok=True)
            command = [sys.executable, "-m", "random_use", "--worker", "--seed", str(arguments.seed), "--log", str(log)]
            command += ["--first", str(first), "--minutes", str(left)]
            if arguments.case is not None:
                command += ["--case", str(arguments.case)]
            if arguments.only:
                command += ["--only", arguments.only]
            code = run(command, environment, Path(str(log) + ".output"), 60.0 * left + 5 * LIMIT)
            cases = lines(log, "seed ")
            last = cases[-1] if cases else "no case"
            if code not in (0, 3):
                faults.append(f"the worker ended with {code} in: {last}")
                with log.open("a") as file:
                    file.write(f"FAULT the worker ended with {code} in: {last}\n")
            if part.exists():
                state = json.loads(part.read_text())
                said.update(state["said"])
                for key in total:
                    total[key] += state[key]
                first = state["next"]
            elif cases:
                first = int(last.split()[3]) + 1
                total["cases"] += 1
            if arguments.case is not None or not cases:
                break
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    faults += lines(log, "FAULT seed")
    sizes = total.pop("sizes")
    summary = total | {"distinct": len(said), "faults": len(faults), "resident": sizes[:: max(1, len(sizes) // 40)]}
    with log.open("a") as file:
        file.write("\nmessages:\n")
        for text, count in said.most_common():
            file.write(f"{count:6} {text}\n")
        file.write("\nfaults:\n" + "\n".join(faults) + "\n\nSUMMARY " + json.dumps(summary) + "\n")
    part.unlink(missing_ok=True)
    print(json.dumps(summary))
    print(*faults, sep="\n")
    return 1 if faults else 0


def run(command: list[str], environment: dict[str, str], output: Path, seconds: float) -> int | str:
    """The code that a worker ends with, or what is to be said instead."""
    with output.open("ab") as file:
        process = subprocess.Popen(
            command, cwd=TESTS, env=environment, stdout=file, stderr=file, stdin=subprocess.DEVNULL, start_new_session=True,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "a hang that no watch noticed"


def lines(log: Path, word: str) -> list[str]:
    """Lines of the log that begin with a word."""
    return [line for line in log.read_text(errors="replace").splitlines() if line.startswith(word)]
