"""Pictures have all that is in the tables, inside of their frame."""

import pathlib
import sys
import unittest
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import figures  # noqa: E402


def gap(problem, case, policy, optimum):
    return {
        "run": f"{problem}/{case}",
        "problem": problem,
        "case": case,
        "policy_ratio": policy,
        "optimum_ratio": optimum,
    }


ROWS = [gap("heat1d", "M/2", 4e-3, 9e-5), gap("heat1d", "M", 2e-4, 1e-6), gap("ks1d", "failures", 1.4, 0.05)]


class Figures(unittest.TestCase):
    def test_gaps_are_drawn_inside_the_picture(self):
        svg = xml.fromstring(figures.draw_gaps(ROWS))
        width, height = float(svg.get("width")), float(svg.get("height"))
        shapes = [shape for shape in svg if shape.get("x") or shape.get("cx")]
        for shape in shapes:
            x, y = (float(shape.get(key) or shape.get("c" + key)) for key in "xy")
            self.assertTrue(0 <= x <= width and 0 <= y <= height, xml.tostring(shape))
        dots = [float(shape.get("cx")) for shape in shapes if shape.tag.endswith("circle")]
        self.assertEqual(len(dots), 3 + 1)  # and one in the legend
        self.assertTrue(dots[2] < dots[1] < dots[3], "a better score lies further left")
        words = [shape.text for shape in shapes if shape.tag.endswith("text")]
        for expected in (
            "heat1d",
            "ks1d",
            "half the agents",
            "trained number",
            "failures halfway",
            "uncontrolled",
            "× 44",
            "× 200",
            "× 28",
            "10⁻⁴",
        ):
            self.assertIn(expected, words)

    def test_what_cannot_be_drawn_is_refused(self):
        for rows, expected in (([], "no gap"), ([gap("heat1d", "M", 2e-4, "inf")], "positive numbers")):
            with self.assertRaisesRegex(SystemExit, expected):
                figures.draw_gaps(rows)

    def test_every_problem_of_a_prediction_is_drawn(self):
        rows = [
            {"problem": problem, "shards": 4, "network": network, "cores": 2**k, "speedup": 2**k}
            for problem in "ab"
            for network in ("InfiniBand", "Ethernet")
            for k in range(5)
        ]
        self.assertEqual(figures.draw_scale(rows).count("4 shards: 16 ×"), 2)

    def test_committed_pictures_are_those_of_the_tables(self):
        for name, text in figures.tables().items():
            path = figures.FIGURES / f"{name}.svg"
            self.assertEqual(
                path.read_text(), text, f"{path} differs from results/; run python3 experiments/figures.py tables"
            )

    def test_every_study_can_be_drawn(self):
        for name, text in figures.studies(figures.STUDIES).items():
            svg = xml.fromstring(text)
            self.assertGreater(sum(shape.tag.endswith("path") for shape in svg), 1, name)
            self.assertNotIn("nan", text, name)


if __name__ == "__main__":
    unittest.main()
