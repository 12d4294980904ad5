"""Exported controllers against the engine: every shipped model as C, compiled by each compiler that is there, and as
ONNX in onnxruntime, on the same 10,000 decisions, with memory carried over many ticks.

    cargo build -p cinoc-cli-f64
    python3 experiments/export_check.py --reference target/debug/cinoc-f64 [--record] [--need gcc,clang,arm,onnx] [--decisions N] [--sequences N]

`cinoc` on the path writes the files; the reference computes in double precision from readings of single precision:
in single precision our engine is up to 1e-6 away from that too. `arm` is Debian's gcc-arm-linux-gnueabihf, run by
qemu-user. Then all of them decide as often from absurd readings: NaN, infinite, huge; and in sequences of ticks in
which readings are lost, stuck, infinite or absurd for a while. Fails where a difference is 1e-6 of the limit of an
action or more (1e-4 in sequences, in which rounding grows with the memory), where an action or memory is not finite,
an action beyond its limit or that of an inactive agent not 0, or where something in --need is not there. --record
writes results/export.jsonl.
"""

import argparse
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from cases import ROOT, commit
from tables import write

DRIVER = ROOT / "crates/cinoc/tests/export/driver.c"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
# The start of an episode does not matter here: short free runs will do where a field is chaotic.
FREE_RUNS = {"settle": 20, "apart": 2, "test_states": 8}
ARM = ["arm-linux-gnueabihf-gcc", "-static"]
# In double precision, and in single precision throughout, which is reported too.
COMPILERS = {
    "gcc": (["gcc"], []),
    "clang": (["clang"], []),
    "arm": (ARM, ["qemu-arm"]),
    "gcc, single": (["gcc", "-DCINOC_FLOAT"], []),
    "arm, single": ([*ARM, "-DCINOC_FLOAT"], ["qemu-arm"]),
}
CLOSE = 1e-6
BOUND = 1e6
"""Readings beyond this, or that are not finite, count as missing (CINOC_BOUND)."""
ABSURD = np.array(
    [np.nan, -np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 1e38, -1e20, 1e7, BOUND, -BOUND, 1e-40, -0.0, -1.0, 1e5, 2.0]
)
EPISODE = 100
"""Decisions from absurd readings between resets."""
LEAST_STRENGTH = 1e-6
TICKS = 40
"""Ticks of a sequence."""
KINDS = ("masked", "nan", "infinite", "huge", "stuck", "strength", "absurd", "mixed")
CLOSE_IN_SEQUENCES = 1e-4


def models():
    """Names of the shipped models."""
    listed = subprocess.run(["cinoc", "list", "--json"], check=True, capture_output=True, text=True).stdout
    return [one["problem"] for one in json.loads(listed)]


def export(model, folder, reference, decisions):
    """Writes both files and the decisions to compare with; returns what the program reports of them."""
    data = {}
    if not pathlib.Path(model).exists():
        settings = subprocess.run(["cinoc", "list", model, "--json"], check=True, capture_output=True, text=True).stdout
        data = json.loads(settings)["data"]
    short = [
        word
        for key, most in FREE_RUNS.items()
        if key in data
        for word in ("--set", f"data.{key}={min(most, data[key])}")
    ]
    command = ["export", model, *short, "--json"]
    vectors = ["--vectors", folder / "vectors.npz", "--decisions", str(decisions), "--seed", "7"]
    subprocess.run([reference, *command, "-o", folder / "reference.c", *vectors], check=True, capture_output=True)
    facts = subprocess.run(
        ["cinoc", *command, "-o", folder / "policy.c"], check=True, capture_output=True, text=True
    ).stdout
    for name, flags in {"onnx": [], "onnx, single": ["--single"]}.items():
        subprocess.run(["cinoc", *command, *flags, "-o", folder / f"{name}.onnx"], check=True, capture_output=True)
    return json.loads(facts)


def by_c(name, folder, readings, first, memory):
    """Actions and memories, in one row per decision, of the compiled controller."""
    compiler, runner = COMPILERS[name]
    program = folder / name
    subprocess.run([*compiler, *STRICT, "-DWITH_MEMORY", "-I", folder, "-o", program, DRIVER, "-lm"], check=True)
    given = np.column_stack([first, memory, readings]).astype("<f8").tobytes()
    done = subprocess.run([*runner, program], input=given, check=True, capture_output=True).stdout
    return np.frombuffer(done, "<f8").reshape(len(first), -1)


