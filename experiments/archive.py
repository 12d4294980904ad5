"""Models and training curves that are not in the tree: results/archive.json lists each with its SHA-256 and the command
that makes it.

    python3 experiments/archive.py list [RUN…]
    python3 experiments/archive.py fetch [RUN…] [--from FILE|URL]
        # into runs/; without --from out of the history of this repository
    python3 experiments/archive.py verify [RUN…] [--from FILE]       # files in runs/, or those of an archive
    python3 experiments/archive.py pack FILE.tar.gz [RUN…]
        # local files into one archive, its SHA-256 printed
    python3 experiments/archive.py record [RUN…]
        # local files of these runs into results/archive.json
    python3 experiments/archive.py locate COMMIT
        # listed models that a commit of this repository holds, wherever: fetch finds them there

A RUN is a name as in results/runs.jsonl, for example heat1d/tuned-0; a prefix (heat1d/, heat1d/tuned) selects all
that begin with it.
"""

import argparse
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import urllib.request

from cases import ROOT, run_folder
from tables import RESULTS, read

LIST = RESULTS / "archive.json"
KINDS = {"model.safetensors": "model", "metrics.csv": "curve"}


def listed(runs=()):
    """Entries of the list, of some runs only."""
    return [
        entry for entry in json.loads(LIST.read_text())["files"] if not runs or entry["run"].startswith(tuple(runs))
    ]


def digest(data):
    """SHA-256."""
    return hashlib.sha256(data).hexdigest()


def place(entry, data):
    """Writes a file whose checksum is right, at once."""
    path = ROOT / entry["path"]
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
        part.write(data)
    os.chmod(part.name, 0o644)
    os.replace(part.name, path)


def from_history(entries):
    """Contents out of commits that hold the files."""
    for entry in entries:
        yield entry, git("show", entry["history"]) if entry["history"] else None


def git(*words):
    """Output of a git command; none if it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def from_archive(entries, source):
    """Contents of an archive file or address. Only listed names are read."""
    if "://" in str(source):
        with urllib.request.urlopen(source) as answer:
            data = io.BytesIO(answer.read())
    else:
        data = io.BytesIO(pathlib.Path(source).read_bytes())
    with tarfile.open(fileobj=data) as archive:
        held = {member.name: member for member in archive.getmembers() if member.isfile()}
        for entry in entries:
            member = held.get(entry["path"])
            yield entry, archive.extractfile(member).read() if member else None


def fetch(given):
    """Puts files into runs/; those that are there and right are kept."""
    wrong = []
    missing = [entry for entry in listed(given.runs) if not right(entry)]
    contents = from_archive(missing, given.source) if given.source else from_history(missing)
    for entry, data in contents:
        if data is None:
            wrong.append(
                f"{entry['path']} is not there; make it by  {entry['command'] or 'no command: ' + entry['note']}"
            )
        elif digest(data) != entry["sha256"]:
            wrong.append(f"{entry['path']} has another SHA-256 than {entry['sha256']}")
        else:
            place(entry, data)
    print(f"{len(missing) - len(wrong)} files fetched, {len(listed(given.runs)) - len(missing)} were there")
    if wrong:
        sys.exit("\n".join(wrong))


def right(entry):
    """Presence of the right file in runs/."""
    path = ROOT / entry["path"]
    return path.exists() and digest(path.read_bytes()) == entry["sha256"]


def verify(given):
    """Compares checksums; missing files are counted, wrong ones fail."""
    good, missing, wrong = 0, 0, []
    if given.source:
        found = from_archive(listed(given.runs), given.source)
    else:
        found = (
            (entry, (ROOT / entry["path"]).read_bytes() if (ROOT / entry["path"]).exists() else None)
            for entry in listed(given.runs)
        )
    for entry, data in found:
        if data is None:
            missing += 1
        elif digest(data) == entry["sha256"]:
            good += 1
        else:
            wrong.append(entry["path"])
    print(f"{good} files as listed, {missing} missing, {len(wrong)} different")
    if wrong:
        sys.exit("different: " + ", ".join(wrong))


def pack(given):
    """All right local files, and the list, in one archive; the same files give the same bytes of the tar."""
    entries = [entry for entry in listed(given.runs) if right(entry)]
    with tarfile.open(given.file, "w:gz") as archive:
        for name in [str(LIST.relative_to(ROOT)), *sorted(entry["path"] for entry in entries)]:
            info = tarfile.TarInfo(name)
            data = (ROOT / name).read_bytes()
            info.size, info.mode = len(data), 0o644
            archive.addfile(info, io.BytesIO(data))
    data = pathlib.Path(given.file).read_bytes()
    print(f"{given.file}: {len(entries)} of {len(listed(given.runs))} files, {len(data)} bytes, SHA-256 {digest(data)}")


def record(given):
    """Lists local files, in place of earlier ones of the same path."""
    known = {entry["path"]: entry for entry in listed()}
    for run in read("runs"):
        if given.runs and not run["run"].startswith(tuple(given.runs)):
            continue
        for name, kind in KINDS.items():
            path = run_folder(run["run"]) / name
            if path.exists():
                data, where = path.read_bytes(), str(path.relative_to(ROOT))
                if known.get(where, {}).get("sha256") != digest(data):
                    known[where] = {
                        "path": where,
                        "run": run["run"],
                        "kind": kind,
                        "seed": run["seed"],
                        "bytes": len(data),
                        "sha256": digest(data),
                        "command": f"python3 experiments/train.py {run['problem']} --setting {run['setting']} --seed {run['seed']}",
                        "history": None,
                    }
    about = json.loads(LIST.read_text()) | {"files": list(known.values())}
    save(about)


def locate(given):
    """Notes where a commit holds listed models that no earlier one does."""
    commit = git("rev-parse", "--short", "--verify", f"{given.commit}^{{commit}}")
    if commit is None:
        sys.exit(f"{given.commit} is not a commit of this repository")
    commit = commit.decode().strip()
    files = git("ls-tree", "-r", "--name-only", commit).decode().splitlines()
    held = {digest(git("show", f"{commit}:{path}")): path for path in files if path.endswith(".safetensors")}
    about, found = json.loads(LIST.read_text()), 0
    for entry in about["files"]:
        if not entry["history"] and entry["sha256"] in held:
            entry["history"], found = f"{commit}:{held[entry['sha256']]}", found + 1
    save(about)
    print(f"{found} files located")


def save(about):
    """Writes the list, a line per file."""
    files = ",\n".join("  " + json.dumps(entry) for entry in about["files"])
    LIST.write_text(
        "{\n"
        + "".join(f' "{key}": {json.dumps(value)},\n' for key, value in about.items() if key != "files")
        + f' "files": [\n{files}\n ]\n}}\n'
    )


def show(given):
    """Prints the list."""
    for entry in listed(given.runs):
        print(
            f"{entry['path']}  {entry['bytes'] or '?'} bytes  {entry['sha256']}  {'here' if right(entry) else 'not here'}"
        )


COMMANDS = {"list": show, "fetch": fetch, "verify": verify, "pack": pack, "record": record, "locate": locate}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    whats = parser.add_subparsers(dest="what", required=True)
    for name, function in COMMANDS.items():
        one = whats.add_parser(name)
        one.set_defaults(do=function)
        if name == "locate":
            one.add_argument("commit")
            continue
        if name == "pack":
            one.add_argument("file")
        one.add_argument("runs", nargs="*", metavar="RUN")
        if name in ("fetch", "verify"):
            one.add_argument("--from", dest="source", metavar="FILE|URL")
    given = parser.parse_args()
    given.do(given)


if __name__ == "__main__":
    main()
