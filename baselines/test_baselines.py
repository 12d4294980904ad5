"""Quick tests: python -m pytest baselines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensordict import TensorDict
from torchrl.collectors import Collector
from torchrl.modules import ValueOperator
from torchrl.objectives.value import GAE, TD0Estimator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import cinoc  # noqa: E402

from baselines import main, networks, own, sb3, score, tasks, team  # noqa: E402
from baselines.record import complete, folded, plain, read  # noqa: E402

PROBLEM = "heat1d"
SMALL = {
    "ppo": ["envs=4", "n_steps=10", "batch_size=20", "n_epochs=2"],
    "td3": ["envs=4", "warmup=2", "batch_size=8", "buffer_size=1000"],
    "mappo": ["envs=4", "rollout=10", "minibatch=20", "epochs=2"],
    "matd3": ["envs=4", "warmup=2", "batch=8", "buffer=1000"],
    "cinoc": ["train.updates=3", "train.batch=8"],
}


def run(method: str, folder: Path, *more: str) -> int:
    """Trains a method for a second."""
    sets = [word for change in SMALL[method.removesuffix("-deeponet")] for word in ("--set", change)]
    return main.main([method, PROBLEM, "--minutes", "0.03", "--every", "1", "--no-test", "--out", str(folder), *sets, *more])


@pytest.mark.parametrize("method", main.METHODS)
def test_a_method_updates_and_is_recorded(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score, "VALIDATION", 77)
    assert run(method, tmp_path) == 0
    path = tmp_path / PROBLEM / f"{method}-0.jsonl"
    curve = [line for line in read(path) if "kind" not in line]
    assert complete(path) and len(curve) >= 2
    assert set(curve[0]) == {"cpu", "wall", "steps", "score", "ratio", "effort"}
    assert curve[-1]["steps"] > curve[0]["steps"] == 0 and curve[-1]["score"] != curve[0]["score"]
    assert {weights.name for weights in (tmp_path / PROBLEM / f"{method}-0").iterdir()} == {"best.pt", "last.pt"}
    line = folded(path)
    assert line is not None and line["run"] == f"{PROBLEM}/{method}-0" and line["curve"]["steps"] == [point["steps"] for point in curve]
    before = path.read_text()
    assert run(method, tmp_path) == 0 and path.read_text() == before, "a complete run is not changed"


def test_scores_are_those_of_cinoc() -> None:
    # Its agents observe what those of the baselines do; default policies also sense ages and roughness.
    policy = cinoc.load(f"{PROBLEM}:sharp")
    table = cinoc.evaluate(policy, agents=[8, 16], instances=10, seed=77, threads=1)
    free = score.uncontrolled(PROBLEM, 10, 77)
    assert np.allclose(free, table.attrs["uncontrolled"][8], rtol=1e-5)
    for i, agents in enumerate((8, 16)):
        found = score.scores(PROBLEM, own.shown(policy), 10, 77, agents)
        assert np.allclose(found.scores, table.attrs["scores"][agents], rtol=1e-2, atol=1e-9)
        assert np.isclose(found.efforts.mean(), table["effort"][i], rtol=1e-4)


def test_what_diverged_is_the_worst() -> None:
    line: dict[str, Any] = plain({"score": np.array([1.0, np.inf]).mean(), "diverged": 1})
    assert line == {"score": "inf", "diverged": 1} and float(line["score"]) == np.inf


@pytest.mark.parametrize("problem", tasks.TASKS)
def test_the_reward_is_the_table(problem: str) -> None:
    task, env = tasks.TASKS[problem], sb3.Global(problem, 1, 0)
    seen = env.reset()
    assert seen.shape == (1, *env.observation_space.shape)
    seen, rewards, _, _ = env.step(np.zeros((1, *env.action_space.shape), np.float32))
    batch = env.venv.batch
    error = np.square(batch.fields() - batch.targets()).mean()
    # Zero control; no agent is at a wall or near another.
    assert np.isclose(rewards[0], -task.unit * task.cost["cost.track"] * error, rtol=1e-4)
    assert np.allclose(seen, tasks.state(batch, problem))


def episodes() -> TensorDict:
    """Ticks of two environments across the end of an episode."""
    env = team.Team(PROBLEM, 2, 0)
    collector = Collector(env, None, frames_per_batch=2 * 310, total_frames=620)
    data = next(iter(collector))
    collector.shutdown()
    return data


def test_time_limits_are_bootstrapped_from_the_last_state() -> None:
    data, gamma = episodes(), 0.9
    end = 299
    assert data["next", "truncated"][0, end] and not data["next", "terminated"].any() and data["next", "done"].sum() == 2
    assert not torch.allclose(data["next", "state"][:, end], data["state"][:, end + 1]), "the last state is kept, not the next first one"
    value = ValueOperator(networks.Value(data["state"].shape[-1]), in_keys=["state"])
    with torch.no_grad():
        after = value(data["next"].select("state").clone())["state_value"]
        GAE(gamma=gamma, lmbda=0.95, value_network=value)(data)
        # Without a trace from the next episode, there is one step only.
        wanted = data["next", "reward"][:, end] + gamma * after[:, end]
        assert torch.allclose(data["value_target"][:, end], wanted, atol=1e-5)
        data["next", "state_value"] = after
        found = TD0Estimator(gamma=gamma, value_network=None).value_estimate(data, next_value=after)
        assert torch.allclose(found, data["next", "reward"] + gamma * after, atol=1e-5)


def test_stable_baselines_is_told_of_time_limits() -> None:
    env = sb3.Global(PROBLEM, 2, 0)
    env.reset()
    for _ in range(300):
        seen, _, over, infos = env.step(np.zeros((2, *env.action_space.shape), np.float32))
    assert over.all() and all(info["TimeLimit.truncated"] for info in infos)
    assert infos[0]["terminal_observation"].shape == seen[0].shape and not np.allclose(infos[0]["terminal_observation"], seen[0])


def test_networks_serve_any_number_of_agents() -> None:
    batch = tasks.batch(PROBLEM, 1)
    for kind in ("mlp", "deeponet"):
        net = networks.actor(kind, batch)
        assert net(torch.zeros(3, 17, batch.shape[-1])).shape == (3, 17, 2)
