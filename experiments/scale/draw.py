#!/usr/bin/env python3
"""The prediction as a picture: docs/scale.svg from results/scale/predicted.jsonl."""
import json
import math
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "experiments"))
from gaps import BLACK, GREY, Picture  # noqa: E402

INKS = ["#0072b2", "#d55e00", "#009e73"]
LEFT, WIDTH, BETWEEN, HEAD, HEIGHT, FOOT = 70, 290, 40, 92, 300, 64


def draw(rows):
    """A panel for each problem: how many times faster than one core, with a line for each batch; full for InfiniBand, dashed for Ethernet."""
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    most = math.log2(max(row["cores"] for row in rows))
    picture = Picture()
    picture.text("How many times faster than on one core an update is predicted to be", 24, 32, size=20)
    y = lambda speedup: HEAD + HEIGHT * (1 - math.log2(max(speedup, 1)) / most)
    for panel, problem in enumerate(problems):
        left = LEFT + panel * (WIDTH + BETWEEN)
        x = lambda cores: left + WIDTH * math.log2(cores) / most
        picture.text(problem, left + WIDTH / 2, HEAD - 14, "middle", 17)
        for power in range(0, int(most) + 1, 2):
            at = 2**power
            picture.line(x(at), HEAD, x(at), HEAD + HEIGHT, "#e4e4e4")
            picture.line(left, y(at), left + WIDTH, y(at), "#e4e4e4")
            picture.text(str(at), x(at), HEAD + HEIGHT + 20, "middle", 13)
            if panel == 0:
                picture.text(str(at), left - 8, y(at) + 5, "end", 13)
        picture.line(x(1), y(1), x(2**most), y(2**most), GREY, 1, stroke_dasharray="2 4")
        mine = [row for row in rows if row["problem"] == problem]
        for ink, shards in zip(INKS, sorted({row["shards"] for row in mine})):
            for network, dashes in (("InfiniBand", "none"), ("Ethernet", "6 5")):
                line = [(x(row["cores"]), y(row["speedup"])) for row in mine if row["shards"] == shards and row["network"] == network]
                for (x1, y1), (x2, y2) in zip(line, line[1:]):
                    picture.line(x1, y1, x2, y2, ink, 2.4, stroke_dasharray=dashes)
            top = max(row["speedup"] for row in mine if row["shards"] == shards and row["network"] == "InfiniBand")
            words = f"{shards} shards: {top:.0f} ×" if top > 9.95 else f"{shards} shards: {top:.1f} ×"
            # Where no line is: on the left of the steepest, below the middle one, above the lowest.
            steep = top > 2 ** (most - 2)
            picture.text(words, left + WIDTH * (0.76 if steep else 1) - 4, y(top) + (5 if steep else 34 if top > 16 else -8), "end", 13, ink)
    whole = LEFT + len(problems) * (WIDTH + BETWEEN)
    picture.text("cores (one rank for every 32)", LEFT + (whole - LEFT - BETWEEN) / 2, HEAD + HEIGHT + 46, "middle")
    under = HEAD + HEIGHT + 41
    picture.line(whole - 360, under, whole - 330, under, BLACK, 2.4)
    picture.text("InfiniBand", whole - 322, under + 5, size=13)
    picture.line(whole - 230, under, whole - 200, under, BLACK, 2.4, stroke_dasharray="6 5")
    picture.text("10 Gb/s Ethernet", whole - 192, under + 5, size=13)
    return picture.svg(whole, HEAD + HEIGHT + FOOT)


if __name__ == "__main__":
    lines = (TOP / "results/scale/predicted.jsonl").read_text().splitlines()
    (TOP / "docs/scale.svg").write_text(draw([json.loads(line) for line in lines]))
