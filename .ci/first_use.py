"""Times the first use of a wheel: python3 .ci/first_use.py WHEEL [--within SECONDS] [--rounds N] [--compile]

First pip fetches the packages that the wheel needs (numpy, pandas, xarray, matplotlib, tqdm and theirs) into a folder beside the builds; that depends on
the network and is not counted. Then, in an empty virtual environment, with a PATH that has no Rust and no compiler, three things are counted:

install   `pip install --no-compile` of the wheel with all its packages out of that folder. Without the option pip also compiles the 2,900 Python files of
          these packages, of which a first rollout uses a tenth; `--compile` counts that too. cinoc has few files.
import    `import cinoc` in a new interpreter
rollout   a first rollout of a shipped policy, in the same one

The result is the best of N rounds (default: 2), each in a new environment. A fixed loop is timed before and after each
round: only on a machine on which it never was as fast as on the one the limit was set on, the limit is longer in proportion.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import venv

# Seconds of `loop_time` on an idle Xeon of 2.5 GHz.
LOOP = 0.5
USE = """
import json, time
begun = time.perf_counter()
import cinoc
imported = time.perf_counter()
episode = cinoc.rollout(cinoc.load("heat1d"), agents=8)
print(json.dumps({"import": imported - begun, "rollout": time.perf_counter() - imported}))
"""


def first_use(wheel, packages, folder, compiled):
    """Returns the seconds of each part in a new environment, and the processor time of all."""
    venv.create(folder / "env", with_pip=True)
    (folder / "home").mkdir()
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    # Programs of this environment alone: neither cargo nor a compiler.
    environment = {"PATH": str(programs), "HOME": str(folder / "home"), "MPLBACKEND": "agg", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environment |= {name: os.environ[name] for name in ("SYSTEMROOT", "USERPROFILE", "TEMP") if name in os.environ}
    python = str(programs / "python")
    used, begun = processor_time(), time.perf_counter()
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", str(packages), str(wheel)]
    install += [] if compiled else ["--no-compile"]
    subprocess.run(install, env=environment, check=True)
    seconds = {"install": time.perf_counter() - begun}
    begun = time.perf_counter()
    done = subprocess.run([python, "-c", USE], env=environment, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    seconds |= json.loads(done.stdout)
    seconds["interpreter"] = time.perf_counter() - begun - seconds["import"] - seconds["rollout"]
    return seconds, processor_time() - used


def loop_time():
    """Returns the seconds of a fixed loop."""
    begun, total = time.perf_counter(), 0
    for number in range(5_000_000):
        total += number
    return time.perf_counter() - begun


def processor_time():
    """Returns the processor time of all commands so far."""
    times = os.times()
    return times.children_user + times.children_system


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--within", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    wheel = options.wheel.resolve()
    packages = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", tempfile.gettempdir())) / "first-use"
    packages.mkdir(parents=True, exist_ok=True)
    fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(packages)]
    fetch += ["--find-links", str(packages), str(wheel)]
    # .ci/setup has fetched them; elsewhere they come from the index.
    if subprocess.run([*fetch, "--no-index"], stderr=subprocess.DEVNULL).returncode:
        subprocess.run(fetch, check=True)
    for copy in packages.glob("cinoc-*.whl"):
        copy.unlink()
    best, loops = None, [loop_time()]
    for number in range(1, options.rounds + 1):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            seconds, used = first_use(wheel, packages, pathlib.Path(folder), options.compile)
        total = sum(seconds.values())
        best = total if best is None else min(best, total)
        loops.append(loop_time())
        print(f"round {number}: {total:.1f} s: " + ", ".join(f"{name} {value:.2f}" for name, value in seconds.items()) + f"; {used:.1f} s of processor time", flush=True)
    within = options.within * max(1.0, min(loops) / LOOP)
    told = f"{within:.1f} s (a loop takes {min(loops):.2f} s here, {LOOP:g} s on the usual machine)"
    if best > within:
        sys.exit(f"the first use of the wheel takes {best:.1f} s, over {told}")
    print(f"install, import and first rollout in {best:.1f} s, at most {told}")


if __name__ == "__main__":
    main()
