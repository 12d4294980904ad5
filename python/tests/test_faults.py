"""What random use has found."""

import os
import pickle

import numpy as np
import pytest

import cinoc


def odd(array):
    """The same numbers at an odd address."""
    room = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    room[...] = array
    assert not room.flags.aligned
    return room


def test_odd_addresses():
    """They were a panic."""
    problem = cinoc.make("heat1d", 4, {"physics.ticks": 5})
    env = problem.env(2)
    numbers = np.zeros(2, np.uint64)
    env.reset(np.ones(2, bool), numbers, numbers)
    with pytest.raises(ValueError, match="odd address"):
        env.step(odd(np.zeros((2, 4, 2), np.float32)))
    with pytest.raises(ValueError, match="odd address"):
        env.cost(odd(np.zeros(2)))
    policy = cinoc.load("heat1d")
    seen = np.ones((4, env.width), np.float32)
    first = policy(seen)
    policy.reset()
    assert np.array_equal(policy(odd(seen)), first)
    policy.params = odd(policy.params)
    places = odd(problem.places())
    cinoc.rollout(problem, lambda seen: odd(np.zeros((1, 4, 2), np.float32)), start=odd(problem.draw().start), places=places)
    cinoc.envs.Batch("heat1d", 1, agents=4, places=places)


def test_missing_observations():
    """They were NaN actions, and a memory that never recovered."""
    policy, twin = cinoc.load("heat1d"), cinoc.load("heat1d")
    width = policy.problem.env(1).width
    random = np.random.default_rng(0)
    good = random.normal(size=(20, 8, width)).astype(np.float32)
    good[..., -1] = 1
    bad = good.copy()
    for tick in range(5, 20):
        gone = random.random((8, width - 1)) < 0.2
        gone = np.column_stack([gone, np.zeros(8, bool)])
        good[tick][gone] = good[tick - 1][gone]
        bad[tick] = np.where(gone, random.choice([np.nan, np.inf, -np.inf, 1e38, -2e6], gone.shape), good[tick])
    for held, sent in zip(good, bad):
        assert np.array_equal(policy(sent), twin(held))
    for value in (np.nan, np.inf, -np.inf, 3e38, -1e20, 1e6):
        seen = np.full((8, width), value, np.float32)
        seen[:4, -1] = 1
        action = policy(seen)
        assert np.isfinite(action).all() and (np.abs(action) <= 1).all()
        assert (action[4:] == 0).all() == (value != 1e6)
    action, memory, _ = policy.native.act(good[:1], np.full((1, 8, policy.memory), np.nan, np.float32))
    assert np.isfinite(action).all() and np.isfinite(memory).all()
    policy.reset()
    twin.reset()
    assert np.array_equal(policy(bad[5]), twin(np.where(np.abs(bad[5]) <= 1e6, bad[5], 0)))


def test_other_bytes_are_true():
    """NumPy takes any byte for a bool."""
    env = cinoc.make("heat1d", 4, {"physics.ticks": 5}).env(3)
    numbers = np.zeros(3, np.uint64)
    env.reset(np.array([2, 255, 0], np.uint8).view(bool), numbers, numbers)
    env.step(np.zeros((3, 4, 2), np.float32))
    ticks = np.zeros(3, np.int64)
    env.ticks(ticks)
    assert list(ticks[:2]) == [1, 1]


