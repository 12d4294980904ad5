"""The tuned peer against the engine, in float64: settings, positions, closed loops, gradients, whole updates. Run: python -m pytest test_tuned.py

Needs the Python package of the project (`pip install .` at its root). Every problem compiles for half a minute.
"""
import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import pytest

import problems
from tuned import problem, rollout, shards

cinoc = pytest.importorskip("cinoc")
ENGINE = cinoc.problem.engine("float64")
TICKS = 30
# Short uncontrolled runs, where states come from one; the rest is as trained.
SHORT = {"ks1d": {"data.settle": 20.0, "data.apart": 5.0, "data.train_states": 4}, "ks2d": {"data.settle": 2.0, "data.apart": 1.0, "data.train_states": 4},
         "turbulence2d": {"data.settle": 0.2, "data.train_states": 4}}


def relative(a, b):
    """Largest difference, relative to the largest number."""
    return float(np.abs(np.asarray(a) - b).max() / np.abs(b).max())


@pytest.mark.parametrize("name", problems.NAMES)
def test_settings(name):
    """settings.json is what the engine trains with."""
    ours = cinoc.make(name, preset="tuned").settings
    assert {key: value for key, value in ours.items() if key != "problem"} == problem.SETTINGS[name]


@pytest.mark.parametrize("name", problems.NAMES)
def test_places(name):
    """Initial positions equal those of the engine, for any number of agents."""
    ours, p = cinoc.make(name, preset="tuned", dtype="float64"), problem.make(name, jnp.float64)
    for m in (1, 2, 5, 7, 12, 16, 39, 90):
        np.testing.assert_allclose(p.start(m), ours.places(m), atol=1e-13)


@pytest.mark.parametrize("name", problems.NAMES)
def test_closed_loop(name):
    """Fields, positions, actions, cost and its gradient with respect to all weights of the shipped model, off the lattice
    and with failing agents."""
    policy = cinoc.load(f"{name}:sharp", "float64").change({"physics.ticks": TICKS})
    ours, p, rng = policy.problem, problem.make(name, jnp.float64), np.random.default_rng(1)
    batch = 1 if name == "turbulence2d" else 2  # there a batch shares its substeps, and the engine's does not
    m = ours.agents
    z0, target = (np.asarray(x) for x in jax.jit(p.quick, static_argnums=1)(jax.random.key(2), batch))
    xi0 = np.repeat(ours.places()[None], batch, 0)
    if p.mobile:
        xi0 = xi0 + 0.01 * rng.uniform(-1, 1, xi0.shape)
    failures = [[(TICKS // 3, int(agent)) for agent in rng.choice(m, m // 4, replace=False)] for _ in range(batch)]
    death = np.full((batch, m), shards.NEVER)
    for instance, agents in enumerate(failures):
        for tick, agent in agents:
            death[instance, agent] = tick
    found = ENGINE.Rollout(ours.native, z0, target, xi0, TICKS, policy=policy.native, deaths=failures)
    gradient = found.backward(cost=np.full(batch, 1 / batch))["params"]

    params = {key: jnp.asarray(value) for key, value in policy.parts().items()}
    assert {key: value.shape for key, value in params.items()} == rollout.sizes(p)
    shard = rollout.Shard(*map(jnp.asarray, (z0, target, xi0, np.ones((batch, m)), death)))

    def mean(params):
        path = rollout.rollout(p, params, shard, TICKS, checkpoint=True)
        return p.cost(*path, shard.z0, shard.target).mean(), path
    (cost, (z, xi, action)), grads = jax.jit(jax.value_and_grad(mean, has_aux=True))(params)
    grads = np.concatenate([np.ravel(grads[key]) for key in policy.shapes])
    errors = {"z": relative(z, found.z[1:]), "xi": relative(xi, found.xi[1:]), "action": relative(action, found.action),
              "cost": relative(cost, found.cost.mean()), "gradient": float(np.linalg.norm(grads - gradient) / np.linalg.norm(gradient))}
    print(name, {key: f"{value:.1e}" for key, value in errors.items()})
    assert max(errors.values()) < 1e-9, errors


@pytest.mark.parametrize("name", problems.NAMES)
def test_update(name):
    """The first update of a training, as trained but for its length: numbers of agents, strengths, failures,
    repeated actions, shards, clip, Adam."""
    small = {"physics.ticks": 12, "train.ticks": 0, "train.batch": 4, "train.shard": 2, **SHORT.get(name, {})}
    training = ENGINE.Training(name, "tuned", cinoc.problem.overlay(small), seed=3, threads=1)
    ours = cinoc.make(name, set=small, dtype="float64")
    first = cinoc.fresh(ours, seed=3)
    row = training.step()
    after = cinoc.Policy(training.policy(best=False))

    p = problem.make(name, jnp.float64, {key: value for key, value in ours.settings.items() if key != "problem"})
    decisions = p.ticks // p.train["hold"]
    fields = lambda index: ours.draw(3, index, "train")
    gradient = jax.jit(rollout.make_gradient(p, decisions))
    state = rollout.begin(p, {key: jnp.asarray(value) for key, value in first.parts().items()})
    drawn = shards.together(p, 0, p.ticks, fields, seed=3)
    if name == "turbulence2d":  # one by one: a batch shares its substeps
        drawn = [jax.tree.map(lambda x: x[i : i + 1], part) for part in drawn for i in range(part[1].size)]
    found = [gradient(state.params, *part) for part in drawn]
    norm = np.sqrt(sum(float((sum(x) ** 2).sum()) for x in zip(*(g.values() for _, g in found))))
    state, cost = jax.jit(rollout.make_apply(p))(state, found)
    steps = max(float(abs(state.params[key] - value).max()) for key, value in after.parts().items()) / p.train["rate_start"]
    errors = {"cost": relative(cost, row["cost"]), "gradient": relative(norm, row["gradient"]), "step": steps}
    print(name, [weights.size for _, weights in drawn], sorted({shard.strength.shape[1] for shard, _ in drawn}), {key: f"{value:.1e}" for key, value in errors.items()})
    assert errors["cost"] < 1e-9 and errors["gradient"] < 1e-8 and errors["step"] < 1e-4, errors
