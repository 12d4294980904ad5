"""The tables of updates against JAX are those of the result files."""
import unittest

import speed


class Speed(unittest.TestCase):
    def test_the_pages_have_the_measured_times(self):
        for page, lines in (("docs/speed.md", speed.whole("paper")), ("docs/speed.md", speed.whole("tuned")), ("docs/speed.md", speed.training()), ("README.md", speed.essence())):
            self.assertIn("\n".join(lines), (speed.top / page).read_text(), f"{page} is older than results/speed/; run python3 experiments/speed.py")


if __name__ == "__main__":
    unittest.main()
