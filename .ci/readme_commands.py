"""Run the commands of a README: every fenced block marked `sh` or `python` that is not preceded by `<!-- not run in CI -->`.

Each block runs in one temporary folder with the freshly built `cinoc` first on the PATH; `cargo install` and `git clone` lines
are left out, since the build has been done, and so is `pip install`; Python is that of $CINOC_PYTHON. A failing command fails the check.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

text = pathlib.Path(sys.argv[1]).read_text()
target = pathlib.Path(os.environ["CARGO_TARGET_DIR"]) / "release"
environment = dict(os.environ, PATH=f"{target}{os.pathsep}{os.environ['PATH']}")
blocks = re.findall(r"(<!-- not run in CI -->\s*)?```(sh|python)\n(.*?)```", text, re.S)
ran = 0
with tempfile.TemporaryDirectory() as folder:
    for skipped, language, block in blocks:
        if skipped:
            continue
        if language == "python":
            print(block, flush=True)
            subprocess.run([os.environ["CINOC_PYTHON"], "-c", block], cwd=folder, env=dict(environment, MPLBACKEND="agg"), check=True)
            ran += 1
            continue
        for line in block.strip().splitlines():
            command = line.split("#")[0].strip()
            if not command or command.startswith(("git clone", "cd ", "cargo install", "cargo build", "pip install")):
                continue
            print(f"$ {command}", flush=True)
            subprocess.run(["bash", "-c", command], cwd=folder, env=environment, check=True)
            ran += 1
assert ran, "the README has no command to run"
print(f"{ran} passed, 0 failed")
