"""The optimality gap of every problem as a picture: docs/gaps.svg from results/optimum/gaps.jsonl.

    experiments/gaps.py [FILE.jsonl [FILE.svg]]

Each line of the file has `problem`, `case`, `policy_ratio` and `optimum_ratio`: mean scores over the mean score without control of the same instances.
A row of the picture is a problem, with its four cases one below the other: a dot for the policy, a bar for the best actions that were found, and between
them what the policy leaves.
"""
import json
import math
import pathlib
import sys
from xml.sax.saxutils import escape

TOP = pathlib.Path(__file__).resolve().parent.parent
CASES = ["M/2", "M", "2M", "30 % die"]
POLICY, OPTIMUM, GREY, BLACK = "#0072b2", "#d55e00", "#919191", "#191919"
LEFT, WIDTH, RIGHT, HEAD, FOOT = 290, 640, 130, 84, 62
STEP, BETWEEN = 24, 18
DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def read(path):
    """The lines of the file as {problem: {case: (policy, optimum)}}, in their order; a later line replaces an earlier one."""
    problems = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip():
            continue
        row = json.loads(line)
        case, ratios = row["case"], (row["policy_ratio"], row["optimum_ratio"])
        if case not in CASES:
            raise SystemExit(f"{path}, line {number}: the case {case!r} is none of {', '.join(CASES)}")
        if not all(isinstance(r, (int, float)) and r > 0 for r in ratios):
            raise SystemExit(f"{path}, line {number}: ratios must be positive numbers, not {ratios}")
        problems.setdefault(row["problem"], {})[case] = ratios
    if not problems:
        raise SystemExit(f"{path} has no line to draw")
    return problems


def factor(gap):
    """How many times the optimum, as one writes it."""
    return f"× {gap:.2f}" if gap < 9.95 else f"× {gap:.0f}" if gap < 9999.5 else f"× {gap:.0e}".replace("e+0", "e").replace("e+", "e")


class Picture:
    """Shapes of an SVG."""

    def __init__(self):
        self.shapes = []

    def add(self, name, **attributes):
        self.shapes.append(f"<{name} " + " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in attributes.items()) + "/>")

    def line(self, x1, y1, x2, y2, ink, width=1.0, **more):
        self.add("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", stroke=ink, stroke_width=width, **more)

    def dot(self, x, y):
        self.add("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=6, fill=POLICY)

    def bar(self, x, y):
        self.add("rect", x=f"{x - 2.5:.1f}", y=f"{y - 8:.1f}", width=5, height=16, fill=OPTIMUM)

    def text(self, words, x, y, anchor="start", size=15, ink=BLACK):
        self.shapes.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{ink}">{escape(words)}</text>')

    def svg(self, width, height):
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">'
        return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *self.shapes, "</svg>", ""])


def draw(problems):
    """The picture as text."""
    ratios = [r for cases in problems.values() for pair in cases.values() for r in pair]
    low, high = math.floor(math.log10(min(ratios)) - 0.1), max(0.0, math.log10(max(ratios))) + 0.15
    place = lambda ratio: LEFT + WIDTH * (math.log10(ratio) - low) / (high - low)
    height = HEAD + sum(STEP * len(cases) + BETWEEN for cases in problems.values()) + FOOT
    bottom, picture = height - FOOT, Picture()
    picture.text("How near policies come to the best actions there are", 24, 32, size=20)
    for x, words, sign in ((LEFT, "policy", picture.dot), (LEFT + 110, "optimum found", picture.bar)):
        sign(x + 6, HEAD - 24)
        picture.text(words, x + 20, HEAD - 19)
    skip = max(1, math.ceil((high - low) / 7))
    for power in range(low, math.floor(high) + 1):
        picture.line(place(10**power), HEAD, place(10**power), bottom, "#e4e4e4" if power else GREY, 1 if power else 1.6)
        if power % skip == 0:
            picture.text("10" + str(power).translate(DIGITS), place(10**power), bottom + 20, "middle")
    picture.line(LEFT + 282, HEAD - 32, LEFT + 282, HEAD - 16, GREY, 1.6)
    picture.text("uncontrolled", LEFT + 296, HEAD - 19)
    picture.text("mean score over mean score without control", LEFT + WIDTH / 2, bottom + 46, "middle")
    picture.text("policy / optimum", LEFT + WIDTH + 12, HEAD - 19)
    y = HEAD
    for problem, cases in problems.items():
        picture.line(24, y, LEFT + WIDTH, y, "#c8c8c8")
        picture.text(problem, 24, y + BETWEEN / 2 + STEP / 2 + 5, size=17)
        y += BETWEEN / 2 + STEP / 2
        for case in (case for case in CASES if case in cases):
            policy, optimum = cases[case]
            picture.text(case, LEFT - 14, y + 5, "end")
            picture.line(place(optimum), y, place(policy), y, "#8fb8d4", 3)
            picture.bar(place(optimum), y)
            picture.dot(place(policy), y)
            picture.text(factor(policy / optimum), LEFT + WIDTH + 12, y + 5)
            y += STEP
        y += BETWEEN / 2 - STEP / 2
    picture.line(24, bottom, LEFT + WIDTH, bottom, "#c8c8c8")
    return picture.svg(LEFT + WIDTH + RIGHT + 24, height)


if __name__ == "__main__":
    given = [pathlib.Path(name) for name in sys.argv[1:]]
    source, out = (given + [TOP / "results/optimum/gaps.jsonl", TOP / "docs/gaps.svg"][len(given):])[:2]
    out.write_text(draw(read(source)))
    print(f"Drew {out}")
