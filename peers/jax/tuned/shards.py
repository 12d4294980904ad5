"""Shards of an update as training draws them: numbers of agents, positions, strengths and failures."""
import functools

import jax.numpy as jnp
import numpy as np

import core
from tuned import limits, places
from tuned.random import CARDINALITY, TRAIN, Rng
from tuned.rollout import Shard

NEVER = 2**30
LATEST, EACH, WITHIN = 0.93, 0.3, (0.03, 0.97)


def sizes(p, update, batch=None, agents=None, seed=0):
    """(agents, instances) of each shard of an update. One with more agents than the problem has holds fewer instances, two at the least."""
    t, own = p.train, agents or p.settings["swarm"]["agents"]
    batch = batch or t["batch"]
    count = -(-batch // t["shard"])
    found = []
    for s in range(count):
        whole = min(t["shard"], batch - s * t["shard"])
        numbers = [own] if agents or not t["agents"] else t["agents"]
        m = numbers[Rng(seed, CARDINALITY, update * count + s).below(len(numbers))]
        found.append((m, min(max(whole * own // m, min(2, whole)), whole)))
    return found


def together(p, update, ticks, fields, batch=None, agents=None, seed=0):
    """All instances of an update as [(Shard, weights)], one for each number of agents: shards with equal numbers are computed together.
    Every shard has equal weight in the mean, independent of its number of instances."""
    size, groups = batch or p.train["batch"], {}
    for number, (m, count) in enumerate(sizes(p, update, batch, agents, seed)):
        whole = min(p.train["shard"], size - number * p.train["shard"])
        groups.setdefault(m, []).append((draw(p, update, number, ticks, fields, batch, agents, seed), np.full(count, whole / (count * size))))
    join = lambda *parts: jnp.concatenate(parts)
    return [(Shard(*map(join, *(shard for shard, _ in group))), jnp.asarray(np.concatenate([w for _, w in group]), p.dtype)) for group in groups.values()]


@functools.lru_cache
def modes(points, length, d):
    """Number of normal draws of a Gaussian process on the unit interval or square."""
    x = core.grid(points)[0]
    lam = np.linalg.eigvalsh(np.exp(-0.5 * ((x[:, None] - x[None]) / length) ** 2))
    lam = lam[lam > 1e-12 * lam[-1]]
    return lam.size if d == 1 else int((np.outer(lam, lam) > 1e-12 * lam[-1] ** 2).sum())


def skip_fields(p, rng):
    """Advances the generator past the fields of an instance."""
    data = p.settings["data"]
    if p.name == "density2d":
        rng.uniform(*data["sigma"]), rng.uniform(*data["amplitude"])
        while True:
            a, b, c, d = (rng.uniform(*data[key]) for key in ("start", "start", "target_x", "target_y"))
            if np.hypot(a - c, b - d) >= data["apart"]:
                return
    if p.periodic:  # which state, shift and mirror image along each axis, turned or not
        return [rng.next() for _ in range(4 if len(p.shape) == 1 else 6)]
    for length in (data["start_length"], data["target_length"]):
        for _ in range(modes(p.shape[0], length, len(p.shape))):
            rng.normal()
    rng.next()


def moved(p, rng, xi, several):
    """Initial positions of an instance."""
    t, d, lengths = p.train, xi.shape[1], np.array(p.lengths)
    happens = lambda chance: chance > 0 and rng.uniform(0.0, 1.0) < chance
    moves = False
    if several and d == 2 and p.lengths[0] == p.lengths[1] and happens(0.5):
        xi, moves = xi[:, ::-1].copy(), True
    if happens(t["clustered"]):
        spread = 0.15 / xi.shape[0] ** (1 / d)
        part = [(rng.uniform(0.05, 0.35), 1 - rng.uniform(0.05, 0.35)) for _ in range(d)]
        at = [[low + (high - low) * x / length + spread * rng.normal() for x, (low, high), length in zip(row, part, lengths)] for row in xi]
        xi, moves = lengths * np.clip(at, *WITHIN), True
    elif happens(t["scattered"]):
        xi, moves = lengths * [[rng.uniform(*WITHIN) for _ in row] for row in xi], True
    if t["start_jitter"] > 0:
        jitter = [[rng.uniform(-t["start_jitter"], t["start_jitter"]) for _ in row] for row in xi]
        xi, moves = np.clip(xi + jitter, 0, lengths), True
    o = p.settings.get("obstacles")
    if o and moves:
        xi = places.settle(xi, o["discs"], limits.disc_walls(o["discs"], p.lengths, o["clearance"]), p.lengths, o["clearance"], o["margin"])
    return xi


def strengths(p, rng, m, own):
    """Strengths of an instance's agents."""
    t, found = p.train, np.ones(m)
    weakest, strongest = t["strength"]
    if strongest > weakest and rng.uniform(0.0, 1.0) < t["strength_share"]:
        found[:] = np.exp(rng.uniform(np.log(weakest), np.log(strongest)))
    if t["strength_many"] > 1 and m > own:
        found *= np.exp(rng.uniform(0.0, np.log(t["strength_many"])))
    if t["strength_each"] > 0:
        found *= [np.exp(rng.uniform(-t["strength_each"], t["strength_each"])) for _ in range(m)]
    if t["dropout"] > 0:
        found[[rng.uniform(0.0, 1.0) < t["dropout"] for _ in range(m)]] = 0
    return found


def deaths(p, rng, xi, ticks):
    """Tick at which each agent fails."""
    t, m = p.train, xi.shape[0]
    found = np.full(m, NEVER)
    if not (t["deaths"] > 0 and rng.uniform(0.0, 1.0) < t["deaths"]) or m < 2:
        return found
    tick = int(rng.uniform(0.0, LATEST * ticks))
    if t["blocks"] > 0 and rng.uniform(0.0, 1.0) < t["blocks"]:
        count = min(max(int(np.floor(rng.uniform(0.2, 0.45) * m + 0.5)), 1), m - 1)
        at = [rng.uniform(0.0, length) for length in p.lengths]
        found[np.argsort(((xi - at) ** 2).sum(1), kind="stable")[:count]] = tick
    else:
        spared = rng.below(m)
        found[[i != spared and rng.uniform(0.0, 1.0) < EACH for i in range(m)]] = tick
    return found


def draw(p, update, number, ticks, fields, batch=None, agents=None, seed=0):
    """Shard `number` of an update; `fields(index)` gives start and target of instance `index` of the training stream."""
    m, count = sizes(p, update, batch, agents, seed)[number]
    t, own = p.train, agents or p.settings["swarm"]["agents"]
    rows = []
    for i in range(number * t["shard"], number * t["shard"] + count):
        index = update * (batch or t["batch"]) + i
        rng = Rng(seed, TRAIN, index)
        skip_fields(p, rng)
        xi = moved(p, rng, p.start(m), not agents and bool(t["agents"]))
        rows.append((*fields(index), xi, strengths(p, rng, m, own), deaths(p, rng, xi, ticks)))
    *floats, death = (np.stack(column) for column in zip(*rows))
    return Shard(*(jnp.asarray(x, p.dtype) for x in floats), jnp.asarray(death, jnp.int32))
