"""The model of an update on many cores: what has to hold whatever its constants are."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import scale  # noqa: E402
from blocks.models import shipped  # noqa: E402
from cases import PROBLEMS, SHIPPED, shipped_name  # noqa: E402

FREE = scale.Machine(cores=64, crowded=1.0, latency=0.0, bandwidth=float("inf"), touch=0.0)
TWO = scale.Machine(cores=2, crowded=1.25, latency=0.0, bandwidth=float("inf"), touch=0.0, shared=True)


class Scale(unittest.TestCase):
    def test_one_core_does_one_shard_after_the_other(self):
        self.assertAlmostEqual(scale.update_seconds([1, 2, 3], 1000, 1, 1, FREE), 6)

    def test_threads_take_the_next_shard_and_the_slowest_decides(self):
        self.assertAlmostEqual(scale.update_seconds([3, 1, 1, 1], 1000, 1, 2, FREE), 3)
        self.assertAlmostEqual(scale.update_seconds([1, 1, 1, 3], 1000, 1, 2, FREE), 4)
        self.assertAlmostEqual(scale.update_seconds([1, 1, 1, 3], 1000, 1, 32, FREE), 3)

    def test_ranks_share_the_cores_of_one_machine(self):
        # Four ranks on two cores that slow each other down by a quarter: half the time of one core and a quarter more.
        self.assertAlmostEqual(scale.update_seconds([1] * 4, 1000, 4, 1, TWO), 2.5 + scale.WAKE)
        # With three ranks one has two shards, and is alone at the end.
        self.assertAlmostEqual(scale.update_seconds([1] * 4, 1000, 3, 1, TWO), 1.5 * 1.25 + 1 + scale.WAKE)

    def test_ranks_compute_all_shards_once(self):
        for shards, ranks in [(4, 3), (3, 4), (4096, 7)]:
            self.assertEqual([s for rank in range(ranks) for s in scale.part(shards, rank, ranks)], list(range(shards)))

    def test_a_rank_receives_its_slice_of_every_shard_and_all_slices(self):
        wire = scale.Machine(cores=1, crowded=1.0, latency=0.0, bandwidth=1.0, touch=0.0)
        sent = scale.send_seconds(64, 10_000, 16, wire) - scale.WAKE
        self.assertAlmostEqual(sent, 15 / 16 * (4 * 10_000 * (64 / 16 + 1) + scale.REPORT * 64))

    def test_needs_of_an_agent_are_in_every_model_file(self):
        paths = sorted(scale.MODELS.glob("*.safetensors"))
        trained = [(problem, setting) for problem in PROBLEMS for setting in SHIPPED if shipped_name(problem, setting) and shipped(problem, setting)]
        self.assertEqual(len(paths), len(trained))
        for path in paths:
            needs = scale.needs(path)
            self.assertLess(needs["parameter_bytes"], path.stat().st_size)
            self.assertGreater(needs["flop_per_decision"], needs["parameters"])


if __name__ == "__main__":
    unittest.main()
