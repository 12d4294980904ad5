"""The tables of results/: JSON lines, one file per kind of evidence; every line has `run` and `commit`."""

import fcntl
import json
import os

from cases import ROOT

RESULTS = ROOT / "results"


def path(name):
    """The file of a table."""
    return RESULTS / f"{name}.jsonl"


def read(name, **only):
    """The lines of a table, of those only whose fields have the given values; none if there is no such table."""
    file = path(name)
    lines = map(json.loads, file.read_text().splitlines()) if file.exists() else ()
    return [line for line in lines if all(line.get(key) == value for key, value in only.items())]


def write(name, lines):
    """Replaces a table, at once."""
    file = path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    os.replace(part, file)


def put(name, new, **old):
    """Adds lines in place of those whose fields have the values `old`. Commands that run at the same time wait for
    each other."""
    with open(RESULTS / "README.md") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        replace(name, new, old)


def replace(name, new, old):
    """The same for the only command that writes."""
    lines = read(name)
    gone = (
        [all(line.get(key) == value for key, value in old.items()) for line in lines] if old else [False] * len(lines)
    )
    at = gone.index(True) if any(gone) else len(lines)
    kept = [(i, line) for i, (line, out) in enumerate(zip(lines, gone)) if not out]
    write(name, [line for i, line in kept if i < at] + list(new) + [line for i, line in kept if i >= at])


def jsonl(file):
    """The JSON lines of any file."""
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
