#!/usr/bin/env python3
"""Writes the tables of all pages from results/: python3 experiments/report.py [--check] [--list] [--print NAME] [PAGE…]

A page holds blocks: the lines between <!-- NAME: written by experiments/report.py --> and <!-- end of NAME -->.
--check changes nothing and fails where a block differs from the tables. --list prints the names of all blocks and
--print one of them: some tables are too long for the pages.
"""

import argparse
import pathlib
import re
import sys

from blocks import BLOCKS, analysis, comparison, files, models, performance, scores, studies  # noqa: F401
from cases import ROOT

BLOCK = re.compile(
    r"^(<!-- ([^\n:]+): written by experiments/report\.py -->)\n(.*?)^(<!-- end of \2 -->)$", re.M | re.S
)
BEGIN = re.compile(r"^<!-- [^\n:]+: written by ([^\n]+) -->", re.M)
END = re.compile(r"^<!-- end of [^\n]+ -->", re.M)
FOLDERS = ("docs", "crates/cinoc/models")
SINGLE = ("README.md", "results/README.md", "baselines/README.md", "peers/README.md")


def pages():
    """Pages that may hold blocks."""
    return [
        path
        for path in (
            *(ROOT / name for name in SINGLE),
            *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.md"))),
        )
        if path.exists()
    ]


def lines(name):
    """The lines of a block."""
    function, arguments = BLOCKS[name]
    return [str(line).rstrip() for line in function(*arguments)]


def filled(text, where):
    """A page's text with all of its blocks as they should be, and their names."""
    names = []

    def fill(match):
        name = match[2]
        if name not in BLOCKS:
            sys.exit(f"{where}: there is no block {name!r}; experiments/report.py --list names all of them")
        names.append(name)
        return "\n".join([match[1], "", *lines(name), "", match[4]])

    new = BLOCK.sub(fill, text)
    begun = BEGIN.findall(text)
    if begun.count("experiments/report.py") != len(names) or len(begun) != len(END.findall(text)):
        sys.exit(f"{where}: a mark of a block has no partner")
    return new, names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--print", choices=BLOCKS, metavar="NAME", help="print this table")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, metavar="PAGE")
    given = parser.parse_args()
    if given.list:
        print("\n".join(BLOCKS))
        return
    if given.print:
        print("\n".join(lines(given.print)))
        return
    known, old = set(), []
    for path in [page.resolve() for page in given.pages] or pages():
        text = path.read_text()
        where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        new, names = filled(text, where)
        known.update(names)
        if new != text:
            old.append(str(where))
            if not given.check:
                path.write_text(new)
    if given.check and old:
        sys.exit(f"tables differ from results/ on {', '.join(old)}; run python3 experiments/report.py")
    print(f"{len(known)} blocks, {len(old)} pages {'differ' if given.check else 'written'}")


if __name__ == "__main__":
    main()
