"""cinoc.torch: modules with our policies' numbers, and training through them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import cinoc
import cinoc.torch
from test_gradients_cases import EIGHT, make, scene

torch.set_num_threads(1)

KINDS = [(name, preset, {}) for name in EIGHT for preset in ("shipped", "tuned")] + [
    ("heat1d", "paper", {}),
    ("heat2d", "paper", {}),
    ("density2d", "paper", {}),
    ("heat1d", "paper", {"policy.fusion": "product", "policy.odd": True}),
    ("heat1d", "tuned", {"policy.memory": 0}),
    ("heat1d", "tuned", {"policy.linear": 0}),
    ("heat1d", "shipped", {"policy.own_push": True, "policy.memory_gate": True}),
    ("density2d", "shipped", {"policy.own_push": True}),
]


@pytest.mark.parametrize(("name", "preset", "more"), KINDS)
@pytest.mark.parametrize(("dtype", "near"), [("float64", 1e-10), ("float32", 1e-5)])
def test_module_is_the_policy(name, preset, more, dtype, near):
    problem = cinoc.make(name, preset=preset, set=more, dtype=dtype)
    models = {"shipped": name, "tuned": f"{name}:sharp"}
    policy = cinoc.load(models[preset], dtype) if preset in models and not more else cinoc.fresh(problem, seed=3)
    rng = np.random.default_rng(0)
    # Biases that are not zero, and answers that are not nothing.
    policy = policy.change()
    policy.params = policy.params + 0.02 * rng.normal(size=policy.params.size)
    module = cinoc.torch.Policy(policy)
    memory = None
    for tick in range(3):
        seen = rng.normal(size=(2, 5, problem.env().width)).astype(dtype)
        if problem.native.shared_view:
            seen[..., : module.seen] = seen[:, :1, : module.seen]
        seen[..., -1] = np.array([1.0, 0.0, 0.5, 0.7, 1.0])
        with torch.no_grad():
            action, memory = module(torch.from_numpy(seen), memory)
        np.testing.assert_allclose(action.numpy(), policy(seen), atol=near)
    assert (memory is None) == (policy.memory == 0)
    np.testing.assert_array_equal(module.to_cinoc().params, policy.params)


def test_flat_has_the_order_of_the_engine():
    policy = cinoc.fresh(make("heat1d"))
    module = cinoc.torch.Policy(policy)
    np.testing.assert_array_equal(module.flat().detach().numpy(), policy.params)


def test_copies_and_files(tmp_path):
    import copy

    module = cinoc.torch.Policy("heat1d")
    other = copy.deepcopy(module)
    with torch.no_grad():
        other.out_b += 1.0
    assert not torch.equal(module.out_b, other.out_b)
    module.load_state_dict(other.state_dict())
    torch.save(module, tmp_path / "module.pt")
    again = torch.load(tmp_path / "module.pt", weights_only=False)
    assert torch.equal(again.flat(), other.flat())


def test_a_policy_is_trained_further():
    problem = cinoc.make("heat1d", set={"physics.ticks": 30})
    module = cinoc.torch.Policy(cinoc.fresh(problem, seed=0))
    scene = cinoc.torch.begin(problem, instances=4)
    adam = torch.optim.Adam(module.parameters(), lr=3e-3)
    costs = []
    for _ in range(12):
        cost = module.rollout(scene.z, scene.target, scene.xi).cost.mean()
        adam.zero_grad()
        cost.backward()
        adam.step()
        costs.append(cost.item())
    assert costs[-1] < 0.9 * costs[0]
    trained = module.to_cinoc()
    np.testing.assert_allclose(trained.params, module.flat().detach().numpy())
    assert cinoc.rollout(module).sizes["decision"] == 30
    assert cinoc.evaluate(trained, instances=4)["ratio"][0] > 0.0


def test_numbers_are_those_of_rollout():
    policy = cinoc.load("heat1d").change({"physics.ticks": 20})
    data = cinoc.rollout(policy, seed=5, index=1)
    scene = cinoc.torch.begin(policy.problem, seed=5, index=1, stream="test")
    episode = cinoc.torch.rollout(policy.problem, scene.z, scene.target, scene.xi, policy=policy)
    np.testing.assert_allclose(episode.z[:, 0], data.z[0], atol=1e-5)
    np.testing.assert_allclose(float(episode.cost), float(data.cost.sum()), rtol=1e-4)
    assert episode.z.dtype == episode.cost.dtype == torch.float32 and not episode.z.requires_grad


def test_what_cannot_be_is_said():
    problem = make("heat1d")
    start, target, places, actions = (torch.from_numpy(x) for x in scene(problem))
    with pytest.raises(cinoc.CinocError, match="target"):
        cinoc.torch.rollout(problem, start, target.requires_grad_(), places, actions)
    target = target.detach()
    with pytest.raises(cinoc.CinocError, match="either actions or a policy"):
        cinoc.torch.rollout(problem, start, target, places)
    with pytest.raises(cinoc.CinocError, match=r"\(ticks, 2, 3, 2\)"):
        cinoc.torch.rollout(problem, start, target, places, actions[..., :1])
    with pytest.raises(cinoc.CinocError, match="start has shape"):
        cinoc.torch.rollout(problem, start[:, :5], target, places, actions)
    with pytest.raises(cinoc.CinocError, match="dtype='float64'"):
        cinoc.torch.rollout(problem, start, target, places, policy=cinoc.load("heat1d"))
    actions.requires_grad_()
    cost = cinoc.torch.rollout(problem, start, target, places, actions).cost.sum()
    (slope,) = torch.autograd.grad(cost, actions, create_graph=True)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(slope.square().sum(), actions)
