"""The JAX peer, stepped from Python as environments are; prints one JSON line.

One compiled call steps all environments: actions clipped and scaled, force, PDE, motion, stage cost, end of the episode, and the
observations after it: the same numbers as ours with the preset "paper". Results are NumPy arrays, as RL libraries expect.
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

import common

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "jax"))
import problems  # noqa: E402


class Stepping:
    """n environments. Finished ones restart at the next call, from one of the given starts."""

    def __init__(self, problem, start, target):
        self.problem, self.n = problem, len(start)
        self.start, self.target = jnp.asarray(start), jnp.asarray(target)
        self.step_all = jax.jit(jax.vmap(self.step_one), donate_argnums=0)
        self.begin_some = jax.jit(self.begin_marked)
        self.look_all = jax.jit(jax.vmap(self.look))
        self.drawn = 0
        self.acts = common.actions(self.n, problem.m, problem.action_dim)
        self.made = 0

    def fresh(self, turn):
        """States of new episodes: z, target, positions (none where agents stay), last action, tick."""
        p, n = self.problem, self.n
        places = jnp.broadcast_to(p.start(), (n, *p.start().shape)) if p.mobile else None
        pick = (jnp.arange(n) + turn) % n
        return self.start[pick], self.target[pick], places, jnp.zeros((n, p.m, p.action_dim), p.dtype), jnp.zeros(n, jnp.int32)

    def begin_marked(self, state, marked, turn):
        """The states, with new ones where marked."""
        choose = lambda new, old: jnp.where(marked.reshape(-1, *[1] * (old.ndim - 1)), new, old)
        return jax.tree.map(choose, self.fresh(turn), state)

    def look(self, state):
        """Observations of one environment, [m, width]: window, features of positions, strength."""
        p, (z, target, xi, *_) = self.problem, state
        # Fixed positions are a constant of the compiled function, so that values derived from them are computed once.
        xi = xi if p.mobile else p.start()
        parts = [p.observe(z, target, xi).reshape(p.m, -1), p.trunk_features(z, target, xi), jnp.ones((p.m, 1), p.dtype)]
        return jnp.concatenate(parts, -1)

    def step_one(self, state, action):
        """One environment, one tick."""
        p, (z, target, xi, last, tick) = self.problem, state
        action = jnp.clip(action, -1, 1) * jnp.asarray(p.limits, p.dtype)
        action = action if p.cap is None else p.cap(action)
        z, moved = p.tick(z, xi if p.mobile else p.start(), action)
        terms = p.cost_terms(z[None], moved[None], action[None], z, target)
        if "accel" in terms:  # between this tick and the one before; none at the first
            change = jnp.mean(jnp.sum((action - last)[:, 1:] ** 2, -1))
            terms["accel"] = jnp.where(tick > 0, change * (p.horizon / (p.horizon - 1)), 0)
        cost = sum(p.weights[k] * terms[k] for k in terms) / p.horizon
        state = (z, target, moved if p.mobile else None, action, tick + 1)
        wild = ~(jnp.isfinite(cost) & jnp.all(jnp.isfinite(z)))
        return state, self.look(state), -cost, wild, (tick + 1 == p.horizon) & ~wild

    def begin(self):
        """Restart all episodes."""
        self.state, self.over = self.fresh(0), np.zeros(self.n, bool)
        return np.asarray(self.look_all(self.state))

    def step(self):
        """A step as in a vector environment of Gymnasium."""
        before = self.over
        self.state, *out = self.step_all(self.state, self.acts[self.made % common.SETS])
        seen, rewards, terminated, truncated = out
        self.made += 1
        if before.any():
            self.drawn += 1
            self.state = self.begin_some(self.state, before, self.drawn)
            seen = self.look_all(self.state)
        seen, rewards, terminated, truncated = (np.asarray(x) for x in (seen, rewards, terminated, truncated))
        if before.any():
            terminated, truncated = terminated & ~before, truncated & ~before
        self.over = terminated | truncated
        return rewards


def main():
    """Command line."""
    ap = common.arguments(__doc__)
    ap.add_argument("--starts", required=True, metavar="FILE", help="starts and targets, from gym_speed.py --write")
    a = ap.parse_args()
    problem = problems.make(a.problem)
    with np.load(a.starts) as given:
        stepping = Stepping(problem, given["start"], given["target"])
    stepping.begin()  # compiles
    stepping.state = stepping.begin_some(stepping.state, np.ones(a.envs, bool), 1)
    stepping.step()
    stepping.made = 0
    result = common.measure(stepping.begin, stepping.step, problem.horizon, problem.horizon + 1, a.seconds)
    common.tell(a, problem.m, problem.horizon, result | {"jax": jax.__version__, "device": jax.devices()[0].device_kind})


if __name__ == "__main__":
    main()
