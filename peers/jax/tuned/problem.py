"""The eight problems with their tuned settings (settings.json: what `cinoc.make(P, preset="tuned").settings` has), any number of agents.

A `Problem` has for ONE instance (the caller vmaps), with m agents:
    around(xi)                                     values derived from positions; once per episode where agents are static,
                                                   and once for all instances with equal positions (`alike`)
    known(target)                                  values derived from the target; once per episode
    see(known, around, z, target, xi, alive)       (patch [m, seen], position [m, F], signal [m, S])
    act(raw, strength, around, xi)                 actions [m, k], subject to limits, crowds and safety
    drive(action, around)                          forcing of the equation
    move(xi, action)                               positions a tick later
and for a batch
    step(z, drive)                                 a tick of the equation
    cost(z, xi, action, z0, target)                [B]: weighted cost of trajectories [T, B, ...] (states after each decision)
    sample(key, batch), quick(key, batch)          starts and targets
    start(m)                                       [m, d], NumPy
"""
import dataclasses
import functools
import json
import pathlib
from typing import Any, Callable

import jax
import jax.numpy as jnp
import numpy as np

import core
import problems
from problems import density2d, fkpp1d, heat1d, heat2d, ks1d, ks2d, turbulence2d
from tuned import limits, places, sight, terms, window

SETTINGS = json.loads(pathlib.Path(__file__).with_name("settings.json").read_text())


@dataclasses.dataclass(frozen=True)
class Problem:
    """A problem; see the module."""
    name: str
    settings: dict
    dtype: Any
    shape: tuple
    lengths: tuple
    periodic: bool
    mobile: bool
    alike: bool
    limits: tuple
    around: Callable
    known: Callable
    see: Callable
    act: Callable
    drive: Callable
    move: Callable
    step: Callable
    cost: Callable
    sample: Callable
    quick: Callable
    start: Callable

    @property
    def net(self):
        """Settings of the policy."""
        return self.settings["policy"]

    @property
    def train(self):
        """Settings of the training."""
        return self.settings["train"]

    @property
    def ticks(self):
        """Ticks of a training episode."""
        return self.train["ticks"] or self.settings["physics"]["ticks"]


def make_step(name, dtype):
    """A tick of the equation, for a batch."""
    if name == "turbulence2d":
        return turbulence2d.make_courant(turbulence2d.N, turbulence2d.NU, turbulence2d.INTERVAL, dtype)
    one = {"heat1d": lambda: heat1d.make_step(dtype), "fkpp1d": lambda: fkpp1d.make_step(dtype), "heat2d": lambda: heat2d.make_step(dtype),
           "ks1d": lambda: ks1d.make_step(ks1d.N, ks1d.LENGTH, ks1d.DT, dtype),
           "ks2d": lambda: ks2d.make_run(ks2d.N, ks2d.LENGTH, ks2d.DT, ks2d.SUBSTEPS, dtype),
           "density2d": lambda: density2d.make_step()}[name.removesuffix("_obstacles")]()
    if name == "density2d":
        return jax.vmap(lambda rho, q: one(rho, q[0], q[1]))
    return jax.vmap(one)


