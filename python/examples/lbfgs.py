"""The best actions of one instance, found by LBFGS with derivatives through the episode; the trained policy's actions are the first guess."""

import torch

import cinoc
import cinoc.torch

torch.set_num_threads(1)
TICKS, SEED = 100, 3000

# Double precision, so that the search does not end in round-off. The cost is the error after every tick and nothing else.
only_error = {"cost.effort": 0.0, "cost.bound": 0.0, "cost.collide": 0.0, "cost.accel": 0.0, "cost.final_log": 0.0, "cost.final_root": 0.0}
policy = cinoc.load("heat1d", dtype="float64").change({"physics.ticks": TICKS, **only_error})
problem = policy.problem
by_policy = cinoc.rollout(policy, seed=SEED)

scene = cinoc.torch.begin(problem, seed=SEED, stream="test")
limits = torch.from_numpy(problem.limits)
guess = torch.from_numpy(by_policy.action.values).movedim(0, 1)  # [ticks, 1, agents, k]
# Actions are limits·tanh(raw): whatever raw is, they are allowed.
raw = torch.atanh((guess / limits).clamp(-0.99, 0.99)).requires_grad_()
search = torch.optim.LBFGS([raw], max_iter=60, history_size=20, line_search_fn="strong_wolfe")


def cost() -> torch.Tensor:
    search.zero_grad()
    episode = cinoc.torch.rollout(problem, scene.z, scene.target, scene.xi, limits * torch.tanh(raw))
    total = episode.cost.sum()
    total.backward()
    return total


before = float(cost())
search.step(cost)
after = float(cost())
best = cinoc.rollout(problem, (limits * torch.tanh(raw)).detach().numpy(), seed=SEED)
print(f"cost {before:.3g} → {after:.3g}; score: policy {by_policy.attrs['score']:.3g}, after the search {best.attrs['score']:.3g}")
cinoc.show(best, compare={"policy": by_policy}).savefig("lbfgs.png", dpi=120)
assert after < before
