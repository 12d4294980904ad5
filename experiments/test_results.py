"""The page of all methods and README's table have the scores of the result files."""
import unittest

import results


class Results(unittest.TestCase):
    def test_the_page_is_that_of_the_results(self):
        text, _ = results.page()
        written = (results.top / "docs" / "results.md").read_text()
        self.assertEqual(written, "\n".join(text), "docs/results.md is older than results/; run python3 experiments/results.py")

    def test_the_readme_has_the_essence(self):
        readme = (results.top / "README.md").read_text()
        self.assertIn("\n".join(results.essence()), readme, "README.md is older than results/; run python3 experiments/results.py")


if __name__ == "__main__":
    unittest.main()
