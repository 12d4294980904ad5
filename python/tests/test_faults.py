"""What random use has found."""

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
