"""Environments of this project through Gymnasium, timed; prints one JSON line.

A step is everything a user of Gymnasium gets: an action within [-1, 1] in; observation (a new array), reward, terminated, truncated and
info out; finished episodes restart with newly drawn fields.
"""
import cinoc  # noqa: F401  (registers the environments)
import gymnasium
import numpy as np

import common


def vector(a, settings):
    """`gymnasium.make_vec`: all environments at a time, reset by the call after their last tick."""
    envs = gymnasium.make_vec(f"cinoc/{a.problem}-v0", num_envs=a.envs, vectorization_mode="vector_entry_point", **settings)
    acts = common.actions(*envs.action_space.shape)
    made = 0

    def step():
        nonlocal made
        seen, rewards, terminated, truncated, info = envs.step(acts[made % common.SETS])
        made += 1
        return rewards

    return envs.unwrapped.batch, lambda: envs.reset(seed=0), step


def single(a, settings):
    """`gymnasium.make`: one environment, reset by the caller."""
    env = gymnasium.make(f"cinoc/{a.problem}-v0", **settings)
    acts = common.actions(*env.action_space.shape)
    made, over = 0, False

    def step():
        nonlocal made, over
        if over:
            over = False
            return env.reset()
        seen, reward, terminated, truncated, info = env.step(acts[made % common.SETS])
        made, over = made + 1, terminated or truncated
        return reward

    return env.unwrapped.batch, lambda: env.reset(seed=0), step


def main():
    """Command line."""
    ap = common.arguments(__doc__)
    ap.add_argument("--single", action="store_true", help="gymnasium.make instead of make_vec; one environment")
    ap.add_argument("--write", metavar="FILE", help="write starts and targets for other contestants instead")
    a = ap.parse_args()
    # Chaotic problems: all seeds share the uncontrolled runs of seed 0.
    settings = {"preset": "paper", "pool": 0, "threads": a.threads}
    batch, begin, step = single(a, settings) if a.single else vector(a, settings)
    if a.write:
        begin()
        np.savez(a.write, start=batch.fields(), target=batch.targets())
        return
    ticks = batch.problem.ticks
    common.tell(a, batch.agents, ticks, common.measure(begin, step, ticks, ticks + 1, a.seconds) | {"gymnasium": gymnasium.__version__})


if __name__ == "__main__":
    main()
