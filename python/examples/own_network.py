"""A custom network, trained through the engine's derivative: every agent observes the error around it and acts.

`cinoc.torch.step` is one tick with a derivative. Observations are computed here, in PyTorch, from field and positions.
"""

import time

import torch
from torch import Tensor, nn

import cinoc
import cinoc.torch

torch.manual_seed(0)
torch.set_num_threads(1)
TICKS, BATCH, SECONDS = 60, 16, 45.0

problem = cinoc.make("heat1d", agents=8, set={"physics.ticks": TICKS})
limits, length = torch.from_numpy(problem.limits), problem.lengths[0]
steps = torch.linspace(-0.07, 0.07, 5)  # sample positions relative to the agent


def at(field: Tensor, x: Tensor) -> Tensor:
    """Fields [n, nodes] interpolated at positions [n, …]."""
    nodes = field.shape[1]
    place = (x / length * (nodes - 1)).clamp(0.0, nodes - 1.001)
    low = place.floor().detach().long().flatten(1)
    left, right = field.gather(1, low).view_as(x), field.gather(1, low + 1).view_as(x)
    return left + (place - place.floor().detach()) * (right - left)


def look(state: cinoc.torch.State) -> Tensor:
    """Observation of each agent: the error and the target around it, and its position."""
    around = state.xi + steps
    return torch.cat([4.0 * at(state.z - state.target, around), at(state.target, around), state.xi / length], -1)


answer = nn.Linear(48, 2)
nn.init.normal_(answer.weight, std=0.01)  # nearly zero control at first
network = nn.Sequential(nn.Linear(11, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), answer)


def play(state: cinoc.torch.State, deciding: bool = True) -> Tensor:
    """Mean-square error after each tick, [ticks, n]."""
    errors = []
    for _ in range(TICKS):
        raw = network(look(state)) if deciding else torch.zeros(*state.xi.shape[:2], 2)
        state, _ = cinoc.torch.step(problem, state, limits * torch.tanh(raw))
        errors.append(((state.z - state.target) ** 2).mean(1))
    return torch.stack(errors)


def main() -> None:
    adam = torch.optim.Adam(network.parameters(), lr=3e-3)
    begin, update = time.time(), 0
    while time.time() - begin < SECONDS:
        errors = play(cinoc.torch.begin(problem, seed=0, index=update * BATCH, instances=BATCH))
        loss = errors.mean() + 0.1 * (errors[-1] + 1e-6).log().mean()
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adam.step()
        update += 1
        if update % 20 == 1:
            print(f"update {update}, {time.time() - begin:.0f} s: error at the end {errors[-1].mean().item():.2g}", flush=True)
    held_out = cinoc.torch.begin(problem, seed=3000, instances=32, stream="test")
    with torch.no_grad():
        trained, uncontrolled = play(held_out)[-1].mean(), play(held_out, deciding=False)[-1].mean()
    print(f"held-out instances: {float(trained):.2g}, uncontrolled {float(uncontrolled):.2g}")
    assert trained < 0.2 * uncontrolled


if __name__ == "__main__":
    main()
