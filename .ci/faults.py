"""Faults of the machine, for real: .ci/faults.py CINOC [--long] [--only KIND]

killed     a training is killed at every system call from where it opens its folder to its end, begun and resumed, and resumes to the same bits
full       a disk with ever more room: what does not fit is said in a sentence, what was saved is whole, and with more room it resumes to the same bits
read-only  a disk that cannot be written: reading works, writing is refused in a sentence
clocks     clocks that jump or stop
cut        curves and tables cut at every byte of their last lines: nothing is lost but the line that was cut

Disks are small tmpfs, which takes the right to mount; without it these kinds are left out, loudly. `--long` takes every byte, page and call where the
gate takes some, and writes results/faults.jsonl. Every kind prints how many faults there were and how many went wrong.
"""
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CINOC = pathlib.Path(sys.argv[1]).resolve()
LONG = "--long" in sys.argv
SECONDS = 60  # A command that is still at work then hangs.

TINY = "physics.ticks=4 physics.nodes=12 swarm.agents=2 observe.points=3 policy.branch=[3] policy.trunk=[2] policy.head=2 train.batch=2".split()
TINY += "train.validate_instances=2 train.validate_every=1 train.checkpoint_every=1".split()
TRAIN = ["train", "heat1d", "--preset", "paper", "--threads", "1"]
BITS = ("checkpoint.safetensors", "model.safetensors", "last.safetensors", "metrics.csv", "config.toml")


class Wrong(Exception):
    """What a fault did that it should not do."""


def settings(pairs):
    return [word for pair in pairs for word in ("--set", pair)]


