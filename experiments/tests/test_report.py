"""The pages have the numbers of the tables, and the tables those that were published."""

import itertools
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import report  # noqa: E402
from blocks import analysis, number, scores, studies  # noqa: E402
from cases import PROBLEMS, SEEDS, STUDIES_TRAINED, STUDIES_USED  # noqa: E402
from tables import RESULTS, jsonl, read  # noqa: E402

# README of commit 2c5f739: ours, the interval over seeds, the paper's, DPC, half the agents, four times, failures.
PUBLISHED = {
    "heat1d": ("1.9e-7", "1.3e-7 … 3.0e-7", "7.4e-4", "1.7e-4", "1.5e-5", "1.5e-7", "1.2e-6"),
    "fkpp1d": ("8.3e-7", "3.8e-7 … 1.7e-6", "4.5e-4", "4.8e-4", "1.6e-5", "1.5e-6", "2.6e-6"),
    "heat2d": ("1.6e-5", "1.2e-5 … 2.1e-5", "8.5e-4", "9.3e-4", "3.2e-4", "3.2e-6", "1.0e-4"),
    "heat2d_obstacles": ("2.4e-5", "1.9e-5 … 2.9e-5", "6.8e-4", "1.4e-3", "5.4e-4", "4.3e-6", "1.8e-4"),
    "ks1d": ("0.086", "0.078 … 0.096", "0.090", "0.098", "0.61", "0.069", "0.086"),
    "ks2d": ("6.8e-3", "5.8e-3 … 7.9e-3", "0.027", "0.43", "0.50", "1.1e-4", "8.3e-3"),
    "turbulence2d": ("7.6e-3", "6.7e-3 … 8.7e-3", "0.064", "0.024", "0.044", "1.6e-3", "9.4e-3"),
    "density2d": ("9.3e-3", "6.2e-3 … 0.014", "0.074", "0.094", "0.30", "0.012", "0.075"),
}


def cells(line):
    """Cells of a line of a table."""
    return [cell.strip() for cell in line.strip("|").split("|")]


class Pages(unittest.TestCase):
    def test_every_block_is_that_of_the_tables(self):
        for path in report.pages():
            text = path.read_text()
            new, _ = report.filled(text, path)
            self.assertEqual(text, new, f"{path} differs from results/; run python3 experiments/report.py")

    def test_every_block_can_be_written(self):
        for name in report.BLOCKS:
            lines = report.lines(name)
            tables = [list(of) for row, of in itertools.groupby(lines, lambda line: line.startswith("|")) if row]
            self.assertTrue(tables, name)
            for table in tables:
                widths = {line.count("|") - line.count("\\|") for line in table}
                self.assertEqual(len(widths), 1, f"{name}: rows of unlike length")

    def test_a_mark_without_its_partner_is_refused(self):
        begin, end = "<!-- results: written by experiments/report.py -->\n", "<!-- end of results -->\n"
        for text in (
            begin,
            end,
            begin + "<!-- end of speed -->\n",
            begin.replace("results", "nothing") + end.replace("results", "nothing"),
        ):
            with self.assertRaises(SystemExit):
                report.filled(text, "a page")
        self.assertEqual(report.filled("no block\n", "a page"), ("no block\n", []))

    def test_cells_of_studies(self):
        row = lambda value: {"value": value}
        self.assertEqual(studies.cell([row(1e-6), row(2e-6)]), "1.5e-6")
        self.assertEqual(studies.cell([row(1.0), row(4.0), row(4.0)]), "3.0 (1.0 to 4.0)")
        self.assertEqual(studies.cell([row(0.5), row("inf")]), "∞ (0.50 to ∞)")
        self.assertEqual(studies.cell([]), "")


