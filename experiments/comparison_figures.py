"""Pictures of comparisons: ablations and performance profiles."""

import math
import statistics

from cases import SETTINGS
from drawing import BLACK, INKS, Picture, power

CASES = {"": "trained number", "half the agents": "half the agents", "four times": "four times the agents", "failures": "30 % fail"}
WORST = 10.0
"""Larger relative errors are drawn there."""
UNCHANGED = {"as shipped": ("unchanged", 0), "the paper's setting": ("unchanged", 1)}
SHARP, PAPER = INKS[:2]


def ablation_rows(study):
    """Values by ingredient, recipe (0 the sharp one, 1 the paper's) and case."""
    grid = {}
    for row in study["rows"]:
        words, _, case = row["line"].partition(", ")
        how, _, ingredient = words.partition(": ")
        ingredient = ingredient.removesuffix(" of two numbers")
        ingredient, recipe = UNCHANGED.get(words) or (ingredient + (" (added)" if how == "with" else ""), int(how == "only"))
        if how == "only" and f"{ingredient} (added)" in grid:
            ingredient += " (added)"
        grid.setdefault(ingredient, {}).setdefault((recipe, case), []).append(min(float(row["value"]), WORST))
    return grid


def draw_ablation(studies):
    """A row of panels for each problem, a panel for each case: geometric mean and range over training seeds."""
    left, width, between, step, head, foot = 210, 225, 22, 21, 66, 58
    picture, top = Picture(), head
    picture.text("What brings what", 24, 28, size=18)
    picture.dot(30, 46, SHARP, 4)
    picture.text("the sharp recipe without the ingredient (or with one that it does not have)", 40, 50, size=13)
    picture.dot(560, 46, PAPER, 4)
    picture.text("the paper's setting with the ingredient, nothing else of ours", 570, 50, size=13)
    for study in studies:
        grid = ablation_rows(study)
        high = step * len(grid)
        for column, (case, title) in enumerate(CASES.items()):
            values = [value for cells in grid.values() for key, found in cells.items() if key[1] == case for value in found]
            low, most = math.log10(min(values)) - 0.1, math.log10(max(values)) + 0.1
            x0, box = left + column * (width + between), top + 24
            x = lambda value: x0 + width * (math.log10(value) - low) / (most - low)
            picture.text(f"{study['problem']}: {title}" if column == 0 else title, x0, top + 16, size=14)
            skip = max(1, math.ceil((most - low) / 5))
            exponents = [e for e in range(math.ceil(low), math.floor(most) + 1) if e % skip == 0]
            ticks = [10.0**e for e in exponents]
            if len(ticks) < 2:
                ticks = [m * 10.0**e for e in range(-9, 2) for m in (1, 2, 5) if low <= math.log10(m * 10.0**e) <= most]
            for tick in ticks:
                picture.line(x(tick), box, x(tick), box + high, "#e4e4e4")
                picture.text(power(tick), x(tick), box + high + 15, "middle", 11)
            for i, (name, cells) in enumerate(grid.items()):
                if column == 0:
                    picture.text(name, left - 10, box + step * (i + 0.5) + 4, "end", 12)
                for recipe, ink in enumerate((SHARP, PAPER)):
                    if found := cells.get((recipe, case)):
                        y = box + step * (i + 0.3 + 0.4 * recipe)
                        middle = x(statistics.geometric_mean(found))
                        if name == "unchanged":
                            picture.line(middle, box, middle, box + high, ink, 1, stroke_dasharray="3 3")
                        picture.line(x(min(found)), y, x(max(found)), y, ink, 2)
                        picture.dot(middle, y, ink, 3.5)
            picture.add("rect", x=x0, y=box, width=width, height=high, fill="none", stroke="#999")
        picture.text("relative error", left + 2 * (width + between), top + 24 + high + 34, "middle", 13)
        top += high + foot + 14
    return picture.svg(left + len(CASES) * (width + between), top)


PROFILES = {"agents": "undisturbed", "both": "1 % noise and five ticks of delay"}


def draw_profiles(lines):
    """Share of runs with a relative error of at most τ, for settings that were tested on all problems."""
    picture = Picture()
    most = max(len(line["problems"]) for line in lines)
    for panel, (case, title) in enumerate(PROFILES.items()):
        left, top, width, high = 70 + panel * 430, 54, 390, 280
        found = [line for line in lines if line["case"] == case and len(line["problems"]) == most]
        ends = [math.log10(value) for value in (lines[0]["thresholds"][0], lines[0]["thresholds"][-1])]
        x = lambda value: left + width * (math.log10(value) - ends[0]) / (ends[1] - ends[0])
        y = lambda share: top + high * (1 - share)
        picture.text(title, left + width / 2, top - 14, "middle", 15)
        for exponent in range(math.ceil(ends[0]), math.floor(ends[1]) + 1):
            picture.line(x(10.0**exponent), top, x(10.0**exponent), top + high, "#e4e4e4")
            if exponent % 2 == 0:
                picture.text(power(10.0**exponent), x(10.0**exponent), top + high + 18, "middle", 12)
        for share in (0, 0.25, 0.5, 0.75, 1):
            picture.line(left, y(share), left + width, y(share), "#e4e4e4")
            if panel == 0:
                picture.text(f"{share:g}", left - 8, y(share) + 4, "end", 12)
        picture.add("rect", x=left, y=top, width=width, height=high, fill="none", stroke="#555")
        picture.text("relative error τ", left + width / 2, top + high + 42, "middle", 13)
        for line, ink in zip(found, INKS):
            points = [(x(at), y(share)) for at, share in zip(line["thresholds"], line["shares"])]
            picture.path(points, ink)
            if panel == 0:
                row = found.index(line)
                picture.line(left + 14, top + 20 + 20 * row, left + 40, top + 20 + 20 * row, ink, 2.4)
                picture.text(SETTINGS[line["run"]].title.replace("**", ""), left + 48, top + 24 + 20 * row, size=12)
    picture.text("share of runs", 0, 0, "middle", 13, BLACK, transform="translate(22 194) rotate(-90)")
    return picture.svg(900, 400)