def by_onnx(name, folder, readings, first, told):
    """The same by onnxruntime: tick by tick, all agents at once."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])
    inputs = {one.name: one.shape[1] for one in session.get_inputs()}
    state = {name: inputs.pop(name) for name in ("memory", "held") if name in inputs}
    starts = np.flatnonzero(first)
    lengths = np.diff(np.append(starts, len(first)))
    states = {name: np.zeros((len(starts), count), np.float32) for name, count in state.items()}
    if "memory" in state:
        states["memory"][:] = told[starts]
    found = np.zeros((len(first), session.get_outputs()[0].shape[1] + state.get("memory", 0)))
    for tick in range(lengths.max()):
        going = np.flatnonzero(lengths > tick)
        rows = starts[going] + tick
        now = np.split(readings[rows].astype(np.float32), np.cumsum(list(inputs.values()))[:-1], axis=1)
        given = dict(zip(inputs, now)) | {name: values[going] for name, values in states.items()}
        action, *after = session.run(["action", *(f"next_{name}" for name in state)], given)
        for values, new in zip(states.values(), after):
            values[going] = new
        found[rows] = np.hstack([action, *after[: "memory" in state]])
    return found


def absurd(readings):
    """Readings of which a random share, up to all of a decision, is absurd."""
    random = np.random.default_rng(3)
    share = random.uniform(0, 1.2, (len(readings), 1))
    chosen = random.random(readings.shape) < share
    return np.where(chosen, random.choice(ABSURD, readings.shape), readings)


def faults(found, readings, limits):
    """The number of decisions with an action or memory that is not finite, an action beyond its limit, or anything but
    zeros for an inactive agent: one whose strength, the last reading, is missing or below 1e-6."""
    strength = readings[:, -1].astype(np.float32)
    inactive = ~((strength >= np.float32(LEAST_STRENGTH)) & (strength <= BOUND))
    bad = ~np.isfinite(found).all(1) | (np.abs(found[:, : len(limits)]) > limits.astype(np.float32)).any(1)
    return int((bad | (inactive & (found != 0).any(1))).sum())


def instruments(source):
    """Columns of the readings of each instrument, from the C file."""
    fields = re.search(r"typedef struct \{\n([^}]*)\} cinoc_observation;", source).group(1)
    found, at = {}, 0
    for name, count in re.findall(r"cinoc_real (\w+)(?:\[(\d+)\])?;", fields):
        found[name] = np.arange(at, at + int(count or 1))
        at += int(count or 1)
    return found


def faulty(readings, memory, told, columns, count):
    """Sequences of readings with faults that begin, last and end: kinds, readings, starts and memories."""
    random = np.random.default_rng(5)
    width = readings.shape[1]
    samples = np.zeros((0, 0), int)
    if "lost" in columns:
        points = len(columns["lost"])
        samples = np.column_stack([columns["lost"], columns["error"], columns["slope"].reshape(points, -1)])
    alone = [np.array([i]) for i in np.setdiff1d(np.arange(width - 1), samples)]
    sensors = [*alone, *samples]
    starts = random.choice(np.flatnonzero(told[: len(told) // 2 - TICKS]), count)
    kinds = [KINDS[i % len(KINDS)] for i in range(count)]
    rows = np.empty((count, TICKS, width))
    for sequence, kind, start in zip(rows, kinds, starts):
        sequence[:] = readings[start : start + TICKS]
        begin = random.integers(TICKS // 2)
        end = begin + random.integers(1, TICKS // 2)
        share = random.choice([0.0, random.random(), 1.0])
        chosen = [sensor for sensor in sensors if random.random() < share] or [sensors[random.integers(len(sensors))]]
        affected = np.array([width - 1]) if kind == "strength" else np.concatenate(chosen)
        if share == 1.0 and kind not in ("masked", "strength"):
            affected = np.arange(width)
        part = np.ix_(np.arange(begin, end), affected)
        good, last = sequence[part], sequence[max(begin - 1, 0), affected]
        sign = random.choice([-1.0, 1.0], good.shape)
        lost = np.full(good.shape, np.nan)
        lost[:, np.isin(affected, samples)] = 1.0
        values = {
            "masked": lost,
            "nan": sign * np.nan,
            "infinite": sign * np.inf,
            "huge": sign * BOUND * 10 ** random.uniform(0.001, 32, good.shape),
            "stuck": np.broadcast_to(last, good.shape),
            "absurd": sign * 10 ** random.uniform(-45, 38, good.shape),
        }
        mixed = np.choose(random.integers(len(values), size=good.shape), list(values.values()))
        sequence[part] = values.get(kind, mixed)
    first = np.arange(count * TICKS) % TICKS == 0
    memories = np.zeros((count * TICKS, memory.shape[1]))
    memories[first] = memory[starts]
    # What single and double precision read is the same.
    return np.array(kinds), rows.reshape(-1, width).astype(np.float32).astype(float), first, memories


def ways():
    """Compilers and runtimes that are here."""
    found = [name for name, (compiler, runner) in COMPILERS.items() if all(map(shutil.which, (compiler[0], *runner)))]
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return found
    return [*found, "onnx", "onnx, single"]


def version(way):
    """Version of a compiler or runtime."""
    if "onnx" in way:
        import onnxruntime

        return f"onnxruntime {onnxruntime.__version__}"
    return subprocess.run(
        [COMPILERS[way][0][0], "--version"], check=True, capture_output=True, text=True
    ).stdout.splitlines()[0]


def main():
    """Compares all models in all ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write results/export.jsonl")
    parser.add_argument("--reference", default="cinoc", help="the command in double precision, cinoc-f64")
    parser.add_argument("--need", default="gcc")
    parser.add_argument("--decisions", type=int, default=10_000)
    parser.add_argument("--sequences", type=int, default=400, help="sequences of faulty readings of each model")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="models or files; default: all shipped models")
    arguments = parser.parse_args()
    found = ways()
    if missing := [way for way in arguments.need.split(",") if way not in found]:
        sys.exit(
            f"there is no {' and no '.join(missing)} here; install clang, gcc-arm-linux-gnueabihf and qemu-user with apt, onnxruntime with pip"
        )
    rows, worst, worst_faulty, failures = [], 0.0, 0.0, 0
    for model in arguments.models or models():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            facts = export(model, folder, arguments.reference, arguments.decisions)
            with np.load(folder / "vectors.npz") as vectors:
                readings, actions, first, memory, limits = (
                    vectors[name] for name in ("readings", "actions", "first", "memory", "limits")
                )
            row = {"model": model, "decisions": len(first), "times_told": int(first.sum())}
            row |= {name: facts[name] for name in ("readings", "memory", "actions", "parameters")}
            row |= {
                "c_bytes": (folder / "policy.c").stat().st_size,
                "onnx_bytes": (folder / "onnx.onnx").stat().st_size,
            }
            row |= {"off": {}, "absurd": {}, "sequences": arguments.sequences, "faulty": {}, "off_faulty": {}}
            columns = instruments((folder / "policy.c").read_text())
            kinds, sent, begin, begun = faulty(readings, memory, first, columns, arguments.sequences)
            # Where undetected readings are of any magnitude, rounding differences are as large as actions.
            close = np.repeat(~np.isin(kinds, ["absurd", "mixed"]), TICKS)
            expected = None
            spoiled, start = absurd(readings), np.arange(len(first)) % EPISODE == 0
            spoiled_memory = np.zeros_like(memory)
            spoiled_memory[:: 2 * EPISODE] = np.nan
            for way in found:
                by = by_onnx if "onnx" in way else by_c
                done = by(way, folder, readings, first, memory)[:, : len(limits)]
                row["off"][way] = float((np.abs(done - actions) / limits).max())
                row["absurd"][way] = faults(by(way, folder, spoiled, start, spoiled_memory), spoiled, limits)
                done = by(way, folder, sent, begin, begun)
                row["faulty"][way] = faults(done, sent, limits)
                expected = done if expected is None else expected
                difference = np.abs(done - expected)[close, : len(limits)] / limits
                row["off_faulty"][way] = float(difference.max(initial=0.0))
                failures += row["absurd"][way] + row["faulty"][way]
            rows.append(row)
            worst_faulty = max(worst_faulty, *row["off_faulty"].values())
            worst = max(worst, *(off for way, off in row["off"].items() if "single" not in way))
            print(
                f"{model:18} {len(first)} decisions, off by",
                ", ".join(f"{way} {off:.1e}" for way, off in row["off"].items()),
                f"; {sum(row['absurd'].values())} failures in {len(found)} × {len(first)} decisions from absurd readings,",
                f"{sum(row['faulty'].values())} in {arguments.sequences} sequences of faults, off by {max(row['off_faulty'].values()):.1e}",
                flush=True,
            )
    if arguments.record:
        about = {
            "commit": commit(),
            "machine": platform.machine(),
            "with": {way: version(way) for way in found},
            "close": CLOSE,
        }
        write("export", [{"run": row["model"], "problem": row["model"], **about, **row} for row in rows])
    if failures:
        sys.exit(f"{failures} decisions from absurd or faulty readings are not finite, beyond a limit, or of an inactive agent")
    if worst >= CLOSE:
        sys.exit(f"off by {worst:.1e} of the limit of an action, which is {CLOSE:.0e} or more")
    if worst_faulty >= CLOSE_IN_SEQUENCES:
        sys.exit(f"sequences of faulty readings: off by {worst_faulty:.1e} of the limit of an action")


if __name__ == "__main__":
    main()
