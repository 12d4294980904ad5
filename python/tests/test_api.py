"""What one calls first."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import cinoc
from cinoc.envs import Batch

EIGHT = ["heat1d", "fkpp1d", "heat2d", "heat2d_obstacles", "ks1d", "ks2d", "turbulence2d", "density2d"]
SHORT = {"physics.ticks": 20}


@pytest.fixture(scope="module")
def policy():
    return cinoc.load("heat1d")


@pytest.fixture(scope="module")
def short(policy):
    return policy.change(SHORT)


def test_import_is_light():
    code = "import cinoc, sys; print(*[m for m in ('torch', 'jax', 'pandas', 'xarray', 'matplotlib') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_list():
    table = cinoc.list()
    assert list(table["name"]) == EIGHT or set(table["name"]) == set(EIGHT)
    assert table["model"].all() and table["about"].str.len().min() > 10


def test_problem_files_of_several_fields():
    path = Path(__file__).parents[2] / "examples/problems/fitzhugh_nagumo.toml"
    problem = cinoc.make(path, set={"physics.ticks": 10})
    assert (problem.nodes, problem.shape) == ((128,), (2, 128)) and problem.draw().start.shape == (2, 128)
    episode = cinoc.rollout(problem, np.zeros((10, 16, 1)), index=[0, 1])
    assert episode["z"].dims == ("instance", "time", "field", "x") and episode["z"].shape == (2, 11, 2, 128)
    assert len(cinoc.show(episode).axes) > 2
    batch = Batch(path, 3)
    batch.seed([0, 1, 2], np.random.default_rng)
    batch.reset()
    assert batch.fields().shape == batch.targets().shape == (3, 2, 128) and batch.positions().shape == (3, 16, 1)
    with pytest.raises(cinoc.CinocError, match="needs \\(2, 128\\)"):
        cinoc.rollout(problem, np.zeros((10, 16, 1)), start=np.zeros(128))


def test_problem_files(tmp_path):
    path = Path(__file__).parents[2] / "examples/problems/allen_cahn.toml"
    small = {"train.updates": 2, "train.batch": 4, "train.validate_instances": 2, "train.variants": 2, "physics.ticks": 10}
    problem = cinoc.make(path, set={"constants.epsilon": 2e-3})
    assert (problem.agents, problem.nodes, problem.settings["constants"]["epsilon"]) == (16, (64,), 2e-3)
    policy, _ = cinoc.train(path, set=small, out=tmp_path / "run")
    assert np.isfinite(cinoc.evaluate(cinoc.load(tmp_path / "run"), agents=[8, 16], instances=2)["ratio"]).all()
    assert cinoc.rollout(policy, agents=12).sizes["agent"] == 12
    batch = Batch(path, 2, start=np.full(64, 0.5))
    batch.seed([0, 1], np.random.default_rng)
    batch.reset()
    batch.step(np.zeros((2, *batch.action_shape), np.float32))
    # Without pushes a constant 0.5 grows towards 1.
    assert np.allclose(batch.fields(), 0.5 + 0.05 * (0.5 - 0.5**3), atol=1e-3)


def test_problems_of_dicts():
    k = np.linspace(0.5, 1.5, 32, dtype=np.float32)
    sections = {
        "domain": {"size": [1.0], "cells": [32], "left": {"value": "sin(t)"}},
        "maps": {"k": {"values": k}},
        "fields": {"z": "k"},
        "equations": {"z": "0.1*div(k*grad(z)) + push"},
        "agents": {"number": 4, "push": {"width": 0.1, "range": [-1, 1]}},
        "task": {"cost": {"error": "mean(z^2)"}, "score": "mean(z^2)"},
        "time": {"tick": 0.05, "ticks": 20},
    }
    problem = cinoc.make(sections, set={"physics.ticks": 30})
    assert (problem.agents, problem.ticks, problem.nodes) == (4, 30, (32,))
    assert np.allclose(problem.draw().start, k)
    with pytest.raises(cinoc.CinocError, match="equations.z: q is not known"):
        cinoc.make({**sections, "equations": {"z": "q + push"}})


def test_units_and_times_of_files_are_in_the_dataset():
    sections = {
        "domain": {"size": [1.0], "cells": [16], "unit": "m"},
        "fields": {"T": {"start": "t0", "unit": "K"}, "c": "0"},
        "constants": {"t0": {"value": 3.0, "unit": "K"}},
        "equations": {"T": "sin(t) + heat", "c": "mist"},
        "agents": {
            "number": 4,
            "heat": {"width": 0.1, "range": [0, 1], "unit": "kW"},
            "mist": {"width": 0.1, "range": [0, 1]},
            "see": {"window": 0.3, "points": 3},
        },
        "task": {"cost": {"error": "mean(T^2)"}, "score": "mean(T^2)"},
        "time": {"tick": 0.05, "ticks": 4, "unit": "h", "start": [5, 9]},
    }
    problem = cinoc.make(sections)
    assert problem.units == {"x": "m", "time": "h", "T": "K", "heat": "kW"} and problem.components == ["heat", "mist"]
    episode = cinoc.rollout(problem, index=[0, 1])
    assert (episode.x.units, episode.time.units, episode.xi.units, episode.action.units) == ("m", "h", "m", "1")
    assert list(episode.field.values) == ["T", "c"] and list(episode.field_units.values) == ["K", "1"]
    assert list(episode.component_units.values) == ["kW", "1"]
    first, second = episode.begins.values
    assert first != second and 5 <= min(first, second) <= max(first, second) < 9 and episode.begins.units == "h"
    ends = 3 + np.cos(episode.begins.values) - np.cos(episode.begins.values + 0.2)
    assert np.allclose(episode.z.values[:, -1, 0].mean(-1), ends, atol=1e-3)


def test_make_and_settings():
    problem = cinoc.make("heat1d", agents=5, set={"physics.ticks": 50, "physics.nu": 0.1, "train.agents": [4, 8], "observe.target": False})
    assert (problem.agents, problem.ticks, problem.nodes, problem.dtype) == (5, 50, (100,), np.float32)
    settings = problem.settings
    assert settings["physics"]["nu"] == 0.1 and settings["train"]["agents"] == [4, 8] and settings["observe"]["target"] is False
    assert problem.components == ["push", "velocity_x"] and list(problem.limits) == [40.0, 2.0]
    assert "heat1d" in repr(problem) and problem.places().shape == (5, 1)
    assert cinoc.make("density2d", set={"physics.scheme": "backward"}).settings["physics"]["scheme"] == "backward"
    assert cinoc.make("density2d").components == ["velocity_x", "velocity_y"]
    assert cinoc.make("ks1d").components == ["push"]
    assert problem.change({"physics.ticks": 60}).agents == 5


def test_wrong_words_are_answered():
    with pytest.raises(cinoc.CinocError, match="heat1d"):
        cinoc.make("heat1")
    with pytest.raises(cinoc.CinocError, match="ticks"):
        cinoc.make("heat1d", set={"physics.tick": 5})
    with pytest.raises(cinoc.CinocError):
        cinoc.load("heat3d")
    with pytest.raises(cinoc.CinocError, match="float32"):
        cinoc.make("heat1d", dtype="int8")
    with pytest.raises(cinoc.CinocError, match="cannot be a setting"):
        cinoc.make("heat1d", set={"physics.ticks": object()})


def test_draw_and_coordinates():
    problem = cinoc.make("density2d")
    start, target = problem.draw(seed=1, index=2)
    assert start.shape == target.shape == problem.nodes == (64, 80)
    assert list(problem.coordinates) == ["x", "y"] and problem.coordinates["y"][-1] == pytest.approx(1.25)
    assert np.array_equal(start, problem.draw(seed=1, index=2).start)
    assert not np.array_equal(start, problem.draw(seed=1, index=3).start)


@pytest.mark.parametrize("name", EIGHT)
def test_policy_acts_as_the_engine_does(name):
    """Observations, answers and steps one by one are the engine's own loop."""
    policy = cinoc.load(name, dtype="float64").change({"physics.ticks": 4})
    problem = policy.problem
    start = np.random.default_rng(0).normal(size=problem.nodes) if not problem.has_target else None
    own = {} if start is None else {"start": start, "target": np.zeros(problem.nodes)}
    alone = cinoc.rollout(policy, deaths=[(2, 1)], **own)
    policy.reset()
    asked = cinoc.rollout(problem, policy, deaths=[(2, 1)], **own)
    np.testing.assert_allclose(asked.z, alone.z, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(asked.action, alone.action, rtol=1e-7, atol=1e-7)


def test_memory(short):
    seen = np.random.default_rng(0).normal(size=(8, short.problem.env().width)).astype("float32")
    seen[:, -1] = 1.0
    short.reset()
    first = short(seen)
    assert first.shape == (8, 2) and np.abs(first).max() <= 1.0
    second = short(seen)
    assert not np.array_equal(first, second)
    with pytest.raises(cinoc.CinocError, match="reset"):
        short(seen[None].repeat(3, 0))
    short.reset()
    assert np.array_equal(short(seen), first)
    short.reset()
    assert short(seen[None].repeat(3, 0)).shape == (3, 8, 2)
    short.reset()
    with pytest.raises(cinoc.CinocError):
        short(seen[0])


def test_params_and_files(policy, tmp_path):
    assert sum(part.size for part in policy.parts().values()) == policy.params.size
    copy = policy.change()
    copy.params = 0.5 * policy.params
    assert np.array_equal(copy.params, 0.5 * policy.params) and not np.array_equal(copy.params, policy.params)
    copy.save(tmp_path / "mine.safetensors")
    assert np.array_equal(cinoc.load(tmp_path / "mine.safetensors").params, copy.params)
    with pytest.raises(cinoc.CinocError, match="shape"):
        copy.params = np.zeros(3)
    assert cinoc.fresh(policy.problem, seed=1).params.shape == policy.params.shape


def test_copies(policy):
    import copy
    import pickle

    for again in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert np.array_equal(again.params, policy.params) and again.problem.config == policy.problem.config
    again.params = 0.0 * again.params
    assert policy.params.any()
    problem = cinoc.make("heat1d", agents=5, preset="paper", dtype="float64")
    again = pickle.loads(pickle.dumps(problem))
    assert again.config == problem.config and again.dtype == problem.dtype
    assert problem.change({"physics.ticks": 7}).settings["policy"] == problem.settings["policy"]


def test_rollout_is_a_dataset(policy, tmp_path):
    import xarray as xr

    data = cinoc.rollout(policy, seed=3000, index=[0, 4], agents=6)
    assert dict(data.sizes) == {"instance": 2, "time": 301, "decision": 300, "x": 100, "agent": 6, "axis": 1, "component": 2}
    assert data.time.values[-1] == pytest.approx(0.3) and data.x.values[-1] == pytest.approx(1.0)
    assert data.alive.all() and list(data.component.values) == ["push", "velocity_x"]
    assert data.attrs["problem"] == "heat1d" and "[physics]" in data.attrs["settings"] and data.attrs["seed"] == 3000
    assert data.score.values == pytest.approx(data.error.isel(time=-1).values, rel=1e-3)
    assert all(data[name].attrs["long_name"] for name in data.variables)
    table = cinoc.evaluate(policy, agents=6, instances=5)
    assert np.array(table.attrs["scores"][6])[[0, 4]] == pytest.approx(data.score.values, rel=1e-3)
    for path, save in [(tmp_path / "a.nc", "to_netcdf"), (tmp_path / "a.zarr", "to_zarr")]:
        getattr(data, save)(path)
        again = xr.open_dataset(path) if save == "to_netcdf" else xr.open_zarr(path)
        xr.testing.assert_equal(again.load(), data)
        assert again.attrs["settings"] == data.attrs["settings"]
        again.close()


def test_rollout_of_actions(short):
    problem, data = short.problem, cinoc.rollout(short)
    again = cinoc.rollout(problem, data.action.values[0])
    np.testing.assert_allclose(again.z, data.z, atol=1e-5)
    idle = cinoc.rollout(problem)
    assert (idle.action == 0).all() and idle.error[0, -1] > data.error[0, -1]
    push = cinoc.rollout(problem, lambda seen: np.full((1, 8, 2), 0.5))
    assert np.allclose(push.action.values[0, 0], [20.0, 1.0])
    for wrong in (np.zeros((20, 8)), np.zeros((20, 8, 3)), np.zeros((5, 8, 2)), lambda seen: seen):
        with pytest.raises(cinoc.CinocError, match="shape"):
            cinoc.rollout(problem, wrong)
    with pytest.raises(cinoc.CinocError, match="decides"):
        cinoc.rollout(short, data.action.values[0])


def test_longer_and_shorter(short):
    longer = cinoc.rollout(short, ticks=30)
    assert longer.sizes["decision"] == 30 and np.isfinite(longer.score).all()
    shorter = cinoc.rollout(short, ticks=10)
    assert shorter.sizes["time"] == 11 and np.isnan(shorter.score).all()
    assert cinoc.rollout(short.problem, ticks=25).sizes["decision"] == 25


def test_own_fields(short, tmp_path):
    problem = short.problem
    data = cinoc.rollout(short, start=lambda x: np.sin(np.pi * x), target=np.zeros(100), places=np.linspace(0.1, 0.9, 5), deaths=[(3, 0), (7, 4)])
    assert data.sizes["agent"] == 5 and np.allclose(data.z[0, 0], np.sin(np.pi * problem.coordinates["x"]), atol=1e-6)
    assert np.allclose(data.xi[0, 0, :, 0], np.linspace(0.1, 0.9, 5)) and (data.target == 0).all()
    alive = data.alive.values[0]
    assert alive[:3].all() and not alive[-1, [0, 4]].any() and alive[-1, 1:4].all()
    assert (data.action.values[0, 3:, 0] == 0).all() and (data.action.values[0, 7:, 4] == 0).all()
    many = cinoc.rollout(short, start=np.zeros((3, 100)), deaths=[[(1, 0)], [], []])
    assert many.sizes["instance"] == 3 and list(many.alive.values[:, -1, 0]) == [False, True, True]
    assert cinoc.rollout(short, index=[0, 1], deaths=[[], [(1, 0)]]).alive.values[:, -1, 0].tolist() == [True, False]
    np.save(tmp_path / "start.npy", np.ones(100))
    assert (cinoc.rollout(short, start=tmp_path / "start.npy").z[0, 0, 1:-1] == 1).all()
    for wrong, words in [
        ({"start": np.zeros(50)}, r"\(50,\).*\(100,\).*\(n, 100\)"),
        ({"target": "nowhere.npy"}, "no such file"),
        ({"places": np.zeros((5, 3)), "agents": 5}, r"\(5, 1\)"),
        ({"deaths": [(3, 99)]}, "agent 99"),
        ({"deaths": [3]}, "pairs"),
        ({"start": np.zeros((3, 100)), "target": np.zeros((2, 100))}, "2 instances"),
        ({"start": "words"}, "no such file"),
        ({"seed": -1}, "seed"),
        ({"ticks": 0}, "ticks"),
    ]:
        with pytest.raises(cinoc.CinocError, match=words):
            cinoc.rollout(short, **wrong)


def test_pictures_as_fields(tmp_path):
    from matplotlib.image import imsave

    image = np.zeros((40, 60))
    image[:20] = 1.0  # the upper half is white
    imsave(tmp_path / "half.png", image, cmap="gray", vmin=0, vmax=1)
    policy = cinoc.load("heat2d").change({"physics.ticks": 2})
    field = cinoc.rollout(policy, target=tmp_path / "half.png").target.values[0]
    assert field.shape == (32, 32) and field[:, -3].min() > 0.99 and field[:, 2].max() < 0.01


def test_evaluate(short):
    table = cinoc.evaluate(short, agents=[4, 8], instances=8, fail=0.25, seed=1)
    assert list(table["agents"]) == [4, 8] and list(table["dead"]) == [1, 2] and (table["instances"] == 8).all()
    for key in ("mean", "std", "median", "p95", "worst", "uncontrolled", "ratio", "ratio_low", "ratio_high", "effort", "mse"):
        assert np.isfinite(table[key]).all()
    assert table["ratio"][0] == pytest.approx(table["mean"][0] / table["uncontrolled"][0])
    assert np.mean(table.attrs["scores"][4]) == pytest.approx(table["mean"][0])
    import pandas as pd

    assert len(pd.concat([table, table])) == 4
    own = cinoc.evaluate(short, instances=2, start=np.zeros(100), target=np.zeros(100))
    assert own["uncontrolled"][0] == 0.0 and len(own) == 1


def test_train(tmp_path):
    quick = {"train.validate_every": 2, "train.validate_instances": 4, "train.batch": 4, "physics.ticks": 20}
    policy, history = cinoc.train("heat1d", set=quick, updates=4, progress=False, threads=1)
    assert isinstance(policy, cinoc.Policy) and list(history.index) == [1, 2, 3, 4] and np.isfinite(history["cost"]).all()
    problem = cinoc.make("heat1d", set=quick, preset="tuned")
    whole = cinoc.train(problem, updates=4, out=tmp_path / "run", progress=False, threads=1)
    assert np.array_equal(whole.policy.params, policy.params)
    assert np.array_equal(cinoc.load(tmp_path / "run").params, policy.params)


def test_interrupted_training_goes_on(tmp_path, request):
    # A process that was started in the background may have been told to ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    quick = {"train.validate_every": 50, "train.validate_instances": 4, "train.batch": 4, "physics.ticks": 20}
    arguments = {"set": quick, "updates": 20_000, "out": tmp_path / "run", "progress": False, "threads": 1}

    def interrupt():
        time.sleep(1.0)
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt, match="resume=True"):
        cinoc.train("heat1d", **arguments)
    assert (tmp_path / "run").is_dir()
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt, match="after update"):
        cinoc.train("heat1d", resume=True, **arguments)


@pytest.mark.parametrize("name", ["heat1d", "heat2d_obstacles", "density2d"])
def test_drawing(name, tmp_path):
    policy = cinoc.load(name).change({"physics.ticks": 12})
    figure = cinoc.show(policy, deaths=[(5, 0)])
    figure.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000 and figure._repr_png_()[:4] == b"\x89PNG"
    data = cinoc.rollout(policy)
    assert ("discs" in data) == (name == "heat2d_obstacles")
    cinoc.show(data).savefig(tmp_path / "b.pdf")
    film = cinoc.animate(data, frames=4)
    assert "<script" in film._repr_html_()
    film.save(tmp_path / "a.gif")
    assert (tmp_path / "a.gif").read_bytes()[:3] == b"GIF"
    with pytest.raises(cinoc.CinocError, match="rollout"):
        cinoc.show(data, agents=3)
