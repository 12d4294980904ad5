"""The problems' pages have the scores of the result files."""
import unittest

import pages


class Pages(unittest.TestCase):
    def test_tables_are_those_of_the_results(self):
        for problem in pages.PUBLISHED:
            written = (pages.pages / f"{problem}.md").read_text()
            self.assertEqual(written, pages.page(problem), f"docs/problems/{problem}.md is older than results/{problem}; run python3 experiments/pages.py")


if __name__ == "__main__":
    unittest.main()
