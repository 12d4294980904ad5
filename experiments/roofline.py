"""Where the time of an update goes, as a picture: docs/roofline.svg from results/speed/operations.jsonl (experiments/operations).

Above, a bar for each problem: the least time that the products of its layers could take on this machine, what they take beyond it, and the rest by kind. Below, the
rates of layers against the arithmetic that they do for each byte they touch, under the roofs of the processor.
"""
import json
import math
import pathlib

top = pathlib.Path(__file__).resolve().parent.parent
KINDS = {
    "layers, at the peak": "#1f6fb4", "layers, beyond it": "#8fbbe0", "equation": "#4a9a4a", "view": "#c4902d", "push": "#c4512d", "other operations": "#9a7fb0", "between operations": "#cccccc",
}
OF = {"theta step": "equation", "alternating directions": "equation", "spectral step": "equation", "transport": "equation", "diffuse": "equation", "displacement": "equation", "observe": "view", "force": "push", "flow": "push", "bumps": "push"}
# Bytes per second of one core, measured by reading arrays of 1 MB and 128 MB (docs/speed.md).
ROOFS = {"nearer caches, 25 GB/s": 25e9, "memory, 14 GB/s": 14e9}
WIDTH, LEFT, ROW, PLOT = 620, 190, 24, (620, 300)


def shares(run):
    """Milliseconds of each kind, per thread."""
    found = dict.fromkeys(KINDS, 0.0)
    for operation in run["operations"]:
        ms = operation["forward"]["ms"] + operation["backward"]["ms"]
        flops = operation["forward"]["flops"] + operation["backward"]["flops"]
        if flops:
            least = min(ms, 1e3 * flops * run["threads"] / run["peak_flops"])
            found["layers, at the peak"] += least
            found["layers, beyond it"] += ms - least
        else:
            found[OF.get(operation["name"], "other operations")] += ms
    found["between operations"] = max(0.0, run["ms_per_update"] - sum(found.values()))
    return found


def time(ms):
    """Short enough to stand beside a bar."""
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.0f} ms"


def bars(runs):
    """A bar for each run."""
    out, x = [], LEFT
    for i, (kind, colour) in enumerate(KINDS.items()):
        x, y = LEFT + 210 * (i % 3), 44 + 20 * (i // 3)
        out.append(f'<rect x="{x}" y="{y - 11}" width="12" height="12" fill="{colour}"/><text x="{x + 18}" y="{y}">{kind}</text>')
    y = 120
    for run in runs:
        found = shares(run)
        whole, x = sum(found.values()), LEFT
        out.append(f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">{run["problem"]}, {run["preset"]}</text>')
        for kind, ms in found.items():
            width = WIDTH * ms / whole
            out.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 6}" fill="{KINDS[kind]}"/>')
            x += width
        out.append(f'<text x="{LEFT + WIDTH + 8}" y="{y + 15}">{time(run["ms_per_update"])}</text>')
        y += ROW
    return out, y


def roofline(runs, y0):
    """Rates against flops per byte, both logarithmic."""
    width, height = PLOT
    low, high, floor, ceiling = -0.5, 2.5, 0.7, 2.4
    at = lambda x, y: (LEFT + width * (math.log10(x) - low) / (high - low), y0 + height * (1 - (math.log10(y) - floor) / (ceiling - floor)))
    out = [f'<rect x="{LEFT}" y="{y0}" width="{width}" height="{height}" fill="none" stroke="#555"/>']
    for x in (1, 3, 10, 30, 100, 300):
        px, _ = at(x, 10)
        out.append(f'<path d="M{px:.1f} {y0}v{height}" stroke="#eee"/><text x="{px:.1f}" y="{y0 + height + 18}" text-anchor="middle">{x}</text>')
    for y in (10, 30, 100):
        _, py = at(1, y)
        out.append(f'<path d="M{LEFT} {py:.1f}h{width}" stroke="#eee"/><text x="{LEFT - 8}" y="{py + 5:.1f}" text-anchor="end">{y}</text>')
    peak = runs[0]["peak_flops"] / runs[0]["threads"] / 1e9
    for name, bandwidth in ROOFS.items():
        points = [at(x, y) for x in (10 ** (low + 0.02 * i) for i in range(151)) if 10**floor <= (y := min(peak, x * bandwidth / 1e9)) <= 10**ceiling]
        out.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="none" stroke="#555" stroke-dasharray="{"5 4" if "memory" in name else "none"}"/>')
        out.append(f'<text x="{points[0][0] + 6:.1f}" y="{points[0][1] - 6:.1f}" font-size="11">{name}</text>')
    named, names = [], []
    for run in runs:
        for operation in run["operations"]:
            for direction, fill in (("forward", "white"), ("backward", None)):
                part = operation[direction]
                if part["flops"] and part["ms"] > 0.03 * run["ms_per_update"]:
                    x, y = part["flops"] / part["bytes"], part["flops"] / part["ms"] / 1e6
                    px, py = at(min(max(x, 10**low), 10**high), min(max(y, 10**floor), 10**ceiling))
                    colour = "#1f6fb4" if run["preset"] == "paper" else "#c4512d"
                    out.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="5" fill="{fill or colour}" stroke="{colour}" stroke-width="1.5"><title>{run["problem"]}, {run["preset"]}: {operation["name"]}, {direction}</title></circle>')
                    # Names where they have room; all dots have theirs as a title.
                    if direction == "backward" and all(abs(px - x) > 75 or abs(py - y) > 11 for x, y in named):
                        named.append((px, py))
                        side = f'x="{px - 8:.1f}" text-anchor="end"' if px > LEFT + width - 80 else f'x="{px + 8:.1f}"'
                        names.append(f'<text {side} y="{py + 4:.1f}" font-size="10">{run["problem"]}</text>')
    out += names
    out.append(f'<text x="{LEFT + width / 2}" y="{y0 + height + 40}" text-anchor="middle">arithmetic per byte touched (flop/B)</text>')
    out.append(f'<text transform="translate({LEFT - 50} {y0 + height / 2}) rotate(-90)" text-anchor="middle">GFLOP/s of one core</text>')
    out.append(f'<text x="{LEFT}" y="{y0 + height + 62}" font-size="12">○ forward  ● backward; blue: the paper\'s policy, red: ours; layers that take 3 % of an update or more</text>')
    return out


def main():
    """Draws both."""
    runs = [json.loads(line) for line in (top / "results/speed/operations.jsonl").read_text().splitlines()]
    above, y = bars(runs)
    below = roofline(runs, y + 40)
    size = (LEFT + WIDTH + 90, y + 40 + PLOT[1] + 80)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif" font-size="13">'
    title = f'<text x="{LEFT}" y="22" font-size="16" font-weight="bold">Where the time of an update goes</text>'
    (top / "docs/roofline.svg").write_text("\n".join([head, '<rect width="100%" height="100%" fill="white"/>', title, *above, *below, "</svg>", ""]))


if __name__ == "__main__":
    main()
