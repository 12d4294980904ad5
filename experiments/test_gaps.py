"""The picture of optimality gaps has every problem and case, and refuses what cannot be drawn."""
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree as xml

import gaps

LINES = """
{"problem": "heat1d", "case": "M/2", "policy_ratio": 4e-3, "optimum_ratio": 9e-5}
{"problem": "heat1d", "case": "M", "policy_ratio": 2e-4, "optimum_ratio": 1e-6}
{"problem": "ks1d", "case": "30 % die", "policy_ratio": 1.4, "optimum_ratio": 0.05}
"""


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "gaps.jsonl"
        path.write_text(text)
        return gaps.read(path)


class Gaps(unittest.TestCase):
    def test_all_is_drawn_inside_the_picture(self):
        svg = xml.fromstring(gaps.draw(read(LINES)))
        width, height = float(svg.get("width")), float(svg.get("height"))
        shapes = [shape for shape in svg if shape.get("x") or shape.get("cx")]
        for shape in shapes:
            x, y = (float(shape.get(key) or shape.get("c" + key)) for key in "xy")
            self.assertTrue(0 <= x <= width and 0 <= y <= height, xml.tostring(shape))
        dots = [shape for shape in shapes if shape.tag.endswith("circle")]
        self.assertEqual(len(dots), 3 + 1)  # and one in the legend
        words = [shape.text for shape in shapes if shape.tag.endswith("text")]
        for expected in ("heat1d", "ks1d", "M/2", "M", "30 % die", "uncontrolled", "× 44", "× 200", "× 28", "10⁻⁴"):
            self.assertIn(expected, words)

    def test_a_better_ratio_lies_further_left(self):
        svg = xml.fromstring(gaps.draw(read(LINES)))
        dots = [float(shape.get("cx")) for shape in svg if shape.tag.endswith("circle")][1:]
        self.assertTrue(dots[1] < dots[0] < dots[2], dots)

    def test_what_cannot_be_drawn_is_refused(self):
        for text, expected in (("", "no line"), (LINES.replace("M/2", "3M"), "line 2"), (LINES.replace("1e-6", '"inf"'), "positive numbers")):
            with self.assertRaisesRegex(SystemExit, expected):
                read(text)


if __name__ == "__main__":
    unittest.main()
