"""Cost of a training update on many cores, and needs of one agent.

    python3 experiments/scale.py measure [--program CINOC]
        # results/scale.jsonl; CINOC built with MPI, an idle machine, seven minutes
    python3 experiments/scale.py show
        # the model against what was measured, and larger machines

Shards that were timed are replayed on ranks and threads, then messages between ranks are added. A rank computes its
shards, each thread taking the next one when it is free. Then, as in `Ranks::add_up`: a few numbers of each shard are
gathered, each rank receives its slice of the gradient from every shard (all to all), adds these in the order of the
shards, all slices are gathered, and every rank applies them.
"""

import argparse
import dataclasses
import functools
import heapq
import json
import math
import random
import re
import statistics
import struct
import subprocess

from cases import MODELS, ROOT, commit
from tables import put, read

BYTES = 4  # of a number
APPLY = 10  # times that clipping, the optimiser and the running mean touch each parameter
COPY = 3  # times that a number is copied on its way: packed, appended, cut out again
REPORT = 8 * 8  # bytes that a shard reports: terms of the cost, and whether an episode diverged
WAKE = 1e-3  # seconds after which a rank that has waited for long looks again

# Problem, batch, turns and updates of a turn. The speed of a shared machine drifts, so all numbers of ranks take turns.
TURNS = (("heat1d", 32, 15, 6), ("heat1d", 128, 10, 3), ("heat2d", 16, 15, 6), ("turbulence2d", 8, 6, 2))
SHORT = ("heat1d", 32, 6, 100)  # episodes of four ticks, where nothing but sending takes time
SHAPES = ((1, 1), (1, 2), (2, 1), (3, 1), (4, 1))
SHIPPED = {"heat1d": 32, "heat2d": 16, "turbulence2d": 8}
LARGER = (256, 4096)  # shards of a batch, beside those of the shipped recipe
THREADS = 32  # per rank on a cluster, two ranks per node
CORES = [2**power for power in range(13)]
# Not measured here: a message between nodes takes 2 µs at 12.5 GB/s (100 Gb/s InfiniBand), or 30 µs at 1.25 GB/s (10
# Gb/s Ethernet),
# for the ranks of a node together.
NETWORKS = {"InfiniBand": (2e-6, 12.5e9), "Ethernet": (30e-6, 1.25e9)}
# Between processes of one machine; a rank's share of memory bandwidth.
LOCAL = (2e-6, 4e9)


@dataclasses.dataclass(frozen=True)
class Machine:
    """Nodes of several cores each, and the network of their ranks."""

    cores: int  # of a node
    crowded: float  # how much slower a core is when all cores of a node work
    latency: float  # seconds until a message arrives
    bandwidth: float  # bytes per second and rank
    touch: float  # seconds to copy a number, or to add it to a sum
    shared: bool = False  # there is one node, whose cores all ranks share


