#!/usr/bin/env python3
"""Compares the model with what was measured here, and predicts larger machines: experiments/scale/predict.py

Reads results/scale/PROBLEM-BATCH-RANKSxTHREADS.jsonl, writes results/scale/compared.jsonl and predicted.jsonl, and prints both as tables.
"""
import dataclasses
import json
import pathlib
import random
import statistics

from model import APPLY, Machine, apply_seconds, compute_seconds, send_seconds, update_seconds

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "results/scale"
CASES = [("heat1d", 32), ("heat1d", 128), ("heat2d", 16), ("turbulence2d", 8)]
SHIPPED = {"heat1d": 32, "heat2d": 16, "turbulence2d": 8}
LARGER = [256, 4096]  # shards of a batch, beside those of the shipped recipe
THREADS = 32  # per rank on a cluster, two ranks per node
CORES = [2**power for power in range(13)]
# Not measured here: a message between nodes takes 2 µs at 12.5 GB/s (100 Gb/s InfiniBand), or 30 µs at 1.25 GB/s (10 Gb/s Ethernet), for the ranks of a node together.
NETWORKS = {"InfiniBand": (2e-6, 12.5e9), "Ethernet": (30e-6, 1.25e9)}
# Between processes of one machine; a rank's share of memory bandwidth.
LOCAL = (2e-6, 4e9)


def read(name, batch, ranks, threads):
    return [json.loads(line) for line in (RESULTS / f"{name}-{batch}-{ranks}x{threads}.jsonl").read_text().splitlines()]


def here(problem, batch):
    """This machine as a training of this problem finds it, and the timed updates of one thread, all by itself."""
    alone, both = read(problem, batch, 1, 1), read(problem, batch, 1, 2)
    mean = lambda updates: statistics.fmean(statistics.fmean(update["shards"]) for update in updates)
    shards, parameters = len(alone[0]["shards"]), alone[0]["parameters"]
    # What is not shards: the sum over shards, one number from each, and the optimiser.
    rest = statistics.median(update["seconds"] - sum(update["shards"]) for update in alone)
    touch = max(rest, 0.0) / (shards + APPLY) / parameters
    return Machine(cores=2, crowded=max(1.0, mean(both) / mean(alone)), latency=LOCAL[0], bandwidth=LOCAL[1], touch=touch), alone


def sending(ranks, machine):
    """Seconds that this many ranks of this machine need to send, from episodes so short that there is little else.

    Ranks that share cores wait for each other's time slices whenever they send, which has nothing to do with networks.
    """
    alone, measured = read("short", 32, 1, 1), read("short", 32, ranks, 1)
    computing = statistics.fmean(compute_seconds(u["shards"], ranks, 1, machine) + apply_seconds(u["parameters"], machine) for u in alone)
    return max(0.0, statistics.fmean(u["seconds"] for u in measured) - computing)


def compare():
    """Mean seconds of an update with 1 to 4 ranks: predicted from the shards of one rank, and measured."""
    for problem, batch in CASES:
        machine, alone = here(problem, batch)
        machine = dataclasses.replace(machine, shared=True)
        for ranks, threads in [(1, 1), (1, 2), (2, 1), (3, 1), (4, 1)]:
            measured, parameters = read(problem, batch, ranks, threads), alone[0]["parameters"]
            send = sending(ranks, machine) if ranks > 1 else send_seconds(len(alone[0]["shards"]), parameters, 1, machine)
            compute = statistics.fmean(compute_seconds(u["shards"], ranks, threads, machine) for u in alone)
            predicted, found = compute + send + apply_seconds(parameters, machine), statistics.fmean(u["seconds"] for u in measured)
            yield {"problem": problem, "batch": batch, "ranks": ranks, "threads": threads, "updates": len(measured), "crowded": machine.crowded,
                   "touch": machine.touch, "sending": send, "measured": found, "predicted": predicted, "error": predicted / found - 1}


def predict():
    """Mean seconds of an update on nodes of 64 cores like the ones here, with shards drawn from those that were timed."""
    for problem, batch in SHIPPED.items():
        machine, alone = here(problem, batch)
        timed = [seconds for update in alone for seconds in update["shards"]]
        own, parameters = len(alone[0]["shards"]), alone[0]["parameters"]
        for shards in [own, *LARGER]:
            # The same updates on every machine; few shards need more updates for a mean.
            rng = random.Random(shards)
            drawn = [rng.choices(timed, k=shards) for _ in range(max(8, 1024 // shards))]
            for network, (latency, bandwidth) in NETWORKS.items():
                node = dataclasses.replace(machine, cores=2 * THREADS, latency=latency, bandwidth=bandwidth / 2)
                one = None
                for cores in CORES:
                    ranks, threads = max(1, cores // THREADS), min(cores, THREADS)
                    seconds = statistics.fmean(update_seconds(each, parameters, ranks, threads, node) for each in drawn)
                    one = one or seconds
                    yield {"problem": problem, "shards": shards, "network": network, "cores": cores, "ranks": ranks, "seconds": seconds,
                           "sending": send_seconds(shards, parameters, ranks, node), "speedup": one / seconds, "efficiency": one / seconds / cores}


def write(name, rows):
    (RESULTS / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return rows


def main():
    for row in write("compared", list(compare())):
        print("| `{problem}` | {batch} | {ranks} × {threads} | {measured:.4g} | {predicted:.4g} | {error:+.1%} |".format(**row))
    lines = {}
    for row in write("predicted", list(predict())):
        lines.setdefault((row["problem"], row["shards"], row["network"]), {})[row["cores"]] = row
    for (problem, shards, network), line in lines.items():
        shown = [f"{line[cores]['seconds']:.3g} s, {line[cores]['efficiency']:.0%}" for cores in (1, 4, 32, 256, 1024, 4096)]
        print(f"| `{problem}` | {shards} | {network} | " + " | ".join(shown) + " |")


if __name__ == "__main__":
    main()
