"""Policies of problem files, and their equations against py-pde."""

from blocks import block, cell, number, table
from tables import read


@block("files")
def files():
    """Scores of the examples, beside a proportional law."""
    out = [
        [
            f"[{row['run']}](../../examples/problems/{row['run']}.toml)",
            row["agents"],
            row["updates"],
            row["seconds"],
            cell(row["uncontrolled"]),
            cell(row["law_ratio"]),
            cell(row["ratio"]),
        ]
        for row in sorted(read("files"), key=lambda row: row["run"])
    ]
    return table(["file", "agents", "updates", "seconds of a core", "uncontrolled score", "proportional law", "policy"], out)


@block("py-pde")
def py_pde():
    """Equations as text against py-pde: differences of fields and CPU times at equal accuracy."""
    out = []
    for row in read("speed", kind="py-pde"):
        seconds = row.get("seconds", {})
        ours = seconds.get("ours")
        others = {solver: seconds[solver] for solver in row["settings"] if solver in seconds}
        best = min(others, key=lambda solver: others[solver]["min"], default=None)
        ratio = f"{ours['min'] / others[best]['min']:.2g} ({ours['median'] / others[best]['median']:.2g})" if best else ""
        out.append(
            [
                row["equation"],
                " × ".join(map(str, row["cells"])),
                number(row["difference"]),
                row["steps"],
                milliseconds(ours),
                *(milliseconds(fastest(others, implicit)) for implicit in (False, True)),
                best or "",
                ratio,
            ]
        )
    head = ["equation", "cells", "difference", "our steps", "ours, ms", "py-pde, explicit", "implicit", "its fastest", "ours over its fastest"]
    return table(head, out)


def fastest(others, implicit):
    """The fastest explicit solver of py-pde, or the fastest implicit method of SciPy."""
    found = [times for solver, times in others.items() if (solver in ("BDF", "Radau", "LSODA")) == implicit]
    return min(found, key=lambda times: times["min"], default=None)


def milliseconds(times):
    """Best of the rounds, and the median in brackets."""
    return f"{1e3 * times['min']:.3g} ({1e3 * times['median']:.3g})" if times else ""
