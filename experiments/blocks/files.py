"""Policies of problem files."""

from blocks import block, cell, table
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
