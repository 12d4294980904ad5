"""Shapes, inks and axes of SVG pictures."""

import math
from xml.sax.saxutils import escape

POLICY, OPTIMUM, GREY, BLACK = "#0072b2", "#d55e00", "#919191", "#191919"
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#111111", "#8c564b", "#7f7f7f")
DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Picture:
    """Shapes of an SVG."""

    def __init__(self):
        self.shapes = []

    def add(self, name, **attributes):
        """A shape."""
        self.shapes.append(
            f"<{name} " + " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in attributes.items()) + "/>"
        )

    def line(self, x1, y1, x2, y2, ink, width=1.0, **more):
        """A straight line."""
        self.add(
            "line",
            x1=f"{x1:.1f}",
            y1=f"{y1:.1f}",
            x2=f"{x2:.1f}",
            y2=f"{y2:.1f}",
            stroke=ink,
            stroke_width=width,
            **more,
        )

    def path(self, points, ink, width=2.0, **more):
        """A line through points."""
        self.add(
            "path",
            d="M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points),
            fill="none",
            stroke=ink,
            stroke_width=width,
            **more,
        )

    def area(self, points, ink):
        """A pale area."""
        self.add(
            "path",
            d="M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z",
            fill=ink,
            fill_opacity=0.15,
            stroke="none",
        )

    def dot(self, x, y, ink=POLICY, r=6, **more):
        """A dot."""
        self.add("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=r, fill=ink, **more)

    def bar(self, x, y):
        """An upright bar."""
        self.add("rect", x=f"{x - 2.5:.1f}", y=f"{y - 8:.1f}", width=5, height=16, fill=OPTIMUM)

    def text(self, words, x, y, anchor="start", size=15, ink=BLACK, **more):
        """Words."""
        rest = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
        self.shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{ink}"{rest}>{escape(words)}</text>'
        )

    def svg(self, width, height):
        """The file."""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">'
        return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *self.shapes, "</svg>", ""])


def power(value):
    """A number for an axis."""
    exponent = round(math.log10(value))
    return f"{value:g}" if 0.01 <= value < 1e4 else "10" + str(exponent).translate(DIGITS)


class Axes:
    """A panel with logarithmic or linear axes."""

    def __init__(self, picture, left, top, width, height, x, y, log_x, log_y):
        self.picture, self.box, self.log_x, self.log_y = picture, (left, top, width, height), log_x, log_y
        self.x, self.y = (self.range(values, log) for values, log in ((x, log_x), (y, log_y)))

    @staticmethod
    def range(values, log):
        """Ends of an axis, a little beyond the values."""
        values = [math.log10(v) for v in values] if log else list(values)
        low, high = min(values), max(values)
        gap = 0.04 * (high - low) or 0.5
        return low - gap, high + gap

    def at(self, x, y):
        """A point in the picture."""
        left, top, width, height = self.box
        u, v = (math.log10(x) if self.log_x else x), (math.log10(y) if self.log_y else y)
        return left + width * (u - self.x[0]) / (self.x[1] - self.x[0]), top + height * (
            1 - (v - self.y[0]) / (self.y[1] - self.y[0])
        )

    def ticks(self, ends, log):
        """Values with a line."""
        low, high = ends
        if not log:
            step = 10 ** math.floor(math.log10((high - low) / 4))
            step *= next(m for m in (1, 2, 5, 10) if (high - low) / (m * step) <= 6)
            return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
        skip = max(1, math.ceil((high - low) / 7))
        found = [10.0**i for i in range(math.ceil(low), math.floor(high) + 1) if i % skip == 0]
        return (
            found
            if len(found) > 1
            else sorted(
                m * 10.0**i
                for i in range(math.floor(low), math.ceil(high) + 1)
                for m in (1, 2, 5)
                if low <= math.log10(m * 10.0**i) <= high
            )
        )

    def frame(self, title_x, title_y):
        """Grid, numbers and titles."""
        left, top, width, height = self.box
        for value in self.ticks(self.x, self.log_x):
            x = left + width * ((math.log10(value) if self.log_x else value) - self.x[0]) / (self.x[1] - self.x[0])
            self.picture.line(x, top, x, top + height, "#e4e4e4")
            self.picture.text(power(value) if self.log_x else f"{value:g}", x, top + height + 18, "middle", 12)
        for value in self.ticks(self.y, self.log_y):
            y = top + height * (
                1 - ((math.log10(value) if self.log_y else value) - self.y[0]) / (self.y[1] - self.y[0])
            )
            self.picture.line(left, y, left + width, y, "#e4e4e4")
            self.picture.text(power(value) if self.log_y else f"{value:g}", left - 8, y + 4, "end", 12)
        self.picture.add("rect", x=left, y=top, width=width, height=height, fill="none", stroke="#555")
        self.picture.text(title_x, left + width / 2, top + height + 40, "middle", 13)
        if title_y:
            self.picture.text(
                title_y, 0, 0, "middle", 13, transform=f"translate({left - 52} {top + height / 2}) rotate(-90)"
            )