def test_files_that_are_no_fields(tmp_path):
    """They were whatever the library that reads them raised."""
    problem = cinoc.make("heat2d", 9, {"physics.ticks": 2})
    for name in ("a.npy", "a.png"):
        for content in (b"", b"nothing", b"\x93NUMPY\x01\x00", b"\x89PNG\r\n\x1a\n"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(cinoc.CinocError, match="cannot be read"):
                cinoc.rollout(problem, start=tmp_path / name)


@pytest.mark.parametrize("value", [-1, 2**64, 1.5, "3", float("nan"), None, [1], 10**30])
def test_numbers_that_are_none(value):
    """They were sentences about conversions."""
    problem = cinoc.make("heat1d", 4, {"physics.ticks": 2})
    policy = cinoc.fresh(problem)
    for call in (
        lambda: problem.draw(seed=value),
        lambda: problem.draw(index=value),
        lambda: problem.discs(value),
        lambda: problem.env(value),
        lambda: problem.env(threads=value),
        lambda: cinoc.fresh(problem, value),
        lambda: cinoc.evaluate(policy, instances=value),
        lambda: cinoc.evaluate(policy, seed=value),
        lambda: cinoc.rollout(policy, seed=value),
    ):
        with pytest.raises(cinoc.CinocError, match="must be"):
            call()
    for options in ({"seed": value}, {"index": value}):
        if value is None or (options.get("seed") or 0) in (2**64, 10**30):
            continue
        envs = cinoc.envs.Batch("heat1d", 1, set={"physics.ticks": 2})
        with pytest.raises((ValueError, TypeError)):
            envs.seed([options.get("seed")], np.random.default_rng, [options.get("index")])


def test_things_in_place_of_others():
    with pytest.raises(cinoc.CinocError, match="cinoc.make"):
        cinoc.fresh("heat1d")
    envs = cinoc.envs.Batch("heat1d", 1, agents=2, set={"physics.ticks": 2})
    envs.seed([0], np.random.default_rng)
    envs.reset()
    for kind in (str, complex, object):
        with pytest.raises(ValueError, match="real numbers"):
            envs.step(np.zeros((1, 2, 2)).astype(kind))
    with pytest.raises(cinoc.CinocError, match="empty"):
        cinoc.rollout("heat1d", index=[])


def test_settings_are_read_from_files_that_end(tmp_path):
    """`/dev/zero` was read until the memory was full, and a pipe waited for a writer."""
    endless, pipe = tmp_path / "zero.toml", tmp_path / "pipe.toml"
    endless.symlink_to("/dev/zero")
    os.mkfifo(pipe)
    for path, words in ((endless, "does not end"), (pipe, "a pipe")):
        for call in (cinoc.make, cinoc.train):
            with pytest.raises(cinoc.CinocError, match=words):
                call(path)


def test_settings_are_handed_over_as_text(tmp_path, monkeypatch):
    """They went through temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    problem = cinoc.make("heat1d", 4, {"physics.ticks": 3, "train.batch": 2, "train.validate_instances": 2})
    other = pickle.loads(pickle.dumps(problem))
    assert other.config == problem.config and other.change({"physics.ticks": 4}).ticks == 4
    policy, history = cinoc.train(problem, updates=2, progress=False)
    assert len(history) == 2 and policy.problem.ticks == 3
    assert np.array_equal(pickle.loads(pickle.dumps(policy)).params, policy.params)


def test_errors_name_arguments_not_flags(tmp_path):
    """Flags of the command line were replaced in finished sentences."""
    small = {"physics.ticks": 3, "train.batch": 2, "train.validate_instances": 2}
    run = tmp_path / "run"
    cinoc.train("heat1d", set=small, updates=1, out=run, progress=False)
    for call, words in (
        (lambda: cinoc.train("heat1d", set=small, updates=1, out=run), "add resume=True to continue it, or choose another out"),
        (lambda: cinoc.train("heat1d", out=tmp_path / "none", resume=True), "leave out resume=True"),
        (lambda: cinoc.train("heat1d", out=run, resume=True, seed=7), "another out"),
        (lambda: cinoc.train("heat1d", threads=9999), "threads cannot be 9999"),
        (lambda: cinoc.make("heat1d", set={"updates": 5}), "did you mean train.updates"),
        (lambda: cinoc.make("heat1d", preset="best"), '"robust" or "paper"'),
        (lambda: cinoc.make("heat1"), "did you mean heat1d"),
    ):
        with pytest.raises(cinoc.CinocError, match=words) as raised:
            call()
        assert "--" not in str(raised.value)


def test_positions_lie_in_the_domain():
    """An agent at (5, 5) of the unit square was accepted, and moved."""
    with pytest.raises(cinoc.CinocError, match=r"agent 1 is placed at \(5, 5\), outside the domain \[0, 1\] × \[0, 1\]"):
        cinoc.rollout("heat2d", places=[[0.1, 0.1], [5, 5]], ticks=5)
    with pytest.raises(cinoc.CinocError, match="outside the domain"):
        cinoc.rollout("heat1d", places=[0.5, -0.1], ticks=5)


def test_a_score_that_is_not_reached_is_explained():
    with pytest.warns(UserWarning, match="the score is NaN: it is taken at tick 100, and this episode has 5"):
        cinoc.rollout("heat2d", ticks=5)


def test_actions_of_another_precision_are_converted():
    """NumPy's default was refused."""
    env = cinoc.make("heat1d", 4, {"physics.ticks": 5}).env(2)
    numbers = np.zeros(2, np.uint64)
    fields = [np.zeros((2, 100), np.float32) for _ in range(2)]
    for field, kind in zip(fields, (np.float32, np.float64)):
        env.reset(np.ones(2, bool), numbers, numbers)
        env.step(np.full((2, 4, 2), 0.5, kind))
        env.fields(field)
    assert np.array_equal(*fields)
    with pytest.raises(TypeError, match="actions must be"):
        env.step(np.zeros((2, 4, 2), complex))


def test_functions_take_the_coordinates():
    with pytest.raises(cinoc.CinocError, match="target must be a function of x and y for heat2d, like lambda x, y"):
        cinoc.rollout("heat2d", target=lambda x: x, ticks=1)
    with pytest.raises(cinoc.CinocError, match="gave shape"):
        cinoc.rollout("heat2d", target=lambda x, y: np.zeros(3), ticks=1)
