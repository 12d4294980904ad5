"""Exported controllers beside ours: every model that comes with the program as C, compiled by each compiler that is there, and as ONNX in onnxruntime,
on the same 10,000 decisions, with what agents remember carried over many ticks.

    cargo build -p cinoc-cli --features f64
    python3 experiments/export.py --reference target/debug/cinoc [--out results/export/agreement.json] [--need gcc,clang,arm,onnx]

`cinoc` on the path writes the files; what they should do is computed by the reference, in double precision, from readings that are numbers of single
precision: in single precision our own engine is up to 1e-6 away from that too. `arm` is Debian's gcc-arm-linux-gnueabihf, run by qemu-user. Fails where a difference is 1e-6 of the limit of an
action or more, or where something that is needed is not there.
"""
import argparse
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
DRIVER = ROOT / "crates/cinoc/tests/export/driver.c"
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2"]
# What begins an episode does not matter here: short free runs will do where a field is chaotic.
FREE_RUNS = {"settle": 20, "apart": 2, "test_states": 8}
ARM = ["arm-linux-gnueabihf-gcc", "-static"]
# As they are, and in single precision throughout, which is reported too.
COMPILERS = {
    "gcc": (["gcc"], []),
    "clang": (["clang"], []),
    "arm": (ARM, ["qemu-arm"]),
    "gcc, single": (["gcc", "-DCINOC_FLOAT"], []),
    "arm, single": ([*ARM, "-DCINOC_FLOAT"], ["qemu-arm"]),
}
CLOSE = 1e-6


def models():
    listed = subprocess.run(["cinoc", "list", "--json"], check=True, capture_output=True, text=True).stdout
    return [one["problem"] for one in json.loads(listed)]


def export(model, folder, reference, decisions):
    """Writes both files and the decisions to compare with; what the program says of them."""
    settings = subprocess.run(["cinoc", "list", model, "--json"], check=True, capture_output=True, text=True).stdout
    data = json.loads(settings)["data"]
    short = [word for key, most in FREE_RUNS.items() if key in data for word in ("--set", f"data.{key}={min(most, data[key])}")]
    command = ["export", model, *short, "--json"]
    vectors = ["--vectors", folder / "vectors.npz", "--decisions", str(decisions), "--seed", "7"]
    subprocess.run([reference, *command, "-o", folder / "reference.c", *vectors], check=True, capture_output=True)
    facts = subprocess.run(["cinoc", *command, "-o", folder / "policy.c"], check=True, capture_output=True, text=True).stdout
    for name, flags in {"onnx": [], "onnx, single": ["--single"]}.items():
        subprocess.run(["cinoc", *command, *flags, "-o", folder / f"{name}.onnx"], check=True, capture_output=True)
    return json.loads(facts)


def by_c(name, folder, readings, first, memory):
    """What the compiled controller does."""
    compiler, runner = COMPILERS[name]
    program = folder / name
    subprocess.run([*compiler, *STRICT, "-I", folder, "-o", program, DRIVER, "-lm"], check=True)
    given = np.column_stack([first, memory, readings]).astype("<f8").tobytes()
    return np.frombuffer(subprocess.run([*runner, program], input=given, check=True, capture_output=True).stdout, "<f8")


def by_onnx(name, folder, readings, first, told):
    """What onnxruntime does: tick by tick, all agents at once."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])
    inputs = {one.name: one.shape[1] for one in session.get_inputs()}
    remembered = inputs.pop("memory", 0)
    starts = np.flatnonzero(first)
    lengths = np.diff(np.append(starts, len(first)))
    actions = np.zeros((len(first), session.get_outputs()[0].shape[1]))
    memory = told[starts].astype(np.float32)
    for tick in range(lengths.max()):
        going = np.flatnonzero(lengths > tick)
        rows = starts[going] + tick
        now = np.split(readings[rows].astype(np.float32), np.cumsum(list(inputs.values()))[:-1], axis=1)
        given = dict(zip(inputs, now))
        if remembered:
            given["memory"] = memory[going]
        done = session.run(None, given)
        actions[rows] = done[0]
        if remembered:
            memory[going] = done[1]
    return actions


def ways():
    """What can be compared with here."""
    found = [name for name, (compiler, runner) in COMPILERS.items() if all(map(shutil.which, (compiler[0], *runner)))]
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return found
    return [*found, "onnx", "onnx, single"]


def version(way):
    if "onnx" in way:
        import onnxruntime

        return f"onnxruntime {onnxruntime.__version__}"
    return subprocess.run([COMPILERS[way][0][0], "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]


def write_table(result):
    """The table of docs/export.md."""
    ways = list(result["with"])
    lines = ["| model | readings | memory | " + " | ".join(ways) + " |", "|---" * (3 + len(ways)) + "|"]
    for row in result["models"]:
        offs = " | ".join(f"{row['off'][way]:.1e}" for way in ways)
        lines.append(f"| `{row['model']}` | {row['readings']} | {row['memory']} | {offs} |")
    path, marks = ROOT / "docs/export.md", ("<!-- agreement: written by experiments/export.py -->\n", "<!-- end of agreement -->")
    before, rest = path.read_text().split(marks[0])
    path.write_text(before + marks[0] + "\n".join(lines) + "\n" + marks[1] + rest.split(marks[1])[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--reference", default="cinoc", help="a cinoc that was built with the feature f64")
    parser.add_argument("--need", default="gcc")
    parser.add_argument("--decisions", type=int, default=10_000)
    arguments = parser.parse_args()
    found = ways()
    if missing := [way for way in arguments.need.split(",") if way not in found]:
        sys.exit(f"there is no {' and no '.join(missing)} here; install clang, gcc-arm-linux-gnueabihf and qemu-user with apt, onnxruntime with pip")
    rows, worst = [], 0.0
    for model in models():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            facts = export(model, folder, arguments.reference, arguments.decisions)
            with np.load(folder / "vectors.npz") as vectors:
                readings, actions, first, memory, limits = (vectors[name] for name in ("readings", "actions", "first", "memory", "limits"))
            row = {"model": model, "decisions": len(first), "times_told": int(first.sum())}
            row |= {name: facts[name] for name in ("readings", "memory", "actions", "parameters")}
            row |= {"c_bytes": (folder / "policy.c").stat().st_size, "onnx_bytes": (folder / "onnx.onnx").stat().st_size}
            row["off"] = {}
            for way in found:
                done = by_onnx(way, folder, readings, first, memory) if "onnx" in way else by_c(way, folder, readings, first, memory)
                off = np.abs(done.reshape(actions.shape) - actions) / limits
                row["off"][way] = float(off.max())
            rows.append(row)
            worst = max(worst, *(off for way, off in row["off"].items() if "single" not in way))
            print(f"{model:18} {len(first)} decisions, off by", ", ".join(f"{way} {off:.1e}" for way, off in row["off"].items()), flush=True)
    result = {"machine": platform.machine(), "with": {way: version(way) for way in found}, "close": CLOSE, "worst": worst, "models": rows}
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")
        write_table(result)
    if worst >= CLOSE:
        sys.exit(f"off by {worst:.1e} of the limit of an action, which is {CLOSE:.0e} or more")


if __name__ == "__main__":
    main()