def call(*arguments, before=(), **environment):
    """Runs cinoc; it ends without help and without a panic."""
    command = [*before, str(CINOC), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL, env=dict(os.environ, **environment))
    except subprocess.TimeoutExpired:
        raise Wrong(f"{' '.join(command)} hangs") from None
    if "panicked" in done.stderr or done.returncode not in (0, 1, -signal.SIGKILL, 128 + signal.SIGKILL):
        raise Wrong(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    return done


def good(*arguments, **environment):
    done = call(*arguments, **environment)
    if done.returncode:
        raise Wrong(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done


def refused(*arguments, **environment):
    """Ends with one sentence, which says what to do."""
    done = call(*arguments, **environment)
    text = done.stderr.strip()
    said = [line for line in text.splitlines() if line.startswith(f"{CINOC.name}: ")]
    if done.returncode != 1 or len(said) != 1 or not re.search("; |\\?", said[0]):
        raise Wrong(f"{' '.join(map(str, arguments))}: status {done.returncode}, no sentence: {text!r}")
    return said[0]


def fresh(out, updates, **how):
    return call(*TRAIN, "--out", out, *settings(TINY), "--set", f"train.updates={updates}", **how)


def resumed(out, updates, **how):
    return call("train", "--resume", "--threads", "1", "--out", out, "--set", f"train.updates={updates}", **how)


def go_on(out, updates):
    """Whatever is there: resumed where there is a checkpoint, else begun again with the same command."""
    done = (resumed if (out / BITS[0]).exists() else fresh)(out, updates)
    if done.returncode:
        raise Wrong(f"it does not resume: {done.stderr.strip()}")
    return done


def facts(path):
    """Tensors and facts of a checkpoint but for the event file, whose name and length follow the clock."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    own = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["cinoc"])
    return {key: value for key, value in own.items() if key not in ("checksum", "events", "events_bytes")}, data[8 + length :]


def same(run, whole):
    """The same bits as a run that nothing happened to, and curves with every update once."""
    for name in BITS:
        ours, theirs = run / name, whole / name
        equal = facts(ours) == facts(theirs) if name == BITS[0] else ours.read_bytes() == theirs.read_bytes()
        if not equal:
            raise Wrong(f"{name} is not what it is without the fault")
    expected, found = steps(whole), steps(run)
    if found != expected:
        raise Wrong(f"events have the updates {found}, not {expected}")
    left = [path.name for path in run.iterdir() if path.name.endswith(".partial")]
    if left:
        raise Wrong(f"left behind: {left}")


def frames(path):
    """Payloads of the whole frames of an event file."""
    data, at = path.read_bytes(), 0
    while at + 12 <= len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        if at + 16 + size > len(data):
            break
        yield data[at + 12 : at + 12 + size]
        at += 16 + size


def steps(run):
    """The updates in the event files of a run, in the order in which TensorBoard reads them: that of names."""
    found = []
    for path in sorted(run.glob("events.*")):
        for payload in frames(path):
            # A time in nine bytes, then the step: field 2, a varint; ours are below 128.
            if len(payload) > 10 and payload[9] == 0x10 and (not found or found[-1] != payload[10]):
                found.append(payload[10])
    return found


def spread(work, cases):
    """All cases, two at a time: how many there were, and what went wrong."""
    def tried(case):
        try:
            work(case)
        except Wrong as wrong:
            return f"{case}: {wrong}"
        return None

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return len(cases), [wrong for wrong in pool.map(tried, cases) if wrong]


def copied(folder, source, name):
    target = folder / str(name)
    shutil.copytree(source, target)
    return target


# --- killed


def calls(folder, name, run):
    """The system calls of a training from where it first names its folder, as (call, which of its kind)."""
    log = folder / f"{name}.strace"
    run(before=["strace", "-f", "-o", str(log)])
    lines = log.read_text(errors="replace").splitlines()
    main, seen, found, inside = lines[0].split()[0], collections.Counter(), [], False
    for line in lines:
        made = re.match(rf"{main} +(\w+)\(", line)
        if made:
            seen[made[1]] += 1
            inside = inside or f"{name}/run.lock" in line
            if inside and made[1] != "exit_group":
                found.append((made[1], seen[made[1]]))
    return found


def killed(folder):
    whole, begun = folder / "whole", folder / "begun"
    good(*TRAIN, "--out", begun, *settings(TINY), "--set", "train.updates=2")
    shutil.copytree(begun, whole)
    resumed(whole, 3)
    start = folder / "start"
    fresh(start, 3)
    count = collections.Counter()

    def kill(case):
        kind, (name, when) = case
        out = folder / f"{kind}-{name}-{when}"
        before = ["strace", "-f", "-o", "/dev/null", "-e", f"inject={name}:signal=KILL:when={when}"]
        if kind == "resumed":
            shutil.copytree(begun, out)
            done = resumed(out, 3, before=before)
        else:
            done = fresh(out, 3, before=before)
        count[done.returncode not in (0, 1)] += 1
        if done.returncode == 1:
            raise Wrong(done.stderr.strip())
        go_on(out, 3)
        same(out, whole if kind == "resumed" else start)
        shutil.rmtree(out)

    first = calls(folder, "first", lambda **how: fresh(folder / "first", 3, **how))
    again = calls(folder, "again", lambda **how: resumed(copied(folder, begun, "again"), 3, **how))
    cases = [("begun", case) for case in first] + [("resumed", case) for case in again]
    done, wrong = spread(kill, cases)
    if count[True] < 0.9 * done:
        wrong.append(f"only {count[True]} of {done} were killed")
    return done, wrong


# --- disks


class Forbidden(Exception):
    """Mounting is not permitted."""


@contextlib.contextmanager
def disk(folder, name, kilobytes):
    """A small disk."""
    place = folder / name
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=777", "cinoc-faults", place], capture_output=True, text=True)
    if made.returncode:
        raise Forbidden(made.stderr.strip())
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def remounted(place, how):
    subprocess.run(["mount", "-o", f"remount,{how}", place], check=True)


WRITERS = [
    ("show", "heat1d", "-o", "x.png"),
    ("show", "heat1d", "-o", "x.svg"),
    ("show", "heat1d", "-o", "x.gif", "--set", "physics.ticks=8"),
    ("show", "heat1d", "-o", "x.html"),
    ("show", "heat1d", "-o", "{elsewhere}/x.png", "--export", "x.npz"),
    ("export", "heat1d", "-o", "x.c"),
    ("export", "heat1d", "-o", "x.onnx"),
    ("optimum", "heat1d", "--instances", "1", "--iterations", "1", "--set", "physics.ticks=4", "-o", "x.jsonl", "--actions"),
    ("study", "failure", "heat1d", "--instances", "2", "-o", "studies"),
    ("man", "-o", "pages"),
]


def written(place, elsewhere, command):
    """A command that writes, with its files in a place."""
    return [command[0], *((place / word if re.match("x\\.|studies|pages", word) else word.format(elsewhere=elsewhere)) for word in command[1:])]


def full(folder):
    whole = folder / "whole"
    fresh(whole, 3)
    count = collections.Counter()

    def fill(kilobytes):
        with disk(folder, f"disk-{kilobytes}", kilobytes) as place:
            done = fresh(place / "run", 3)
            if done.returncode:
                count["did not fit"] += 1
                if not re.search("make room|No space left", done.stderr):
                    raise Wrong(f"it does not say that the disk is full: {done.stderr.strip()}")
            remounted(place, "size=20m")
            go_on(place / "run", 3)
            same(place / "run", whole)

    def fill_resumed(kilobytes):
        with disk(folder, f"resumed-{kilobytes}", 20000) as place:
            fresh(place / "run", 2)
            rest = os.statvfs(place)
            with open(place / "filler", "wb") as filler:
                filler.write(bytes(max(0, rest.f_bavail * rest.f_bsize - kilobytes * 1024)))
            done = resumed(place / "run", 3)
            if done.returncode:
                count["did not fit"] += 1
                if not re.search("make room|No space left", done.stderr):
                    raise Wrong(f"it does not say that the disk is full: {done.stderr.strip()}")
            (place / "filler").unlink()
            go_on(place / "run", 3)
            same(place / "run", whole)

    def write(number):
        with disk(folder, f"writer-{number}", 4) as place:
            (place / "filler").write_bytes(bytes(4096))
            said = refused(*written(place, folder, WRITERS[number]))
            if "space" not in said and "room" not in said:
                raise Wrong(f"it does not say that the disk is full: {said}")

    # A page is four kilobytes; a run of this kind takes some forty.
    pages = range(0, 121, 4) if LONG else range(0, 61, 4)
    done, wrong = spread(fill, list(pages)[1:])
    more, also = spread(fill_resumed, list(pages))
    last, too = spread(write, list(range(len(WRITERS))))
    if count["did not fit"] < 5:
        wrong.append(f"only {count['did not fit']} runs did not fit")
    return done + more + last, wrong + also + too


def read_only(folder):
    with disk(folder, "disk", 20000) as place:
        fresh(place / "run", 2)
        before = {path.name: path.read_bytes() for path in (place / "run").iterdir()}
        remounted(place, "ro")
        run = place / "run"
        reads = [
            ("eval", run, "--instances", "2"),
            ("eval", run / "last.safetensors", "--instances", "2", "--json"),
            ("show", run, "-o", folder / "x.png"),
            ("export", run, "-o", folder / "x.c"),
        ]
        ks = "data.settle=1 data.apart=0.5 data.train_states=2 data.test_states=2 data.validation_states=2 physics.nodes=32".split()
        reads.append(("data", "ks1d", *settings(ks)))
        writes = [
            (*TRAIN, "--out", place / "new", *settings(TINY)),
            (*TRAIN, "--out", run, *settings(TINY)),
            ("train", "--resume", "--out", run, "--set", "train.updates=3"),
            *(written(place, folder, command) for command in WRITERS),
        ]
        cases = [(good, case) for case in reads] + [(refused, case) for case in writes]
        # States that cannot be kept are made again.
        done, wrong = spread(lambda case: case[0](*case[1], CINOC_CACHE=str(place / "cache")), cases)
        if {path.name: path.read_bytes() for path in run.iterdir()} != before:
            wrong.append("files of the run have changed")
        remounted(place, "rw")
        go_on(run, 3)
        fresh(folder / "whole", 3)
        same(run, folder / "whole")
        return done, wrong


# --- clocks


def clocks(folder):
    library = folder / "jumping_clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, ROOT / ".ci/jumping_clock.c", "-ldl"], check=True)
    whole, begun = folder / "whole", folder / "begun"
    fresh(whole, 3)
    fresh(begun, 2)
    small = settings(["physics.ticks=4", "train.batch=2"])
    commands = [
        ("eval", "heat1d", "--instances", "2"),
        ("bench", "heat1d", "--batch", "2", "--ticks", "2", "--updates", "2"),
        ("scale", "heat2d", "--agents", "4,9", "--grids", "16,20", "--json"),
        ("optimum", "heat1d", "--instances", "2", "--iterations", "2", "--set", "physics.ticks=4"),
        ("optimum", "heat1d", "--instances", "1", "--iterations", "2", "--set", "physics.ticks=4", "--horizon", "2"),
        ("study", "failure", "heat1d", "--instances", "2", "--out", "{out}"),
        ("check", "heat1d", *small),
    ]

    def jump(case):
        how, what = case
        clock = {"LD_PRELOAD": str(library), "CINOC_CLOCK": how}
        out = folder / f"{how}-{what if isinstance(what, str) else what[0] + str(commands.index(what))}"
        if what == "begun":
            fresh(out, 3, **clock)
            same(out, whole)
        elif what == "resumed":
            shutil.copytree(begun, out)
            resumed(out, 3, **clock)
            same(out, whole)
        elif what == "events cut":
            # A new event file comes behind the old one, whatever the time is.
            shutil.copytree(begun, out)
            events = next(out.glob("events.*"))
            events.write_bytes(events.read_bytes()[:-3])
            resumed(out, 3, **clock)
            if steps(out) != [1, 2, 3]:
                raise Wrong(f"events have the updates {steps(out)}")
        else:
            done = call(*(word.format(out=out) for word in what), **clock)
            if done.returncode:
                raise Wrong(done.stderr.strip())

    ways = ["back", "forward", "old", "far", "still"]
    # Commands that measure until a time is over never end where the clock has stopped; all others do.
    untimed = [what for what in commands if what[0] not in ("bench", "scale", "check")]
    cases = [(how, what) for how in ways for what in ["begun", "resumed", "events cut", *(untimed if how == "still" else commands)]]
    return spread(jump, cases)


# --- cut


def last_lines(data, count):
    """Where the last lines begin."""
    at = len(data)
    for _ in range(count):
        at = data.rfind(b"\n", 0, at - 1) + 1
    return at


def cut(folder):
    whole, begun = folder / "whole", folder / "begun"
    fresh(begun, 3)
    shutil.copytree(begun, whole)
    resumed(whole, 4)
    curves = (begun / "metrics.csv").read_bytes()
    last = (whole / "metrics.csv").read_bytes().splitlines(keepends=True)[-1]
    events = next(begun.glob("events.*"))
    record = events.read_bytes()

    def shorten(case):
        name, length = case
        out = copied(folder, begun, f"{name}-{length}")
        path = out / name
        path.write_bytes(path.read_bytes()[:length])
        kept = [bytes(frame) for frame in frames(path)] if name == events.name else None
        done = resumed(out, 4)
        if done.returncode or "cut short" not in done.stderr:
            raise Wrong(f"status {done.returncode}: {done.stderr.strip()}")
        if kept is None:
            expected = curves[: curves.rfind(b"\n", 0, length) + 1] or curves[: curves.find(b"\n") + 1]
            if (out / name).read_bytes() != expected + last:
                raise Wrong(f"metrics.csv is {(out / name).read_bytes()!r}")
        else:
            if [bytes(frame) for frame in frames(path)] != kept or steps(out)[-1] != 4 or len(list(out.glob("events.*"))) != 2:
                raise Wrong("events were lost")
        for other in BITS[1:3] + BITS[4:]:
            if (out / other).read_bytes() != (whole / other).read_bytes():
                raise Wrong(f"{other} is not what it is without the fault")
        shutil.rmtree(out)

    # Everything that one update wrote, and the line before it.
    cases = [("metrics.csv", length) for length in range(0 if LONG else last_lines(curves, 2), len(curves))]
    beginning = 0 if LONG else len(record) - 260
    cases += [(events.name, length) for length in range(beginning, len(record))]
    done, wrong = spread(shorten, cases)

    # A table that is continued.
    table = folder / "found.jsonl"
    search = ["optimum", "heat1d", "--instances", "2", "--iterations", "1", "--threads", "1", "--set", "physics.ticks=4", "-o"]
    good(*search, table)
    data = table.read_bytes()

    def lines(path):
        return [{key: value for key, value in json.loads(line).items() if key not in ("seconds", "summary")} for line in path.read_bytes().splitlines()]

    def torn(length):
        path = folder / f"{length}.jsonl"
        path.write_bytes(data[:length])
        good(*search, path)
        kept = data[: data.rfind(b"\n", 0, length) + 1]
        if lines(path)[: len(lines(table))] != lines(table) or not path.read_bytes().startswith(kept):
            raise Wrong("lines were lost")
        path.unlink()

    more, also = spread(torn, list(range(last_lines(data, 3), len(data), 1 if LONG else 11)))
    return done + more, wrong + also


KINDS = {"killed": killed, "full": full, "read-only": read_only, "clocks": clocks, "cut": cut}


def main():
    os.environ.pop("CINOC_MEMORY_MB", None)
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    results, failed = [], 0
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="cinoc-faults-", dir=memory if os.access(memory, os.W_OK) else None) as folder:
        os.environ["CINOC_CACHE"] = f"{folder}/cache"
        for kind, work in KINDS.items():
            if only not in (None, kind):
                continue
            place, since = pathlib.Path(folder) / kind, time.monotonic()
            place.mkdir()
            try:
                count, wrong = work(place)
            except Forbidden as why:
                print(f"!!! {kind}: LEFT OUT, nothing may be mounted here: {why}", flush=True)
                results.append({"kind": kind, "left_out": str(why)})
                continue
            seconds = time.monotonic() - since
            print(f"{kind}: {count} faults, {len(wrong)} went wrong, {seconds:.0f} s", flush=True)
            for text in wrong[:10]:
                print(f"  {text}", flush=True)
            results.append({"kind": kind, "faults": count, "failures": len(wrong), "seconds": round(seconds, 1)})
            failed += len(wrong)
    if LONG and not only:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        lines = [{"run": line["kind"], "commit": commit, **line} for line in results]
        (ROOT / "results/faults.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(f"{sum(line.get('faults', 0) for line in results)} faults, {failed} went wrong")
    sys.exit(1 if failed else 0)


main()
