"""The best actions of one instance, found by LBFGS with derivatives through the episode; starting
from the actions of the trained policy."""

import torch

import cinoc
import cinoc.torch

torch.set_num_threads(1)
TICKS, SEED = 100, 3000

# Double precision, so that the search does not end in round-off.
policy = cinoc.load("heat1d", dtype="float64").change({"physics.ticks": TICKS})
problem = policy.problem
by_policy = cinoc.rollout(policy, seed=SEED)

scene = cinoc.torch.begin(problem, seed=SEED, stream="test")
limits = torch.from_numpy(problem.limits)
guess = torch.from_numpy(by_policy.action.values).movedim(0, 1)  # [ticks, 1, agents, k]
# Actions are limits·tanh(raw), which satisfies the limits for any raw.
raw = torch.atanh((guess / limits).clamp(-0.99, 0.99)).requires_grad_()
search = torch.optim.LBFGS([raw], max_iter=80, history_size=20, line_search_fn="strong_wolfe")


def loss() -> torch.Tensor:
    """The logarithm of the score: of the mean-square error after the last tick; earlier errors do not count."""
    search.zero_grad()
    episode = cinoc.torch.rollout(problem, scene.z, scene.target, scene.xi, limits * torch.tanh(raw))
    value = (episode.z[-1] - scene.target).square().mean().log()
    value.backward()
    return value.detach()


search.step(loss)
best = cinoc.rollout(problem, (limits * torch.tanh(raw)).detach().numpy(), seed=SEED)
print(f"score of the policy {by_policy.attrs['score']:.2g}, after the search {best.attrs['score']:.2g}")
cinoc.show(best, compare={"policy": by_policy}).savefig("lbfgs.png", dpi=120)
assert best.attrs["score"] < 0.1 * by_policy.attrs["score"]
