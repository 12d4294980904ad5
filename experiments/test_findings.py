"""The page of studies has the numbers of the result files."""
import unittest

import findings


class Findings(unittest.TestCase):
    def test_the_page_is_that_of_the_tables(self):
        written = (findings.top / "docs" / "findings.md").read_text()
        self.assertEqual(written, "\n".join(findings.page()), "docs/findings.md is older than results/studies; run python3 experiments/findings.py")

    def test_cells(self):
        row = lambda value: {"value": value}
        self.assertEqual(findings.cell([row(1e-6), row(2e-6)]), "1.5e-6")
        self.assertEqual(findings.cell([row(1.0), row(4.0), row(4.0)]), "3.0 (1.0 to 4.0)")
        self.assertEqual(findings.cell([row(0.5), row("inf")]), "∞ (0.50 to ∞)")
        self.assertEqual(findings.cell([]), "")


if __name__ == "__main__":
    unittest.main()
