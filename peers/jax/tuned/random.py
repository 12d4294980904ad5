"""The engine's random numbers: ChaCha8 by address (seed, stream, index), so that shards are equal in both."""
import functools

import numpy as np

TRAIN, CARDINALITY = 2, 10  # streams
BLOCKS = 16  # of 16 words, made at a time


def blocks(key, first):
    """Words of BLOCKS blocks of ChaCha with 8 rounds, from block `first` on."""
    state = np.zeros((16, BLOCKS), np.uint32)
    state[:4] = np.frombuffer(b"expand 32-byte k", np.uint32)[:, None]
    state[4:12] = np.frombuffer(key, np.uint32)[:, None]
    state[12] = np.arange(first, first + BLOCKS)
    x = state.copy()
    turn = lambda a, n: (a << np.uint32(n)) | (a >> np.uint32(32 - n))
    for _ in range(4):
        for a, b, c, d in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            for n, m in ((16, 12), (8, 7)):
                x[a] += x[b]
                x[d] = turn(x[d] ^ x[a], n)
                x[c] += x[d]
                x[b] = turn(x[b] ^ x[c], m)
    return (x + state).T.reshape(-1).view(np.uint64)


@functools.lru_cache
def ziggurat():
    """Edges of the 256 layers under a normal density, and the density there."""
    edge, area = 3.654152885361008796, 0.00492867323399
    f = lambda x: np.exp(-x * x / 2)
    x = [area / f(edge), edge]
    while len(x) < 256:
        x.append(np.sqrt(-2 * np.log(area / x[-1] + f(x[-1]))))
    x.append(0.0)
    return x, [f(v) for v in x]


class Rng:
    """The generator of an address."""

    def __init__(self, seed, stream, index):
        self.key = b"".join(int(n).to_bytes(8, "little") for n in (seed, stream, index, 0))
        self.words, self.at = [], 0

    def next(self):
        """64 random bits."""
        if self.at == len(self.words):
            self.words.extend(blocks(self.key, self.at // 8).tolist())
        self.at += 1
        return self.words[self.at - 1]

    def unit(self):
        """From 0 to 1, with 52 bits."""
        return (self.next() >> 12) * 2.0**-52

    def uniform(self, low, high):
        """A number between two bounds."""
        return low if low == high else self.unit() * (high - low) + low

    def below(self, bound):
        """A whole number."""
        return min(int(self.uniform(0.0, bound)), bound - 1)

    def normal(self):
        """A standard normal number."""
        x, f = ziggurat()
        while True:
            bits = self.next()
            layer, u = bits & 255, 2 * ((bits >> 12) * 2.0**-52) - 1
            found = u * x[layer]
            if abs(found) < x[layer + 1]:
                return found
            if layer == 0:
                return self.tail(u)
            if f[layer + 1] + (f[layer] - f[layer + 1]) * ((self.next() >> 11) * 2.0**-53) < np.exp(-found * found / 2):
                return found

    def tail(self, u):
        """A normal number beyond the last edge."""
        edge, a, b = ziggurat()[0][1], 1.0, 0.0
        while -2 * b < a * a:
            a, b = (np.log((self.next() >> 12) * 2.0**-52 + 2.0**-53) for _ in range(2))
            a /= edge
        return a - edge if u < 0 else edge - a
