"""The picture of how time and memory of a tick grow with the size: python3 experiments/growth.py results/scale/growth.jsonl docs/large_fields.svg"""
import json
import math
import statistics
import sys

PANEL, LEFT, TOP, APART = (380, 260), 70, 56, 110
COLOURS = {"heat2d": "#1f6fb4", "ks2d": "#c4512d"}


def items(row):
    """Agents and nodes."""
    return row["agents"] + row["grid"][0] * row["grid"][1]


def curves(rows, value):
    """For each problem: sizes with the value of every round."""
    found = {}
    for row in rows:
        found.setdefault(row["problem"], {}).setdefault(items(row), []).append(value(row))
    return found


def panel(x0, title, axis, found, top):
    """Sizes on a logarithmic axis, values from 0 to `top`."""
    width, height = PANEL
    low, high = 3.4, 6.8
    place = lambda size, y: (x0 + width * (math.log10(size) - low) / (high - low), TOP + height * (1 - y / top))
    out = [f'<text x="{x0}" y="{TOP - 14}" font-size="16" font-weight="bold">{title}</text>']
    for i in range(6):
        y = top * i / 5
        _, at = place(1e4, y)
        out.append(f'<path d="M{x0} {at:.1f}h{width}" stroke="#ddd"/><text x="{x0 - 8}" y="{at + 5:.1f}" text-anchor="end">{y:g}</text>')
    for power in (4, 5, 6):
        at, _ = place(10**power, 0)
        out.append(f'<path d="M{at:.1f} {TOP}v{height}" stroke="#ddd"/><text x="{at:.1f}" y="{TOP + height + 20}" text-anchor="middle">10<tspan dy="-6" font-size="10">{power}</tspan></text>')
    out.append(f'<rect x="{x0}" y="{TOP}" width="{width}" height="{height}" fill="none" stroke="#555"/>')
    out.append(f'<text x="{x0 + width / 2}" y="{TOP + height + 44}" text-anchor="middle">agents + nodes</text>')
    out.append(f'<text transform="translate({x0 - 48} {TOP + height / 2}) rotate(-90)" text-anchor="middle">{axis}</text>')
    for n, (problem, sizes) in enumerate(found.items()):
        colour = COLOURS[problem]
        middle = [place(size, statistics.median(values)) for size, values in sizes.items()]
        out.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in middle)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for size, values in sizes.items():
            out.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in (place(size, value) for value in values))
        out.append(f'<text x="{x0 + 14}" y="{TOP + height - 34 + 20 * n}" fill="{colour}">{problem}</text>')
    return out


def main(source, target):
    rows = [json.loads(line) for line in open(source)]
    out = panel(LEFT, "time of a tick", "nanoseconds per agent and node", curves(rows, lambda row: row["ms_median"] * 1e6 / items(row)), 500)
    out += panel(LEFT + PANEL[0] + APART, "memory", "bytes per agent and node", curves(rows, lambda row: row["bytes_environment"] / items(row)), 300)
    width, height = LEFT + 2 * PANEL[0] + APART + 30, TOP + PANEL[1] + 60
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="14">'
    open(target, "w").write("\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *out, "</svg>"]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
