"""Episodes as differentiable functions of PyTorch, and our policies as its modules.

Everything is [ticks, instances, agents or nodes…]; actions are in the units of the problem (`problem.limits`). Derivatives are the engine's own
backward sweep, and exist once: a derivative of a derivative does not. There is none by the target.

    problem = cinoc.make("heat1d", dtype="float64")
    scene = cinoc.torch.begin(problem, seed=0, instances=4)
    actions = torch.zeros(300, 4, 8, 2, dtype=torch.float64, requires_grad=True)
    episode = cinoc.torch.rollout(problem, scene.z, scene.target, scene.xi, actions)
    episode.cost.sum().backward()
"""

from cinoc.torch.policy import Policy
from cinoc.torch.rollout import State, Trajectory, begin, rollout, step

__all__ = ["Policy", "State", "Trajectory", "begin", "rollout", "step"]
