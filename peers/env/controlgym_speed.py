"""The nearest environments of controlgym, timed; prints one JSON line.

    heat1d   convection_diffusion_reaction without convection and reaction: 100 nodes, the same diffusivity and tick, 8 actions.
             Its solver is one product with the exact matrix of a tick.
    ks1d     kuramoto_sivashinsky: 128 nodes, length 22, 8 actions, and one solver step (ETDRK4) of 0.05 per tick, as ours has one;
             by default it would make 100 of 0.005 per tick of 0.5.

All else is as it comes: 10 sensors with noise, a quadratic cost, double precision. It has no vector environment: several are stepped one
after the other in a loop, the simplest way, and reset when they are over. Each step draws process noise even where its
variance is zero, by a decomposition of the covariance matrix, which takes most of the time: --quiet replaces the draws by zeros.
"""
import sys
import types

import numpy as np

import common

# Its controllers need PyTorch; environments do not.
sys.modules["controlgym.controllers"] = types.ModuleType("controlgym.controllers")
import controlgym  # noqa: E402

AGENTS = 8
NEAREST = {
    "heat1d": ("convection_diffusion_reaction", dict(n_steps=300, n_state=100, sample_time=1e-3, diffusivity_constant=0.2,
                                                     convective_velocity=0.0, reaction_constant=0.0, n_action=AGENTS)),
    "ks1d": ("kuramoto_sivashinsky", dict(n_steps=200, n_state=128, domain_length=22.0, sample_time=0.05, integration_time=0.05,
                                          n_action=AGENTS)),
}


class Quiet:
    """A random generator whose normal draws are their mean."""

    def __init__(self, generator):
        self.uniform = generator.uniform

    def multivariate_normal(self, mean, _):
        """The mean."""
        return mean


def main():
    """Command line."""
    ap = common.arguments(__doc__)
    ap.add_argument("--quiet", action="store_true", help="no draws of noise")
    a = ap.parse_args()
    name, settings = NEAREST[a.problem]
    envs = [controlgym.make(name, seed=i, **settings) for i in range(a.envs)]
    for env in envs:
        env.rng = Quiet(env.rng) if a.quiet else env.rng
    acts = [actions.astype(float) for actions in common.actions(a.envs, AGENTS)]
    made = 0

    def begin():
        for env in envs:
            env.reset()

    def step():
        nonlocal made
        rewards = []
        for env, action in zip(envs, acts[made % common.SETS]):
            seen, reward, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                seen, info = env.reset()
            rewards.append(reward)
        made += 1
        return rewards

    ticks = settings["n_steps"]
    common.tell(a, AGENTS, ticks, common.measure(begin, step, ticks, ticks, a.seconds) | {"environment": name})


if __name__ == "__main__":
    main()
