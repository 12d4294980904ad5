"""What an update of a training costs on many cores: shards that were timed are replayed on ranks and threads, then what ranks send each other is added.

A rank computes its shards, all threads taking the next one when they are free. Then, as in `Ranks::add_up`: a few numbers of each shard are gathered, each rank
receives its slice of the gradient from every shard (all to all), adds these in the order of the shards, all slices are gathered, and every rank applies them.
"""
import dataclasses
import heapq
import math

BYTES = 4  # of a number


@dataclasses.dataclass(frozen=True)
class Machine:
    """Nodes of some cores each, and what connects their ranks."""

    cores: int  # of a node
    crowded: float  # how much slower a core is when all cores of a node work
    latency: float  # seconds until a message arrives
    bandwidth: float  # bytes per second and rank
    touch: float  # seconds to copy a number, or to add it to a sum
    shared: bool = False  # there is one node, whose cores all ranks share, however many they are


APPLY = 10  # how often clipping, the optimiser and the running mean touch each parameter
COPY = 3  # how often a number is copied on its way: packed, put behind others, cut out again
REPORT = 8 * 8  # bytes that a shard reports: terms of the cost, and whether an episode diverged
WAKE = 1e-3  # seconds after which a rank that has waited for long looks again


def part(items, which, count):
    """Which of so many items one of `count` ranks computes: the same rule as in Rust."""
    return range(which * items // count, (which + 1) * items // count)


def node_seconds(queues, threads, machine):
    """When each of the ranks of a node has worked off its queue of shards; active threads share the cores evenly.

    All active threads are equally fast at any moment. So a shard ends when a common clock, which runs slower the more threads are active, has gone on by what
    the shard takes on a core of its own.
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


def pace(active, machine):
    """How fast each of so many active threads of a node is, of a thread that has the node for itself."""
    busy = min(active, machine.cores)
    # From one busy core to all: cores share caches and memory.
    slower = 1.0 + (machine.crowded - 1.0) * (busy - 1) / max(machine.cores - 1, 1)
    return busy / active / slower


def send_seconds(shards, parameters, ranks, machine):
    """What ranks send and add, once all have their gradients."""
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
    """Until the slowest rank has its shards: `shards` has the seconds of each on a core of its own."""
    here = ranks if machine.shared else max(1, machine.cores // threads)
    queues = [[shards[s] for s in part(len(shards), rank, ranks)] for rank in range(ranks)]
    return max(max(node_seconds(queues[first : first + here], threads, machine)) for first in range(0, ranks, here))


def apply_seconds(parameters, machine):
    """The optimiser, on every rank."""
    return APPLY * parameters * machine.touch


def update_seconds(shards, parameters, ranks, threads, machine):
    """All of an update."""
    compute = compute_seconds(shards, ranks, threads, machine)
    return compute + send_seconds(len(shards), parameters, ranks, machine) + apply_seconds(parameters, machine)