def part(items, which, count):
    """The items that one of `count` ranks computes: the same rule as in Rust."""
    return range(which * items // count, (which + 1) * items // count)


def pace(active, machine):
    """Speed of each of several active threads of a node, relative to a thread that has the node alone."""
    busy = min(active, machine.cores)
    # From one busy core to all: cores share caches and memory.
    slower = 1.0 + (machine.crowded - 1.0) * (busy - 1) / max(machine.cores - 1, 1)
    return busy / active / slower


def node_seconds(queues, threads, machine):
    """Time at which each rank of a node has finished its queue of shards; active threads share the cores evenly.

    All active threads are equally fast at any moment. So a shard ends when a common clock, which runs slower the more
    threads are active,
    has advanced by what the shard takes on a free core.
    """
    queues = [list(reversed(queue)) for queue in queues]
    running, clock, now = [], 0.0, 0.0
    for rank, queue in enumerate(queues):
        for _ in range(min(threads, len(queue))):
            heapq.heappush(running, (queue.pop(), rank))
    ends = [0.0] * len(queues)
    while running:
        end, rank = heapq.heappop(running)
        now += (end - clock) / pace(len(running) + 1, machine)
        clock = end
        ends[rank] = now
        if queues[rank]:
            heapq.heappush(running, (end + queues[rank].pop(), rank))
    return ends


def send_seconds(shards, parameters, ranks, machine):
    """Time to send and add, once all ranks have their gradients."""
    if ranks == 1:
        return shards * parameters * machine.touch
    hops, each = math.ceil(math.log2(ranks)), math.ceil(shards / ranks)
    # Before anything is sent all ranks meet, four times; two gathers; lengths and pieces go to every rank one by one.
    latency = machine.latency * (6 * hops + 2 * (ranks - 1))
    others = 1 - 1 / ranks
    sent = others * (BYTES * parameters * (each + 1) + REPORT * shards)
    touched = COPY * parameters * (each + 1) + shards * parameters / ranks
    return WAKE + latency + sent / machine.bandwidth + touched * machine.touch


def compute_seconds(shards, ranks, threads, machine):
    """Time until the slowest rank has its shards: `shards` has the seconds of each on a free core."""
    here = ranks if machine.shared else max(1, machine.cores // threads)
    queues = [[shards[s] for s in part(len(shards), rank, ranks)] for rank in range(ranks)]
    return max(max(node_seconds(queues[first : first + here], threads, machine)) for first in range(0, ranks, here))


def apply_seconds(parameters, machine):
    """The optimiser, on every rank."""
    return APPLY * parameters * machine.touch


def update_seconds(shards, parameters, ranks, threads, machine):
    """A whole update."""
    compute = compute_seconds(shards, ranks, threads, machine)
    return compute + send_seconds(len(shards), parameters, ranks, machine) + apply_seconds(parameters, machine)


@functools.cache
def timed(name, batch, ranks, threads):
    """Timed updates of results/scale.jsonl: seconds, seconds of the shards of the first rank, parameters."""
    (line,) = read("scale", run=f"{name}-{batch}-{ranks}x{threads}")
    return [
        {"seconds": seconds, "shards": shards, "parameters": line["parameters"]}
        for seconds, shards in zip(line["seconds"], line["shards"], strict=True)
    ]


def here(problem, batch):
    """This machine as a training of this problem finds it, and the timed updates of one thread alone."""
    alone, both = timed(problem, batch, 1, 1), timed(problem, batch, 1, 2)
    mean = lambda updates: statistics.fmean(statistics.fmean(update["shards"]) for update in updates)
    shards, parameters = len(alone[0]["shards"]), alone[0]["parameters"]
    # What is not shards: the sum over shards, one number from each, and the optimiser.
    rest = statistics.median(update["seconds"] - sum(update["shards"]) for update in alone)
    touch = max(rest, 0.0) / (shards + APPLY) / parameters
    return Machine(
        cores=2, crowded=max(1.0, mean(both) / mean(alone)), latency=LOCAL[0], bandwidth=LOCAL[1], touch=touch
    ), alone


def sending(ranks, machine):
    """Seconds that this number of ranks of this machine needs to send, from episodes so short that there is little else.

    Ranks that share cores wait for each other's time slices whenever they send, which has nothing to do with networks.
    """
    alone, measured = timed("short", 32, 1, 1), timed("short", 32, ranks, 1)
    computing = statistics.fmean(
        compute_seconds(u["shards"], ranks, 1, machine) + apply_seconds(u["parameters"], machine) for u in alone
    )
    return max(0.0, statistics.fmean(u["seconds"] for u in measured) - computing)


def compare():
    """Mean seconds of an update with 1 to 4 ranks: predicted from the shards of one rank, and measured."""
    for problem, batch, *_ in TURNS:
        machine, alone = here(problem, batch)
        machine = dataclasses.replace(machine, shared=True)
        for ranks, threads in SHAPES:
            measured, parameters = timed(problem, batch, ranks, threads), alone[0]["parameters"]
            send = (
                sending(ranks, machine) if ranks > 1 else send_seconds(len(alone[0]["shards"]), parameters, 1, machine)
            )
            compute = statistics.fmean(compute_seconds(u["shards"], ranks, threads, machine) for u in alone)
            predicted, found = (
                compute + send + apply_seconds(parameters, machine),
                statistics.fmean(u["seconds"] for u in measured),
            )
            yield {
                "problem": problem,
                "batch": batch,
                "ranks": ranks,
                "threads": threads,
                "updates": len(measured),
                "crowded": machine.crowded,
                "touch": machine.touch,
                "sending": send,
                "measured": found,
                "predicted": predicted,
                "error": predicted / found - 1,
            }


@functools.cache
def predict():
    """Mean seconds of an update on nodes of 64 cores like the ones here, with shards drawn from those that were
    timed."""
    out = []
    for problem, batch in SHIPPED.items():
        machine, alone = here(problem, batch)
        seconds = [each for update in alone for each in update["shards"]]
        own, parameters = len(alone[0]["shards"]), alone[0]["parameters"]
        for shards in [own, *LARGER]:
            # The same updates on every machine; few shards need more updates for a mean.
            rng = random.Random(shards)
            drawn = [rng.choices(seconds, k=shards) for _ in range(max(8, 1024 // shards))]
            for network, (latency, bandwidth) in NETWORKS.items():
                node = dataclasses.replace(machine, cores=2 * THREADS, latency=latency, bandwidth=bandwidth / 2)
                one = None
                for cores in CORES:
                    ranks, threads = max(1, cores // THREADS), min(cores, THREADS)
                    took = statistics.fmean(update_seconds(each, parameters, ranks, threads, node) for each in drawn)
                    one = one or took
                    out.append(
                        {
                            "problem": problem,
                            "shards": shards,
                            "network": network,
                            "cores": cores,
                            "ranks": ranks,
                            "seconds": took,
                            "sending": send_seconds(shards, parameters, ranks, node),
                            "speedup": one / took,
                            "efficiency": one / took / cores,
                        }
                    )
    return out


def header(path):
    """Shapes of all tensors, and the settings, of a model file."""
    with path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        tensors = json.loads(file.read(length))
    about = json.loads(tensors.pop("__metadata__")["cinoc"])
    return {name: tensor["shape"] for name, tensor in tensors.items()}, about["config"]


def setting(config, table, key):
    """A number from the settings, or none."""
    section = re.search(rf"^\[{table}\]\n(.*?)(?=^\[|\Z)", config, re.M | re.S)
    found = section and re.search(rf"^{key} = ([-+.\de]+)$", section[1], re.M)
    return found and float(found[1])


def needs(path):
    """Memory and arithmetic of one agent with a model file."""
    shapes, config = header(path)
    matrices = {name: shape for name, shape in shapes.items() if len(shape) == 2}
    parameters = sum(math.prod(shape) for shape in shapes.values())
    known = shapes["trunk0.w"][0]
    # Inputs and memory, and at any time one layer's inputs and outputs: branch and trunk have to be kept for the
    # layers behind them.
    numbers = (
        shapes["linear.w"][0]
        + known
        + shapes["branch1.w"][1]
        + shapes["trunk1.w"][1]
        + max(sum(shape) for shape in matrices.values())
    )
    return {
        "problem": path.stem,
        "parameters": parameters,
        "parameter_bytes": 4 * parameters,
        "remembered": shapes["memory.w"][1],
        "working_bytes": 4 * numbers,
        "seen": shapes["branch0.w"][0],
        "known": known,
        "answers": shapes["out.w"][1],
        "flop_per_decision": sum(2 * math.prod(shape) for shape in matrices.values()),
        "window": setting(config, "observe", "window"),
        # Active agents nearer than this weaken a push.
        "crowd_radius": math.sqrt(6)
        * setting(config, "swarm", "sigma")
        * (setting(config, "swarm", "crowd_width") or 1.0),
        "domain": setting(config, "physics", "length"),
    }


def all_needs():
    """Of all shipped models."""
    return [needs(path) for path in sorted(MODELS.glob("*.safetensors"))]


def measure(program):
    """Times updates and their shards on this machine, alone."""
    for name, (problem, batch, turns, updates), more in [
        *((job[0], job, ()) for job in TURNS),
        ("short", SHORT, ("--ticks", "4")),
    ]:
        found = {shape: [] for shape in SHAPES}
        for _ in range(turns):
            for ranks, threads in SHAPES:
                # Ranks that share cores must not be bound to one each.
                launch = (
                    ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
                    if ranks > 1
                    else []
                )
                words = [
                    program,
                    "bench",
                    problem,
                    "--shards",
                    "--batch",
                    str(batch),
                    "--updates",
                    str(updates),
                    "--threads",
                    str(threads),
                    *more,
                ]
                done = subprocess.run([*launch, *words], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
                found[ranks, threads] += map(json.loads, done.stdout.splitlines())
        for (ranks, threads), lines in found.items():
            run = f"{name}-{batch}-{ranks}x{threads}"
            put(
                "scale",
                [
                    {
                        "run": run,
                        "episodes": "short" if more else "whole",
                        "problem": problem,
                        "parameters": lines[0]["parameters"],
                        "batch": batch,
                        "ranks": ranks,
                        "threads": threads,
                        "commit": commit(),
                        "seconds": [line["seconds"] for line in lines],
                        "shards": [line["shards"] for line in lines],
                    }
                ],
                run=run,
            )
        print(f"{name} with a batch of {batch}: done", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "show"))
    parser.add_argument("--program", default="cinoc")
    given = parser.parse_args()
    if given.what == "measure":
        measure(given.program)
        return
    for row in compare():
        print(
            "{problem} batch {batch}, {ranks} × {threads}: measured {measured:.4g} s, predicted {predicted:.4g} s ({error:+.1%})".format(
                **row
            )
        )
    for row in predict():
        print(
            "{problem} {shards} shards, {network}, {cores} cores: {seconds:.3g} s, efficiency {efficiency:.0%}".format(
                **row
            )
        )


if __name__ == "__main__":
    main()