def make(name, dtype=jnp.float32, settings=None):
    """Problem `name`, tuned."""
    s = settings or SETTINGS[name]
    base = problems.make(name, dtype=dtype)
    physics, swarm, observe = s["physics"], s["swarm"], s["observe"]
    d, periodic, mobile = len(base.shape), name in ("ks1d", "ks2d", "turbulence2d"), base.mobile
    lengths = (physics["length_x"], physics["length_y"]) if name == "density2d" else (physics["length"],) * d
    axes = [core.grid(n, length, periodic) for n, length in zip(base.shape, lengths)]
    spacing, nodes = [dx for _, dx in axes], [jnp.asarray(x, dtype) for x, _ in axes]
    look = window.make(base.shape, spacing, observe["points"], observe["window"], periodic, mobile)
    reach, alone = np.sqrt(6) * swarm["crowd_width"] * swarm["sigma"], swarm["crowd"]
    kappa = (2 * np.pi if periodic else np.pi) if observe.get("position", True) else 0.0
    shows_target, obstacles = observe.get("target", False), s.get("obstacles")
    if obstacles:
        walls = limits.disc_walls(obstacles["discs"], lengths, obstacles["clearance"])
        fence = functools.partial(limits.safe, discs=obstacles["discs"], walls=walls, clearance=obstacles["clearance"],
                                  tick_time=physics["dt"], limit=swarm["v_limit"])
    bounds = (swarm["v_limit"],) * 2 if name == "density2d" else (swarm["u_limit"], *(swarm["v_limit"],) * d) if mobile else (swarm["u_limit"],)

    def around(xi):
        pairs = sight.apart(xi, lengths, periodic)
        far = sight.line_distances(xi, lengths[0], periodic) if d == 1 else sight.plane_distances(xi, pairs, lengths, periodic)
        bumps = [core.bump(x, xi[:, c], swarm["sigma"], lengths[c], periodic) for c, (x, _) in enumerate(axes)]
        return {"far": far, "near": limits.nearness(pairs, reach), "bumps": bumps, "window": look.place(xi),
                "position": core.fourier(xi, lengths, kappa)}

    def known(target):
        if name == "density2d":
            return sight.moments(target, *nodes)[1]
        return sight.target_fields(target, spacing, physics["nu"], physics.get("rho", 0.0)) if shows_target else ()

    def see(known, around, z, target, xi, alive):
        patch = look.see(observe["gain"] * (z - target), around["window"])
        position, signal = [around["position"]], []
        if obstacles:
            position.append(sight.nearest_disc(xi, obstacles["discs"], obstacles["clearance"]))
        if name == "density2d":
            signal.append(sight.directions(xi, (sight.moments(z, *nodes)[1], known)))
        if shows_target:
            signal.append(sight.target_view(known, xi, spacing, observe["window"] / 2))
        near = sight.gaps(around["far"], alive, observe["gaps"])
        nothing = jnp.zeros((xi.shape[0], 0), dtype)
        return patch, jnp.concatenate([*position, *signal, near], -1), jnp.concatenate([nothing, *signal], -1)

    def act(raw, strength, around, xi):
        strength = limits.shared(strength, around["near"], alone)
        if name == "density2d":
            return limits.saturate_length(raw, strength, swarm["v_limit"])
        action = limits.saturate(raw, strength, bounds)
        return fence(action, xi) if obstacles else action

    def drive(action, around):
        if d == 1:
            return action[:, 0] @ around["bumps"][0]
        bx, by = around["bumps"]
        if name == "density2d":
            return physics["gain"] * jnp.stack([(v[:, None] * bx).T @ by for v in action.T])
        return (action[:, :1] * bx).T @ by

    def move(xi, action):
        margin = physics.get("margin", 0.0)
        far = physics["motion"] if name == "density2d" else physics["dt"]
        return jnp.clip(xi + far * action[:, -d:], margin, jnp.asarray(lengths, dtype) - margin)

    def start(m):
        if name == "density2d":
            margin = swarm["start_margin"]
            return places.inside(m, (margin, margin), (lengths[0] - margin, lengths[1] - margin - 0.1))
        if swarm.get("staggered"):
            return places.most_even(m, lengths)
        if not mobile or swarm["start_in_cells"]:
            xi = places.cell_centres(m, lengths)
            return places.settle(xi, obstacles["discs"], walls, lengths, obstacles["clearance"], obstacles["margin"]) if obstacles else xi
        return places.between_margins(m, lengths, swarm["start_margin"])

    cost = terms.density(s["cost"], nodes) if name == "density2d" else terms.rest(s["cost"]) if periodic \
        else terms.tracking(s["cost"], lengths, obstacles)
    return Problem(name, s, dtype, base.shape, lengths, periodic, mobile, not mobile and d == 1, bounds, around, known, see, act, drive,
                   move if mobile else lambda xi, action: xi, make_step(name, dtype), cost, base.sample, base.quick or base.sample, start)