class Numbers(unittest.TestCase):
    def test_tables_have_the_published_numbers(self):
        """The sharp policies, the paper and DPC."""
        for line in report.lines("results")[2 : 2 + len(PROBLEMS)]:
            found = cells(line)
            problem = found[0].strip("`¹²")
            row = lambda name, word: next(cells(line) for line in report.lines(f"{name} {problem}") if word in line)
            _, half, _, _, four, failures, *_ = row("swarms", "relative error")
            scores = row("scores", "sharp")
            self.assertEqual((found[7].split(";")[0], scores[3], found[8], found[9], half, four, failures), PUBLISHED[problem], problem)

    def test_other_published_numbers(self):
        """Single cells of every kind of table, as they were at commit 2c5f739."""
        expected = {
            "methods": (
                "| NMPC (20 ticks ahead) |  | 50 | 0.12 |  | 0.085 | 0.076 … 0.094 |  |  | 2900 |",
                "| DPC (centralised) | 3 | 200 | 8.2e-5 | 7.9e-5 | 1.7e-4 | 1.3e-4 … 2.2e-4 | 35 |",
            ),
            "study cardinality": ("| `heat1d` |  | 7.3e-3 | 1.6e-5 | 4.5e-7 |",),
            "study stability": ("The sign agrees on 78 of 78 swarms", "on 67."),
            "stability": ("32 swarms, 28 of them analysed: 19 stable, 9 unstable.",),
            "speed": ("| `heat1d` | 300 | 55.8 ms | 280 ms | **5.0** (5.0) | 4.4 | 3.2 (3.8) |",),
            "scale-check": ("| `heat2d` | 16 | 2 × 1 | 0.0799 | 0.0712 | −10.9 % |",),
            "agents": ("| `turbulence2d-sharp` | 41353 | 165 kB | 3.0 kB | 300 | 24 | 8 | 82 thousand |",),
            "environments": ("+9 % (−1 %) | 3.1 (4.3) | 695 (752) |",),
            "large-scores": ("| 1024 | 16 | 8.7e-4 | 1.2e-4 | 3.4 | 2.6e-4 |",),
            "durations": ("12.3 hours in all",),
        }
        for name, parts in expected.items():
            text = "\n".join(report.lines(name))
            for part in parts:
                self.assertIn(part, text, name)

    def test_an_optimum_with_failures_bounds_the_one_without(self):
        found = analysis.gaps()
        self.assertEqual({line["problem"] for line in found}, set(PROBLEMS))
        value = {(line["problem"], line["case"]): line["optimum_ratio"] for line in found}
        for problem in PROBLEMS:
            self.assertLessEqual(value[problem, "M"], value[problem, "failures"], problem)
        for line in found:
            self.assertLessEqual(line["optimum_ratio"], line["policy_ratio"], line["run"])

    def test_numbers(self):
        for value, text in (
            (1.94e-7, "1.9e-7"),
            (0.0995, "0.10"),
            (0.0099, "9.9e-3"),
            (12.4, "12"),
            (30210, "3.0e4"),
            (7.0, "7.0"),
        ):
            self.assertEqual(number(value), text)


class Tables(unittest.TestCase):
    def test_every_line_names_its_run_and_commit(self):
        for path in sorted(RESULTS.rglob("*.jsonl")):
            for line in jsonl(path):
                self.assertTrue(line.get("run") and line.get("commit"), f"{path}: {str(line)[:80]}")

    def test_the_folder_stays_small(self):
        files = [path for path in RESULTS.rglob("*") if path.is_file()]
        self.assertLess(len(files), 80)
        self.assertLess(sum(path.stat().st_size for path in files), 8_000_000)

    def test_all_recipes_were_tested_with_three_seeds_on_the_published_instances(self):
        for problem, about in PROBLEMS.items():
            own = scores.ours(problem, "tuned")
            self.assertEqual(len(own.seeds), len(SEEDS))
            for lines in own.seeds:
                self.assertEqual({line["seed"] for line in lines}, {5000})
                self.assertEqual(
                    {line["agents"] for line in lines if line["case"] == "agents"},
                    {about.agents // 2, about.agents, 2 * about.agents, 4 * about.agents},
                )

    def test_studies_are_complete(self):
        for study in (*STUDIES_USED, *STUDIES_TRAINED):
            self.assertTrue(read(f"studies/{study}"), study)


if __name__ == "__main__":
    unittest.main()
