"""Bootstraps over seeds and instances."""

import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import uncertainty  # noqa: E402


class Uncertainty(unittest.TestCase):
    def setUp(self):
        rng = random.Random(1)
        self.free = [rng.expovariate(1.0) for _ in range(100)]
        self.seeds = [[factor * x for x in self.free] for factor in (0.01, 0.02, 0.03)]

    def test_intervals_contain_the_spread_of_seeds_and_of_instances(self):
        found = uncertainty.interval(self.seeds, self.free, random.Random(2))
        self.assertAlmostEqual(found["ratio"], 0.02)
        # The mean of three draws of 0.01, 0.02, 0.03; instances cancel here.
        self.assertLess(found["ratio_95"][0], 0.0134)
        self.assertGreater(found["ratio_95"][1], 0.0266)
        rng = random.Random(3)
        noisy = [[0.02 * x * rng.lognormvariate(0, 0.5) for x in self.free]] * 3
        low, high = uncertainty.interval(noisy, self.free, random.Random(2))["ratio_95"]
        self.assertTrue(0.015 < low < 0.022 < high < 0.03, (low, high))

    def test_instances_cancel_in_pairs(self):
        found = uncertainty.paired([self.seeds[0]] * 3, [self.seeds[1]] * 3, random.Random(2))
        self.assertAlmostEqual(found["factor"], 0.5)
        self.assertTrue(all(abs(x - 0.5) < 1e-9 for x in found["factor_95"]))

    def test_problems_have_the_same_weight_in_profiles(self):
        shares = uncertainty.profile([[1e-6] * 10, [10.0]])
        self.assertEqual((shares[0], shares[-1]), (0.0, 0.5))
        self.assertEqual(shares, sorted(shares))


if __name__ == "__main__":
    unittest.main()
