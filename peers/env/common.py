"""Shared by the contestants of compare_env: arguments, actions, and timing."""
import argparse
import json
import time

import numpy as np

SETS = 16  # sets of actions, used in turn
COMPARED = 5  # steps whose rewards are printed, so that contestants can be seen to compute the same
PATIENCE = 3.0  # episodes are measured whole if one takes at most this multiple of the requested seconds


def arguments(about):
    """Command line of a contestant."""
    ap = argparse.ArgumentParser(description=about)
    ap.add_argument("--problem", required=True)
    ap.add_argument("--envs", type=int, default=16)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--seconds", type=float, default=0.5)
    return ap


def scattered(count):
    """Pseudo-random numbers in [-1, 1), the same in every language (see crates/cinoc/examples/env_steps.rs)."""
    x = (np.arange(count, dtype=np.uint32) + np.uint32(1)) * np.uint32(0x9E3779B9)
    x = (x ^ (x >> 16)) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> 13)) * np.uint32(0xC2B2AE35)
    x ^= x >> 16
    return ((x >> 8) / 2**23 - 1).astype(np.float32)


def actions(*shape):
    """SETS arrays of actions of this shape."""
    return list(scattered(SETS * int(np.prod(shape))).reshape(SETS, *shape))


def measure(begin, step, ticks, calls, seconds):
    """Times `step()`, which returns the mean reward. `begin()` restarts all episodes; an episode takes `calls` calls of
    `step`, `ticks` of which are steps of the environments. Whole episodes, with their resets, are timed where one takes
    at most PATIENCE times `seconds`; otherwise the steps that fit, at least three, without a reset."""
    begin()
    rewards, times = [], []
    for _ in range(COMPARED):
        since = time.perf_counter()
        reward = step()
        times.append(time.perf_counter() - since)
        rewards.append(float(np.mean(reward)))
    whole = calls * min(times[1:]) <= PATIENCE * seconds
    if whole:
        begin()
    steps, episodes, since = 0, 0, time.perf_counter()
    while steps < 3 or time.perf_counter() - since < seconds:
        for _ in range(calls if whole else 1):
            step()
        steps += ticks if whole else 1
        episodes += whole
    taken = time.perf_counter() - since
    return {"steps": steps, "episodes": episodes, "seconds": taken, "ms_per_step": 1e3 * taken / steps, "rewards": rewards}


def tell(a, agents, ticks, result):
    """Prints the line that compare_env reads."""
    print(json.dumps({"problem": a.problem, "envs": a.envs, "agents": agents, "ticks": ticks, "threads": a.threads} | result))
