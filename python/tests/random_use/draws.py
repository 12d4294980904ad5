"""What is random: choices, numbers and arrays, right and wrong."""

from __future__ import annotations

import random
from typing import Any

import numpy as np


class Draws:
    """The same ones for the same seed and case."""

    def begin(self, seed: int, case: int) -> None:
        self.r = random.Random(f"{seed} {case}")
        self.np = np.random.default_rng([seed % 2**63, case])

    def chance(self, share: float) -> bool:
        return self.r.random() < share

    def one(self, *choices: Any) -> Any:
        return self.r.choice(choices)

    def number(self, good: int, share: float = 0.15) -> Any:
        """A number, or now and then something else in its place."""
        if not self.chance(share):
            return good
        return self.one(
            -1, 0, 1, -(2**31), 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, -(10**30), 10**9, 1.5, float("nan"), float("inf"), "3",
            None, True, [], np.int8(-3), np.uint64(2**64 - 1), np.float32(2.0), np.array(3), np.array([1, 2]), b"1", 3 + 1j, object(),
        )

    def real(self, good: float, share: float = 0.15) -> Any:
        if not self.chance(share):
            return good
        return self.one(
            -1.0, 0.0, 2.0, 1e300, -1e300, 1e-300, float("nan"), float("inf"), -float("inf"), "x", None, [], np.float16(0.5), 10**400,
        )

    def array(self, shape: tuple[int, ...], kind: Any, share: float = 0.25, scale: float = 1.0) -> Any:
        """An array, or now and then one that does not fit."""
        kind = np.dtype(kind)
        shape = tuple(int(n) for n in shape)

        def fill(shape: tuple[int, ...], kind: Any) -> Any:
            kind = np.dtype(kind)
            if kind.kind == "b":
                return self.np.random(shape) < 0.7
            if kind.kind in "iu":
                return self.np.integers(0, 5, shape).astype(kind)
            return np.asarray(scale * self.np.uniform(-1, 1, shape)).astype(kind)

        good = fill(shape, kind)
        if not self.chance(share):
            return good
        match self.r.randrange(30):
            case 0:
                return fill(shape, self.one("int32", "int64", "uint8", "bool", "float16", "complex64", "float32", "float64", "longdouble"))
            case 1:
                return good.astype(object)
            case 2:
                return good.astype(str)
            case 3:
                return good.astype(kind.newbyteorder(">"))
            case 4:
                return good.tolist()
            case 5:
                return self.one(None, 0, 1.0, "array", b"", (), [], {}, object(), np.float32(1), range(3), fill, [[1], [2, 3]])
            case 6:
                return np.asfortranarray(good)
            case 7 if shape:
                return np.repeat(good, 2, axis=-1)[..., ::2]
            case 8 if shape:
                return good[::-1]
            case 9 if shape:
                return good[..., ::-1]
            case 10:
                good.flags.writeable = False
            case 11 if shape:
                at = self.r.randrange(len(shape))
                return fill((*shape[:at], 0, *shape[at + 1 :]), kind)
            case 12 if shape:
                at = self.r.randrange(len(shape))
                return fill((*shape[:at], max(shape[at] + self.one(-1, 1, 3), 0), *shape[at + 1 :]), kind)
            case 13:
                return fill(shape[1:], kind)
            case 14:
                return fill((1, *shape), kind)
            case 15:
                return fill((*shape, 1), kind)
            case 16:
                return np.zeros((0,) * self.r.randrange(1, 8), kind)
            case 17 | 18 | 19 if kind.kind == "f" and good.size:
                value = self.one(np.nan, np.inf, -np.inf, 1e300 if kind.itemsize > 4 else 3e38, -3e38, 1e-40)
                good.reshape(-1)[self.r.randrange(good.size)] = value
            case 20 if kind.kind == "f":
                return good * self.one(1e3, 1e6, 1e12, 1e20, 1e30)
            case 21:
                # As large as can be, without memory.
                return np.broadcast_to(np.zeros((), kind), self.one((2**40,), (2**20, 2**20, 2**18), (1, 2**45), (2**30, 1, 2)))
            case 22 if good.size:
                return np.broadcast_to(good.reshape(-1)[:1].reshape((1,) * len(shape)), shape)
            case 23:
                return np.ma.masked_array(good)
            case 24 if good.size:
                # At an odd address.
                raw = np.zeros(good.nbytes + 1, np.uint8)
                odd = raw[1:].view(kind).reshape(shape)
                odd[...] = good
                return odd
            case 25 if kind.kind == "b" and shape:
                return (2 * fill(shape, "uint8") + 2).view(np.bool_)
            case 26 if kind.kind == "u":
                return fill(shape, kind) - kind.type(3)
            case 27:
                return np.zeros(shape, [("a", kind), ("b", "i1")])
            case 28 if shape:
                return memoryview(good)
            case 29:

                class Own(np.ndarray):
                    """A custom type."""

                return good.view(Own)
        return good
