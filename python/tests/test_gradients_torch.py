"""Every derivative of cinoc.torch against differences, in double precision, on all eight problems."""

import pytest

torch = pytest.importorskip("torch")

import cinoc
import cinoc.torch
from test_gradients_cases import EIGHT, LARGE, NETWORK, make, scene

torch.set_num_threads(1)


def check(name, function, inputs, **more):
    """Every number by every number; on large grids a random sum of all by a random direction, which is small, so its tolerance is too."""
    large = name in LARGE
    assert torch.autograd.gradcheck(function, inputs, atol=1e-8 if large else 1e-5, rtol=1e-4, fast_mode=large, **more)


def tensors(problem, n):
    start, target, places, actions = (torch.from_numpy(x) for x in scene(problem, n))
    return start.requires_grad_(), target, places.requires_grad_(), actions.requires_grad_()


@pytest.mark.parametrize("name", EIGHT)
def test_rollout(name):
    """By start, places and actions, of the whole trajectory and the cost."""
    problem = make(name)
    start, target, places, actions = tensors(problem, 1 if name in LARGE else 2)
    whole = lambda start, places, actions: tuple(cinoc.torch.rollout(problem, start, target, places, actions, deaths=[(1, 2)]))
    check(name, whole, (start, places, actions))


@pytest.mark.parametrize("name", EIGHT)
def test_step(name):
    """Of one tick in the middle, by the action before too."""
    problem = make(name)
    start, target, places, actions = tensors(problem, 1)
    previous = actions.detach()[1].clone().requires_grad_()

    def tick(z, xi, previous, action):
        state, cost = cinoc.torch.step(problem, cinoc.torch.State(z, xi, target, previous, 1), action)
        return state.z, state.xi, state.previous, cost

    inputs = (start, places, previous, actions.detach()[0].clone().requires_grad_())
    check(name, tick, inputs)


@pytest.mark.parametrize("name", EIGHT)
def test_policy(name):
    """In a closed loop: by parameters, start and places."""
    problem = make(name)
    module = cinoc.torch.Policy(cinoc.fresh(problem, seed=1))
    start, target, places, _ = tensors(problem, 1)
    params = module.flat().detach().requires_grad_()

    def loop(start, places, params):
        return tuple(cinoc.torch.rollout(problem, start, target, places, policy=module, params=params))

    check(name, loop, (start, places, params))
    own = len(problem.components) if problem.settings["policy"]["own_push"] else 0
    assert NETWORK["policy.memory"] + own == module.policy.memory


@pytest.mark.parametrize("name", EIGHT)
def test_steps_are_the_rollout(name):
    problem = make(name)
    start, target, places, actions = tensors(problem, 2)
    whole = cinoc.torch.rollout(problem, start, target, places, actions)
    state, total = cinoc.torch.State(start, places, target, torch.zeros_like(actions[0]), 0), 0.0
    for action in actions:
        state, cost = cinoc.torch.step(problem, state, action)
        total = total + cost
    torch.testing.assert_close(state.z, whole.z[-1])
    torch.testing.assert_close(total, whole.cost)
    one = torch.autograd.grad(whole.cost.sum() + whole.z[-1].square().sum(), (start, places, actions))
    other = torch.autograd.grad(total.sum() + state.z.square().sum(), (start, places, actions))
    for a, b in zip(one, other):
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-8)
