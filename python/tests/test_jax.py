"""Derivatives of cinoc.jax against differences, in double precision, on all eight problems."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
from jax.test_util import check_grads

import cinoc
import cinoc.jax
from test_gradients_cases import EIGHT, make, scene


def arrays(problem, n=1):
    return tuple(jnp.asarray(x) for x in scene(problem, n))


@pytest.mark.parametrize("name", EIGHT)
def test_rollout(name):
    problem = make(name)
    start, target, places, actions = arrays(problem)
    whole = lambda start, places, actions: tuple(cinoc.jax.rollout(problem, start, target, places, actions, deaths=[(1, 2)]))
    check_grads(whole, (start, places, actions), order=1, modes=["rev"], atol=1e-6, rtol=1e-5, eps=1e-6)


@pytest.mark.parametrize("name", EIGHT)
def test_policy(name):
    problem = make(name)
    policy = cinoc.fresh(problem, seed=1)
    start, target, places, _ = arrays(problem)

    def loop(start, places, params):
        return tuple(cinoc.jax.rollout(problem, start, target, places, policy=policy, params=params))

    check_grads(loop, (start, places, jnp.asarray(policy.params)), order=1, modes=["rev"], atol=1e-6, rtol=1e-4, eps=1e-6)


@pytest.mark.parametrize("name", ["heat1d", "density2d"])
def test_steps(name):
    problem = make(name)
    start, target, places, actions = arrays(problem)

    def by_steps(actions):
        state, total = cinoc.jax.State(start, places, target, jnp.zeros_like(actions[0]), 0), 0.0
        for action in actions:
            state, cost = cinoc.jax.step(problem, state, action)
            total += cost.sum()
        return total

    whole = lambda actions: cinoc.jax.rollout(problem, start, target, places, actions).cost.sum()
    one, other = jax.jit(jax.value_and_grad(whole))(actions), jax.jit(jax.value_and_grad(by_steps))(actions)
    np.testing.assert_allclose(one[0], other[0], rtol=1e-9)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-6, atol=1e-9)


def test_jit_and_vmap():
    problem = make("heat1d")
    start, target, places, actions = arrays(problem)
    cost = lambda actions, target: cinoc.jax.rollout(problem, start, target, places, actions).cost.sum()
    slope = jax.grad(cost)(actions, target)
    np.testing.assert_allclose(jax.jit(jax.grad(cost))(actions, target), slope)
    three = jnp.stack([actions, 0.5 * actions, -actions])
    every = jax.jit(jax.vmap(jax.grad(cost), (0, None)))(three, target)
    np.testing.assert_allclose(every[0], slope)
    np.testing.assert_allclose(every[2], jax.grad(cost)(-actions, target))
    assert not jax.grad(cost, argnums=1)(actions, target).any()


def test_single_precision_and_loops():
    problem = cinoc.make("heat1d", set={"physics.ticks": 10})
    scene = cinoc.jax.begin(problem, instances=2)
    cost = jax.jit(jax.value_and_grad(lambda a: cinoc.jax.rollout(problem, scene.z, scene.target, scene.xi, a).cost.mean()))
    actions = jnp.zeros((10, 2, 8, 2), jnp.float32)
    first = cost(actions)[0]
    for _ in range(30):
        value, slope = cost(actions)
        actions = actions - 0.5 * slope / jnp.abs(slope).max()
    assert slope.dtype == jnp.float32 and cost(actions)[0] < first


def test_what_cannot_be_is_said():
    problem = make("heat1d")
    start, target, places, actions = arrays(problem)
    with pytest.raises(cinoc.CinocError, match="either actions or a policy"):
        cinoc.jax.rollout(problem, start, target, places)
    with pytest.raises(cinoc.CinocError, match="ticks, instances"):
        cinoc.jax.rollout(problem, start, target, places, actions[..., :1])
