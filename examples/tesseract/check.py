"""Checks the Tesseract without a container, as `tesseract-runtime` does: python examples/tesseract/check.py."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import cinoc
import numpy as np
from cinoc.engine import draw

HERE = pathlib.Path(__file__).resolve().parent
# A line with walls, and a plane with a safety layer.
CASES = {"heat1d": 10, "heat2d_obstacles": 2}


def array(x):
    """As the runtime takes it."""
    return {"object_type": "array", "shape": x.shape, "dtype": "float64", "data": {"buffer": x.ravel().tolist(), "encoding": "json"}}


def payload(name, ticks):
    """An instance of a problem with actions within half the limits."""
    problem = cinoc.make(name, dtype="float64")
    start, target, places, _ = draw(problem, 0, 0, 1, None, "train")
    size = 0.5 * np.asarray(problem.limits)
    actions = size * np.random.default_rng(0).uniform(-1, 1, (ticks, *places.shape[:2], len(size)))
    return {"problem": name, "start": array(start), "target": array(target), "places": array(places), "actions": array(actions)}


def runtime(*words):
    """What `tesseract-runtime` says."""
    command = [pathlib.Path(sys.executable).parent / "tesseract-runtime", *words]
    environment = dict(os.environ, TESSERACT_API_PATH=str(HERE / "tesseract_api.py"))
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tesseract-runtime {words[0]} failed: {done.stdout}{done.stderr}")
    return done.stdout or done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        # The runtime leaves logs where it is called.
        os.chdir(folder)
        print(runtime("check").strip())
        for name, ticks in CASES.items():
            inputs, path = payload(name, ticks), pathlib.Path(folder) / f"{name}.json"
            path.write_text(json.dumps({"inputs": inputs}))
            apply = json.loads(runtime("apply", f"@{path}"))
            shapes = {key: {"shape": x["shape"], "dtype": x["dtype"]} for key, x in inputs.items() if isinstance(x, dict)}
            path.with_suffix(".shapes").write_text(json.dumps({"inputs": {"problem": name, **shapes}}))
            promised = json.loads(runtime("abstract-eval", f"@{path.with_suffix('.shapes')}"))
            for key, kept in apply.items():
                assert promised[key]["shape"] == kept["shape"], (name, key, promised[key], kept["shape"])
            said = runtime("check-gradients", f"@{path}", "--eps", "1e-5", "--rtol", "1e-4", "--max-evals", "20", "--seed", "0", "--no-show-progress")
            print(name, said.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
